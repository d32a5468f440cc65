package pointer

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
)

type pointerTapIn struct {
	actionability.Target
}

type pointerTapOut struct {
	Tapped   bool                     `json:"tapped"`
	X        float64                  `json:"x"`
	Y        float64                  `json:"y"`
	Target   json.RawMessage          `json:"target"`
	Frame    *actionability.Frame     `json:"frame,omitempty"`
	Fidelity string                   `json:"fidelity"`
	Dialog   *primitives.OpenedDialog `json:"dialog,omitempty"`
	*actionability.Found
}

// pointerTap touches with one finger, as on a phone: the page gets touch and pointer events of a touch, and then
// the click that the browser makes of them, unless the page prevents it.
var pointerTap = primitives.Define("pointer.tap", func(
	ctx context.Context, p primitives.Page, in pointerTapIn,
) (pointerTapOut, error) {
	p = primitives.TrustedInput(p) // upstream has no touch to be like
	l, located, err := in.Element()
	if err != nil {
		return pointerTapOut{}, err
	}
	if located {
		h, err := actionability.Act(
			ctx, p, l, actionability.ForClick, in.Target, func(a actionability.ActionPoint) []primitives.MouseEvent {
				return touch(a)
			}, 0,
		)
		if err != nil {
			return pointerTapOut{}, err
		}
		return pointerTapOut{
			Tapped:   true,
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
		return pointerTapOut{}, err
	}
	if a.Target == nil {
		return pointerTapOut{}, actionability.NothingThere(in.X, in.Y)
	}
	if err := actionability.ClickAt(ctx, p, touch(a), 0); err != nil {
		return pointerTapOut{}, err
	}
	return pointerTapOut{
		Tapped:   true,
		X:        a.X,
		Y:        a.Y,
		Target:   a.Target,
		Frame:    a.Frame,
		Fidelity: primitives.FidelityOf(p),
		Dialog:   primitives.DialogOpenOn(p),
	}, nil
})

func touch(a actionability.ActionPoint) []primitives.MouseEvent {
	return []primitives.MouseEvent{{Type: primitives.Touched, X: a.X, Y: a.Y}}
}
