package pointer

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
)

type pointerDoubleClickIn struct {
	actionability.Target
}

type pointerDoubleClickOut struct {
	DoubleClicked bool                     `json:"double_clicked"`
	X             float64                  `json:"x"`
	Y             float64                  `json:"y"`
	Target        json.RawMessage          `json:"target"`
	Frame         *actionability.Frame     `json:"frame,omitempty"`
	Fidelity      string                   `json:"fidelity"`
	Dialog        *primitives.OpenedDialog `json:"dialog,omitempty"`
	*actionability.Found
}

// pointerDoubleClick clicks twice, the second time with click count 2: that is
// what makes the browser dispatch dblclick and select a word.
var pointerDoubleClick = primitives.Define("pointer.double_click", func(
	ctx context.Context, p primitives.Page, in pointerDoubleClickIn,
) (pointerDoubleClickOut, error) {
	l, located, err := in.Element()
	if err != nil {
		return pointerDoubleClickOut{}, err
	}
	if located {
		h, err := actionability.Act(
			ctx, p, l, actionability.ForClick, in.Target, func(a actionability.ActionPoint) []primitives.MouseEvent {
				return actionability.ClickEvents(a, "left", 2, 0)
			}, 0,
		)
		if err != nil {
			return pointerDoubleClickOut{}, err
		}
		return pointerDoubleClickOut{
			DoubleClicked: true,
			X:             h.X,
			Y:             h.Y,
			Target:        h.Target,
			Frame:         h.Frame,
			Fidelity:      primitives.FidelityOf(p),
			Dialog:        primitives.DialogOpenOn(p),
			Found:         h.Found,
		}, nil
	}
	a, err := actionability.AtReached(ctx, p, in.X, in.Y)
	if err != nil {
		return pointerDoubleClickOut{}, err
	}
	if a.Target == nil {
		return pointerDoubleClickOut{}, actionability.NothingThere(in.X, in.Y)
	}
	if err := actionability.ClickAt(ctx, p, actionability.ClickEvents(a, "left", 2, 0), 0); err != nil {
		return pointerDoubleClickOut{}, err
	}
	return pointerDoubleClickOut{
		DoubleClicked: true,
		X:             a.X,
		Y:             a.Y,
		Target:        a.Target,
		Frame:         a.Frame,
		Fidelity:      primitives.FidelityOf(p),
		Dialog:        primitives.DialogOpenOn(p),
	}, nil
})
