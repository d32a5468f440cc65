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
	switch name {
	case "page.select":
		return c.choose(ctx, p, in.where, args)
	case "text.insert":
		value, r, err := c.do(ctx, p, name, args, in.where)
		if err != nil {
			value, r, err = c.slide(ctx, p, in, args, err)
		}
		return value, r, err
	}
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

// placeAt puts the points of an element that a call names into the arguments of a click or a drag.
func (in actIn) placeAt(args map[string]any) *fault.Error {
	switch in.Action {
	case "click", "double_click":
		args["position"] = in.At
		return nil
	case "drag":
		if in.At != nil && !in.stroke() {
			args["from"].(map[string]any)["position"] = in.At
		}
	default:
		return invalid("at", "at is for click, double_click and drag")
	}
	points, err := in.points()
	if err != nil || points == nil {
		return err
	}
	locator := any(map[string]any{"ref": in.Ref})
	if in.Ref == "" {
		locator = everywhere(in.Locator)
	}
	last := len(points) - 1
	args["from"] = map[string]any{"locator": locator, "position": points[0]}
	args["to"] = map[string]any{"locator": locator, "position": points[last]}
	args["path"] = points[1:]
	return nil
}

// stroke reports whether a drag goes along points of its element.
func (in actIn) stroke() bool { return len(in.Path) > 0 }

// points are where a drag within an element begins, passes and ends; nil where it ends elsewhere.
func (in actIn) points() ([]point, *fault.Error) {
	var points []point
	if in.At != nil {
		points = append(points, *in.At)
	}
	if in.stroke() {
		points = append(points, in.Path...)
		if len(points) < 2 {
			return nil, invalid("path", "a stroke has two points or more")
		}
		return points, nil
	}
	var to struct{ X, Y *float64 }
	if json.Unmarshal(in.To, &to) != nil || to.X == nil || to.Y == nil {
		return nil, nil
	}
	return append(points, point{*to.X, *to.Y}), nil
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
