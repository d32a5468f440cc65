package primitives

import (
	"context"
	"encoding/json"
)

type pointerClickIn struct {
	actTarget
	Button    string   `json:"button"`
	Modifiers []string `json:"modifiers"`
}

type pointerClickOut struct {
	// Clicked means that the events were sent, not that they had an effect.
	Clicked   bool            `json:"clicked"`
	X         float64         `json:"x"`
	Y         float64         `json:"y"`
	Modifiers []string        `json:"modifiers"`
	Target    json.RawMessage `json:"target"`
	Frame     *aimFrame       `json:"frame,omitempty"`
	Fidelity  string          `json:"fidelity"`
	Dialog    *seenDialog     `json:"dialog,omitempty"`
	// How the element of a locator was found; nil for a point.
	*actFound
}

// pointerClick presses whatever is at the point and says what that was, so that
// a caller whose target has been covered can tell. The description is made
// before the press; a page that reacts to the movement that precedes it can
// still put something else there.
var pointerClick = Define("pointer.click", func(ctx context.Context, p Page, in pointerClickIn) (pointerClickOut, error) {
	names, mods, badModifier := parseModifiers(in.Modifiers)
	button := in.Button
	if button == "" {
		button = "left"
	}
	l, located, err := in.element()
	if err != nil {
		return pointerClickOut{}, err
	}
	if located {
		if badModifier != nil {
			return pointerClickOut{}, badModifier
		}
		h, err := actOn(ctx, p, l, pressing, in.actTarget, func(a aim) []MouseEvent { return clickEvents(a, button, 1, mods) }, mods)
		if err != nil {
			return pointerClickOut{}, err
		}
		return pointerClickOut{
			Clicked: true, X: h.X, Y: h.Y, Modifiers: names, Target: h.Target, Frame: h.Frame, Fidelity: fidelityOf(p), Dialog: dialogOf(p), actFound: h.found,
		}, nil
	}
	a, err := takeAim(ctx, p, in.X, in.Y)
	switch {
	case err != nil:
		return pointerClickOut{}, err
	case badModifier != nil:
		return pointerClickOut{}, badModifier
	case a.Target == nil:
		return pointerClickOut{}, nothingThere(in.X, in.Y)
	}
	if err := pressAt(ctx, p, a, clickEvents(a, button, 1, mods), mods); err != nil {
		return pointerClickOut{}, err
	}
	return pointerClickOut{
		Clicked: true, X: a.X, Y: a.Y, Modifiers: names, Target: a.Target, Frame: a.Frame,
		Fidelity: fidelityOf(p), Dialog: dialogOf(p),
	}, nil
})
