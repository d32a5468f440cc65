package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/effect"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// targetIn names an element, or a point. When several are given the first of
// element_ref, selector, text_query and position counts.
type targetIn struct {
	Ref       string          `json:"element_ref"`
	Selector  string          `json:"selector"`
	TextQuery string          `json:"text_query"`
	Position  json.RawMessage `json:"position"`
}

func (in targetIn) given() bool { return in.Ref != "" || in.Selector != "" }

// put adds the target to the arguments of a primitive.
func (in targetIn) put(args map[string]any) map[string]any {
	switch {
	case in.Ref != "":
		args["ref"] = in.Ref
	case in.Selector != "":
		args["locator"] = map[string]any{"selector": in.Selector}
	}
	return args
}

// act runs an acting primitive on the request's target.
func (r *request) act(
	ctx context.Context, name string, in targetIn, args map[string]any, out any,
) (runtime.Reply, *fault.Error) {
	if own := r.ownTimeout(); own > 0 {
		args["timeout_ms"] = own.Milliseconds()
	}
	return r.do(ctx, name, in.put(args), out)
}

// actOn runs a primitive of the pointer on any kind of target.
func (r *request) actOn(ctx context.Context, name string, args map[string]any, out any) (runtime.Reply, *Failure) {
	var in targetIn
	if failure := r.decode(&in); failure != nil {
		return runtime.Reply{}, failure
	}
	switch {
	case in.given():
		reply, err := r.act(ctx, name, in, args, out)
		if err != nil {
			return reply, r.failed(err)
		}
		return reply, nil
	case in.TextQuery != "":
		return r.actOnText(ctx, name, in.TextQuery, args, out)
	case len(in.Position) > 0:
		var at struct {
			X float64 `json:"x"`
			Y float64 `json:"y"`
		}
		if json.Unmarshal(in.Position, &at) != nil {
			return runtime.Reply{}, invalidRequest("/position", "position is not an object with x and y")
		}
		if name == "page.hover" {
			name = "pointer.move"
		}
		args["x"], args["y"] = at.X, at.Y
		reply, err := r.do(ctx, name, args, out)
		if err != nil {
			return reply, r.failed(err)
		}
		return reply, nil
	}
	return runtime.Reply{}, invalidRequest("", "name a target: element_ref, selector, text_query or position")
}

// actOnText finds an element by its text: a control whose whole text it is,
// a control that has it, then any element that shows it. The last try waits.
func (r *request) actOnText(
	ctx context.Context, name, text string, args map[string]any, out any,
) (runtime.Reply, *Failure) {
	tries := []map[string]any{
		{"text_equals": text, "pierce": true},
		{"text": text, "pierce": true},
		{"selector": "body *", "text_equals": text, "pierce": true, "nth": -1},
		{"text": text, "pierce": true},
	}
	var reply runtime.Reply
	var err *fault.Error
	for i, locator := range tries {
		args["locator"], args["timeout_ms"] = locator, 0
		if i == len(tries)-1 {
			delete(args, "timeout_ms")
			if own := r.ownTimeout(); own > 0 {
				args["timeout_ms"] = own.Milliseconds()
			}
		}
		reply, err = r.do(ctx, name, args, out)
		if err == nil {
			return reply, nil
		}
		if err.Code != fault.TargetNotFound && i < len(tries)-1 {
			// There is one, and it cannot take the click yet: wait for this one.
			delete(args, "timeout_ms")
			reply, err = r.do(ctx, name, args, out)
			if err == nil {
				return reply, nil
			}
			break
		}
	}
	return reply, r.failed(err)
}

// followed are the effects of an action.
type followed struct {
	Effects effect.Report `json:"effects"`
}

// elementHit is an element that an action was done to, as primitives report it.
type elementHit struct {
	TagName      string `json:"tag_name"`
	ID           string `json:"id"`
	ClassName    string `json:"class_name"`
	Role         string `json:"role"`
	ComputedRole string `json:"computed_role"`
	Name         string `json:"name"`
	Text         string `json:"text"`
	Box          *struct {
		X      json.Number `json:"x"`
		Y      json.Number `json:"y"`
		Width  json.Number `json:"width"`
		Height json.Number `json:"height"`
	} `json:"bounding_box"`
}

// hitOf is a target of a report.
func hitOf(t *effect.Target) *elementHit {
	if t == nil {
		return nil
	}
	hit := &elementHit{TagName: t.TagName, Name: t.Name}
	if t.ID != nil {
		hit.ID = *t.ID
	}
	if t.Role != nil {
		hit.Role = *t.Role
	}
	return hit
}

// element describes what was hit; nil for nothing.
func (e *elementHit) element() map[string]any {
	if e == nil || e.TagName == "" {
		return nil
	}
	out := map[string]any{"tag": e.TagName}
	for name, v := range map[string]string{
		"id":      e.ID,
		"classes": e.ClassName,
		"role":    cmp.Or(e.ComputedRole, e.Role),
		"name":    e.Name,
		"text":    e.Text,
	} {
		if v != "" {
			out[name] = v
		}
	}
	if e.Box != nil {
		out["rect"] = map[string]any{"x": e.Box.X, "y": e.Box.Y, "width": e.Box.Width, "height": e.Box.Height}
	}
	return out
}

// noteEffects adds what followed an action to its result.
func (r *request) noteEffects(reply runtime.Reply, out map[string]any) {
	var f followed
	_ = json.Unmarshal(reply.Output, &f)
	e := f.Effects
	out["navigation_occurred"] = e.URL != nil
	if e.URL != nil && e.URL.To != "" {
		out["url"] = e.URL.To
	}
	if e.URL != nil && e.URL.Loading {
		r.warn("navigation_pending", "a new document is on its way; wait for navigation_complete")
	}
	if e.Dialog != nil && e.Dialog.Open {
		r.warn("dialog_open", "a "+e.Dialog.Type+" dialog is open and blocks the page; answer it with dialog.answer")
	}
	if len(e.Tabs) > 0 {
		pages := []string{}
		for _, t := range e.Tabs {
			if t.TabID > 0 {
				pages = append(pages, pageID(runtime.TabStatus{TabID: t.TabID}))
			}
		}
		out["opened_pages"] = pages
	}
	if refused := e.TabsRefused; refused != nil {
		r.warn("tabs_refused", "tabs that the page opened above the limit of "+strconv.Itoa(refused.Limit)+
			" were closed: "+strconv.Itoa(refused.Count))
	}
	for _, i := range e.Invalid {
		name := ""
		if i.Target != nil {
			name = cmp.Or(i.Target.Name, i.Target.TagName)
		}
		r.warn("field_invalid", strings.TrimSpace(name+": "+i.Message))
	}
	for _, d := range e.Downloads {
		if d.State == "refused" {
			r.warn(
				"download_refused", "the download of "+d.Filename+" was refused: no folder is declared for downloads",
			)
			continue
		}
		r.warn("download_started", "the download of "+d.Filename+" is "+d.State+"; see download.list, "+d.ID)
	}
	if e.Requests != nil {
		for _, q := range e.Requests.First {
			switch e.OutcomeOf(q) {
			case effect.NoContent:
				r.warn("no_document", q.Method+" "+q.URL+" was answered without a document")
			case effect.NoDocument:
				r.warn("no_document", q.Method+" "+q.URL+" brought no document")
			case effect.Failed:
				r.warn("request_failed", q.Method+" "+q.URL+" failed: "+q.Error)
			case effect.BadStatus:
				r.warn("request_failed", q.Method+" "+q.URL+" was answered with "+strconv.Itoa(q.Status))
			}
		}
		if e.Requests.Pending > 0 {
			r.warn(
				"requests_pending",
				strconv.Itoa(e.Requests.Pending)+" requests are under way; what the page shows may change",
			)
		}
	}
	var values []map[string]any
	for _, v := range e.Values {
		one := map[string]any{"element": hitOf(v.Target).element(), "length": v.Length}
		switch {
		case v.Checked != nil:
			one["checked"] = *v.Checked
		case v.Chosen != "":
			one["chosen"] = v.Chosen
		}
		values = append(values, one)
	}
	if len(values) > 0 {
		out["values"] = values
	}
	if e.TabGone {
		r.warn("page_closed", "the action closed the page")
	}
	if len(e.Texts) > 0 {
		out["texts"] = e.Texts
	}
	if len(e.Passed) > 0 {
		out["passed_texts"] = e.Passed
	}
	if len(e.Unseen) > 0 && (e.Dialog == nil || !e.Dialog.Open) { // a dialog hides all of it, which is said
		r.warn("not_seen", "what followed could not be seen: "+strings.Join(e.Unseen, ", "))
	}
	if e.Summary == "none observed" || e.Summary == "focus" {
		r.warn("nothing_observed", "the page showed no reaction; look before you go on")
	}
}

// emptied reports whether the control that was filled is empty in the end.
func emptied(reply runtime.Reply) bool {
	var f followed
	_ = json.Unmarshal(reply.Output, &f)
	for _, v := range f.Effects.Values {
		if v.Length == 0 && v.Checked == nil {
			return true
		}
	}
	return false
}

// click clicks an element, and reports whether a navigation followed at once.
func click(ctx context.Context, r *request) (any, *Failure) {
	var clicked struct {
		Clicked bool        `json:"clicked"`
		Target  *elementHit `json:"target"`
		Count   int         `json:"candidate_count"`
	}
	reply, failure := r.actOn(ctx, "pointer.click", map[string]any{"effects": true}, &clicked)
	if failure != nil {
		return nil, failure
	}
	out := r.about(reply, map[string]any{"clicked": clicked.Clicked})
	if hit := clicked.Target.element(); hit != nil {
		out["element"] = hit
	}
	if clicked.Count > 1 {
		r.warn("ambiguous", strconv.Itoa(clicked.Count)+" elements fit the target; the first was clicked")
	}
	r.noteEffects(reply, out)
	return out, nil
}

func hover(ctx context.Context, r *request) (any, *Failure) {
	var in targetIn
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	var pointed struct {
		Hovered *bool `json:"hovered"`
	}
	reply, failure := r.actOn(ctx, "page.hover", map[string]any{}, &pointed)
	if failure != nil {
		return nil, failure
	}
	return r.about(reply, map[string]any{"hovered": pointed.Hovered == nil || *pointed.Hovered}), nil
}

// typeText puts text into an element, or where the focus is.
func typeText(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		targetIn
		Text    string `json:"text"`
		Replace bool   `json:"replace"`
		Submit  bool   `json:"submit"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	args := map[string]any{"text": in.Text, "drawn": true, "effects": true}
	if in.Replace {
		args["mode"] = "replace"
	}
	var typed struct {
		Inserted      bool        `json:"inserted"`
		Sanitized     bool        `json:"sanitized"`
		ExceedsLength bool        `json:"exceeds_maxlength"`
		Unchanged     bool        `json:"unchanged"`
		Target        *elementHit `json:"target"`
	}
	reply, err := r.act(ctx, "text.insert", in.targetIn, args, &typed)
	if err != nil {
		f := r.failed(err)
		if !in.given() && err.Code == fault.TargetNotEditable {
			f.Code, f.Retryable = ElementNotFound, false
			f.Details["reason"] = "nothing_focused"
		}
		return nil, f
	}
	if typed.Sanitized {
		r.warn("text_changed_by_control", "the control keeps another form of the text")
	}
	if typed.ExceedsLength {
		r.warn("text_exceeds_maxlength", "the text is longer than the control's maxlength")
	}
	out := r.about(reply, map[string]any{"typed": typed.Inserted && !typed.Unchanged, "submitted": in.Submit})
	if typed.Unchanged || in.Text != "" && emptied(reply) {
		r.warn("text_not_kept", "the page did not keep the text")
	}
	if hit := typed.Target.element(); hit != nil {
		out["element"] = hit
	}
	if !in.Submit {
		r.noteEffects(reply, out)
	}
	if in.Submit {
		reply, err = r.act(ctx, "keyboard.press", in.targetIn, map[string]any{"key": "Enter", "effects": true}, nil)
		if err != nil {
			return nil, r.failed(err).with("typed", typed.Inserted)
		}
		out = r.about(reply, out)
		r.noteEffects(reply, out)
	}
	return out, nil
}

// press sends a key or a chord as trusted key events.
func press(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		targetIn
		Key       string   `json:"key"`
		Modifiers []string `json:"modifiers"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	args := map[string]any{"key": in.Key, "effects": true}
	if len(in.Modifiers) > 0 {
		args["modifiers"] = in.Modifiers
	}
	var pressed struct {
		Pressed bool `json:"pressed"`
	}
	reply, err := r.act(ctx, "keyboard.press", in.targetIn, args, &pressed)
	if err != nil {
		return nil, r.failed(err)
	}
	out := r.about(reply, map[string]any{"pressed": pressed.Pressed})
	r.noteEffects(reply, out)
	return out, nil
}

// selectOptions chooses options of a list by value, or by label.
func selectOptions(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		targetIn
		Value  *string  `json:"value"`
		Values []string `json:"values"`
		Label  *string  `json:"label"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	args := map[string]any{"effects": true}
	switch {
	case !in.given():
		return nil, invalidRequest("", "name a target: element_ref or selector")
	case in.Values != nil:
		args["value"] = in.Values
	case in.Value != nil:
		args["value"] = []string{*in.Value}
	case in.Label != nil:
		args["label"] = []string{*in.Label}
	default:
		return nil, invalidRequest("", "name what to choose: value, values or label")
	}
	var chosen struct {
		Changed  bool `json:"changed"`
		Selected []struct {
			Value string `json:"value"`
			Label string `json:"label"`
		} `json:"selected"`
	}
	reply, err := r.act(ctx, "page.select", in.targetIn, args, &chosen)
	if err != nil {
		return nil, r.failed(err)
	}
	values, labels := []string{}, []string{}
	for _, o := range chosen.Selected {
		values, labels = append(values, o.Value), append(labels, o.Label)
	}
	out := r.about(reply, map[string]any{"selected": values, "labels": labels, "changed": chosen.Changed})
	r.noteEffects(reply, out)
	return out, nil
}

// farAway is further than any page is long, in CSS pixels.
const farAway = 10_000_000

// scroll moves the viewport by a distance or to an end, or brings an element
// into view; with a distance and an element, what scrolls around the element.
func scroll(ctx context.Context, r *request) (any, *Failure) {
	var in struct {
		targetIn
		X        *float64 `json:"x"`
		Y        *float64 `json:"y"`
		Position string   `json:"position"`
	}
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	args := map[string]any{}
	switch {
	case in.Position == "top":
		args["delta_y"] = -farAway
	case in.Position == "bottom":
		args["delta_y"] = farAway
	case in.X != nil || in.Y != nil:
		if in.X != nil {
			args["delta_x"] = *in.X
		}
		if in.Y != nil {
			args["delta_y"] = *in.Y
		}
	case !in.given():
		return nil, invalidRequest("", "name a distance (x, y), a position or an element")
	}
	var moved struct {
		Moved bool `json:"moved"`
		After struct {
			X json.Number `json:"scroll_x"`
			Y json.Number `json:"scroll_y"`
		} `json:"after"`
	}
	reply, err := r.act(ctx, "viewport.scroll", in.targetIn, args, &moved)
	if err != nil {
		return nil, r.failed(err)
	}
	return r.about(reply, map[string]any{
		"scrolled": moved.Moved,
		"scroll_x": moved.After.X,
		"scroll_y": moved.After.Y,
	}), nil
}
