package text

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// CallTarget calls fn about what target finds first, or, without a target, about
// what has the focus. A target that is a frame stands for what has the focus in
// it; one that finds nothing, or whose frame is not there or out of reach, is an
// error, never the focused element, but with paste_into_focus. One that is not there
// yet is waited for.
func CallTarget(
	ctx context.Context, p primitives.Page, target *locator.SelectorOrLocator, timeoutMS *int,
	fn string, args map[string]any, out any,
) error {
	if target == nil {
		return locator.CallFocused(ctx, p, fn, args, out)
	}
	err := callFound(ctx, p, target, fn, args, out)
	if err == nil || !locator.IsMiss(err) && !locator.IsFrameFault(fault.CodeOf(err)) {
		return err
	}
	if primitives.QuirksOf(p).Has(quirks.PasteIntoFocus) {
		return locator.CallFocused(ctx, p, fn, args, out)
	}
	timeout := actionability.Timeout(ctx, timeoutMS)
	if timeout <= 0 || !awaited(p, target) {
		return err
	}
	there := actionability.Requirements{Until: "attached"}
	if _, err := actionability.Resolve(ctx, p, target.Locator, there, timeout, false); err != nil {
		return err
	}
	return callFound(ctx, p, target, fn, args, out)
}

// awaited reports whether a target that was not found may still come.
func awaited(p primitives.Page, target *locator.SelectorOrLocator) bool {
	return target.Locator.NamesElement() && !primitives.QuirksOf(p).Has(quirks.TargetAtOnce)
}

func callFound(
	ctx context.Context, p primitives.Page, target *locator.SelectorOrLocator, fn string, args map[string]any, out any,
) error {
	if !target.Locator.NamesElement() && !primitives.QuirksOf(p).Has(quirks.KnownMembersOnly) {
		return fault.New(fault.TargetNotFound, "the target names no element").With("target", target.Raw)
	}
	at, err := target.Locator.Enter(ctx, p)
	if err != nil {
		return err
	}
	with := map[string]any{"locator": target.Locator}
	if at.View != nil {
		with["view"] = at.View
	}
	maps.Copy(with, args)
	var raw json.RawMessage
	if err := target.Locator.EvaluateIn(ctx, p, at.Frame, fn, with, &raw); err != nil {
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
	child, err := p.ChildFrame(ctx, at.Frame, next.Descend)
	if err != nil {
		return err
	}
	return locator.CallFocusedFrom(ctx, p, child, fn, locator.WithView(args, next.View), out)
}
