package keyboard

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/session"
)

const (
	// gateDwell is how long an editor gets, after each press, to report what the
	// press did. No event announces that its report is complete.
	gateDwell      = 40 * time.Millisecond
	defaultPresses = 200
)

type keyboardPressGatedIn struct {
	Key       string                      `json:"key"`
	Modifiers []string                    `json:"modifiers"`
	Stop      string                      `json:"stop"`
	Count     *int                        `json:"count"`
	Expect    arguments.OneOrMore[string] `json:"expect"`
	Polarity  arguments.OneOrMore[string] `json:"polarity"`
	// MaxPresses ends the series without an error; nil is 200.
	MaxPresses *int `json:"max_presses"`
}

type keyboardPressGatedOut struct {
	OK bool `json:"ok"`
	// Stop is the mode, or "partial" when max_presses or a dialog ended it.
	Stop string `json:"stop"`
	// StepsDone leaves out the press that did not match, although the key was
	// pressed.
	StepsDone int                   `json:"steps_done"`
	Final     string                `json:"final_a11y,omitempty"`
	Halted    bool                  `json:"halted,omitempty"`
	Expected  string                `json:"expected,omitempty"`
	Actual    *string               `json:"actual,omitempty"` // with Halted, also when it is empty
	Reason    string                `json:"reason,omitempty"`
	Fidelity  string                `json:"fidelity"`
	Target    actionability.ActedOn `json:"target"` // what had the focus before the first press
}

// keyboardPressGated presses on while the accessibility layer confirms each
// press. Where editors merge fast presses, counting is a guess and this is not.
var keyboardPressGated = primitives.Define("keyboard.press_gated", func(
	ctx context.Context, p primitives.Page, in keyboardPressGatedIn,
) (keyboardPressGatedOut, error) {
	g, err := newGate(p, in)
	if err != nil {
		return keyboardPressGatedOut{}, err
	}
	if len(in.Expect) > 0 {
		if err := p.Call(ctx, "", "gate_check", map[string]any{"expect": in.Expect}, nil); err != nil {
			return keyboardPressGatedOut{}, err
		}
	}
	return g.run(ctx, p)
})

type gate struct {
	in   keyboardPressGatedIn
	c    keys.Chord
	most int
}

func newGate(p primitives.Page, in keyboardPressGatedIn) (gate, error) {
	g := gate{in: in, most: defaultPresses}
	if in.MaxPresses != nil {
		g.most = *in.MaxPresses
	}
	bad := func(what string) error {
		return fault.New(fault.InvalidArguments, "%s", what).With("stop", in.Stop)
	}
	switch {
	case in.Stop == "count" && in.Count == nil:
		return g, bad("stop count needs count")
	case in.Stop == "until" && len(in.Expect) != 1:
		return g, bad("stop until needs exactly one expect")
	case in.Stop == "path" && len(in.Expect) == 0:
		return g, bad("stop path needs a list of expect")
	}
	var err error
	g.c, err = keys.ParseChordOn(p, in.Key, in.Modifiers)
	return g, err
}

func (g gate) run(ctx context.Context, p primitives.Page) (keyboardPressGatedOut, error) {
	out := keyboardPressGatedOut{OK: true, Stop: g.in.Stop, Fidelity: primitives.FidelityTrusted}
	var err error
	out.Target, err = actionability.FocusedTarget(ctx, p)
	if err != nil {
		return out, err
	}
	for presses := 0; !g.complete(out.StepsDone); presses++ {
		if presses == g.most {
			if g.in.Stop != "count" {
				out.Stop, out.Reason = "partial", "max_presses"
			}
			return out, nil
		}
		if _, err := PressChord(ctx, p, g.c, 1); err != nil {
			return out, fault.Wrap(fault.TrustedKeyFailed, err, "pressing the key")
		}
		if primitives.DialogOpenOn(p) != nil {
			out.StepsDone++
			out.Stop, out.Reason = "partial", "dialog"
			return out, nil
		}
		if g.in.Stop == "count" {
			if err := primitives.Sleep(ctx, gateDwell); err != nil {
				return out, err
			}
			out.StepsDone++
			continue
		}
		// A document that the press replaced dwells no longer; the next read is of the new one.
		if err := locator.CallFocused(
			ctx, p, "gate_dwell", map[string]any{"ms": gateDwell.Milliseconds()}, nil,
		); err != nil && ctx.Err() != nil {
			return out, err
		}
		step := min(out.StepsDone, len(g.in.Expect)-1)
		expect := g.in.Expect[step]
		said, err := g.listen(ctx, p, expect)
		if err != nil {
			return out, err
		}
		agreed := said.Matched == (g.polarity(step) == "match")
		switch {
		case g.in.Stop == "until":
			out.StepsDone++
			out.Final = said.Spoken
			if agreed {
				return out, nil
			}
		case agreed && said.Spoken != "":
			out.StepsDone++
		default:
			out.OK = false
			out.Halted = true
			out.Expected = expect
			out.Actual = &said.Spoken
			// A caller outside of a workflow sees the error alone, so it says
			// what the payload does.
			e := fault.New(fault.StateMismatch, "after press %d the page says something else than expected", presses+1).
				With("halted", true).With("stop", out.Stop).With("steps_done", out.StepsDone).
				With("expected", primitives.CutText(expect, 200)).With("actual", primitives.CutText(said.Spoken, 200))
			if said.Spoken == "" {
				out.Reason = "empty_read"
				e = e.With("reason", out.Reason)
			}
			return out, primitives.Failed(e.Next("the key was pressed; read where the caret is before going on"))
		}
	}
	return out, nil
}

// complete reports whether the mode's own goal is reached; until has none.
func (g gate) complete(done int) bool {
	switch g.in.Stop {
	case "count":
		return done >= *g.in.Count
	case "path":
		return done == len(g.in.Expect)
	}
	return false
}

func (g gate) polarity(step int) string {
	if n := len(g.in.Polarity); n > 0 {
		return g.in.Polarity[min(step, n-1)]
	}
	return "match"
}

type spokenText struct {
	Spoken  string `json:"spoken"`
	Matched bool   `json:"matched"`
}

func (g gate) listen(ctx context.Context, p primitives.Page, expect string) (spokenText, error) {
	var said spokenText
	args := map[string]any{"expect": expect}
	if s, ok := p.(session.Page); ok {
		args["fallback"] = s.Session().Announcements().Last(p.Tab().ID)
	}
	err := locator.CallFocused(ctx, p, "gate", args, &said)
	return said, err
}
