package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
	"github.com/outrider-run/outrider/runtime"
)

// field is one member of the argument fields.
type field struct {
	key   string
	value any // string, bool, json.Number or a list of strings
}

// fieldsOf reads fields in the order in which they are written.
func fieldsOf(raw json.RawMessage) ([]field, *fault.Error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, invalid("fields", "fields is an object: label or ref, and what the field is to hold")
	}
	var out []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fault.Wrap(fault.InvalidInput, err, "reading fields")
		}
		f := field{}
		f.key, _ = name.(string)
		if err := d.Decode(&f.value); err != nil {
			return nil, fault.Wrap(fault.InvalidInput, err, "reading fields")
		}
		switch f.value.(type) {
		case string, bool, json.Number, []any:
		default:
			return nil, invalid("fields/"+f.key, "a field holds a text, an option, a list of options, true or false")
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, invalid("fields", "fields names no field")
	}
	return out, nil
}

// fillForm fills several controls in one call, in the order in which they are given. It
// stops at the first that fails, and says which are done.
func (c *Call) fillForm(ctx context.Context, p page, in actIn) (*Answer, *fault.Error) {
	fields, err := fieldsOf(in.Fields)
	if err != nil {
		return nil, err
	}
	c.readLater(ctx, p, 0)
	value, err := c.formRows(ctx, p, in.where)
	if err != nil {
		return nil, err
	}
	rows := rowsIn(value)
	controls := make([]outlineRow, len(fields))
	for i, f := range fields { // nothing is filled when one of them is not there
		f.key, err = c.presentRef(ctx, p, rows, f.key, in.where)
		if err == nil {
			controls[i], err = controlOf(rows, f.key)
		}
		if err != nil {
			return nil, err
		}
	}
	c.baseline(ctx, p, in)
	var last runtime.Reply
	done := acted{More: map[string]any{}}
	var names []string
	for i, f := range fields {
		name, args := f.primitive(controls[i])
		if name == "" { // it holds that already
			names = append(names, controls[i].label())
			continue
		}
		if in.TimeoutMS > 0 {
			args["timeout_ms"] = in.TimeoutMS
		}
		if i == len(fields)-1 {
			args["effects"] = actEffects
		}
		value, r, err := c.perform(ctx, p, in, name, args)
		if err != nil && name == "page.select" && err.Evidence["suggests"] == true { // any text will do
			name = "text.insert"
			delete(args, "label")
			args["text"] = strings.Join(f.options(), ", ")
			args["mode"] = "replace"
			args["drawn"] = true
			value, r, err = c.do(ctx, p, name, args, in.where)
		}
		if err != nil && name == "page.select" && err.Evidence["reason"] == "not_a_list" {
			list := in
			list.Ref, list.Options = controls[i].Ref, f.options()
			value, r, err = c.pick(ctx, p, list)
		}
		var notes []string
		if err == nil && name == "text.insert" {
			notes, err = c.keptText(ctx, p, in, args, value)
			if err != nil && err.Evidence["reason"] == "not_kept" {
				value, r, err = c.byKeys(ctx, p, in, args)
			}
		}
		if err != nil {
			c.laterOfFailure(p, err)
			return nil, err.With("field", f.key).With("filled", append([]string{}, names...))
		}
		last = r
		names = append(names, controls[i].label())
		if i == len(fields)-1 {
			one := actIn{Action: "fill", Text: in.Text}
			last := c.report(one, p, r, value)
			c.awaitDownloads(p, last.seen)
			for _, line := range last.Followed { // that a field holds its text is said already
				held := func(control outlineRow) bool {
					return strings.HasPrefix(line, control.label()+" holds ") ||
						strings.HasPrefix(line, control.label()+" in form ")
				}
				if !slices.ContainsFunc(controls, held) {
					done.Followed = append(done.Followed, line)
				}
			}
			done.Followed = append(done.Followed, c.pageSays(ctx, p, last.seen)...)
			continue
		}
		for _, note := range notes {
			done.Followed = append(done.Followed, controls[i].label()+": "+note)
		}
	}
	done.Did = fmt.Sprintf("filled %d fields: %s", len(names), strings.Join(names, ", "))
	done.Followed = append(done.Followed, c.complaints(ctx, p)...)
	if last.URL == "" {
		last.URL = p.tab.URL
	}
	return c.answered(ctx, p, in, done, last)
}

// keptText reads from the result of text.insert what is to be said of a text that a control has kept in another way.
// One that has kept nothing of it is an error: the fields of a form are there to hold what is written into them.
func (c *Call) keptText(
	ctx context.Context, p page, in actIn, args map[string]any, value json.RawMessage,
) ([]string, *fault.Error) {
	var kept insertedText
	if err := json.Unmarshal(value, &kept); err != nil {
		return nil, fault.Translate(fault.Internal, err, "text.insert gave another shape")
	}
	if kept.Unchanged {
		return nil, notKept(heldBefore)
	}
	if kept.Sanitized && args["text"] != "" {
		var now struct {
			Value *string `json:"value"`
		}
		held, _, err := c.do(ctx, p, "locator.value", map[string]any{
			"locator": map[string]any{"ref": args["ref"]},
		}, in.where)
		if err == nil && json.Unmarshal(held, &now) == nil && now.Value != nil && *now.Value == "" {
			return nil, notKept("it is empty")
		}
	}
	return kept.notes(), nil
}

// notKept is the failure of a fill whose text the control has not kept. The text was sent, so nothing sends it again.
func notKept(how string) *fault.Error {
	return fault.New(fault.TargetNotEditable, "the control did not keep the text: %s", how).
		With("reason", "not_kept").With("input_sent", true).
		Next("it may take keys only: click it and press them, or use what the page offers to set it")
}

// answered is the answer of act, with the outline that the call asks for.
func (c *Call) answered(ctx context.Context, p page, in actIn, done acted, r runtime.Reply) (*Answer, *fault.Error) {
	if !in.Outline {
		out, text := done.result(p, r)
		return &Answer{Result: out, Text: text}, nil
	}
	shown, more := c.outlineAfter(ctx, p, in)
	done.Followed = slices.DeleteFunc(done.Followed, func(line string) bool { return inOutline(line, more) })
	out, text := done.result(p, r)
	out["outline"] = shown
	return &Answer{Result: out, Text: text + "\n" + more}, nil
}

// inOutline reports whether the outline of the page has what a line about it says.
func inOutline(line, outline string) bool {
	if strings.HasPrefix(line, changedNodes) {
		return true
	}
	shown, ok := strings.CutPrefix(line, showsText)
	if !ok {
		return false
	}
	text, err := strconv.Unquote(shown)
	return err == nil && strings.Contains(outline, strings.TrimSuffix(text, "…"))
}

// outlineAfter is the outline of the page after an action: what changed since the last
// snapshot, or all of it where there is none to compare with. An action that was done is
// no failure because the page cannot be shown.
func (c *Call) outlineAfter(ctx context.Context, p page, in actIn) (map[string]any, string) {
	look := snapshotIn{where: where{Page: in.Page, Session: in.Session}}
	look.Since, _ = c.set.seen.get(p.handle())
	result, address, err := c.outline(ctx, p, look)
	if err != nil && look.Since != "" {
		look.Since = ""
		result, address, err = c.outline(ctx, p, look)
	}
	if err != nil {
		return map[string]any{"error": err}, "the page cannot be shown: " + err.Line()
	}
	for _, known := range append(headed, "delta") { // the next call compares by itself
		delete(result, known)
	}
	shown := c.set.textual(p, result, address, "text")
	return shown.Result, shown.Text
}

// label names a control in an answer.
func (r outlineRow) label() string {
	if r.Name == "" && r.Near != "" {
		return r.Role + " ≈" + quote(r.Near, 40)
	}
	return r.Role + " " + quote(r.Name, 40)
}

// primitive is the call that makes a control hold the value; "" when it does already.
func (f field) primitive(control outlineRow) (string, map[string]any) {
	args := map[string]any{"ref": control.Ref}
	switch control.Role {
	case "checkbox", "switch", "menuitemcheckbox", "radio", "menuitemradio":
		want := f.value == true || f.value == "true" || f.value == "on"
		if (control.Checked == true) == want {
			return "", nil
		}
		return "pointer.click", args
	case "combobox", "listbox":
		args["label"] = f.options()
		return "page.select", args
	}
	if control.HasPopup == "listbox" || control.Role == "button" || control.Readonly && control.HasPopup != "" {
		// What is written there only narrows a list; the choice is what counts.
		args["label"] = f.options()
		return "page.select", args
	}
	args["text"] = strings.Join(f.options(), ", ")
	args["mode"] = "replace"
	args["drawn"] = true
	return "text.insert", args
}

// options are the words of a value.
func (f field) options() []string {
	switch v := f.value.(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, len(v))
		for i, o := range v {
			out[i] = fmt.Sprint(o)
		}
		return out
	}
	return []string{fmt.Sprint(f.value)}
}

// fillable are the roles that a form is filled by.
var fillable = map[string]bool{
	"textbox": true, "searchbox": true, "combobox": true, "listbox": true, "checkbox": true,
	"radio": true, "switch": true, "slider": true, "spinbutton": true, "input": true,
	"menuitemcheckbox": true, "menuitemradio": true,
}

// calledWith is the name of a row, with what tells it from others; "" for none.
func (r outlineRow) calledWith() string {
	out := r.Name
	if out == "" && r.Near != "" {
		out = "≈" + r.Near
	}
	if out != "" && r.Of != "" {
		out += " — " + r.Of
	}
	return out
}

// withoutOwnLists leaves out list boxes and buttons that go with a combobox of the same name: the label is for all of
// them, and the combobox is what is filled.
func withoutOwnLists(rows []outlineRow) []outlineRow {
	main := slices.DeleteFunc(slices.Clone(rows), func(r outlineRow) bool {
		return r.Role == "listbox" || r.Role == "button"
	})
	if len(main) == 1 {
		return main
	}
	return rows
}

// controlOf is the control that a key names: by its ref, by the whole of its name, or by a
// part that no other has.
func controlOf(rows []outlineRow, key string) (outlineRow, *fault.Error) {
	var names []string
	bare := func(s string) string {
		return strings.ToLower(strings.Trim(plain.Comparable(s), " *:≈"))
	}
	wanted := bare(key)
	// The surest way to be called so comes first: by the name, by what stands beside, by a part of one of them.
	ways := make([][]outlineRow, 5)
	for _, r := range rows {
		if r.Ref == key {
			return r, nil
		}
		if !fillable[r.Role] && r.HasPopup != "listbox" {
			continue
		}
		if shown := r.calledWith(); shown != "" && len(names) < 20 {
			names = append(names, shown)
		}
		name, near := bare(r.Name), bare(r.Near)
		switch {
		case wanted == "":
		case name == wanted:
			ways[0] = append(ways[0], r)
		case near == wanted:
			ways[1] = append(ways[1], r)
		case r.Of != "" && (name+" — "+bare(r.Of) == wanted || near+" — "+bare(r.Of) == wanted):
			ways[2] = append(ways[2], r)
		case strings.Contains(name, wanted):
			ways[3] = append(ways[3], r)
		case strings.Contains(near, wanted):
			ways[4] = append(ways[4], r)
		}
	}
	var whole []outlineRow
	for _, way := range ways {
		whole = withoutOwnLists(way)
		if len(whole) > 0 {
			break
		}
	}
	switch len(whole) {
	case 0:
		return outlineRow{}, fault.New(fault.TargetNotFound, "no control has this label, so nothing was filled").
			With("field", key).With("labels", names)
	case 1:
		return whole[0], nil
	}
	var lines []string
	for _, r := range whole[:min(len(whole), 5)] {
		lines = append(lines, r.line())
	}
	return outlineRow{}, fault.New(
		fault.MultipleTargets, "several controls have this label, so nothing was filled; name one by its ref",
	).With("field", key).With("candidates", lines)
}

// notLoaded begins what the browser says of a resource that it could not load.
const notLoaded = "Failed to load resource"

// mostTold bounds the messages that are kept to say them once.
const mostTold = 50

// mostComplaints bounds the messages of the console in one answer.
const mostComplaints = 3

// complaints are the errors on the console since the last call on the page.
func (c *Call) complaints(ctx context.Context, p page) []string {
	args := map[string]any{"levels": []string{"error"}, "limit": mostComplaints}
	if since, known := c.set.consoles.get(p.handle()); known {
		args["since"] = since
	}
	value, _, err := c.do(ctx, p, "console.list", args, where{})
	if err != nil {
		return nil // a dialog, or the page is gone: the call before has said so
	}
	var list struct {
		Entries []struct {
			Text string `json:"text"`
			URL  string `json:"url"`
		} `json:"entries"`
		Cursor  int `json:"cursor"`
		Omitted int `json:"omitted"`
	}
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	c.set.consoles.set(p.handle(), list.Cursor)
	var out []string
	told, _ := c.set.complained.get(p.handle())
	for _, e := range list.Entries {
		line := "console error " + quote(e.Text, 160)
		if strings.HasPrefix(e.Text, notLoaded) {
			if u, err := url.Parse(e.URL); err == nil && u.Path == "/favicon.ico" {
				continue // the browser looks for it by itself
			}
			line += " " + cutMiddle(e.URL)
		}
		if !slices.Contains(told, line) { // what a page complains of all the time is said once
			out = append(out, line)
			told = append(told, line)
		}
	}
	c.set.complained.set(p.handle(), told[max(0, len(told)-mostTold):])
	if list.Omitted > 0 {
		out = append(out, fmt.Sprintf("and %d more errors on the console", list.Omitted))
	}
	return out
}
