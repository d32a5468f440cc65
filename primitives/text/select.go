package text

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type textSelectIn struct {
	Target *locator.SelectorOrLocator `json:"target"`
	// Mode has one value: all.
	Mode string `json:"mode"`
	// Text are the words to select instead of all; Nth says which where they are there more than once.
	Text *string `json:"text"`
	Nth  *int    `json:"nth"`
	actionability.ElementTarget
}

// textSelect selects the contents of an element, the value of a control
// included, or words of them.
var textSelect = primitives.Define("text.select", func(
	ctx context.Context, p primitives.Page, in textSelectIn,
) (json.RawMessage, error) {
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, in.Target != nil, "target")
	if err != nil {
		return nil, err
	}
	target := in.Target
	if named {
		target = &locator.SelectorOrLocator{Raw: l.Raw, Locator: l}
	}
	if in.Text != nil {
		return in.selectWords(ctx, p, target)
	}
	if in.Nth != nil {
		return nil, fault.New(fault.InvalidInput, "nth says which of the words of text is meant, and there is no text")
	}
	return callWithKeys(ctx, p, "", func(pressed []string, handle string) (out json.RawMessage, err error) {
		args := map[string]any{}
		if len(pressed) > 0 {
			args["pressed"], args["handle"] = pressed, handle
		}
		err = CallTarget(ctx, p, target, in.TimeoutMS, "select_text", args, &out)
		return out, err
	}, nil, nil)
})

// selectWords selects words of an element. In an editor that draws its own text, or that takes no selection from
// elsewhere, the pointer does it.
func (in textSelectIn) selectWords(
	ctx context.Context, p primitives.Page, target *locator.SelectorOrLocator,
) (json.RawMessage, error) {
	args := map[string]any{"text": *in.Text}
	if in.Nth != nil {
		args["nth"] = *in.Nth
	}
	var out map[string]json.RawMessage
	if err := CallTarget(ctx, p, target, in.TimeoutMS, "select_words", args, &out); err != nil {
		return nil, err
	}
	if out["handle"] == nil {
		return json.Marshal(out)
	}
	var drag struct {
		From   primitives.Point `json:"from"`
		To     primitives.Point `json:"to"`
		Handle string           `json:"handle"`
	}
	encoded, err := json.Marshal(out)
	if err == nil {
		err = json.Unmarshal(encoded, &drag)
	}
	if err != nil {
		return nil, fault.Translate(fault.Internal, err, "the page library gave another shape")
	}
	if err := p.Mouse(ctx, selectingEvents(drag.From, drag.To)...); err != nil {
		return nil, err
	}
	args["handle"] = drag.Handle
	out = nil
	if err := CallTarget(ctx, p, target, in.TimeoutMS, "select_words", args, &out); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// selectingEvents are the mouse events that select from one point to another.
func selectingEvents(from, to primitives.Point) []primitives.MouseEvent {
	event := func(kind primitives.MouseType, at primitives.Point, buttons int) primitives.MouseEvent {
		return primitives.MouseEvent{
			Type:       kind,
			X:          at.X,
			Y:          at.Y,
			Button:     "left",
			Buttons:    buttons,
			ClickCount: 1,
		}
	}
	left := actionability.ButtonBits["left"]
	between := primitives.Point{X: (from.X + to.X) / 2, Y: (from.Y + to.Y) / 2}
	out := []primitives.MouseEvent{{Type: primitives.MouseMoved, X: from.X, Y: from.Y}}
	out = append(out, event(primitives.MousePressed, from, left))
	for _, at := range []primitives.Point{between, to} {
		moved := event(primitives.MouseMoved, at, left)
		moved.ClickCount = 0
		out = append(out, moved)
	}
	return append(out, event(primitives.MouseReleased, to, 0))
}
