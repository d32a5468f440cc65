package clipboard

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/primitives/text"
)

var transferFormats = []string{"text/plain", "application/json", "text/uri-list"}

type transferWriteIn struct {
	Label      string          `json:"label"`
	Format     string          `json:"format"`
	Value      json.RawMessage `json:"value"`
	Metadata   json.RawMessage `json:"metadata"`
	TTLSeconds *int            `json:"ttl_seconds"`
	Mode       string          `json:"mode"`
	Redaction  map[string]any  `json:"redaction"`
}

var transferWrite = primitives.Define("transfer.write", func(
	_ context.Context, p primitives.Page, in transferWriteIn,
) (session.TransferRecord, error) {
	k := session.TransferKey{Primitive: "transfer.write", Label: in.Label}
	s, err := session.Of(p, k.Primitive, "cross_tab.transfer")
	if err != nil {
		return session.TransferRecord{}, err
	}
	switch {
	case strings.TrimSpace(in.Label) == "":
		return session.TransferRecord{}, k.Fault(fault.TransferLabelRequired, "the transfer item needs a label")
	case !slices.Contains(transferFormats, in.Format):
		return session.TransferRecord{}, k.Fault(
			fault.TransferFormatUnsupported, "the transfer format is not supported",
		).With("format", in.Format).With("formats", transferFormats)
	case in.Mode != "" && in.Mode != "replace" && in.Mode != "append":
		return session.TransferRecord{}, k.Fault(
			fault.TransferModeUnsupported, "the mode is neither replace nor append",
		).With("mode", in.Mode)
	}
	ttl := session.DefaultTransferTTL
	if in.TTLSeconds != nil {
		ttl = *in.TTLSeconds
	}
	metadata := in.Metadata
	if len(metadata) == 0 {
		metadata = json.RawMessage("{}")
	}
	tab := p.Tab()
	return s.Transfers().Write(session.TransferDraft{
		Key:       k,
		Format:    in.Format,
		Value:     arguments.Stringify(in.Value),
		Metadata:  metadata,
		Redaction: in.Redaction,
		Ttl:       time.Duration(ttl) * time.Second,
		Add:       in.Mode == "append",
		Source:    session.TransferSource{TabID: tab.ID, RuntimeID: tab.RuntimeID, URL: tab.URL},
	})
})

type transferReadIn struct {
	Label        string `json:"label"`
	ID           string `json:"id"`
	IncludeValue bool   `json:"include_value"`
}

type transferReadOut struct {
	session.TransferRecord
	Value json.RawMessage `json:"value,omitempty"`
}

var transferRead = primitives.Define("transfer.read", func(
	_ context.Context, p primitives.Page, in transferReadIn,
) (transferReadOut, error) {
	s, err := session.Of(p, "transfer.read", "cross_tab.transfer")
	if err != nil {
		return transferReadOut{}, err
	}
	record, value, err := s.Transfers().Get(session.TransferKey{Primitive: "transfer.read", Label: in.Label, Id: in.ID})
	if err != nil {
		return transferReadOut{}, err
	}
	out := transferReadOut{TransferRecord: record}
	if in.IncludeValue {
		out.Value = value
	}
	return out, nil
})

type transferInsertIn struct {
	Label        string                     `json:"label"`
	ID           string                     `json:"id"`
	ItemSelector *transferIndex             `json:"item_selector"`
	Render       transferRender             `json:"render"`
	Target       *locator.SelectorOrLocator `json:"target"`
	Mode         string                     `json:"mode"`
	TimeoutMS    *int                       `json:"timeout_ms"`
}

type transferIndex struct {
	Index *int `json:"index"`
}

type transferRender struct {
	Format   string  `json:"format"`
	Template *string `json:"template"`
}

// transferInsert renders an item and inserts it as text.insert does, so that
// the agent need not carry the data.
var transferInsert = primitives.Define("transfer.insert", func(
	ctx context.Context, p primitives.Page, in transferInsertIn,
) (json.RawMessage, error) {
	k := session.TransferKey{Primitive: "transfer.insert", Label: in.Label, Id: in.ID}
	s, err := session.Of(p, k.Primitive, "cross_tab.transfer")
	if err != nil {
		return nil, err
	}
	_, value, err := s.Transfers().Get(k)
	if err != nil {
		return nil, err
	}
	if in.ItemSelector != nil {
		var list []json.RawMessage
		i := in.ItemSelector.Index
		if i == nil || json.Unmarshal(value, &list) != nil || *i < 0 || *i >= len(list) {
			e := k.Fault(fault.TransferItemSelectorInvalid, "the item selector names no item").With("count", len(list))
			return nil, e.With("index", i)
		}
		value = list[*i]
	}
	rendered, ok := in.Render.text(value)
	if !ok {
		return nil, k.Fault(
			fault.TransferFormatUnsupported, "render.format is neither text/plain nor application/json",
		).With("format", in.Render.Format)
	}
	return text.InsertText(ctx, p, in.Target, rendered, in.Mode, in.TimeoutMS)
})

var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// text renders a value: by the template, or a string as it is and anything
// else as JSON.
func (r transferRender) text(value json.RawMessage) (string, bool) {
	switch r.Format {
	case "", "text/plain":
	case "application/json":
		if r.Template == nil {
			return string(value), true
		}
	default:
		return "", false
	}
	if r.Template == nil {
		return plainValue(value), true
	}
	return placeholder.ReplaceAllStringFunc(*r.Template, func(found string) string {
		path := placeholder.FindStringSubmatch(found)[1]
		if path == "value" {
			return plainValue(value)
		}
		if at, ok := lookUp(value, strings.Split(path, ".")); ok {
			return plainValue(at)
		}
		// The path may begin at the value itself.
		if at, ok := lookUp(value, strings.Split(strings.TrimPrefix(path, "value."), ".")); ok {
			return plainValue(at)
		}
		return ""
	}), true
}

func plainValue(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	return string(value)
}

// lookUp follows member names and list indexes.
func lookUp(value json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) == nil && members != nil {
			next, ok := members[name]
			if !ok {
				return nil, false
			}
			value = next
			continue
		}
		var list []json.RawMessage
		i, err := strconv.Atoi(name)
		if err != nil || json.Unmarshal(value, &list) != nil || i < 0 || i >= len(list) {
			return nil, false
		}
		value = list[i]
	}
	return value, true
}

type transferClearIn struct {
	Label string `json:"label"`
	ID    string `json:"id"`
	Scope string `json:"scope"`
}

type transferClearOut struct {
	ClearedCount int `json:"cleared_count"`
}

var transferClear = primitives.Define("transfer.clear", func(
	_ context.Context, p primitives.Page, in transferClearIn,
) (transferClearOut, error) {
	s, err := session.Of(p, "transfer.clear", "cross_tab.transfer")
	if err != nil {
		return transferClearOut{}, err
	}
	n, err := s.Transfers().Clear(
		session.TransferKey{Primitive: "transfer.clear", Label: in.Label, Id: in.ID}, in.Scope == "session",
	)
	return transferClearOut{n}, err
})
