package learn

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives"
)

// op is one primitive of a session.
type op struct {
	primitive string
	args      map[string]json.RawMessage
	target    *record.Target
	acts      bool
	ok        bool
	output    json.RawMessage
	before    string // address of the page before it
	// after are addresses of the page that were seen after it: a click does not wait for
	// the page that it leads to, so the next steps may still see the old one.
	after   []string
	end     string // address of the page when its call ended
	repeats int    // reads that were made again until their result was another one
	first   json.RawMessage
	// locator is what the session itself named the element by, nil for a ref or a point.
	locator json.RawMessage
	// at is the number of the call, from 1, for messages.
	at     int
	to     *record.Target // where a drag ends
	goal   record.Intent
	person bool // a person did it, who means the element and not a selector
	// with is the same step in another session, nil without one.
	with *op
}

// flow is what was done in a session, in order.
type flow struct {
	start string
	ops   []*op
	calls int
	bytes int // of the arguments and results that its caller sent and read
	notes []string
	// guessed: something was left out that seemed to lead nowhere.
	guessed bool
}

// flowOf takes the calls of a session apart.
func flowOf(calls []record.Call) *flow {
	f := &flow{calls: len(calls)}
	seen := func(address string) {
		if n := len(f.ops); n > 0 && address != "" {
			f.ops[n-1].after = append(f.ops[n-1].after, address)
		}
	}
	for i, c := range calls {
		f.bytes += len(c.Arguments) + len(c.Output) + len(c.Error)
		for _, s := range c.Steps {
			seen(s.URL)
			o := &op{
				primitive: s.Primitive,
				target:    s.Target,
				to:        s.To,
				acts:      primitives.StepOf(s.Primitive).Repeats,
				before:    s.URL,
				end:       c.URL,
				at:        i + 1,
				ok:        s.End != nil && s.End.OK,
			}
			if s.Intent != nil {
				o.goal, o.person = *s.Intent, true
			}
			if s.End != nil {
				o.output = s.End.Output
			}
			if json.Unmarshal(s.Arguments, &o.args) != nil || !o.acts && !isRead(s.Primitive) && o.goal.Keep == "" {
				continue
			}
			o.locator = locatorOf(o)
			if n := len(f.ops); n > 0 && !navigates(o) {
				f.ops[n-1].after = append(f.ops[n-1].after, c.URL)
			}
			f.ops = append(f.ops, o)
		}
		seen(c.URL)
	}
	f.followed()
	for _, o := range f.ops {
		if o.before != "" && o.before != "about:blank" {
			f.start = o.before
			break
		}
	}
	return f
}

// followed completes where links led to. What a recording knows of a page's address is late, and a click does not wait
// for the page that it leads to: that page may be seen first when the next link was clicked.
func (f *flow) followed() {
	for i, o := range f.ops {
		to := o.href()
		for k := i + 1; to != "" && k < len(f.ops); k++ {
			next := f.ops[k]
			there := withoutFragment(next.before) == to
			if there || withoutFragment(next.end) == to && next.href() != to {
				o.after = append(o.after, to)
			}
			if !navigates(next) {
				continue
			}
			if !there && next.before == o.before && o.reached(to) {
				next.before = to // it was clicked there
			}
			break
		}
	}
}

// href is where a link leads to, "" for what is no link that was clicked.
func (o *op) href() string {
	if o.primitive != "pointer.click" || o.target == nil || o.target.Element == nil || o.target.Element.Role != "link" {
		return ""
	}
	base, err := url.Parse(o.before)
	href := o.target.Element.Attributes["href"]
	if err != nil || href == "" {
		return ""
	}
	to, err := base.Parse(href)
	if err != nil {
		return ""
	}
	return withoutFragment(to.String())
}

func isRead(primitive string) bool { return primitives.StepOf(primitive).Reads != nil }

// readMember is the member of a result that was read from the page, "" for all of it.
func readMember(primitive string) string {
	member := primitives.StepOf(primitive).Reads
	if member == nil {
		return ""
	}
	return *member
}

// locatorOf is the locator of an operation, when it does not go by a ref or a point.
func locatorOf(o *op) json.RawMessage {
	for _, name := range []string{"locator", "target"} {
		raw := o.args[name]
		if len(raw) == 0 || string(raw) == "null" || strings.Contains(string(raw), `"ref"`) {
			continue
		}
		if raw[0] == '"' {
			return json.RawMessage(`{"selector":` + string(raw) + `}`)
		}
		var nested struct {
			Locator json.RawMessage `json:"locator"`
		}
		if json.Unmarshal(raw, &nested) == nil && len(nested.Locator) > 0 {
			raw = nested.Locator
		}
		return raw
	}
	return nil
}

// text is a member of the arguments that is a string.
func (o *op) text(name string) string {
	var s string
	if json.Unmarshal(o.args[name], &s) != nil {
		return ""
	}
	return s
}

// same reports whether two operations do the same to the same element.
func (o *op) same(p *op) bool {
	return o.primitive == p.primitive && o.element() == p.element() && sameArgs(o, p)
}

func sameArgs(o, p *op) bool {
	for _, name := range []string{
		"text", "key", "option", "value", "label", "url", "mode", "delta_x", "delta_y", "direction",
	} {
		if string(o.args[name]) != string(p.args[name]) {
			return false
		}
	}
	return true
}

// element tells elements of one session apart.
func (o *op) element() string {
	if o.target == nil || o.target.Element == nil {
		return string(o.locator) + string(o.args["ref"])
	}
	e := o.target.Element
	return strings.Join(
		[]string{e.Tag, e.Role, e.Name, e.Attributes["id"], e.Attributes["name"], e.Near, o.target.Frame}, "\x00",
	)
}

var leaving = lazyregexp.New(`(?i)^(?:cancel|close|dismiss|back|×|x|abbrechen|schließen)$`)

// kept drops what led nowhere: failures, reads that nobody used, fields that were written
// again, pages that were left again, dialogs that were closed again. With whole the last two stay.
func (f *flow) kept(whole bool) {
	f.drop("failed", func(_ int, o *op) bool { return !o.ok })
	f.start = f.begin()
	f.polled()
	f.rewritten()
	if n := len(f.ops); !whole {
		f.corrected()
		f.switched()
		f.searched()
		f.detours()
		f.closed()
		f.guessed = len(f.ops) < n
	}
	f.drop("repeated", func(i int, o *op) bool {
		if i == 0 || o.primitive != "pointer.click" || !o.same(f.ops[i-1]) {
			return false
		}
		return len(o.output) > 0 && o.stays() && o.target != nil && o.target.Element != nil &&
			o.target.Element.Role == "link"
	})
}

func (f *flow) drop(why string, gone func(int, *op) bool) {
	n := len(f.ops)
	var left []*op
	for i, o := range f.ops {
		if !gone(i, o) {
			left = append(left, o)
		}
	}
	f.ops = left
	if len(left) < n && why != "" {
		f.notes = append(f.notes, report.Count(n-len(left), "step")+" left out: "+why)
	}
}

// begin is where a session starts: the last address that it went to before it did
// anything else.
func (f *flow) begin() string {
	start := f.start
	for len(f.ops) > 0 {
		o := f.ops[0]
		if o.primitive == "browser.navigate" && o.text("url") != "" {
			start = o.text("url")
		} else if o.acts {
			break
		} else if later := slices.IndexFunc(f.ops, func(p *op) bool {
			return p.acts
		}); later < 0 || f.ops[later].primitive != "browser.navigate" {
			break
		}
		f.ops = f.ops[1:]
	}
	return start
}

// polled collapses reads of one place that were made again and again into one that is
// repeated until its result is another one.
func (f *flow) polled() {
	var out []*op
	for _, o := range f.ops {
		if n := len(out); n > 0 && !o.acts && !out[n-1].acts && o.same(out[n-1]) {
			if string(out[n-1].output) != string(o.output) {
				o.repeats, o.first = out[n-1].repeats+1, firstOf(out[n-1])
			} else {
				o.repeats, o.first = out[n-1].repeats, out[n-1].first
			}
			out[n-1] = o
			continue
		}
		out = append(out, o)
	}
	f.ops = out
}

func firstOf(o *op) json.RawMessage {
	if o.first != nil {
		return o.first
	}
	return o.output
}

// rewritten drops what was written into a field that was then replaced.
func (f *flow) rewritten() {
	f.drop("written again", func(i int, o *op) bool {
		if o.primitive != "text.insert" && o.primitive != "dom.select_option" && o.primitive != "page.select" {
			return false
		}
		for _, p := range f.ops[i+1:] {
			if !p.acts {
				continue
			}
			if p.primitive == o.primitive && p.element() == o.element() &&
				(p.text("mode") == "replace" || o.primitive != "text.insert") {
				return true
			}
			if p.primitive != "text.insert" && p.primitive != "dom.select_option" && p.primitive != "page.select" {
				return false // something was done with what was written
			}
		}
		return false
	})
}

// withoutFragment is an address without its fragment.
func withoutFragment(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Fragment = ""
	return u.String()
}

// stays reports whether no other page was seen after a step.
func (o *op) stays() bool {
	return !slices.ContainsFunc(o.after, func(a string) bool { return withoutFragment(a) != withoutFragment(o.before) })
}

// reached reports whether a page was seen after a step.
func (o *op) reached(address string) bool {
	return slices.ContainsFunc(o.after, func(a string) bool { return withoutFragment(a) == withoutFragment(address) })
}

// detours drops the way to a page and back, where nothing was written meanwhile.
func (f *flow) detours() {
	for i := 0; i < len(f.ops); i++ {
		if !f.ops[i].acts || f.ops[i].stays() {
			continue
		}
		for j := len(f.ops) - 1; j > i; j-- {
			if !f.ops[j].acts || f.ops[j].stays() || !f.ops[j].reached(f.ops[i].before) {
				continue
			}
			between := f.ops[i : j+1]
			if slices.ContainsFunc(between, func(o *op) bool { return o.acts && !navigates(o) }) {
				continue
			}
			f.notes = append(f.notes, report.Count(j-i+1, "step")+" left out: a way to another page and back")
			f.ops = slices.Delete(f.ops, i, j+1)
			i--
			break
		}
	}
}

// chooses reports whether a step clicks an entry of a drawn list of choices.
func (o *op) chooses() bool {
	if o.primitive != "pointer.click" || o.person || o.target == nil || o.target.Element == nil {
		return false
	}
	e := o.target.Element
	return (e.Role == "option" || e.Role == "menuitemradio") && e.Name != ""
}

// corrected drops a choice after which the same list was opened again for another one. A list of which more can be
// chosen stays open, and its opener does not show what was chosen in place of what it showed before.
func (f *flow) corrected() {
	for i := 0; i < len(f.ops); i++ {
		acts := f.acting(i, 4)
		if len(acts) < 4 {
			return
		}
		open, chose := f.ops[acts[0]], f.ops[acts[1]]
		again, other := f.ops[acts[2]], f.ops[acts[3]]
		if !f.ops[i].acts || open.primitive != "pointer.click" || !chose.chooses() || !other.chooses() ||
			!open.reopened(again, chose.target.Element.Name) {
			continue
		}
		f.notes = append(f.notes, report.Count(acts[2]-i, "step")+" left out: another choice was made after it")
		f.ops = slices.Delete(f.ops, i, acts[2])
		i--
	}
}

// switched drops the choice of a tab after which another one of its list was chosen, with nothing read or done between.
func (f *flow) switched() {
	f.drop("another tab was chosen after it", func(i int, o *op) bool {
		return i+1 < len(f.ops) && o.switches(f.ops[i+1])
	})
}

// switches reports whether two steps choose two tabs of one list.
func (o *op) switches(next *op) bool {
	for _, each := range []*op{o, next} {
		if each.primitive != "pointer.click" || each.target == nil || each.target.Element == nil ||
			each.target.Element.Role != "tab" {
			return false
		}
	}
	a, b := o.target.Element, next.target.Element
	return o.target.Frame == next.target.Frame && slices.Equal(a.Path, b.Path) && a.Nth != b.Nth
}

// acting are the indices of the next steps that act, up to so many.
func (f *flow) acting(from, most int) (out []int) {
	for i := from; i < len(f.ops) && len(out) < most; i++ {
		if f.ops[i].acts {
			out = append(out, i)
		}
	}
	return out
}

// reopened reports whether another step clicks what a step has clicked, which now shows what was chosen.
func (o *op) reopened(again *op, chosen string) bool {
	if again.primitive != o.primitive || o.target == nil || again.target == nil ||
		again.target.Frame != o.target.Frame {
		return false
	}
	a, b := o.target.Element, again.target.Element
	if a == nil || b == nil || a.Tag != b.Tag || a.Role != b.Role {
		return false
	}
	if a.Attributes["id"] != b.Attributes["id"] || !samePath(a, b) {
		return false
	}
	shows := func(e *likeness.Seen) bool { return strings.Contains(e.Name+"\x00"+e.Text, chosen) }
	return shows(b) && !shows(a)
}

// searched drops a search that was left for an address that the session itself named: a search changes nothing, and
// the address needs none.
func (f *flow) searched() {
	for j := 0; j < len(f.ops); j++ {
		if f.ops[j].primitive != "browser.navigate" || f.ops[j].text("url") == "" {
			continue
		}
		i := j
		for i > 0 && (!f.ops[i-1].acts || navigates(f.ops[i-1]) || f.isSearch(i-1)) && f.ops[i-1].goal.Keep == "" {
			i--
		}
		for i < j && !f.ops[i].acts {
			i++
		}
		if !slices.ContainsFunc(f.ops[i:j], func(o *op) bool { return o.acts && !navigates(o) }) {
			continue
		}
		f.notes = append(
			f.notes, report.Count(j-i, "step")+" left out: a search whose pages were left for another address",
		)
		f.ops = slices.Delete(f.ops, i, j)
		j = i
	}
}

// isSearch reports whether a step is part of a search: what is written stands in the address that is reached then.
func (f *flow) isSearch(i int) bool {
	o := f.ops[i]
	sends := i
	if o.primitive == "text.insert" || o.primitive == "text.type" {
		if acts := f.acting(i+1, 1); len(acts) == 1 {
			sends = acts[0]
		}
	} else {
		for i > 0 && (i == sends || !f.ops[i].acts) {
			i--
		}
		o = f.ops[i]
	}
	text := o.text("text")
	if sends == i || text == "" || o.primitive != "text.insert" && o.primitive != "text.type" {
		return false
	}
	return slices.ContainsFunc(f.ops[sends].after, func(address string) bool {
		u, err := url.Parse(address)
		if err != nil {
			return false
		}
		for _, values := range u.Query() {
			if slices.Contains(values, text) {
				return true
			}
		}
		return false
	})
}

// navigates reports whether an operation only goes somewhere.
func navigates(o *op) bool {
	switch o.primitive {
	case "browser.navigate", "page.history", "viewport.scroll", "pointer.move", "page.hover":
		return true
	case "pointer.click":
		if o.target == nil || o.target.Element == nil { // it came after the click had begun
			var l struct {
				Role string `json:"role"`
			}
			return json.Unmarshal(o.locator, &l) == nil && l.Role == "link"
		}
		return o.target.Element.Role == "link"
	}
	return false
}

// closed drops the opening of something that was closed again with nothing done in it.
func (f *flow) closed() {
	for i := 0; i+1 < len(f.ops); i++ {
		o := f.ops[i]
		if o.primitive != "pointer.click" {
			continue
		}
		j := i + 1
		for j < len(f.ops) && !f.ops[j].acts {
			j++
		}
		if j == len(f.ops) {
			return
		}
		p := f.ops[j]
		escape := strings.HasPrefix(p.primitive, "keyboard.") && p.text("key") == "Escape"
		cancel := p.primitive == "pointer.click" && p.target != nil && p.target.Element != nil &&
			leaving().MatchString(p.target.Element.Name)
		// What a session ends with is what it was for.
		last := !slices.ContainsFunc(f.ops[j+1:], func(o *op) bool { return o.acts })
		if (escape || cancel) && !last && (p.reached(o.before) || p.reached(p.before)) {
			f.notes = append(f.notes, report.Count(j-i+1, "step")+" left out: something was opened and closed again")
			f.ops = slices.Delete(f.ops, i, j+1)
			i = max(i-2, -1)
		}
	}
}
