package verify

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Written is a locator that stands in the arguments of a step as it is, without an
// expression. Its target is what it says, in the words of targets.
type Written struct {
	Path   []string // members of the arguments that lead to it
	Target *manifest.Target

	members   map[string]json.RawMessage // nil for a selector alone
	textOnly  bool                       // the argument takes a selector and no locator
	extension bool                       // it says more than the upstream extension reads
}

// WrittenIn lists the locators of arguments that can be repaired. One with an expression,
// a frame, a position or a regular expression names no element that stays the same.
func WrittenIn(args json.RawMessage, pointer string) []Written {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return nil
	}
	var out []Written
	for _, name := range []string{"locator", "target", "selector"} {
		if w, ok := writtenAt(members[name], []string{name}, pointer+"/"+name, name == "selector"); ok {
			out = append(out, w)
		}
	}
	return out
}

func writtenAt(raw json.RawMessage, path []string, pointer string, textOnly bool) (Written, bool) {
	t := &manifest.Target{At: manifest.Place{Pointer: pointer}}
	w := Written{Path: path, Target: t, textOnly: textOnly}
	var selector string
	if json.Unmarshal(raw, &selector) == nil && selector != "" {
		t.Selector = []string{selector}
		return w, !strings.Contains(selector, "{%")
	}
	if textOnly || len(raw) == 0 || strings.Contains(string(raw), "{%") || json.Unmarshal(raw, &w.members) != nil ||
		w.members == nil {
		return w, false
	}
	if nested, ok := w.members["locator"]; ok && len(w.members) == 1 {
		return writtenAt(nested, append(path, "locator"), pointer+"/locator", false)
	}
	for name, value := range w.members {
		var text string
		isText := json.Unmarshal(value, &text) == nil
		switch name {
		case "selector":
			t.Selector = []string{text}
		case "text", "text_contains":
			t.TextContains = text
		case "text_equals":
			t.TextEquals = text
		case "role":
			t.Role, w.extension = text, true
		case "name":
			t.Name, w.extension = text, true
		case "exact", "strict", "pierce":
			w.extension = true
			continue
		default:
			return w, false
		}
		if !isText || text == "" {
			return w, false
		}
	}
	return w, len(t.Selector) > 0 || t.Role+t.Name+t.TextEquals+t.TextContains != ""
}

// RepairWritten proposes other words for a locator that finds nothing; nil for none. A
// locator that the upstream extension reads stays one where the element has such a name,
// and always when upstream is set. Arguments are as for RepairTarget. What is read is as for RepairRead.
func RepairWritten(
	ctx context.Context, page primitives.Page, in *sites.Map, w Written,
	locks map[string]*lock.File, arguments json.RawMessage,
	upstream, reads bool,
) (*Repair, error) {
	return repairOf(ctx, page, in, w.Target, locks, func(
		_ *manifest.Target, names []locators.Locator, _ likeness.Seen,
	) (json.RawMessage, *manifest.Target, locators.Kind) {
		if reads {
			names = Readable(names)
		}
		l, ok := w.choose(withoutValues(names, w.Target, arguments), upstream)
		if !ok {
			return nil, nil, ""
		}
		return w.write(l), nil, l.Kind
	})
}

// choose is the locator that fits where the written one stands.
func (w Written) choose(names []locators.Locator, upstream bool) (locators.Locator, bool) {
	fits := func(l locators.Locator) bool {
		switch {
		case w.textOnly:
			return l.Role+l.Name+l.TextEquals == ""
		case upstream:
			return l.Role+l.Name == ""
		}
		return true
	}
	first := -1
	for i, l := range names {
		if !fits(l) {
			continue
		}
		if first < 0 {
			first = i
		}
		if w.extension || l.Role+l.Name == "" && l.Kind != locators.Structure {
			return l, true
		}
	}
	if first < 0 {
		return locators.Locator{}, false
	}
	return names[first], true
}

// write is a locator in the place of the written one, with what says how it is searched.
func (w Written) write(l locators.Locator) json.RawMessage {
	if l.Role+l.Name+l.TextEquals == "" && w.members == nil {
		return call.JSON(l.Selector)
	}
	out := map[string]json.RawMessage{}
	for _, name := range []string{"exact", "strict", "pierce"} {
		if v, ok := w.members[name]; ok {
			out[name] = v
		}
	}
	for name, text := range map[string]string{
		"selector":    l.Selector,
		"role":        l.Role,
		"name":        l.Name,
		"text_equals": l.TextEquals,
	} {
		if text != "" {
			out[name] = call.JSON(text)
		}
	}
	return call.JSON(out)
}

// In is the arguments with a value in the place of the locator.
func (w Written) In(args, value json.RawMessage) (json.RawMessage, bool) {
	return put(args, w.Path, value)
}

func put(args json.RawMessage, path []string, value json.RawMessage) (json.RawMessage, bool) {
	if len(path) == 0 {
		return value, true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil || members[path[0]] == nil {
		return nil, false
	}
	inner, ok := put(members[path[0]], path[1:], value)
	if !ok {
		return nil, false
	}
	members[path[0]] = inner
	return call.JSON(members), true
}
