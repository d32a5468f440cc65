package tools

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// perform makes the call of an action. Several keys are pressed one after the other.
func (c *Call) perform(
	ctx context.Context, p page, in actIn, name string, args map[string]any,
) (json.RawMessage, runtime.Reply, *fault.Error) {
	keys := keySequence(in.Key)
	if in.Action != "press" || len(keys) < 2 {
		return c.do(ctx, p, name, args, in.where)
	}
	times := max(in.Count, 1)
	for n := range times {
		for i, key := range keys {
			one := maps.Clone(args)
			one["key"] = key
			delete(one, "repeat")
			if n == times-1 && i == len(keys)-1 {
				return c.do(ctx, p, name, one, in.where)
			}
			delete(one, "effects")
			if _, _, err := c.do(ctx, p, name, one, in.where); err != nil {
				return nil, runtime.Reply{}, err.With("key", key).With("pressed", n*len(keys)+i)
			}
		}
	}
	return nil, runtime.Reply{}, invalid("key", "there is no key to press")
}

// keySequence are the keys of a sequence. A chord may have spaces around its plus signs.
func keySequence(key string) []string {
	keys := strings.Fields(key)
	for _, one := range keys {
		if strings.HasPrefix(one, "+") || strings.HasSuffix(one, "+") && !strings.HasSuffix(one, "++") {
			return []string{key}
		}
	}
	return keys
}

// placeAt puts the point of an element that a call names into the arguments of a click or a drag. For a drag the
// element is shown first.
func (c *Call) placeAt(ctx context.Context, p page, in actIn, args map[string]any) *fault.Error {
	switch in.Action {
	case "click", "double_click":
		args["position"] = in.At
		return nil
	case "drag":
	default:
		return invalid("at", "at is for click, double_click and drag")
	}
	shown := map[string]any{}
	if err := in.target(shown, "ref", "locator"); err != nil {
		return err
	}
	if in.TimeoutMS > 0 {
		shown["timeout_ms"] = in.TimeoutMS
	}
	if _, _, err := c.do(ctx, p, "page.hover", shown, in.where); err != nil {
		return err
	}
	locator := any(map[string]any{"ref": in.Ref})
	if in.Ref == "" {
		locator = everywhere(in.Locator)
	}
	value, _, err := c.do(ctx, p, "locator.element_info", map[string]any{"locator": locator}, in.where)
	if err != nil {
		return err
	}
	var info struct {
		Box struct{ X, Y, Width, Height float64 } `json:"bounding_box"`
	}
	if e := json.Unmarshal(value, &info); e != nil {
		return fault.Translate(fault.Internal, e, "locator.element_info gave another shape")
	}
	if in.At.X < 0 || in.At.Y < 0 || in.At.X > info.Box.Width || in.At.Y > info.Box.Height {
		return invalid("at", "the element is %g by %g pixels, and the point is outside",
			info.Box.Width, info.Box.Height)
	}
	args["from"] = map[string]any{"locator": locator, "position": in.At}
	var to struct{ X, Y *float64 }
	if json.Unmarshal(in.To, &to) == nil && to.X != nil && to.Y != nil {
		args["to"] = map[string]any{"x": info.Box.X + *to.X, "y": info.Box.Y + *to.Y}
	}
	return nil
}

// byKeys types a text with keys, once, into a control that has put back what was written into it: some take nothing
// else. args are those of the fill.
func (c *Call) byKeys(
	ctx context.Context, p page, in actIn, args map[string]any,
) (json.RawMessage, runtime.Reply, *fault.Error) {
	text, _ := args["text"].(string)
	if text == "" || args["mode"] != "replace" {
		return nil, runtime.Reply{}, notKept(heldBefore)
	}
	target := map[string]any{"locator": args["locator"]}
	if ref, ok := args["ref"]; ok {
		target["locator"] = map[string]any{"ref": ref}
	}
	var r runtime.Reply
	var value json.RawMessage
	typed := maps.Clone(target)
	maps.Copy(typed, map[string]any{"text": text, "trusted": true, "effects": actEffects})
	for _, step := range []struct {
		name string
		args map[string]any
	}{
		{"text.select", map[string]any{"target": target}},
		{"text.type", typed},
	} {
		var err *fault.Error
		value, r, err = c.do(ctx, p, step.name, step.args, in.where)
		if err != nil {
			return nil, r, notKept(heldBefore).With("keys", err.Line())
		}
	}
	held, _, err := c.do(ctx, p, "locator.value", target, in.where)
	if err != nil {
		return nil, r, err
	}
	var now struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(held, &now) != nil || !sameDigits(now.Value, text) {
		return nil, r, notKept(heldBefore + ", and keys brought nothing that fits")
	}
	return value, r, nil
}

var (
	numberForm = lazyregexp.New(`^[-+]?[0-9][0-9.,]*$`)
	// digitsAfter are what a control may add behind a number: decimals of zero and a unit.
	digitsAfter = lazyregexp.New(`^(?:[.]0*)?[^0-9]*$`)
)

// sameDigits reports whether a control shows a text, perhaps in the form that it gives to numbers.
func sameDigits(held, text string) bool {
	if held == text {
		return true
	}
	plain := strings.NewReplacer(",", "", " ", "", "\u00a0", "")
	rest, begins := strings.CutPrefix(plain.Replace(held), plain.Replace(text))
	return begins && numberForm().MatchString(text) && digitsAfter().MatchString(rest)
}
