package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type textSelectIn struct {
	Target *insertTarget `json:"target"`
	// Mode has one value: all.
	Mode string `json:"mode"`
	elementTarget
}

// textSelect selects the contents of an element, the value of a control
// included.
var textSelect = Define("text.select", func(ctx context.Context, p Page, in textSelectIn) (json.RawMessage, error) {
	l, named, err := oneTarget(in.Locator, in.Ref, in.Target != nil, "target")
	if err != nil {
		return nil, err
	}
	target := in.Target
	if named {
		target = &insertTarget{raw: l.raw, locator: l}
	}
	selects := func() (json.RawMessage, error) {
		return askPressing(ctx, p, "", func(pressed []string, handle string) (out json.RawMessage, err error) {
			args := map[string]any{}
			if len(pressed) > 0 {
				args["pressed"], args["handle"] = pressed, handle
			}
			err = callTarget(ctx, p, target, "select_text", args, &out)
			return out, err
		})
	}
	out, err := selects()
	if (isMiss(err) || isFrameFault(fault.CodeOf(err))) && target != nil && (named || in.TimeoutMS != nil) {
		if _, err := reach(ctx, p, target.locator, actAim{until: "attached"}, actTimeout(ctx, in.TimeoutMS), false); err != nil {
			return nil, err
		}
		out, err = selects()
	}
	return out, err
})
