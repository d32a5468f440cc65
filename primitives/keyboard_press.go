package primitives

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
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
	elementTarget
}

type keyboardPressOut struct {
	Pressed   bool        `json:"pressed"`
	Key       string      `json:"key"`
	Modifiers []string    `json:"modifiers"`
	Repeat    *int        `json:"repeat,omitempty"`
	Fidelity  string      `json:"fidelity"`
	Target    actedOn     `json:"target"` // what had the focus when the key went down
	Dialog    *seenDialog `json:"dialog,omitempty"`
}

// keyboardPress presses a key or chord. Modifiers go down as keys of their own
// before it and come up after it, also when it fails.
var keyboardPress = Define("keyboard.press", func(ctx context.Context, p Page, in keyboardPressIn) (keyboardPressOut, error) {
	c, err := chordOn(p, in.Key, in.Modifiers)
	if err != nil {
		return keyboardPressOut{}, err
	}
	l, named, err := oneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return keyboardPressOut{}, err
	}
	var target actedOn
	if named {
		if target, err = focusFirst(ctx, p, l, actTimeout(ctx, in.TimeoutMS), false); err != nil {
			return keyboardPressOut{}, err
		}
	}
	out := keyboardPressOut{Pressed: true, Key: c.Name, Modifiers: c.Modifiers, Fidelity: fidelityTrusted}
	if in.Trusted != nil && !*in.Trusted || in.Trusted == nil && QuirksOf(p).Has(quirks.SyntheticInput) {
		out.Fidelity = fidelitySynthetic
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
		if target, err = focusedTarget(ctx, p); err != nil {
			return keyboardPressOut{}, fault.Wrap(fault.TrustedKeyFailed, err, "looking for the focus")
		}
	}
	out.Target = target
	if repeat, err = pressChord(ctx, p, c, repeat); err != nil {
		return keyboardPressOut{}, fault.Wrap(fault.TrustedKeyFailed, err, "pressing the key")
	}
	out.Dialog = dialogOf(p)
	return out, nil
})

// pressChord sends discrete presses, never the browser's own auto-repeat. Each
// is handled before the gap to the next begins: a page that was busy would
// otherwise get several at once. It returns how many were sent: a dialog that
// one of them opens ends the series, because the page takes no more.
func pressChord(ctx context.Context, p Page, c chord, repeat int) (int, error) {
	down, up := holdModifiers(c.Mask)
	keyDown, keyUp := c.Hit.press(c.Mask)
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
		if err == nil && dialogOf(p) != nil {
			releaseKeys(ctx, p, up)
			return n, nil
		}
		if err == nil {
			err = waitFor(ctx, repeatGap)
		}
		if err != nil {
			releaseKeys(ctx, p, append([]KeyEvent{keyUp}, up...))
			return n, err
		}
		events = events[:0]
	}
}

// pressSynthetic dispatches a key press on the focused element. Upstream, which the
// quirk follows, knows no code of a key, takes its name as it was written, and stays in
// the main document.
func pressSynthetic(ctx context.Context, p Page, c chord) (actedOn, error) {
	down, _ := c.Hit.press(c.Mask)
	args := map[string]any{
		"key": down.Key, "code": down.Code,
		"alt": c.Mask&ModAlt != 0, "control": c.Mask&ModControl != 0, "meta": c.Mask&ModMeta != 0, "shift": c.Mask&ModShift != 0,
	}
	if QuirksOf(p).Has(quirks.SyntheticInput) {
		args["key"], args["code"], args["flat"] = c.Name, "", true
	}
	var out struct {
		Target actedOn `json:"target"`
	}
	err := callFocused(ctx, p, "keyboard_synthetic", args, &out)
	return out.Target, err
}
