package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// callTarget asks fn about what target finds first, or, without a target, about
// what has the focus. A target that is a frame stands for what has the focus in
// it; one that finds nothing, or whose frame is not there or out of reach, is an
// error, never the focused element, but with paste_into_focus.
func callTarget(ctx context.Context, p Page, target *insertTarget, fn string, args map[string]any, out any) error {
	if target == nil {
		return callFocused(ctx, p, fn, args, out)
	}
	err := callFound(ctx, p, target, fn, args, out)
	if (isMiss(err) || isFrameFault(fault.CodeOf(err))) && QuirksOf(p).Has(quirks.PasteIntoFocus) {
		return callFocused(ctx, p, fn, args, out)
	}
	return err
}

func callFound(ctx context.Context, p Page, target *insertTarget, fn string, args map[string]any, out any) error {
	if !target.locator.names() {
		return fault.New(fault.TargetNotFound, "the target names no element").With("target", target.raw)
	}
	at, err := target.locator.enter(ctx, p)
	if err != nil {
		return err
	}
	with := map[string]any{"locator": target.locator}
	if at.view != nil {
		with["view"] = at.view
	}
	for k, v := range args {
		with[k] = v
	}
	var raw json.RawMessage
	if err := target.locator.call(ctx, p, at.frame, fn, with, &raw); err != nil {
		return err
	}
	var next struct {
		Descend string          `json:"descend"`
		View    json.RawMessage `json:"view"`
	}
	if err := json.Unmarshal(raw, &next); err != nil {
		return err
	}
	if next.Descend == "" {
		return json.Unmarshal(raw, out)
	}
	child, err := p.ChildFrame(ctx, at.frame, next.Descend)
	if err != nil {
		return err
	}
	return callFocusedFrom(ctx, p, child, fn, withView(args, next.View), out)
}
