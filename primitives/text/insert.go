package text

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keyboard"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
)

type textInsertIn struct {
	Text   arguments.Text             `json:"text"`
	Target *locator.SelectorOrLocator `json:"target"`
	// Mode is "replace", or anything else to append.
	Mode string `json:"mode"`
	// Drawn leaves what no person sees alone.
	Drawn bool `json:"drawn"`
	actionability.ElementTarget
}

// textInsert has the browser put text into a control or an editor as one insertion. An
// editor that refuses it gets a paste; text.type sends keys.
var textInsert = primitives.Define("text.insert", func(
	ctx context.Context, p primitives.Page, in textInsertIn,
) (json.RawMessage, error) {
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, in.Target != nil, "target")
	if err != nil {
		return nil, err
	}
	target := in.Target
	if named {
		target = &locator.SelectorOrLocator{Raw: l.Raw, Locator: l}
	}
	what := insertion{text: string(in.Text), mode: in.Mode, drawn: in.Drawn, located: named}
	return insertInTime(ctx, p, target, what, in.TimeoutMS)
})

// insertion is a text that goes into a target, and how.
type insertion struct {
	text, mode string
	drawn      bool
	// located: the target was given as a locator or a ref, whose errors are those of every action on one.
	located bool
}

// insertInTime is an insertion that waits for a target which is not there yet, is
// disabled, read-only, or not drawn yet. What takes no text ever fails at once.
func insertInTime(
	ctx context.Context, p primitives.Page, target *locator.SelectorOrLocator, in insertion, timeoutMS *int,
) (json.RawMessage, error) {
	out, err := in.into(ctx, p, target)
	if err == nil || target == nil || !mayBecomeEditable(err) || !in.located && !awaited(p, target) {
		return out, err
	}
	timeout := actionability.Timeout(ctx, timeoutMS)
	if timeout <= 0 {
		return out, err
	}
	if fault.CodeOf(err) == fault.TargetNotActionable {
		if _, late := actionability.Resolve(
			ctx, p, target.Locator,
			actionability.Requirements{Until: "drawn", Enabled: true, Editable: true}, timeout, false,
		); late != nil {
			return nil, err // which says what is drawn instead
		}
		return in.into(ctx, p, target)
	}
	ready := actionability.Requirements{Until: "attached", Enabled: true, Editable: true}
	if _, late := actionability.Resolve(ctx, p, target.Locator, ready, timeout, false); late != nil {
		if in.located || ctx.Err() != nil {
			return nil, late
		}
		return nil, err
	}
	return in.into(ctx, p, target)
}

func mayBecomeEditable(err error) bool {
	f := fault.From(err)
	if f.Code == fault.TargetNotActionable {
		return f.Evidence["reason"] == "hidden"
	}
	if f.Code != fault.TargetNotEditable {
		return locator.IsFrameFault(f.Code)
	}
	switch f.Evidence["reason"] {
	case "not_found", "disabled", "read_only":
		return true
	}
	return false
}

// InsertText puts text into what target finds first, for which it waits, or, without a target, into
// what has the focus, following it into frames.
func InsertText(
	ctx context.Context, p primitives.Page, target *locator.SelectorOrLocator, text, mode string, timeoutMS *int,
) (json.RawMessage, error) {
	return insertInTime(ctx, p, target, insertion{text: text, mode: mode}, timeoutMS)
}

func (in insertion) into(
	ctx context.Context, p primitives.Page, target *locator.SelectorOrLocator,
) (json.RawMessage, error) {
	w := newInsertionWatch(p)
	defer w.end()
	query := func(pressed []string, handle string) (out json.RawMessage, err error) {
		args := map[string]any{"text": in.text, "replace": in.mode == "replace", "watch": w.id}
		if in.drawn {
			args["drawn"] = true
		}
		if len(pressed) > 0 {
			args["pressed"], args["handle"] = pressed, handle
		} else {
			args["read_ms"] = (actionability.Timeout(ctx, nil) / 2).Milliseconds()
		}
		if target == nil {
			err = locator.CallFocused(ctx, p, "text_insert", args, &out)
			return out, err
		}
		at, err := target.Locator.Enter(ctx, p)
		if err != nil {
			return nil, err
		}
		args["locator"] = target.Locator
		if at.View != nil {
			args["view"] = at.View
		}
		w.frame, w.placed = at.Frame, true
		err = target.Locator.EvaluateIn(
			primitives.WhenSent(ctx, func() { w.begin(ctx) }), p, at.Frame, "text_insert", args, &out,
		)
		return out, err
	}
	var held func(ctx context.Context, handle string) error
	if target != nil {
		held = func(ctx context.Context, handle string) error { return keysHeld(ctx, p, w.frame, handle) }
	}
	out, err := callWithKeys(ctx, p, in.text, query, w.insert, held)
	if err == nil {
		return out, nil
	}
	w.drop(ctx)
	if target == nil {
		if f := fault.From(err); f.Code == fault.TargetNotEditable {
			return nil, f.With("target", nil)
		}
		return nil, err
	}
	err = locator.MaskFrameFault(p, err, fault.TargetNotEditable)
	if f := fault.From(err); f.Code == fault.TargetNotEditable {
		return nil, f.With("target", target.Raw)
	}
	return nil, err
}

// callWithKeys repeats the page call until the page library wants no more keys. It may
// want, each once, what only the browser's own input does in an editor with a model of
// its own. These are selecting everything and moving to the end, also of what is not
// drawn, deleting the selection, and inserting text. Where the page library watches what
// is inserted, insert ends the call.
func callWithKeys(ctx context.Context, p primitives.Page, text string, query func(
	pressed []string, handle string,
) (json.RawMessage, error),
	insert func(ctx context.Context, text string) (json.RawMessage, error),
	held func(ctx context.Context, handle string) error) (json.RawMessage, error) {
	var pressed []string
	var next struct {
		Press  string `json:"press"`
		Handle string `json:"handle"`
		// Text is the text to insert, when it is not all of it.
		Text    *string `json:"text"`
		Watched bool    `json:"watched"`
	}
	for {
		out, err := query(pressed, next.Handle)
		if err != nil {
			return nil, err
		}
		next.Press = ""
		next.Handle = ""
		next.Text = nil
		next.Watched = false
		if err := json.Unmarshal(out, &next); err != nil {
			return nil, fault.Translate(fault.Internal, err, "the page library gave no object")
		}
		if next.Press == "" {
			return out, nil
		}
		if slices.Contains(pressed, next.Press) {
			return nil, fault.New(fault.Internal, "the page library wants the same keys pressed twice")
		}
		pressed = append(pressed, next.Press)
		if next.Text != nil {
			text = *next.Text
		}
		if next.Watched {
			return insert(ctx, text)
		}
		if held != nil {
			if err := held(ctx, next.Handle); err != nil {
				return nil, err
			}
		}
		if err := pressInEditor(ctx, p, next.Press, text); err != nil {
			return nil, err
		}
	}
}

// keysHeld fails with target_not_editable when keys would go to another element than the one of the handle.
func keysHeld(ctx context.Context, p primitives.Page, frame primitives.FrameID, handle string) error {
	var now struct {
		Held bool `json:"held"`
	}
	if err := p.Call(ctx, frame, "keys_held", map[string]any{"handle": handle}, &now); err != nil {
		return err
	}
	if !now.Held {
		return fault.New(fault.TargetNotEditable, "the element did not keep the focus, so no key was pressed").
			With("reason", "focus_moved")
	}
	return nil
}

// pressInEditor presses one of those, with the keys of the machine that the
// browser is on. It assumes this machine, which may be wrong, so what is selected
// is checked afterwards.
func pressInEditor(ctx context.Context, p primitives.Page, what, text string) error {
	var name string
	mac := runtime.GOOS == "darwin"
	switch {
	case what == "insert":
		return p.InsertText(ctx, text)
	case what == "delete":
		name = "Delete"
	case what == "select_all" && mac:
		name = "Meta+A"
	case what == "select_all":
		name = "Control+A"
	case what == "end" && mac:
		name = "Meta+ArrowDown"
	case what == "end":
		name = "Control+End"
	default:
		return fault.New(fault.Internal, "the page library wants unknown keys pressed")
	}
	c, err := keys.ParseChord(name, nil)
	if err != nil {
		return err
	}
	_, err = keyboard.PressChord(ctx, p, c, 1)
	return err
}
