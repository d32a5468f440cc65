package text

import (
	"context"
	"time"
	"unicode/utf16"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keyboard"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

type textTypeIn struct {
	Text    arguments.Text `json:"text"`
	Trusted bool           `json:"trusted"`
	// Mode is for the path that is not trusted: "replace", anything else
	// appends.
	Mode string `json:"mode"`
	// SelectBackChars extends the selection to the left before typing, so that
	// the text replaces that many characters. Trusted only.
	SelectBackChars float64 `json:"select_back_chars"`
	// DelayMS is the time between two characters. Trusted only.
	DelayMS int `json:"delay_ms"`
	// Caret "end" puts the caret after what the element holds. Trusted, with a
	// target, and only into what takes text.
	Caret string `json:"caret"`
	// The element that gets the focus first; none leaves the focus where it is.
	actionability.ElementTarget
}

// textTypeOut is the trusted result; the other path answers as text.insert.
type textTypeOut struct {
	Typed        bool                     `json:"typed"`
	Length       int                      `json:"length"` // UTF-16 units
	SelectedBack int                      `json:"selected_back"`
	Fidelity     string                   `json:"fidelity"`
	Target       actionability.ActedOn    `json:"target"` // what had the focus when the typing began
	Dialog       *primitives.OpenedDialog `json:"dialog,omitempty"`
}

// FlatUpstream implements primitives.FlatUpstream.
func (textTypeOut) FlatUpstream() bool { return true }

// textType types at the focus. Trusted typing sends key events per code point
// and never the browser's text insertion, which editors that draw on a canvas
// drop while something is selected.
var textType = primitives.Define("text.type", func(ctx context.Context, p primitives.Page, in textTypeIn) (any, error) {
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return nil, err
	}
	if !in.Trusted {
		if named {
			target := &locator.SelectorOrLocator{Raw: l.Raw, Locator: l}
			what := insertion{text: string(in.Text), mode: in.Mode, located: true}
			return insertInTime(ctx, p, target, what, in.TimeoutMS)
		}
		return InsertText(ctx, p, nil, string(in.Text), in.Mode, nil)
	}
	var target actionability.ActedOn
	switch {
	case !named:
		target, err = actionability.FocusedForText(ctx, p)
	case in.Caret == "end":
		target, err = caretToEnd(ctx, p, l, actionability.Timeout(ctx, in.TimeoutMS))
	default:
		var focused actionability.Focused
		focused, err = actionability.Focus(ctx, p, l, actionability.Timeout(ctx, in.TimeoutMS), true)
		target = focused.Target
	}
	if err != nil {
		return nil, err
	}
	back := int(in.SelectBackChars)
	if back > 0 {
		left, err := keys.ParseChord("Shift+ArrowLeft", nil)
		if err != nil {
			return nil, err
		}
		back, err = keyboard.PressChord(ctx, p, left, back)
		if err != nil {
			return nil, fault.Wrap(fault.TrustedTextFailed, err, "selecting back")
		}
	}
	events := typingEvents
	if primitives.QuirksOf(p).Has(quirks.TypesVerbatim) {
		events = verbatimEvents
	}
	presses, err := events(string(in.Text))
	if err != nil {
		return nil, err
	}
	if err := typeText(ctx, p, presses, time.Duration(in.DelayMS)*time.Millisecond); err != nil {
		return nil, err
	}
	return textTypeOut{
		Typed:        true,
		Length:       Utf16Length(string(in.Text)),
		SelectedBack: back,
		Fidelity:     primitives.FidelityTrusted,
		Target:       target,
		Dialog:       primitives.DialogOpenOn(p),
	}, nil
})

// typeBatch is how many characters are sent before their events are awaited: a
// cancelled call then stops within a moment, and the browser's queue stays
// short.
const typeBatch = 256

// typeText sends presses in pipelined batches. With a delay each is awaited.
func typeText(ctx context.Context, p primitives.Page, presses []primitives.KeyEvent, delay time.Duration) error {
	batch := 2 * typeBatch
	if delay > 0 {
		batch = 2
	}
	for sent := 0; sent < len(presses); {
		if sent > 0 {
			if err := primitives.Sleep(ctx, delay); err != nil {
				return fault.Wrap(fault.TrustedTextFailed, err, "typing").
					With("characters_sent_before", sent/2).With("characters", len(presses)/2)
			}
		}
		n := min(batch, len(presses)-sent)
		if err := p.Keys(ctx, presses[sent:sent+n]...); err != nil {
			f := fault.Wrap(fault.TrustedTextFailed, err, "typing")
			return f.With("characters_sent_before", sent/2).With("characters", len(presses)/2)
		}
		sent += n
	}
	return nil
}

// typingEvents has one press per code point. A line break is Enter and a tab is
// Tab, as a person would type them.
func typingEvents(text string) ([]primitives.KeyEvent, error) {
	runes := []rune(text)
	events := make([]primitives.KeyEvent, 0, 2*len(runes))
	for i, r := range runes {
		if r == '\n' && i > 0 && runes[i-1] == '\r' {
			continue // one line break
		}
		hit, ok := keys.Find(string(r))
		if !ok {
			return nil, fault.New(fault.InvalidInput, "the text has a control character that no key types").
				With("position", i).With("code_point", int(r))
		}
		down, up := hit.Events(0)
		events = append(events, down, up)
	}
	return events, nil
}

// verbatimEvents is typingEvents with quirks.TypesVerbatim: what is on no key of
// the table is a key that has itself as text.
func verbatimEvents(text string) ([]primitives.KeyEvent, error) {
	var events []primitives.KeyEvent
	for _, r := range text {
		down := primitives.KeyEvent{Type: primitives.KeyDown, Key: string(r), Text: string(r)}
		up := primitives.KeyEvent{Type: primitives.KeyUp, Key: string(r)}
		if hit, ok := keys.Find(string(r)); ok && r >= ' ' {
			down, up = hit.Events(0)
		}
		events = append(events, down, up)
	}
	return events, nil
}

// Utf16Length is the length that JavaScript would report.
func Utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// caretToEnd focuses an element that takes text and puts the caret at its end.
// Controls without a selection, such as numbers, get the End key, editors the one
// for the end of all they hold, which may not be drawn.
func caretToEnd(
	ctx context.Context, p primitives.Page, l locator.Locator, timeout time.Duration,
) (actionability.ActedOn, error) {
	f, err := actionability.Focus(ctx, p, l, timeout, true)
	if err != nil {
		return nil, err
	}
	var out struct {
		Placed bool `json:"placed"`
		Whole  bool `json:"whole"`
	}
	if err := p.Call(ctx, f.At.Frame, "caret_end", map[string]any{"handle": f.Handle}, &out); err != nil {
		return nil, err
	}
	if out.Placed {
		return f.Target, f.Held(ctx, p) // a page can move the focus when the selection changes
	}
	if out.Whole {
		err = pressInEditor(ctx, p, "end", "")
	} else {
		err = pressEnd(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return f.Target, f.Held(ctx, p)
}

// pressEnd moves the caret of a control without a selection to the end of its line.
func pressEnd(ctx context.Context, p primitives.Page) error {
	end, err := keys.ParseChord("End", nil)
	if err != nil {
		return err
	}
	_, err = keyboard.PressChord(ctx, p, end, 1)
	return err
}
