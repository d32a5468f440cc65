package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type viewportScrollIn struct {
	DeltaX coordinate `json:"delta_x"`
	DeltaY coordinate `json:"delta_y"`
	// Scope names the region whose scroller moves; nil is the page.
	Scope        *extractScope `json:"scope"`
	ItemSelector string        `json:"item_selector"`
}

// viewportScroll moves the page, or the scroller of a scope, at once, whatever
// the page's scroll-behavior, and reports how far it really went.
var viewportScroll = Define("viewport.scroll", func(ctx context.Context, p Page, in viewportScrollIn) (json.RawMessage, error) {
	dx, dy := in.DeltaX.finiteOrZero(), in.DeltaY.finiteOrZero()
	if dx == nil || dy == nil {
		return nil, fault.New(fault.ScrollFailed, "the scroll distance is not a finite number").
			With("delta_x", in.DeltaX).With("delta_y", in.DeltaY)
	}
	args := map[string]any{"dx": dx, "dy": dy}
	var frame frameSelectors
	if in.Scope != nil {
		args["scope"], frame = in.Scope, in.Scope.frame
		if in.ItemSelector != "" {
			args["item_selector"] = in.ItemSelector
		}
	}
	var out json.RawMessage
	if err := callIn(ctx, p, frame, args, "viewport_scroll", &out); err != nil {
		return nil, err
	}
	return out, nil
})

// finiteOrZero is the value, 0 when none was given, nil when it is not finite.
func (c coordinate) finiteOrZero() any {
	if !c.given {
		return 0.0
	}
	return c.finite()
}
