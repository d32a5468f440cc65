package runtime

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/manifest"
)

// selectPrimitive chooses an option of a native list.
const selectPrimitive = "dom.select_option"

// defaultScroll is how far a scroll without amount goes, in CSS pixels.
const defaultScroll = 600

// What steps lack, for the check before the first of them.

func needsValue(s *plannedStep) string {
	if s.Value == nil && s.ValueFrom == "" && s.Text == "" {
		return "value, value_from or text"
	}
	return ""
}

func waitLacks(s *plannedStep) string {
	switch {
	case s.target == nil && s.Until == nil && s.TimeoutMS == nil && s.Signal == "" && s.State == "":
		return "target, until, state, signal or timeout_ms"
	case s.target == nil && s.waitsForElement():
		return "target"
	}
	return ""
}

// readable says how a property of an element is read: an attribute of
// browser.extract_elements, which reads text, href, src and currentSrc as
// properties; "" for the ways of one element alone.
var readable = map[string]string{
	"": "text", "text": "text", "innerText": "text", "textContent": "text", "href": "href", "src": "src", "currentSrc": "currentSrc",
	"value": "", "checked": "",
}

func extractLacks(s *plannedStep) string {
	list := s.Fields != nil || s.Many != nil && *s.Many || s.Attribute != ""
	if how, ok := readable[s.Property]; !ok || list && how == "" {
		return "property that can be read there: text, href, src or currentSrc, and value or checked of one element"
	}
	for _, m := range members(s.Fields) {
		if _, err := extractField(m); err != "" {
			return err
		}
	}
	return ""
}

func elementState(state string) bool {
	switch state {
	case "", "visible", "hidden", "attached", "detached", "present", "absent", "enabled", "disabled":
		return true
	}
	return false
}

func pressLacks(s *plannedStep) string {
	if s.Key == "" && len(s.Keys) == 0 && s.Value == nil && s.ValueFrom == "" {
		return "key or keys"
	}
	return ""
}

func scrollLacks(s *plannedStep) string {
	if s.target == nil && s.Until == nil && s.Direction == "" && s.DeltaX == nil && s.DeltaY == nil && s.Amount == nil {
		return "target, until, direction, delta_x, delta_y or amount"
	}
	switch s.Direction {
	case "", "up", "down", "left", "right":
		return ""
	}
	return "direction that is up, down, left or right"
}

func selectLacks(s *plannedStep) string {
	if s.Option == "" && s.Label == "" && needsValue(s) != "" {
		return "option, label, value or value_from"
	}
	return ""
}

func navigateLacks(s *plannedStep) string {
	if s.URL == "" && s.URLFrom == "" && s.Value == nil && s.ValueFrom == "" {
		return "url or url_from"
	}
	return ""
}

func assertLacks(s *plannedStep) string {
	if s.Assert == nil {
		return "assert"
	}
	return ""
}

func handlerLacks(s *plannedStep) string {
	if s.Handler == "" {
		return "handler"
	}
	return ""
}

func typingUses(s *plannedStep) []string {
	if s.Submit != nil && *s.Submit {
		return []string{"locator.element_info", "keyboard.press", "text.insert"}
	}
	return []string{"locator.element_info", "text.insert"}
}

func pressUses(s *plannedStep) []string {
	if s.target != nil {
		return []string{"dom.focus", "keyboard.press"}
	}
	return []string{"keyboard.press"}
}

func extractUses(s *plannedStep) []string {
	switch {
	case s.Fields != nil || s.Many != nil && *s.Many || s.Attribute != "":
		return []string{"browser.extract_elements"}
	case s.Property == "value":
		return []string{"locator.value"}
	case s.Property == "checked":
		return []string{"locator.element_info"}
	case readable[s.Property] != "text":
		return []string{"browser.extract_elements"}
	}
	return []string{"locator.text_content"}
}

// found is an element that a step is about, as primitives name it.
type found struct {
	locator map[string]any // names this element
	all     map[string]any // names all that the candidate matches
	match   primitives.Match
}

// find waits until the step's target is there and returns the locator that
// names what matched. rendered asks for an element with a box.
func (r *executionRun) find(s *plannedStep, rendered bool) (found, *fault.Error) {
	t := s.target
	if s.Frame != "" || t.Extensions["x_frame"] != nil {
		l := framed(t, s.Frame)
		return found{locator: l, all: l}, nil
	}
	var m primitives.Match
	var seen string
	f, err := r.await(
		func(sv *survey) {
			sv.wantTarget(t)
			sv.wantState(r.match.Map, t.State)
		},
		func(sv *survey) (finding, bool) {
			m, seen = sv.seen(descriptorOf(t, "", nil)), sv.url
			out := finding{Reason: m.Reason, Candidate: m.Candidate, Count: m.Count, VisibleCount: m.VisibleCount, Tried: m.Tried}
			ok := m.Found && m.Facts != nil && (!rendered || m.Facts.Rendered)
			if m.Found && !ok {
				out.Reason = "rendered"
			}
			if t.State != "" {
				if d := sv.diagnose(r.match.Map, t.State); d.verdict == no {
					ok, out.Reason = false, "state"
				}
			}
			return out, ok
		})
	if err != nil {
		return found{}, err
	}
	if !m.Found || m.Facts == nil || rendered && !m.Facts.Rendered || f.Reason == "state" {
		code := fault.TargetNotFound
		if f.Reason == "state" {
			code = fault.StateMismatch
		}
		return found{}, fault.New(code, "the target of step %s is not on the page", s.id).
			With("target", targetEvidence(t)).With("reason", f.Reason).With("tried", f.Tried).With("url", clip(seen, 200)).
			Next("check whether the page is in the state that the action expects; outrider check shows what the site has changed")
	}
	if d := driftOf(t, m, len(t.FallbackSelectors), nil); d != nil {
		r.drift = d
	}
	all := r.locatorOf(t, m)
	out := found{locator: all, all: all, match: m}
	// The element that was looked at is the one to act on, also where the
	// candidate matches several or it stands in a shadow root.
	var named struct {
		Ref string `json:"ref"`
	}
	if page, e := r.v.tab.livePage(r.bound); e == nil && page.Call(r.bound, m.Frame, "ref_of", map[string]any{"handle": m.Handle}, &named) == nil && named.Ref != "" {
		out.locator = map[string]any{"ref": named.Ref}
	}
	return out, nil
}

// locatorOf names what the candidate of a target that matched matches.
func (r *executionRun) locatorOf(t *manifest.Target, m primitives.Match) map[string]any {
	l := map[string]any{}
	d := descriptorOf(t, "", nil)
	if s := selectorNamed(d, m.Candidate); s != "" {
		l["selector"] = s
	}
	for name, text := range map[string]string{"text_equals": t.TextEquals, "text_contains": t.TextContains} {
		if text != "" {
			l[name] = text
		}
	}
	relaxed := func(name string) bool {
		for _, n := range m.Relaxed {
			if n == name {
				return true
			}
		}
		return false
	}
	for name, text := range map[string]string{"role": t.Role, "name": t.Name} {
		if text != "" && !relaxed(name) {
			l[name] = text
		}
	}
	return l
}

// framed names a target inside a frame, where targets are not looked for in
// one round trip: all candidates are one list, whose order counts.
func framed(t *manifest.Target, frame string) map[string]any {
	l := map[string]any{}
	if c := t.Candidates(); len(c) > 0 {
		l["selector"] = strings.Join(c, ", ")
	}
	if t.TextEquals != "" {
		l["text_equals"] = t.TextEquals
	}
	if t.TextContains != "" {
		l["text_contains"] = t.TextContains
	}
	if frame != "" {
		l["frame"] = frame
	} else {
		l["frame"] = t.Extensions["x_frame"]
	}
	return l
}

func targetEvidence(t *manifest.Target) map[string]any {
	e := map[string]any{}
	if c := t.Candidates(); len(c) > 0 {
		e["selectors"] = c[:min(len(c), 10)]
	}
	for name, text := range map[string]string{"role": t.Role, "name": t.Name, "text_equals": t.TextEquals, "text_contains": t.TextContains,
		"url_contains": t.URLContains, "url_matches": t.URLMatches, "state": t.State} {
		if text != "" {
			e[name] = clip(text, 200)
		}
	}
	return e
}

// elementInfo scrolls the step's target into view and returns what a press on
// it needs, waiting while it is covered or moving.
func (r *executionRun) elementInfo(s *plannedStep) (info elementInfo, f found, err *fault.Error) {
	if f, err = r.find(s, true); err != nil {
		return info, f, err
	}
	left := defaultStepTime
	if deadline, ok := r.bound.Deadline(); ok {
		left = max(0, time.Until(deadline))
	}
	look := func() (json.RawMessage, *fault.Error) {
		return r.invoke("locator.element_info", map[string]any{"locator": f.locator, "timeout_ms": min(left, 30*time.Second).Milliseconds()})
	}
	raw, err := look()
	if err != nil && (err.Code == fault.ElementStale || err.Code == fault.TargetNotFound) && r.bound.Err() == nil {
		// It was replaced since it was found: a page that renders anew.
		if f, err = r.find(s, true); err != nil {
			return info, f, err
		}
		raw, err = look()
	}
	if err != nil {
		return info, f, err
	}
	if e := json.Unmarshal(raw, &info); e != nil {
		return info, f, fault.Wrap(fault.Internal, e, "reading the element")
	}
	return info, f, nil
}

type elementInfo struct {
	TagName        string          `json:"tag_name"`
	Text           string          `json:"text"`
	Box            json.RawMessage `json:"bounding_box"`
	Center         point           `json:"clickable_center"`
	CandidateCount int             `json:"candidate_count"`
	Ambiguous      bool            `json:"ambiguous"`
}

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

func (r *executionRun) inspect(s *plannedStep) (json.RawMessage, *fault.Error) {
	info, f, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"found": true, "tag_name": info.TagName, "text": clip(info.Text, maxStepText), "count": max(f.match.Count, info.CandidateCount),
		"bounding_box": info.Box, "clickable_center": info.Center,
	}
	if facts := f.match.Facts; facts != nil {
		out["visible"], out["enabled"], out["focused"] = facts.Visible, facts.Enabled, facts.Focused
		if facts.Checked != nil {
			out["checked"] = *facts.Checked
		}
		if facts.Value != nil {
			out["value"] = *facts.Value
		}
	}
	return encoded(out).Output, nil
}

// maxStepText bounds the text of an element in the result of a step, in bytes.
const maxStepText = 4000

func (r *executionRun) click(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.pointer(s, "pointer.click")
}

func (r *executionRun) doubleClick(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.pointer(s, "pointer.double_click")
}

func (r *executionRun) hover(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.pointer(s, "pointer.move")
}

func (r *executionRun) pointer(s *plannedStep, primitive string) (json.RawMessage, *fault.Error) {
	info, _, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	return r.invoke(primitive, info.Center)
}

// setChecked presses a control only when it is not yet what it should be, and
// sees that it became so.
func (r *executionRun) setChecked(s *plannedStep) (json.RawMessage, *fault.Error) {
	want := s.Type == "check"
	f, err := r.find(s, false)
	if err != nil {
		return nil, err
	}
	is := f.match.Facts
	if is == nil || is.Checked == nil {
		return nil, fault.New(fault.TargetNotActionable, "the target of step %s is nothing that can be checked", s.id).With("target", targetEvidence(s.target))
	}
	if *is.Checked != want {
		if _, err := r.pointer(s, "pointer.click"); err != nil {
			return nil, err
		}
		probe := &manifest.Probe{Target: s.target, Checked: &want}
		after, err := r.await(func(sv *survey) { sv.want(r.match.Map, probe, nil) }, func(sv *survey) (finding, bool) {
			f := sv.judge(r.match.Map, probe, nil)
			return f, f.verdict == yes
		})
		if err != nil {
			return nil, err
		}
		if after.verdict != yes {
			return nil, fault.New(fault.StateMismatch, "the control of step %s was pressed and did not change", s.id).With("target", targetEvidence(s.target))
		}
	}
	return encoded(map[string]any{"checked": want, "changed": *is.Checked != want}).Output, nil
}

func (r *executionRun) focus(s *plannedStep) (json.RawMessage, *fault.Error) {
	f, err := r.find(s, false)
	if err != nil {
		return nil, err
	}
	return r.invoke("dom.focus", map[string]any{"locator": f.locator})
}

// typeText replaces what is in the control, unless clear is false: then it
// types behind it.
func (r *executionRun) typeText(s *plannedStep) (json.RawMessage, *fault.Error) {
	value, err := r.value(s)
	if err != nil {
		return nil, err
	}
	out, err := r.insert(s, plainText(value), s.Clear == nil || *s.Clear)
	if err != nil || s.Submit == nil || !*s.Submit {
		return out, err
	}
	_, err = r.invoke("keyboard.press", map[string]any{"key": "Enter"})
	return out, err
}

func (r *executionRun) clear(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.insert(s, "", true)
}

func (r *executionRun) insert(s *plannedStep, text string, replace bool) (json.RawMessage, *fault.Error) {
	_, f, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	mode := "append"
	if replace {
		mode = "replace"
	}
	return r.invoke("text.insert", map[string]any{"target": f.locator, "text": text, "mode": mode})
}

func (r *executionRun) press(s *plannedStep) (json.RawMessage, *fault.Error) {
	keys := s.Keys
	if s.Key != "" {
		keys = []string{s.Key}
	}
	if len(keys) == 0 {
		value, err := r.value(s)
		if err != nil {
			return nil, err
		}
		keys = []string{plainText(value)}
	}
	if s.target != nil {
		if _, err := r.focus(s); err != nil {
			return nil, err
		}
	}
	var out json.RawMessage
	for _, key := range keys {
		var err *fault.Error
		if out, err = r.invoke("keyboard.press", map[string]any{"key": key}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scroll brings the target into view, or, with a direction or a distance, moves
// the region that the target names, or the page.
func (r *executionRun) scroll(s *plannedStep) (json.RawMessage, *fault.Error) {
	far := s.Direction != "" || s.DeltaX != nil || s.DeltaY != nil || s.Amount != nil
	if !far && s.target != nil && s.Until == nil {
		info, _, err := r.elementInfo(s)
		if err != nil {
			return nil, err
		}
		return encoded(map[string]any{"scrolled_to": info.Box}).Output, nil
	}
	args := map[string]any{}
	amount := float64(defaultScroll)
	if s.Amount != nil {
		amount = *s.Amount
	}
	switch s.Direction {
	case "up":
		args["delta_y"] = -amount
	case "left":
		args["delta_x"] = -amount
	case "right":
		args["delta_x"] = amount
	default:
		args["delta_y"] = amount
	}
	if s.DeltaX != nil || s.DeltaY != nil {
		args = map[string]any{}
		if s.DeltaX != nil {
			args["delta_x"] = *s.DeltaX
		}
		if s.DeltaY != nil {
			args["delta_y"] = *s.DeltaY
		}
	}
	if s.target != nil {
		f, err := r.find(s, false)
		if err != nil {
			return nil, err
		}
		scope := map[string]any{}
		for _, name := range []string{"selector", "frame", "text_equals", "text_contains"} {
			if v, ok := f.all[name]; ok {
				scope[name] = v
			}
		}
		args["scope"] = scope
	}
	out, err := r.invoke("viewport.scroll", args)
	if err != nil && err.Code == fault.TargetNotScrollable && s.Until != nil {
		return nil, nil // the end is reached: until decides
	}
	return out, err
}

func (r *executionRun) selectOption(s *plannedStep) (json.RawMessage, *fault.Error) {
	_, f, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	args := map[string]any{"locator": f.locator}
	switch {
	case s.Label != "":
		args["label"] = s.Label
	case s.Option != "":
		args["option"] = s.Option
	default:
		value, err := r.value(s)
		if err != nil {
			return nil, err
		}
		args["option"] = plainText(value)
	}
	return r.invoke(selectPrimitive, args)
}

// waitFor waits for the target, or until, to reach an element's state, for a
// state of the map, or, with timeout_ms alone, for that long.
func (r *executionRun) waitFor(s *plannedStep) (json.RawMessage, *fault.Error) {
	begin := time.Now()
	done := func(what string) json.RawMessage {
		return encoded(map[string]any{"matched": true, "waited_for": what, "elapsed_ms": time.Since(begin).Milliseconds()}).Output
	}
	if s.Signal != "" {
		return r.waitForSignal(s)
	}
	t := s.target
	if s.Until != nil {
		t = s.Until
	}
	if t == nil && s.State == "" {
		d := time.Duration(0)
		if s.TimeoutMS != nil {
			d = time.Duration(*s.TimeoutMS) * time.Millisecond
		}
		rest(r.ctx, d)
		if r.ctx.Err() != nil {
			return nil, fault.From(r.ctx.Err())
		}
		return done("time"), nil
	}
	probe := &manifest.Probe{Target: t}
	what := s.State
	if what == "" {
		what = "visible"
	}
	no, yes2 := false, true
	switch what {
	case "visible":
		probe.Visible = &yes2
	case "hidden":
		probe.Visible = &no
	case "attached", "present":
		probe.Exists = &yes2
	case "detached", "absent":
		probe.Exists = &no
	case "enabled":
		probe.Enabled = &yes2
	case "disabled":
		probe.Enabled = &no
	default:
		probe.State = what
	}
	f, err := r.await(func(sv *survey) { sv.want(r.match.Map, probe, nil) }, func(sv *survey) (finding, bool) {
		f := sv.judge(r.match.Map, probe, nil)
		return f, f.verdict == yes
	})
	if err != nil {
		return nil, err
	}
	if f.verdict != yes {
		return nil, fault.New(fault.Timeout, "what step %s waits for did not come in time", s.id).With("waited_for", what).With("finding", f)
	}
	return done(what), nil
}

// extract reads text, a value, an attribute, or with many or fields a list.
func (r *executionRun) extract(s *plannedStep) (json.RawMessage, *fault.Error) {
	many := s.Many != nil && *s.Many
	f, err := r.find(s, false)
	if err != nil {
		if many && err.Code == fault.TargetNotFound && err.Evidence["reason"] != "state" {
			return json.RawMessage("[]"), nil // a list may be empty
		}
		return nil, err
	}
	if s.Property == "checked" {
		if facts := f.match.Facts; facts != nil && facts.Checked != nil {
			return encoded(*facts.Checked).Output, nil
		}
		return json.RawMessage("null"), nil
	}
	use := extractUses(s)[0]
	if use != "browser.extract_elements" {
		raw, err := r.invoke(use, map[string]any{"locator": f.locator})
		if err != nil {
			return nil, err
		}
		var out struct{ Text, Value *json.RawMessage }
		if e := json.Unmarshal(raw, &out); e != nil {
			return nil, fault.Wrap(fault.Internal, e, "reading the text")
		}
		if out.Value != nil {
			return *out.Value, nil
		}
		if out.Text != nil {
			return *out.Text, nil
		}
		return json.RawMessage("null"), nil
	}
	fields, single := extractFields(s)
	selector, _ := f.all["selector"].(string)
	if selector == "" {
		return nil, fault.New(fault.CapabilityUnavailable, "step %s reads fields, which needs a selector in its target", s.id)
	}
	// A list is what the page has, not what the viewport shows of it just now.
	args := map[string]any{"item_selector": selector, "fields": fields, "include": "rendered"}
	if facts := f.match.Facts; !many && facts != nil && !facts.Rendered {
		args["include"] = "all"
	}
	for _, name := range []string{"text_equals", "text_contains"} {
		if text, ok := f.all[name]; ok {
			args[name] = text
		}
	}
	if frame, ok := f.all["frame"]; ok {
		args["scope"] = map[string]any{"selector": "body", "frame": frame}
	}
	raw, err := r.invoke("browser.extract_elements", args)
	if err != nil {
		return nil, err
	}
	var out struct {
		Items []json.RawMessage `json:"items"`
	}
	if e := json.Unmarshal(raw, &out); e != nil {
		return nil, fault.Wrap(fault.Internal, e, "reading the items")
	}
	list := make([]json.RawMessage, 0, len(out.Items))
	for _, item := range out.Items {
		if single {
			var one struct {
				Value json.RawMessage `json:"value"`
			}
			if json.Unmarshal(item, &one) == nil && one.Value != nil {
				item = one.Value
			}
		}
		list = append(list, item)
	}
	if many {
		return encoded(list).Output, nil
	}
	if len(list) == 0 {
		return json.RawMessage("null"), nil
	}
	return list[0], nil
}

// extractFields turns fields of a step ({name: selector or {selector,
// attribute, property}}) into those of the primitive. single means one unnamed
// value.
func extractFields(s *plannedStep) (fields []map[string]any, single bool) {
	if s.Fields == nil {
		f := map[string]any{"name": "value"}
		switch how := readable[s.Property]; {
		case s.Attribute != "":
			f["attribute"] = s.Attribute
		case how != "text":
			f["attribute"] = how
		}
		return []map[string]any{f}, true
	}
	for _, m := range members(s.Fields) {
		if f, lacks := extractField(m); lacks == "" {
			fields = append(fields, f)
		}
	}
	return fields, false
}

// extractField reads one member of fields, and says what it would need to be one
// that can be read.
func extractField(m namedMember) (f map[string]any, lacks string) {
	f = map[string]any{"name": m.name}
	var selector string
	if json.Unmarshal(m.value, &selector) == nil {
		f["selector"] = selector
		return f, ""
	}
	var o struct {
		Selector   string   `json:"selector"`
		Attribute  string   `json:"attribute"`
		Attributes []string `json:"attributes"`
		Property   string   `json:"property"`
	}
	d := json.NewDecoder(strings.NewReader(string(m.value)))
	d.DisallowUnknownFields()
	if d.Decode(&o) != nil {
		return nil, "selector, attribute, attributes or property, and nothing else, in its field " + clip(m.name, 60)
	}
	if o.Selector != "" {
		f["selector"] = o.Selector
	}
	switch how := readable[o.Property]; {
	case len(o.Attributes) > 0:
		f["attributes"] = o.Attributes
	case o.Attribute != "":
		f["attribute"] = o.Attribute
	case how == "":
		return nil, "property that can be read in a list, in its field " + clip(m.name, 60)
	case how != "text":
		f["attribute"] = how
	}
	return f, ""
}

type namedMember struct {
	name  string
	value json.RawMessage
}

// members lists the members of a JSON object in the order of its text.
func members(raw json.RawMessage) []namedMember {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []namedMember
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return out
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return out
		}
		out = append(out, namedMember{name, v})
	}
	return out
}

// navigate goes to an address; a relative one is one of the page's site.
func (r *executionRun) navigate(s *plannedStep) (json.RawMessage, *fault.Error) {
	address := s.URL
	if s.URLFrom != "" {
		v, ok := r.argument(s.URLFrom)
		if !ok {
			return nil, fault.New(fault.InvalidInput, "the call gives no %s, which step %s needs", clip(s.URLFrom, 60), s.id).
				With("missing_required", []string{s.URLFrom})
		}
		address = plainText(v)
	} else if address == "" {
		v, err := r.value(s)
		if err != nil {
			return nil, err
		}
		address = plainText(v)
	}
	page, e := r.v.tab.livePage(r.work)
	if e != nil {
		return nil, fault.From(e)
	}
	base, e := url.Parse(page.Tab().URL)
	ref, e2 := url.Parse(address)
	if e == nil && e2 == nil {
		address = base.ResolveReference(ref).String()
	}
	return r.invoke("browser.navigate", map[string]any{"url": address})
}

func (r *executionRun) reload(*plannedStep) (json.RawMessage, *fault.Error) {
	return r.invoke("browser.navigate", map[string]any{"reload": true})
}

func (r *executionRun) screenshot(*plannedStep) (json.RawMessage, *fault.Error) {
	return r.invoke("browser.screenshot", map[string]any{"format": "jpeg"})
}

// direct runs a step whose type is the name of one.
func (r *executionRun) direct(s *plannedStep) (json.RawMessage, *fault.Error) {
	args := s.Arguments
	if args == nil {
		args = json.RawMessage("{}")
	}
	return r.invoke(s.Type, args)
}

func (r *executionRun) callHandler(s *plannedStep) (json.RawMessage, *fault.Error) {
	args := r.raw
	if s.Arguments != nil {
		args = s.Arguments
	}
	r.acted = true
	return r.host.pageHandler(r.work, r.v, r.match, s.Handler, args)
}
