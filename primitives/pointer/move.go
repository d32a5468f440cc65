package pointer

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
)

type pointerMoveIn struct {
	actionability.Target
	// DurationMS is accepted and ignored, as upstream does.
	DurationMS int `json:"duration_ms"`
}

type pointerMoveOut struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Target is the element of the locator, or at the point; absent where
	// nothing is.
	Target   json.RawMessage          `json:"target,omitempty"`
	Frame    *actionability.Frame     `json:"frame,omitempty"`
	Fidelity string                   `json:"fidelity"`
	Dialog   *primitives.OpenedDialog `json:"dialog,omitempty"`
	*actionability.Found
}

// pointerMove sends a real movement, so hover styles and hover-armed controls
// react; upstream only moves a drawn pointer.
var pointerMove = primitives.Define("pointer.move", func(
	ctx context.Context, p primitives.Page, in pointerMoveIn,
) (pointerMoveOut, error) {
	l, located, err := in.Element()
	if err != nil {
		return pointerMoveOut{}, err
	}
	if located {
		h, err := actionability.Act(
			ctx, p, l, actionability.Requirements{}, in.Target,
			func(a actionability.ActionPoint) []primitives.MouseEvent {
				return []primitives.MouseEvent{{Type: primitives.MouseMoved, X: a.X, Y: a.Y}}
			}, 0,
		)
		if err != nil {
			return pointerMoveOut{}, err
		}
		return pointerMoveOut{
			X:        h.X,
			Y:        h.Y,
			Target:   h.Target,
			Frame:    h.Frame,
			Fidelity: primitives.FidelityOf(p),
			Dialog:   primitives.DialogOpenOn(p),
			Found:    h.Found,
		}, nil
	}
	a, err := actionability.AtReached(ctx, p, in.X, in.Y)
	if err != nil {
		return pointerMoveOut{}, err
	}
	if err := p.Mouse(ctx, primitives.MouseEvent{Type: primitives.MouseMoved, X: a.X, Y: a.Y}); err != nil {
		return pointerMoveOut{}, err
	}
	return pointerMoveOut{
		X:        a.X,
		Y:        a.Y,
		Target:   a.Target,
		Frame:    a.Frame,
		Fidelity: primitives.FidelityOf(p),
		Dialog:   primitives.DialogOpenOn(p),
	}, nil
})
