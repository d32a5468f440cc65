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
	DoubleClicked bool `json:"double_clicked"`
	pressed
}

// pointerDoubleClick clicks twice, the second time with click count 2: that is
// what makes the browser dispatch dblclick and select a word.
var pointerDoubleClick = primitives.Define("pointer.double_click", func(
	ctx context.Context, p primitives.Page, in pointerDoubleClickIn,
) (pointerDoubleClickOut, error) {
	out, err := press(ctx, p, in.Target, func(a actionability.ActionPoint) []primitives.MouseEvent {
		return actionability.ClickEvents(a, "left", 2, 0)
	})
	return pointerDoubleClickOut{err == nil, out}, err
})

// pressed is where something was pressed, and what was there.
type pressed struct {
	X        float64                  `json:"x"`
	Y        float64                  `json:"y"`
	Target   json.RawMessage          `json:"target"`
	Frame    *actionability.Frame     `json:"frame,omitempty"`
	Fidelity string                   `json:"fidelity"`
	Dialog   *primitives.OpenedDialog `json:"dialog,omitempty"`
	// How the element of a locator was found; nil for a point.
	*actionability.Found
}

func pressedAt(p primitives.Page, a actionability.ActionPoint, found *actionability.Found) pressed {
	return pressed{
		X:        a.X,
		Y:        a.Y,
		Target:   a.Target,
		Frame:    a.Frame,
		Fidelity: primitives.FidelityOf(p),
		Dialog:   primitives.DialogOpenOn(p),
		Found:    found,
	}
}

// press sends events to an element, or to a point that has one.
func press(
	ctx context.Context, p primitives.Page, in actionability.Target,
	events func(actionability.ActionPoint) []primitives.MouseEvent,
) (pressed, error) {
	l, located, err := in.Element()
	if err != nil {
		return pressed{}, err
	}
	if located {
		h, err := actionability.Act(ctx, p, l, actionability.ForClick, in, events, 0)
		if err != nil {
			return pressed{}, err
		}
		return pressedAt(p, h.ActionPoint, h.Found), nil
	}
	a, err := actionability.AtReached(ctx, p, in.X, in.Y)
	if err != nil {
		return pressed{}, err
	}
	if a.Target == nil {
		return pressed{}, actionability.NothingThere(in.X, in.Y)
	}
	if err := actionability.ClickAt(ctx, p, events(a), 0); err != nil {
		return pressed{}, err
	}
	return pressedAt(p, a, nil), nil
}
