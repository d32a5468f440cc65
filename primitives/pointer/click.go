package pointer

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/quirks"
)

type pointerClickIn struct {
	actionability.Target
	Button    string   `json:"button"`
	Modifiers []string `json:"modifiers"`
}

type pointerClickOut struct {
	// Clicked means that the events were sent, not that they had an effect.
	Clicked   bool                     `json:"clicked"`
	X         float64                  `json:"x"`
	Y         float64                  `json:"y"`
	Modifiers []string                 `json:"modifiers"`
	Target    json.RawMessage          `json:"target"`
	Frame     *actionability.Frame     `json:"frame,omitempty"`
	Fidelity  string                   `json:"fidelity"`
	Dialog    *primitives.OpenedDialog `json:"dialog,omitempty"`
	// How the element of a locator was found; nil for a point.
	*actionability.Found
}

// pointerClick clicks whatever is at the point and says what that was, so that
// a caller whose target has been covered can see it. The description is made
// before the click; a page that reacts to the movement that precedes it can
// still put something else there.
var pointerClick = primitives.Define("pointer.click", func(
	ctx context.Context, p primitives.Page, in pointerClickIn,
) (pointerClickOut, error) {
	names, mods, badModifier := keys.ParseModifiers(in.Modifiers)
	button := in.Button
	if button == "" {
		button = "left"
	}
	l, located, err := in.Element()
	if err != nil {
		return pointerClickOut{}, err
	}
	if located {
		if badModifier != nil {
			return pointerClickOut{}, badModifier
		}
		h, err := actionability.Act(
			ctx, p, l, actionability.ForClick, in.Target, func(a actionability.ActionPoint) []primitives.MouseEvent {
				return actionability.ClickEvents(a, button, 1, mods)
			}, mods,
		)
		if err != nil {
			return pointerClickOut{}, err
		}
		return pointerClickOut{
			Clicked:   true,
			X:         h.X,
			Y:         h.Y,
			Modifiers: names,
			Target:    h.Target,
			Frame:     h.Frame,
			Fidelity:  primitives.FidelityOf(p),
			Dialog:    primitives.DialogOpenOn(p),
			Found:     h.Found,
		}, nil
	}
	a, err := actionability.AtReached(ctx, p, in.X, in.Y)
	switch {
	case err != nil:
		return pointerClickOut{}, err
	case badModifier != nil:
		return pointerClickOut{}, badModifier
	case a.Target == nil:
		return pointerClickOut{}, actionability.NothingThere(in.X, in.Y)
	}
	if err := actionability.ClickAt(ctx, p, actionability.ClickEvents(a, button, 1, mods), mods); err != nil {
		return pointerClickOut{}, err
	}
	if primitives.QuirksOf(p).Has(quirks.SyntheticInput) {
		// The extension describes its target when the click is over, and repeats modifiers as they came.
		// a click that replaces the document keeps the description before it
		_ = p.Call(ctx, "", "pointer_synthetic_target", nil, &a.Target)
		for i := range in.Modifiers {
			in.Modifiers[i] = strings.ToLower(in.Modifiers[i])
		}
		names = append([]string{}, in.Modifiers...)
	}
	return pointerClickOut{
		Clicked:   true,
		X:         a.X,
		Y:         a.Y,
		Modifiers: names,
		Target:    a.Target,
		Frame:     a.Frame,
		Fidelity:  primitives.FidelityOf(p),
		Dialog:    primitives.DialogOpenOn(p),
	}, nil
})
