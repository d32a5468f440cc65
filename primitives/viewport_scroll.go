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
	Scope        *locator `json:"scope"`
	ItemSelector string   `json:"item_selector"`
	elementTarget
}

type viewportScrolledTo struct {
	Moved   bool          `json:"moved"`
	Target  string        `json:"target"`
	Element actedOn       `json:"target_element"`
	Before  scrollOffsets `json:"before"`
	After   scrollOffsets `json:"after"`
	*actFound
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
	l, named, err := oneTarget(in.Locator, in.Ref, in.Scope != nil, "scope")
	if err != nil {
		return nil, err
	}
	if named {
		return scrollAt(ctx, p, l, in, args)
	}
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

// scrollAt brings an element into view, or moves the scroller that it is, or
// that is around it, by a distance.
func scrollAt(ctx context.Context, p Page, l locator, in viewportScrollIn, args map[string]any) (json.RawMessage, error) {
	timeout := actTimeout(ctx, in.TimeoutMS)
	if args["dx"] == 0.0 && args["dy"] == 0.0 {
		h, err := reach(ctx, p, l, actAim{until: "drawn"}, timeout, false)
		if err != nil {
			return nil, err
		}
		var seen struct {
			Viewport scrollOffsets `json:"viewport"`
		}
		if err := json.Unmarshal(h.Target, &seen); err != nil {
			return nil, fault.Translate(fault.Internal, err, "the page library gave another shape")
		}
		return json.Marshal(viewportScrolledTo{Moved: h.found.Scrolls > 0, Target: "element", Element: h.acted, Before: h.from, After: seen.Viewport, actFound: h.found})
	}
	h, err := reach(ctx, p, l, actAim{until: "attached"}, timeout, false)
	if err != nil {
		return nil, err
	}
	args["handle"] = h.handle
	if h.at.view != nil {
		args["view"] = h.at.view
	}
	var out json.RawMessage
	err = p.Call(ctx, h.at.frame, "viewport_scroll", args, &out)
	return out, err
}
