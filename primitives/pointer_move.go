package primitives

import (
	"context"
	"encoding/json"
)

type pointerMoveIn struct {
	actTarget
	// DurationMS is accepted and ignored, as upstream does.
	DurationMS int `json:"duration_ms"`
}

type pointerMoveOut struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Target is what a locator named, or what is at the point; absent where
	// nothing is.
	Target   json.RawMessage `json:"target,omitempty"`
	Frame    *aimFrame       `json:"frame,omitempty"`
	Fidelity string          `json:"fidelity"`
	Dialog   *seenDialog     `json:"dialog,omitempty"`
	*actFound
}

// pointerMove sends a real movement, so hover styles and hover-armed controls
// react; upstream only moves a drawn pointer.
var pointerMove = Define("pointer.move", func(ctx context.Context, p Page, in pointerMoveIn) (pointerMoveOut, error) {
	l, located, err := in.element()
	if err != nil {
		return pointerMoveOut{}, err
	}
	if located {
		h, err := actOn(ctx, p, l, actAim{}, in.actTarget, func(a aim) []MouseEvent { return []MouseEvent{{Type: MouseMoved, X: a.X, Y: a.Y}} }, 0)
		if err != nil {
			return pointerMoveOut{}, err
		}
		return pointerMoveOut{X: h.X, Y: h.Y, Target: h.Target, Frame: h.Frame, Fidelity: fidelityOf(p), Dialog: dialogOf(p), actFound: h.found}, nil
	}
	a, err := takeAim(ctx, p, in.X, in.Y)
	if err != nil {
		return pointerMoveOut{}, err
	}
	if err := p.Mouse(ctx, MouseEvent{Type: MouseMoved, X: a.X, Y: a.Y}); err != nil {
		return pointerMoveOut{}, err
	}
	return pointerMoveOut{X: a.X, Y: a.Y, Target: a.Target, Frame: a.Frame, Fidelity: fidelityOf(p), Dialog: dialogOf(p)}, nil
})
