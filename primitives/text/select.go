package text

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/locator"
)

type textSelectIn struct {
	Target *locator.SelectorOrLocator `json:"target"`
	// Mode has one value: all.
	Mode string `json:"mode"`
	actionability.ElementTarget
}

// textSelect selects the contents of an element, the value of a control
// included.
var textSelect = primitives.Define("text.select", func(
	ctx context.Context, p primitives.Page, in textSelectIn,
) (json.RawMessage, error) {
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, in.Target != nil, "target")
	if err != nil {
		return nil, err
	}
	target := in.Target
	if named {
		target = &locator.SelectorOrLocator{Raw: l.Raw, Locator: l}
	}
	return callWithKeys(ctx, p, "", func(pressed []string, handle string) (out json.RawMessage, err error) {
		args := map[string]any{}
		if len(pressed) > 0 {
			args["pressed"], args["handle"] = pressed, handle
		}
		err = CallTarget(ctx, p, target, in.TimeoutMS, "select_text", args, &out)
		return out, err
	}, nil, nil)
})
