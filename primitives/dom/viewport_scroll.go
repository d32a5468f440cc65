package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type viewportScrollIn struct {
	DeltaX arguments.Coordinate `json:"delta_x"`
	DeltaY arguments.Coordinate `json:"delta_y"`
	// Scope names the region whose scroller moves; nil is the page.
	Scope        *locator.Locator `json:"scope"`
	ItemSelector string           `json:"item_selector"`
	actionability.ElementTarget
}

type viewportScrolledTo struct {
	Moved   bool                        `json:"moved"`
	Target  string                      `json:"target"`
	Element actionability.ActedOn       `json:"target_element"`
	Before  actionability.ScrollOffsets `json:"before"`
	After   actionability.ScrollOffsets `json:"after"`
	*actionability.Found
}

// viewportScroll moves the page, or the scroller of a scope, at once, whatever
// the page's scroll-behavior, and reports how far it really went.
var viewportScroll = primitives.Define("viewport.scroll", func(
	ctx context.Context, p primitives.Page, in viewportScrollIn,
) (json.RawMessage, error) {
	dx, dy := in.DeltaX.FiniteOrZero(), in.DeltaY.FiniteOrZero()
	if dx == nil || dy == nil {
		return nil, fault.New(fault.ScrollFailed, "the scroll distance is not a finite number").
			With("delta_x", in.DeltaX).With("delta_y", in.DeltaY)
	}
	args := map[string]any{"dx": dx, "dy": dy}
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, in.Scope != nil, "scope")
	if err != nil {
		return nil, err
	}
	if named {
		return scrollAt(ctx, p, l, in, args)
	}
	var frame locator.FrameSelectors
	if in.Scope != nil {
		args["scope"], frame = in.Scope, in.Scope.Frame
		if in.ItemSelector != "" {
			args["item_selector"] = in.ItemSelector
		}
	}
	var out json.RawMessage
	if err := locator.CallIn(ctx, p, frame, args, "viewport_scroll", &out); err != nil {
		return nil, err
	}
	return out, nil
})

// scrollAt brings an element into view, or moves the scroller that it is, or
// that is around it, by a distance.
func scrollAt(
	ctx context.Context, p primitives.Page, l locator.Locator, in viewportScrollIn, args map[string]any,
) (json.RawMessage, error) {
	timeout := actionability.Timeout(ctx, in.TimeoutMS)
	if args["dx"] == 0.0 && args["dy"] == 0.0 {
		h, err := actionability.Resolve(ctx, p, l, actionability.Requirements{Until: "drawn"}, timeout, false)
		if err != nil {
			return nil, err
		}
		var seen struct {
			Viewport actionability.ScrollOffsets `json:"viewport"`
		}
		if err := json.Unmarshal(h.Target, &seen); err != nil {
			return nil, fault.Translate(fault.Internal, err, "the page library gave another shape")
		}
		return json.Marshal(viewportScrolledTo{
			Moved:   h.Found.Scrolls > 0,
			Target:  "element",
			Element: h.Acted,
			Before:  h.From,
			After:   seen.Viewport,
			Found:   h.Found,
		})
	}
	h, err := actionability.Resolve(ctx, p, l, actionability.Requirements{Until: "attached"}, timeout, false)
	if err != nil {
		return nil, err
	}
	args["handle"] = h.Handle
	if h.At.View != nil {
		args["view"] = h.At.View
	}
	var out json.RawMessage
	err = p.Call(ctx, h.At.Frame, "viewport_scroll", args, &out)
	return out, err
}
