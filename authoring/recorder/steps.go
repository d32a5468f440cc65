package recorder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
)

// take understands one thing that happened.
func (r *Recorder) take(ctx context.Context, h pageReport) {
	t := r.tabs[h.tab]
	if t == nil {
		t = &tab{number: len(r.tabs) + 1, page: h.tab}
		r.tabs[h.tab] = t
	}
	m := h.report
	if h.dialog != nil {
		r.answered(t, *h.dialog)
		return
	}
	if m.Element != nil && !m.plausible() {
		return
	}
	switch m.What {
	case "open":
		r.opened(t, m)
		return
	case "bar":
		r.bar(ctx, t, m)
		return
	}
	r.arrive(t)
	if m.Top {
		t.url = m.URL
	}
	switch m.What {
	case "click":
		r.clicked(t, m)
	case "double":
		r.doubled()
	case "write":
		r.wrote(t, m)
	case "chars":
		r.typed(t, m)
	case "key":
		r.pressed(t, m)
	case "select":
		r.selected(t, m)
	case "files":
		r.uploaded(t, m)
	case "drag":
		r.dragged(t, m)
	default:
		return
	}
	t.acted = true
}

// plausible reports whether a description can be one of the script: a world of the page cannot reach it, and yet.
func (m said) plausible() bool { return m.Element.Tag != "" && len(m.Element.Name) <= 1000 }

// add adds a step and shows the one before, which is whole now.
func (r *Recorder) add(t *tab, s *step) *step {
	s.tab, s.url = t, t.url
	if s.args == nil {
		s.args = map[string]any{}
	}
	r.steps = append(r.steps, s)
	r.tab = nil
	r.show(len(r.steps) - 1)
	return s
}

// show tells of the steps before the n-th that were not told of yet.
func (r *Recorder) show(n int) {
	for r.shown < n {
		r.shown++
		if r.opts.Each != nil {
			r.opts.Each(Line{Number: r.shown, Text: r.steps[r.shown-1].String()})
		}
	}
}

func (r *Recorder) last() *step {
	if len(r.steps) == 0 {
		return nil
	}
	return r.steps[len(r.steps)-1]
}

// drop takes the last step back.
func (r *Recorder) drop() {
	r.steps = r.steps[:len(r.steps)-1]
	if r.shown > len(r.steps) {
		r.shown = len(r.steps)
	}
}

func target(e *likeness.Seen, secret bool, frame string) *record.Target {
	if e == nil {
		return nil
	}
	e.Handle = ""
	return &record.Target{Element: e, Candidates: locators.Ranked(*e), Secret: secret, Frame: frame}
}

func (m said) target() *record.Target {
	frame := ""
	if !m.Top {
		frame = m.URL
	}
	return target(m.Element, m.Secret, frame)
}

// same reports whether a step began at the element of a report.
func (s *step) same(m said) bool {
	return s != nil && m.Handle != "" && s.from.Handle == m.Handle && s.from.Doc == m.Doc
}

// arrive goes to the tab in which something happens. A workflow runs in one tab: what was done in another is
// done at the address of that.
func (r *Recorder) arrive(t *tab) {
	if r.at == nil || r.at == t {
		r.at = t
		return
	}
	r.at = t
	if s := r.last(); s != nil && s.primitive == "browser.navigate" && s.tab == t {
		return
	}
	r.add(t, &step{primitive: "browser.navigate", args: map[string]any{"url": t.url}})
	r.notes = append(r.notes, "the action goes to "+t.url+" in its own tab, where the recording changed to another")
}

// opened takes a new document of a tab.
func (r *Recorder) opened(t *tab, m said) {
	before := t.url
	t.url = m.URL
	acted := t.acted
	t.acted = false
	if m.URL == "about:blank" {
		return
	}
	if r.start == "" {
		r.start, r.at = m.URL, t
		return
	}
	if before == "" && t.page.Opener() != nil {
		// A link that opens another tab leads there in this one.
		if s := r.last(); s != nil && s.primitive == "pointer.click" && s.target != nil &&
			s.target.Element.Role == "link" && s.tab != t {
			r.drop()
		}
		r.arriveNew(t, m.URL)
		return
	}
	if t != r.at {
		return
	}
	switch {
	case m.How == "back_forward":
		r.add(t, &step{primitive: "page.history", args: map[string]any{"direction": "back"}}).url = before
	case m.How == "reload" && !acted:
		r.add(t, &step{primitive: "browser.navigate", args: map[string]any{"reload": true}})
	case !acted && len(r.steps) == 0:
		r.start = m.URL
	case !acted && before != m.URL && r.last().tab == t:
		r.add(t, &step{primitive: "browser.navigate", args: map[string]any{"url": m.URL}}).url = before
	}
}

func (r *Recorder) arriveNew(t *tab, address string) {
	r.at = t
	r.add(t, &step{primitive: "browser.navigate", args: map[string]any{"url": address}})
	r.notes = append(r.notes, "the action goes to "+address+" in its own tab, where the recording opened another")
}

func (r *Recorder) clicked(t *tab, m said) {
	// Nothing got the click, so the person clicks again on what took the place.
	last := r.last()
	missed := last != nil && last.from.Missed && last.tab == t && last.from.Doc == m.Doc
	if missed && m.Element != nil && last.from.Element != nil &&
		last.from.Element.Role == m.Element.Role && last.from.Element.Name == m.Element.Name {
		r.drop()
	}
	plain := m.Button == "left" && len(m.Modifiers) == 0
	if m.Field && !m.Sink && plain && m.Element != nil && m.Element.Role != "combobox" {
		// Writing goes to the field by itself; a click that nothing is written after is of no use either, unless it
		// opens something.
		r.add(t, &step{primitive: "pointer.click", target: m.target(), from: m})
		return
	}
	s := &step{primitive: "pointer.click", target: m.target(), from: m}
	if m.Button != "" && m.Button != "left" {
		s.args = map[string]any{"button": m.Button}
	}
	if len(m.Modifiers) > 0 {
		s.args = map[string]any{"modifiers": m.Modifiers}
	}
	c := m.Choice
	if c != nil && m.Element != nil && m.Element.Name != "" && slices.Contains(c.Options, m.Element.Name) {
		title := c.Title
		if last := r.last(); title == "" && last != nil && last.target != nil && last.primitive != "browser.navigate" {
			title = last.target.Element.Name // what opened the list
		}
		s.intent.Choice, s.intent.Options = ident.First(title, "choice"), c.Options
	}
	r.add(t, s)
}

func (r *Recorder) doubled() {
	n := len(r.steps)
	if n < 2 || r.steps[n-1].primitive != "pointer.click" || r.steps[n-2].primitive != "pointer.click" ||
		!r.steps[n-2].same(r.steps[n-1].from) {
		return
	}
	r.drop()
	r.last().primitive = "pointer.double_click"
}

// wrote takes the content of a field: the last one counts.
func (r *Recorder) wrote(t *tab, m said) {
	text := m.Text
	if m.Secret {
		text = mask.Placeholder(r.secret(m))
	}
	s := r.last()
	if s.same(m) && s.primitive == "pointer.click" && len(s.args) == 0 {
		r.drop()
		s = r.last()
	}
	if !s.same(m) || s.primitive != "text.insert" {
		s = r.add(t, &step{primitive: "text.insert", target: m.target(), from: m})
	}
	s.args = map[string]any{"text": text, "mode": "replace"}
	s.intent.Type, s.intent.Limits = m.Type, m.Limits
}

// typed takes keys and text that go into an editor, or to what has the focus.
func (r *Recorder) typed(t *tab, m said) {
	s := r.last()
	typed := s != nil && s.primitive == "text.type" && s.tab == t && s.from.Doc == m.Doc
	if typed && r.tab == nil && (m.Handle == "" || s.from.Handle == m.Handle) {
		s.args["text"] = s.args["text"].(string) + m.Text
		return
	}
	r.tabCounts(t, m)
	next := &step{primitive: "text.type", args: map[string]any{"text": m.Text, "trusted": true}, from: m}
	if m.Editable && m.Element != nil {
		if s.same(m) && s.primitive == "pointer.click" {
			r.drop()
			next.target, next.args["caret"] = m.target(), "end"
		} else if s == nil || s.primitive != "keyboard.press" && s.primitive != "text.type" {
			next.target, next.args["caret"] = m.target(), "end"
		}
	}
	r.add(t, next)
}

// tabCounts adds a Tab key before what goes to the focus alone.
func (r *Recorder) tabCounts(t *tab, m said) {
	s := r.tab
	r.tab = nil
	if s != nil && m.Element == nil {
		r.add(t, s)
	}
}

func (r *Recorder) pressed(t *tab, m said) {
	if m.Key == "Tab" || m.Key == "Shift+Tab" {
		r.tab = &step{primitive: "keyboard.press", args: map[string]any{"key": m.Key}, from: m}
		return
	}
	s := r.last()
	if text, ok := s.text(); ok && m.Key == "Backspace" && text != "" && s.from.Doc == m.Doc {
		_, size := utf8.DecodeLastRuneInString(text)
		s.args["text"] = text[:len(text)-size]
		if len(text) == size {
			r.drop()
		}
		return
	}
	r.tabCounts(t, m)
	again := s != nil && s.primitive == "keyboard.press" && s.args["key"] == m.Key && s.from.Doc == m.Doc
	if again && m.Element == nil && s.target == nil {
		times, _ := s.args["repeat"].(int)
		s.args["repeat"] = max(times, 1) + 1
		return
	}
	r.add(t, &step{primitive: "keyboard.press", args: map[string]any{"key": m.Key}, target: m.target(), from: m})
}

// text is what a step types at the focus.
func (s *step) text() (string, bool) {
	if s == nil || s.primitive != "text.type" {
		return "", false
	}
	text, ok := s.args["text"].(string)
	return text, ok
}

func (r *Recorder) selected(t *tab, m said) {
	s := r.last()
	if s.same(m) && s.primitive == "pointer.click" {
		r.drop()
		s = r.last()
	}
	if !s.same(m) || s.primitive != "dom.select_option" {
		s = r.add(t, &step{primitive: "dom.select_option", target: m.target(), from: m})
	}
	if m.Multiple {
		s.args = map[string]any{"option": m.Values}
	} else if len(m.Values) > 0 {
		s.args = map[string]any{"option": m.Values[0]}
	}
	s.intent.Options = m.Options
}

func (r *Recorder) uploaded(t *tab, m said) {
	if s := r.last(); s != nil && s.primitive == "pointer.click" && s.from.Doc == m.Doc {
		r.drop() // what opened the chooser
	}
	r.add(t, &step{
		primitive: "upload.set_files",
		target:    m.target(),
		args:      map[string]any{"paths": r.keep(m.Files)},
		from:      m,
	})
}

func (r *Recorder) dragged(t *tab, m said) {
	if m.Element == nil || m.To == nil {
		r.notes = append(r.notes, "a drag from another document, or out of the browser, could not be followed")
		return
	}
	frame := ""
	if !m.Top {
		frame = m.URL
	}
	// Lists that make room follow the pointer on its way.
	r.add(t, &step{
		primitive: "pointer.drag",
		args:      map[string]any{"points": 30},
		target:    m.target(),
		to:        target(m.To, false, frame),
		from:      m,
	})
}

// answered takes a dialog that was closed.
func (r *Recorder) answered(t *tab, d primitives.Dialog) {
	if r.start == "" || d.Type == "beforeunload" {
		return
	}
	args := map[string]any{"accept": d.Accepted}
	if d.Type == "prompt" && d.Accepted {
		args["prompt_text"] = d.Answer
	}
	r.arrive(t)
	r.add(t, &step{primitive: "browser.dismiss_dialog", args: args}).intent.Choice = ""
}

// bar takes what was clicked in the bar.
func (r *Recorder) bar(ctx context.Context, t *tab, m said) {
	switch m.Do {
	case "done":
		r.show(len(r.steps))
		r.finished = true
	case "undo":
		r.undo()
	case "mark_input":
		r.mark()
	case "assert_text", "assert_visible", "read":
		r.picked(ctx, t, m)
	}
}

func (r *Recorder) undo() {
	s := r.last()
	if s == nil {
		return
	}
	r.steps = r.steps[:len(r.steps)-1]
	n := len(r.steps)
	r.shown = min(r.shown, n)
	if r.opts.Each != nil {
		r.opts.Each(Line{Number: n + 1, Text: s.String(), Undone: true})
	}
}

// mark makes the last step an argument that was none, or takes that back.
func (r *Recorder) mark() {
	s := r.last()
	if s == nil || s.target == nil {
		return
	}
	switch e := s.target.Element; {
	case s.primitive != "pointer.click":
		s.intent.Fixed = !s.intent.Fixed
	case s.intent.Choice != "":
		s.intent.Choice = ""
	case e.Name != "":
		s.intent.Choice = ident.First(e.Role, e.Tag)
	}
}

// picked takes the element that was pointed at for an assertion or a read.
func (r *Recorder) picked(ctx context.Context, t *tab, m said) {
	e, frame, err := pointedAt(ctx, t.page, m.X, m.Y)
	if err != nil || e == nil {
		r.notes = append(r.notes, fmt.Sprintf("nothing was found at the point %.0f, %.0f", m.X, m.Y))
		return
	}
	r.arrive(t)
	s := &step{
		primitive: "locator.text_content",
		target:    target(e, false, frame),
		from:      m,
		intent:    record.Intent{Keep: "assert", Expected: e.Text},
	}
	switch {
	case m.Do == "read":
		s.intent = record.Intent{Keep: "read"}
	case m.Do == "assert_visible" || e.Text == "":
		s.primitive, s.intent.Expected = "locator.wait_for", ""
	}
	r.add(t, s)
}

// pointedAt is the element at a point of a tab, in whichever frame it is.
func pointedAt(ctx context.Context, page *browser.Tab, x, y float64) (*likeness.Seen, string, error) {
	ctx, cancel := context.WithTimeout(ctx, pickTime)
	defer cancel()
	frame := primitives.FrameID("")
	for {
		var out struct {
			Element *likeness.Seen `json:"element"`
			Frame   string         `json:"frame"`
			X       float64        `json:"x"`
			Y       float64        `json:"y"`
			Secret  bool           `json:"secret"`
		}
		if err := page.Call(ctx, frame, "record_at", map[string]any{"x": x, "y": y}, &out); err != nil {
			return nil, "", err
		}
		if out.Frame == "" {
			return out.Element, string(frame), nil
		}
		child, err := page.ChildFrame(ctx, frame, out.Frame)
		if err != nil {
			return nil, "", err
		}
		frame = child
		x = out.X
		y = out.Y
	}
}

// String is the step for people. What is typed into a secret field is not in it.
func (s *step) String() string {
	verb := primitives.StepOf(s.primitive).Verb
	if s.intent.Keep == "assert" {
		verb = "assert"
	}
	parts := []string{verb}
	for _, name := range []string{"text", "key", "option", "paths", "url", "direction", "accept", "prompt_text"} {
		if v, ok := s.args[name]; ok {
			parts = append(parts, fmt.Sprintf("%q", fmt.Sprint(v)))
		}
	}
	if s.intent.Expected != "" {
		parts = append(parts, fmt.Sprintf("%q", s.intent.Expected))
	}
	where := func(word string, t *record.Target) {
		if t == nil || t.Element == nil {
			return
		}
		e := t.Element
		parts = append(parts, strings.TrimSpace(word+" "+ident.First(e.Role, e.Tag)+" "+
			fmt.Sprintf("%q", ident.First(e.Name, e.Text, e.Attributes["id"], e.Attributes["placeholder"]))))
	}
	if len(parts) > 1 {
		where("in", s.target)
	} else {
		where("", s.target)
	}
	where("to", s.to)
	return strings.Join(parts, " ")
}
