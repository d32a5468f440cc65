package tools

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// pickTime bounds the wait for the list that a page draws, and pickAgain is how often it is looked for.
const (
	pickTime  = 3 * time.Second
	pickAgain = 100 * time.Millisecond
)

// drawnChoice is an option that the page draws and that has a wanted name.
type drawnChoice struct {
	Ref   string `json:"ref"`
	Owned bool   `json:"owned"` // it lies in what the control says is its own
}

// drawnList is what page.select says of an element that is no list of the browser.
type drawnList struct {
	Choices  [][]drawnChoice `json:"choices"` // of each wanted option
	Near     []string        `json:"near"`    // names of options that the control owns
	Expanded bool            `json:"expanded"`
}

// pick chooses from a list that the page draws itself. An option is clicked only where it lies in what the
// control owns, or came with a click on the control: another list may have the same word.
func (c *Call) pick(ctx context.Context, p page, in actIn) (json.RawMessage, runtime.Reply, *fault.Error) {
	control := map[string]any{}
	if err := in.target(control, "ref", "locator"); err != nil {
		return nil, runtime.Reply{}, err
	}
	before, err := c.drawn(ctx, p, in, control)
	if err != nil {
		return nil, runtime.Reply{}, err
	}
	var value json.RawMessage
	var r runtime.Reply
	for i, option := range in.Options {
		var ref string
		ref, err = c.optionOf(ctx, p, in, control, before, i)
		if err != nil {
			return nil, r, err.With("option", option).With("chosen", in.Options[:i])
		}
		args := map[string]any{"ref": ref, "timeout_ms": pickTime.Milliseconds()}
		if i == len(in.Options)-1 {
			args["effects"] = actEffects
		}
		value, r, err = c.do(ctx, p, "pointer.click", args, in.where)
		if err != nil {
			return value, r, err.With("option", option).With("chosen", in.Options[:i])
		}
	}
	return value, r, nil
}

// optionOf is the ref of a wanted option. The control is clicked when the list does not show it.
func (c *Call) optionOf(
	ctx context.Context, p page, in actIn, control map[string]any, before drawnList, i int,
) (string, *fault.Error) {
	now, err := c.drawn(ctx, p, in, control)
	if err != nil {
		return "", err
	}
	if ref, err := now.choice(before, i); ref != "" || err != nil {
		return ref, err
	}
	// The list may have been open already, and the click has closed it: a second one opens it.
	for range 2 {
		open := now.Expanded
		closed := false
		if _, _, err := c.do(ctx, p, "pointer.click", control, in.where); err != nil {
			return "", err
		}
		for end := time.Now().Add(pickTime); ; {
			now, err = c.drawn(ctx, p, in, control)
			if err != nil {
				return "", err
			}
			if ref, err := now.choice(before, i); ref != "" || err != nil {
				return ref, err
			}
			closed = open && !now.Expanded || before.shows(i) && !now.shows(i)
			if closed || time.Now().After(end) || !primitives.Pause(ctx, pickAgain) {
				break
			}
		}
		if !closed {
			break
		}
		if before.shows(i) {
			before.Choices[i] = nil // they went with the click, so they are its own
		}
	}
	return "", fault.New(fault.TargetNotFound, "a click on the control showed no such option of its own").
		With("options", now.Near).
		Next("look at the page: the list may open by typing, or belong to another control")
}

// choice is the one option that belongs to the control; "" for none yet.
func (l drawnList) choice(before drawnList, i int) (string, *fault.Error) {
	var owned, came []string
	if i >= len(l.Choices) {
		return "", nil
	}
	for _, choice := range l.Choices[i] {
		same := func(b drawnChoice) bool { return b.Ref == choice.Ref }
		was := i < len(before.Choices) && slices.ContainsFunc(before.Choices[i], same)
		switch {
		case choice.Owned:
			owned = append(owned, choice.Ref)
		case !was:
			came = append(came, choice.Ref)
		}
	}
	if len(owned) == 0 {
		owned = came
	}
	if len(owned) > 1 {
		return "", fault.New(fault.MultipleTargets, "several options of the list have this name; click one by its ref").
			With("candidates", owned)
	}
	if len(owned) == 0 {
		return "", nil
	}
	return owned[0], nil
}

// shows reports whether an option with the name is drawn.
func (l drawnList) shows(i int) bool { return i < len(l.Choices) && len(l.Choices[i]) > 0 }

// drawn asks which of the wanted options the page draws now.
func (c *Call) drawn(ctx context.Context, p page, in actIn, control map[string]any) (drawnList, *fault.Error) {
	args := map[string]any{"label": in.Options}
	for name, value := range control {
		args[name] = value
	}
	_, _, err := c.do(ctx, p, "page.select", args, in.where)
	if err == nil {
		return drawnList{}, fault.New(fault.PageNavigated, "the list was replaced while it was chosen from").
			Next("read the page before you repeat it")
	}
	if err.Evidence["reason"] != "not_a_list" {
		return drawnList{}, err
	}
	var list drawnList
	encoded, e := json.Marshal(err.Evidence)
	if e == nil {
		e = json.Unmarshal(encoded, &list)
	}
	if e != nil {
		return drawnList{}, fault.Translate(fault.Internal, e, "the page library gave another shape")
	}
	return list, nil
}
