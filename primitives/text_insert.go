package primitives

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

type textInsertIn struct {
	Text   coercedText   `json:"text"`
	Target *insertTarget `json:"target"`
	// Mode is "replace", or anything else to append.
	Mode string `json:"mode"`
	elementTarget
}

// insertTarget is a selector, a locator, or a locator below a member of that
// name.
type insertTarget struct {
	raw     json.RawMessage // as given, for evidence
	locator locator
}

func (t *insertTarget) UnmarshalJSON(b []byte) error {
	t.raw = bytes.Clone(b)
	if len(b) > 0 && b[0] == '"' {
		wrapped := append(append([]byte(`{"selector":`), b...), '}')
		return json.Unmarshal(wrapped, &t.locator)
	}
	var nested struct {
		Selector *string         `json:"selector"`
		Locator  json.RawMessage `json:"locator"`
	}
	if err := json.Unmarshal(b, &nested); err != nil {
		return err
	}
	// An own selector wins over a nested locator.
	if nested.Selector == nil && len(nested.Locator) > 0 && nested.Locator[0] == '{' {
		b = nested.Locator
	}
	return json.Unmarshal(b, &t.locator)
}

// textInsert puts text into an editable by script, because frameworks depend on
// the events of that path; text.type sends keys.
var textInsert = Define("text.insert", func(ctx context.Context, p Page, in textInsertIn) (json.RawMessage, error) {
	l, named, err := oneTarget(in.Locator, in.Ref, in.Target != nil, "target")
	if err != nil {
		return nil, err
	}
	target, timeout := in.Target, time.Duration(0)
	if named {
		target = &insertTarget{raw: l.raw, locator: l}
	}
	if named || in.TimeoutMS != nil {
		timeout = actTimeout(ctx, in.TimeoutMS)
	}
	return insertInTime(ctx, p, target, string(in.Text), in.Mode, timeout)
})

// insertInTime is insertText that waits for a target which is not there yet, is
// disabled or read-only. What takes no text ever fails at once.
func insertInTime(ctx context.Context, p Page, target *insertTarget, text, mode string, timeout time.Duration) (json.RawMessage, error) {
	out, err := insertText(ctx, p, target, text, mode)
	if err == nil || target == nil || timeout <= 0 || !mayBecomeEditable(err) {
		return out, err
	}
	if _, err := reach(ctx, p, target.locator, actAim{until: "attached", enabled: true, editable: true}, timeout, false); err != nil {
		return nil, err
	}
	return insertText(ctx, p, target, text, mode)
}

func mayBecomeEditable(err error) bool {
	f := fault.From(err)
	if f.Code != fault.TargetNotEditable {
		return isFrameFault(f.Code)
	}
	switch f.Evidence["reason"] {
	case "not_found", "disabled", "read_only":
		return true
	}
	return false
}

// insertText puts text into what target finds first, or, without a target, into
// what has the focus, following it into frames.
func insertText(ctx context.Context, p Page, target *insertTarget, text, mode string) (json.RawMessage, error) {
	ask := func(pressed []string, handle string) (out json.RawMessage, err error) {
		args := map[string]any{"text": text, "replace": mode == "replace"}
		if len(pressed) > 0 {
			args["pressed"], args["handle"] = pressed, handle
		}
		if target == nil {
			err = callFocused(ctx, p, "text_insert", args, &out)
		} else {
			err = target.locator.ask(ctx, p, "text_insert", args, &out)
		}
		return out, err
	}
	out, err := askPressing(ctx, p, text, ask)
	if err == nil || target == nil {
		return out, err
	}
	err = frameUnsaid(p, err, fault.TargetNotEditable)
	if f := fault.From(err); f.Code == fault.TargetNotEditable {
		return nil, f.With("target", target.raw)
	}
	return nil, err
}

// askPressing asks until the page library does not want anything pressed any
// more. What it may want, each once, is what only the browser's own input does in
// an editor with a model of its own: selecting everything and going to the end,
// also of what is not drawn, deleting the selection, and inserting text.
func askPressing(ctx context.Context, p Page, text string, ask func(pressed []string, handle string) (json.RawMessage, error)) (json.RawMessage, error) {
	var pressed []string
	var next struct {
		Press  string `json:"press"`
		Handle string `json:"handle"`
	}
	for {
		out, err := ask(pressed, next.Handle)
		if err != nil {
			return nil, err
		}
		next.Press, next.Handle = "", ""
		if err := json.Unmarshal(out, &next); err != nil {
			return nil, fault.Translate(fault.Internal, err, "the page library gave no object")
		}
		if next.Press == "" {
			return out, nil
		}
		if slices.Contains(pressed, next.Press) {
			return nil, fault.New(fault.Internal, "the page library wants the same pressed twice")
		}
		pressed = append(pressed, next.Press)
		if err := pressInEditor(ctx, p, next.Press, text); err != nil {
			return nil, err
		}
	}
}

// pressInEditor presses one of those, with the keys of the machine that the
// browser is on; that it is this one may be wrong, and what is selected is looked
// at afterwards.
func pressInEditor(ctx context.Context, p Page, what, text string) error {
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
		return fault.New(fault.Internal, "the page library wants something unknown pressed")
	}
	c, err := parseChord(name, nil)
	if err != nil {
		return err
	}
	_, err = pressChord(ctx, p, c, 1)
	return err
}
