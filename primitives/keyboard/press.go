package keyboard

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// repeatGap is the time between two presses of a repeated key: editors that
// draw on a canvas merge presses closer than about 10 ms.
const repeatGap = 25 * time.Millisecond

type keyboardPressIn struct {
	Key       string   `json:"key"`
	Modifiers []string `json:"modifiers"`
	// Trusted is on unless it is explicitly false, which asks for events of the
	// page: listeners hear those, the browser does not act on them.
	Trusted *bool `json:"trusted"`
	// Repeat counts presses; nil is one. Only trusted presses repeat.
	Repeat *int `json:"repeat"`
	// The element that gets the focus first; none leaves the focus where it is.
	actionability.ElementTarget
}

type keyboardPressOut struct {
	Pressed   bool                     `json:"pressed"`
	Key       string                   `json:"key"`
	Modifiers []string                 `json:"modifiers"`
	Repeat    *int                     `json:"repeat,omitempty"`
	Fidelity  string                   `json:"fidelity"`
	Target    actionability.ActedOn    `json:"target"` // what had the focus when the key went down
	Dialog    *primitives.OpenedDialog `json:"dialog,omitempty"`
}

// FlatUpstream implements primitives.FlatUpstream.
func (o keyboardPressOut) FlatUpstream() bool { return o.Fidelity == primitives.FidelityTrusted }

// keyboardPress presses a key or chord. Modifiers go down as keys of their own
// before it and come up after it, also when it fails.
var keyboardPress = primitives.Define("keyboard.press", func(
	ctx context.Context, p primitives.Page, in keyboardPressIn,
) (keyboardPressOut, error) {
	c, err := keys.ParseChordOn(p, in.Key, in.Modifiers)
	if err != nil {
		return keyboardPressOut{}, err
	}
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return keyboardPressOut{}, err
	}
	var target actionability.ActedOn
	if named {
		focused, err := actionability.Focus(ctx, p, l, actionability.Timeout(ctx, in.TimeoutMS), false)
		if err != nil {
			return keyboardPressOut{}, err
		}
		target = focused.Target
	}
	out := keyboardPressOut{Pressed: true, Key: c.Name, Modifiers: c.Modifiers, Fidelity: primitives.FidelityTrusted}
	if in.Trusted != nil && !*in.Trusted || in.Trusted == nil && primitives.QuirksOf(p).Has(quirks.SyntheticInput) {
		out.Fidelity = primitives.FidelitySynthetic
		out.Target, err = pressSynthetic(ctx, p, c)
		return out, err
	}
	repeat := 1
	if in.Repeat != nil {
		repeat = *in.Repeat
	}
	out.Repeat = &repeat
	if repeat == 0 {
		out.Pressed, out.Target = false, target
		return out, nil
	}
	if target == nil {
		target, err = actionability.FocusedTarget(ctx, p)
		if err != nil {
			return keyboardPressOut{}, fault.Wrap(fault.TrustedKeyFailed, err, "looking for the focus")
		}
	}
	out.Target = target
	repeat, err = PressChord(ctx, p, c, repeat)
	if err != nil {
		return keyboardPressOut{}, fault.Wrap(fault.TrustedKeyFailed, err, "pressing the key")
	}
	out.Dialog = primitives.DialogOpenOn(p)
	return out, nil
})

// PressChord sends discrete presses, never the browser's own auto-repeat. Each
// is handled before the gap to the next begins: a page that was busy would
// otherwise get several at once. It returns how many were sent: a dialog that
// one of them opens ends the series, because the page takes no more.
func PressChord(ctx context.Context, p primitives.Page, c keys.Chord, repeat int) (int, error) {
	down, up := keys.PressModifiers(c.Mask &^ c.Flags)
	keyDown, keyUp := c.Hit.Events(c.Mask)
	events := down
	for n := 1; ; n++ {
		events = append(events, keyDown, keyUp)
		last := n == repeat
		if last {
			events = append(events, up...)
		}
		err := p.Keys(ctx, events...)
		if err == nil && last {
			return n, nil
		}
		if err == nil && primitives.DialogOpenOn(p) != nil {
			keys.ReleaseKeys(ctx, p, up)
			return n, nil
		}
		if err == nil {
			err = primitives.Sleep(ctx, repeatGap)
		}
		if err != nil {
			keys.ReleaseKeys(ctx, p, append([]primitives.KeyEvent{keyUp}, up...))
			return n, err
		}
		events = events[:0]
	}
}

// pressSynthetic dispatches a key press on the focused element. Upstream, which the
// quirk follows, knows no code of a key, takes its name as it was written, and stays in
// the main document.
func pressSynthetic(ctx context.Context, p primitives.Page, c keys.Chord) (actionability.ActedOn, error) {
	down, _ := c.Hit.Events(c.Mask)
	args := map[string]any{
		"key":     down.Key,
		"code":    down.Code,
		"alt":     c.Mask&primitives.ModAlt != 0,
		"control": c.Mask&primitives.ModControl != 0,
		"meta":    c.Mask&primitives.ModMeta != 0,
		"shift":   c.Mask&primitives.ModShift != 0,
	}
	if primitives.QuirksOf(p).Has(quirks.SyntheticInput) {
		args["key"] = c.Name
		args["code"] = ""
		args["flat"] = true
	}
	var out struct {
		Target actionability.ActedOn `json:"target"`
	}
	err := locator.CallFocused(ctx, p, "keyboard_synthetic", args, &out)
	return out.Target, err
}
