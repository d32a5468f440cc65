package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type domFocusIn struct {
	elementTarget
}

// domFocus re-seats the focus, for instance after a transient surface closed
// without returning it. An element that cannot take the focus is no error: the
// answer says focused false.
var domFocus = Define("dom.focus", func(ctx context.Context, p Page, in domFocusIn) (json.RawMessage, error) {
	l, named, err := in.Locator, in.Locator.given(), error(nil)
	if in.Ref != "" {
		l, named, err = oneTarget(in.Locator, in.Ref, false, "")
	}
	if err == nil && !named {
		err = fault.New(fault.InvalidInput, "locator or ref is required").With("missing_required", []string{"locator"})
	}
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	err = l.ask(ctx, p, "focus", nil, &out)
	if isMiss(err) && in.TimeoutMS != nil {
		if _, err := reach(ctx, p, l, actAim{until: "drawn"}, actTimeout(ctx, in.TimeoutMS), false); err != nil {
			return nil, err
		}
		err = l.ask(ctx, p, "focus", nil, &out)
	}
	return out, frameUnsaid(p, err, fault.TargetNotFound)
})
