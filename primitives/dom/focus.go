package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type domFocusIn struct {
	actionability.ElementTarget
}

// domFocus re-seats the focus, for instance after a transient surface closed
// without returning it. An element that cannot take the focus is no error: the
// answer says focused false.
var domFocus = primitives.Define("dom.focus", func(
	ctx context.Context, p primitives.Page, in domFocusIn,
) (json.RawMessage, error) {
	l := in.Locator
	named := in.Locator.Given()
	err := error(nil)
	if in.Ref != "" {
		l, named, err = actionability.OneTarget(in.Locator, in.Ref, false, "")
	}
	if err == nil && !named {
		err = fault.New(fault.InvalidInput, "locator or ref is required").With("missing_required", []string{"locator"})
	}
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	err = l.Evaluate(ctx, p, "focus", nil, &out)
	if locator.IsMiss(err) && in.TimeoutMS != nil {
		if _, err := actionability.Resolve(
			ctx, p, l, actionability.Requirements{Until: "drawn"}, actionability.Timeout(ctx, in.TimeoutMS), false,
		); err != nil {
			return nil, err
		}
		err = l.Evaluate(ctx, p, "focus", nil, &out)
	}
	return out, locator.MaskFrameFault(p, err, fault.TargetNotFound)
})
