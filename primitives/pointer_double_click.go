package primitives

import (
	"context"
	"encoding/json"
)

type pointerDoubleClickIn struct {
	actTarget
}

type pointerDoubleClickOut struct {
	DoubleClicked bool            `json:"double_clicked"`
	X             float64         `json:"x"`
	Y             float64         `json:"y"`
	Target        json.RawMessage `json:"target"`
	Frame         *aimFrame       `json:"frame,omitempty"`
	Fidelity      string          `json:"fidelity"`
	Dialog        *seenDialog     `json:"dialog,omitempty"`
	*actFound
}

// pointerDoubleClick presses twice, the second time with click count 2: that is
// what makes the browser dispatch dblclick and select a word.
var pointerDoubleClick = Define("pointer.double_click", func(ctx context.Context, p Page, in pointerDoubleClickIn) (pointerDoubleClickOut, error) {
	l, located, err := in.element()
	if err != nil {
		return pointerDoubleClickOut{}, err
	}
	if located {
		h, err := actOn(ctx, p, l, pressing, in.actTarget, func(a aim) []MouseEvent { return clickEvents(a, "left", 2, 0) }, 0)
		if err != nil {
			return pointerDoubleClickOut{}, err
		}
		return pointerDoubleClickOut{
			DoubleClicked: true, X: h.X, Y: h.Y, Target: h.Target, Frame: h.Frame, Fidelity: fidelityOf(p), Dialog: dialogOf(p), actFound: h.found,
		}, nil
	}
	a, err := takeAim(ctx, p, in.X, in.Y)
	if err != nil {
		return pointerDoubleClickOut{}, err
	}
	if a.Target == nil {
		return pointerDoubleClickOut{}, nothingThere(in.X, in.Y)
	}
	if err := pressAt(ctx, p, a, clickEvents(a, "left", 2, 0), 0); err != nil {
		return pointerDoubleClickOut{}, err
	}
	return pointerDoubleClickOut{
		DoubleClicked: true, X: a.X, Y: a.Y, Target: a.Target, Frame: a.Frame,
		Fidelity: fidelityOf(p), Dialog: dialogOf(p),
	}, nil
})
