package workflow

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
)

// arguments are the args of a primitive. The nil value is the empty object.
type arguments struct {
	template *expr.Template
	// selectors are the pointers of members called selector whose value is a
	// slot.
	selectors []string
}

func (a *arguments) eval(ctx context.Context, in expr.Input, set quirks.Set) (json.RawMessage, error) {
	if a == nil {
		return json.RawMessage("{}"), nil
	}
	v, _, err := a.template.Eval(ctx, in, expr.Limits{OutputBytes: maxSlotBytes})
	if err != nil {
		return nil, err
	}
	if set.Has(quirks.BlankSelector) {
		return v, nil
	}
	for _, p := range a.selectors {
		if err := checkSelector(v, p); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// checkSelector refuses a computed selector that came out blank, or undefined
// in a locator that then has nothing else: it would match whatever the
// default candidates are instead of what the author meant. Undefined beside
// other members is an absent argument, which maps use on purpose.
func checkSelector(args json.RawMessage, pointer string) error {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	locator := args
	for _, t := range tokens[:len(tokens)-1] {
		var o map[string]json.RawMessage
		if json.Unmarshal(locator, &o) != nil {
			return nil // below an array: the primitive checks it
		}
		locator = o[strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")]
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(locator, &o) != nil {
		return nil
	}
	s, isText := text(o["selector"])
	if len(o) > 0 && o["selector"] == nil || o["selector"] != nil && (!isText || strings.TrimSpace(s) != "") {
		return nil
	}
	return fault.New(fault.InvalidArguments, "the expression at %s gave no selector", pointer).
		With("pointer", pointer).
		Next("check what the expression reads, or guard the step with when")
}

// maxLocatorDepth is how deep locators are searched in arguments. The
// dictionary has none deeper than a frame in a scope in an argument.
const maxLocatorDepth = 8

// selectorSlots finds the slots that checkSelector checks.
func selectorSlots(raw json.RawMessage) []string {
	var out []string
	var walk func(raw json.RawMessage, at string, depth int)
	walk = func(raw json.RawMessage, at string, depth int) {
		o, ok := parseObject(raw)
		if !ok || depth > maxLocatorDepth {
			return
		}
		for _, m := range o {
			p := at + "/" + expr.EscapePointer(m.name)
			if s, isText := text(m.value); isText {
				if _, slot, _ := expr.Slot(s); slot && m.name == "selector" {
					out = append(out, p)
				}
				continue
			}
			walk(m.value, p, depth+1)
		}
	}
	walk(raw, "", 0)
	return out
}
