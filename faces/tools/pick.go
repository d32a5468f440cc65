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

const (
	// pickTime bounds the wait for the list that a page draws, and pickAgain is how often it is looked for.
	pickTime  = 3 * time.Second
	pickAgain = 100 * time.Millisecond
	// pickSame is how often a list has to look the same until it has all it will have.
	pickSame = 3
	// typedFirst is how long a control that takes text is waited for until its text is typed.
	typedFirst = 500 * time.Millisecond
)

// drawnChoice is an option that the page draws and that has a wanted name.
type drawnChoice struct {
	Ref   string `json:"ref"`
	Owned bool   `json:"owned"` // it lies in what the control says is its own
}

// drawnList is the evidence of page.select about an element that is no list of the browser.
type drawnList struct {
	Choices  [][]drawnChoice `json:"choices"` // of each wanted option
	Parts    [][]drawnChoice `json:"parts"`   // whose name has the wanted words
	Near     []string        `json:"near"`    // names of options that the control owns, the nearest
	Shown    []string        `json:"shown"`   // of all options that are drawn
	Count    int             `json:"count"`   // of options that are drawn
	Typed    string          `json:"typed"`   // where text is typed to find an option
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
		if err != nil && err.Code == fault.ElementStale && err.Evidence["input_sent"] != true {
			// A list may be drawn anew while it opens. Nothing was clicked, so the option is looked for again.
			args["ref"], err = c.optionAgain(ctx, p, in, control, before, i, err)
			if err == nil {
				value, r, err = c.do(ctx, p, "pointer.click", args, in.where)
			}
		}
		if err != nil {
			return value, r, err.With("option", option).With("chosen", in.Options[:i])
		}
	}
	return value, r, nil
}

// optionAgain is the ref of an option that was drawn anew; else gone, which says that it is not there.
func (c *Call) optionAgain(
	ctx context.Context, p page, in actIn, control map[string]any, before drawnList, i int, gone *fault.Error,
) (string, *fault.Error) {
	now, err := c.drawn(ctx, p, in, control)
	if err != nil {
		return "", err
	}
	ref, err := now.choice(before, i)
	if ref == "" && err == nil {
		err = gone
	}
	return ref, err
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
		if _, _, err := c.do(ctx, p, "pointer.click", control, in.where); err != nil {
			if err.Evidence["reason"] == "covered" {
				if _, ref, _ := c.openedByKeys(ctx, p, in, control, before, i); ref != "" {
					return ref, nil
				}
			}
			return "", err
		}
		most := pickTime
		if now.Typed != "" {
			most = typedFirst
		}
		var ref string
		closed := func(now drawnList) bool {
			return open && !now.Expanded || before.shows(i) && !now.shows(i)
		}
		now, ref, err = c.listed(ctx, p, in, control, before, i, most, closed)
		if ref != "" || err != nil {
			return ref, err
		}
		if !closed(now) {
			break
		}
		if before.shows(i) {
			before.Choices[i] = nil // they went with the click, so they are its own
		}
	}
	if now.Count <= before.Count && !now.Expanded && len(now.Near) == 0 {
		listed, ref, opened := c.openedByKeys(ctx, p, in, control, before, i)
		if ref != "" {
			return ref, nil
		}
		if opened {
			now = listed
		}
	}
	if now.Typed == "" {
		return "", now.noOption(before)
	}
	return c.typedOption(ctx, p, in, control, before, i, now)
}

// openedByKeys opens the list of a control with the keys that every such control has for it: a click did not, since
// what has the focus is drawn as something else. It reports whether that showed more.
func (c *Call) openedByKeys(
	ctx context.Context, p page, in actIn, control map[string]any, before drawnList, i int,
) (now drawnList, ref string, opened bool) {
	if _, _, err := c.do(ctx, p, "dom.focus", control, in.where); err != nil {
		return now, "", false
	}
	open := map[string]any{"key": "ArrowDown", "modifiers": []string{"Alt"}, "trusted": true}
	if _, _, err := c.do(ctx, p, "keyboard.press", open, in.where); err != nil {
		return now, "", false
	}
	never := func(drawnList) bool { return false }
	now, ref, err := c.listed(ctx, p, in, control, before, i, typedFirst, never)
	return now, ref, err == nil && now.Count > before.Count
}

// listed waits for a wanted option, until the list has no more to come.
func (c *Call) listed(
	ctx context.Context, p page, in actIn, control map[string]any, before drawnList, i int, most time.Duration,
	over func(drawnList) bool,
) (drawnList, string, *fault.Error) {
	var now drawnList
	same := 0
	for end := time.Now().Add(most); ; {
		last := now.Count
		var err *fault.Error
		now, err = c.drawn(ctx, p, in, control)
		if err != nil {
			return now, "", err
		}
		if ref, err := now.choice(before, i); ref != "" || err != nil {
			return now, ref, err
		}
		came := now.Count > before.Count || len(now.Near) > 0
		if came && now.Count == last {
			same++
		}
		if same >= pickSame {
			ref := now.part(before, i)
			return now, ref, nil
		}
		if over(now) || time.Now().After(end) || !primitives.Pause(ctx, pickAgain) {
			return now, "", nil
		}
	}
}

// typedOption types the words of an option into a control whose list opens, or gets shorter, by typing.
func (c *Call) typedOption(
	ctx context.Context, p page, in actIn, control map[string]any, before drawnList, i int, now drawnList,
) (string, *fault.Error) {
	write := func(text string) *fault.Error {
		args := map[string]any{"ref": now.Typed, "text": text, "mode": "replace"}
		_, _, err := c.do(ctx, p, "text.insert", args, in.where)
		return err
	}
	if err := write(in.Options[i]); err != nil {
		return "", err
	}
	never := func(drawnList) bool { return false }
	listed, ref, err := c.listed(ctx, p, in, control, before, i, pickTime, never)
	if ref != "" || err != nil {
		return ref, err
	}
	if listed.Count == 0 {
		listed = now // what it offers without these words
	}
	if err := write(""); err != nil { // nothing was chosen, so nothing stays written
		return "", err
	}
	return "", listed.noOption(before)
}

// noOption is the failure of a choice that the list does not have.
func (l drawnList) noOption(before drawnList) *fault.Error {
	near := l.Near
	if len(near) == 0 && l.Count > before.Count {
		near = l.Shown
	}
	if len(near) == 0 {
		return fault.New(fault.TargetNotFound, "a click on the control showed no such option of its own").
			Next("look at the page: the list may belong to another control")
	}
	return fault.New(fault.TargetNotFound, "the list has no such option").With("nearest", near)
}

// part is the one option of the control whose name has the wanted words; "" for none and for several.
func (l drawnList) part(before drawnList, i int) string {
	if i >= len(l.Parts) {
		return ""
	}
	parts := drawnList{Choices: [][]drawnChoice{l.Parts[i]}}
	earlier := drawnList{}
	if i < len(before.Parts) {
		earlier.Choices = [][]drawnChoice{before.Parts[i]}
	}
	ref, err := parts.choice(earlier, 0)
	if err != nil {
		return ""
	}
	return ref
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
