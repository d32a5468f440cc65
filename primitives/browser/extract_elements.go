package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type browserExtractElementsIn struct {
	Scope        *extractScope  `json:"scope,omitempty"`
	ItemSelector string         `json:"item_selector"`
	TextEquals   string         `json:"text_equals,omitempty"`
	TextContains string         `json:"text_contains,omitempty"`
	Include      string         `json:"include,omitempty"`
	Fields       []extractField `json:"fields"`
}

// extractScope is passed on as it came; only the frame is ours to resolve.
type extractScope = locator.Locator

type extractField struct {
	Name       string   `json:"name"`
	Selector   *string  `json:"selector,omitempty"`
	Attribute  *string  `json:"attribute,omitempty"`
	Attributes []string `json:"attributes,omitempty"`
}

// browserExtractElements reads rows. It sees what is visible unless include says
// otherwise, so an empty answer may mean that the page must be scrolled first. The scope's text is
// cut at 4,000 UTF-16 units: with the default scope it is the whole page.
var browserExtractElements = primitives.Define("browser.extract_elements", func(
	ctx context.Context, p primitives.Page, in browserExtractElementsIn,
) (json.RawMessage, error) {
	var out extractAnswer
	args := map[string]any{
		"item_selector": in.ItemSelector,
		"fields":        in.Fields,
		"text_equals":   in.TextEquals,
		"text_contains": in.TextContains,
		"include":       in.Include,
	}
	var frame locator.FrameSelectors
	if in.Scope != nil {
		args["scope"], frame = in.Scope, in.Scope.Frame
	}
	if err := locator.CallIn(ctx, p, frame, args, "extract", &out); err != nil {
		return nil, locator.MaskFrameFault(p, err, fault.TargetNotFound)
	}
	return out.result(in.Fields)
})

// extractAnswer is the answer of the page library: values is the JSON list of the values of
// all items, one for each field.
type extractAnswer struct {
	Scope struct {
		Text          string `json:"text"`
		SelectorCount int    `json:"selector_count"`
	} `json:"scope"`
	ItemCount   int    `json:"item_count"`
	ExtractedAt string `json:"extracted_at"`
	URL         string `json:"url"`

	values []byte
}

// TakeText implements primitives.TextTaker.
func (a *extractAnswer) TakeText(text []byte) { a.values = text }

// result writes the items. Of two fields with one name the last counts.
func (a *extractAnswer) result(fields []extractField) (json.RawMessage, error) {
	head, err := json.Marshal(a)
	if err != nil {
		return nil, fault.Translate(fault.Internal, err, "encoding the answer")
	}
	var names [][]byte
	kept := 0
	for i, f := range fields {
		if slices.ContainsFunc(fields[i+1:], func(later extractField) bool { return later.Name == f.Name }) {
			names = append(names, nil)
			continue
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, fault.Translate(fault.Internal, err, "encoding the name of a field")
		}
		name = append(name, ':')
		if kept > 0 {
			name = append([]byte{','}, name...)
		}
		kept++
		names = append(names, name)
	}
	size := len(head) + len(a.values) + 32
	for _, name := range names {
		size += a.ItemCount * (len(name) + 3)
	}
	out := append(make([]byte, 0, size), `{"ok":true,"items":[`...)
	rest := bytes.TrimPrefix(a.values, []byte("["))
	for i := range a.ItemCount {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for _, name := range names {
			value, after := nextString(rest)
			if value == nil {
				return nil, fault.New(
					fault.HandlerFailed, "the page library announced %d items and gave values for %d", a.ItemCount, i,
				)
			}
			rest = after
			if name != nil {
				out = append(append(out, name...), value...)
			}
		}
		out = append(out, '}')
	}
	if string(rest) != "]" {
		return nil, fault.New(fault.HandlerFailed, "the page library gave values for more than %d items", a.ItemCount)
	}
	return append(append(out, ']', ','), head[1:]...), nil
}

// nextString takes the first string, with its quotes, of a list of JSON strings; nil
// where there is none. after begins with the next one, or with the end of the list.
func nextString(list []byte) (value, after []byte) {
	if len(list) == 0 || list[0] != '"' {
		return nil, list
	}
	for end := 1; ; {
		n := bytes.IndexByte(list[end:], '"')
		if n < 0 {
			return nil, list
		}
		end += n + 1
		escapes := 0
		for list[end-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return list[:end], bytes.TrimPrefix(list[end:], []byte(","))
		}
	}
}
