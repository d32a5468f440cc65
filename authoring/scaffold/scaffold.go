// Package scaffold writes a first map and a first plan of a page. It keeps nothing that it has not executed, and says
// what it left out and why. It has no model and guesses at no meaning. The verb init calls it.
package scaffold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host is what the page is open in: a runtime.Host.
type Host interface {
	Do(ctx context.Context, call runtime.Call) runtime.Reply
	Visit(ctx context.Context, on runtime.Target, f func(context.Context, primitives.Page) error) error
	Tabs() []runtime.TabStatus
}

// Options say how a map is written.
type Options struct {
	NewID func() string
	Now   func() time.Time
	// Submit tries actions that may change something on the site: those that send forms
	// and click buttons. Without it they are kept when all but that click could be done.
	Submit bool
	// Each bounds one trial. Default 20 s.
	Each time.Duration
	// Progress is called with what is tried, its number from 1 and how many there are;
	// may be nil.
	Progress func(what string, number, of int)
}

// Report is what was written, and what was left out.
type Report struct {
	URL         string  `json:"url"`
	Actions     []Kept  `json:"actions"`
	Projections []Kept  `json:"projections"`
	States      []Kept  `json:"states"`
	Transitions []Kept  `json:"transitions"`
	LeftOut     []Entry `json:"left_out"`
}

// Kept is something that is in the map.
type Kept struct {
	Name string `json:"name"`
	// Note is what a reviewer should know: that it was not sent, that nothing could be
	// asserted of it.
	Note string `json:"note,omitempty"`
}

// Entry is something that is not in the map, and why.
type Entry struct {
	Kind   string `json:"kind"` // action, field, projection, state, transition
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (r *Report) leave(kind, name, reason string) {
	e := Entry{kind, name, reason}
	if !slices.Contains(r.LeftOut, e) {
		r.LeftOut = append(r.LeftOut, e)
	}
}

// Result is a map with its report.
type Result struct {
	Map    *Map
	Plan   []byte
	Report Report
}

// writer writes the map of one page.
type writer struct {
	h    Host
	o    Options
	on   runtime.Target
	out  *Map
	rep  *Report
	used ident.Names
	home inspect.Page
	path string // of the map, in calls
	here string // the state of the page that it is written of, "" for none
	// shown are the states that its plan demands of the page as it is opened, and links those of the pages that its
	// links lead to.
	shown []string
	links []link
	// drawn: one of shown is about an element, and not about the address alone.
	drawn bool
	// endless: the load of the page does not end, so it is not waited for again.
	endless bool
}

// link is an action that follows a link, and the state that it leads to.
type link struct{ action, state string }

// Init writes a map of the page that the first tab of the host shows. When it is ended after the page was read it gives
// what it has, beside the error.
func Init(ctx context.Context, h Host, o Options) (*Result, error) {
	tabs := h.Tabs()
	if len(tabs) == 0 {
		return nil, fault.New(fault.TabClosed, "no tab is open")
	}
	if o.Each <= 0 {
		o.Each = 20 * time.Second
	}
	w := &writer{
		h:    h,
		o:    o,
		on:   runtime.Target{RuntimeID: tabs[0].RuntimeID},
		path: "actions.json",
		used: ident.Names{},
		rep: &Report{
			Actions: []Kept{}, Projections: []Kept{}, States: []Kept{}, Transitions: []Kept{}, LeftOut: []Entry{}},
	}
	if err := w.quiet(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	loaded := w.wait(ctx, endlessTime, "load", "load")
	w.endless = loaded.Err != nil && loaded.Err.Code == fault.Timeout
	page, targets, err := w.readPage(ctx)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(page.URL)
	if err != nil || u.Host == "" && u.Scheme != "file" {
		return nil, fault.New(
			fault.InvalidInput, "the page %s has no address that a map can apply to", fault.Clip(page.URL, 100),
		)
	}
	w.home, w.rep.URL = page, page.URL
	w.out = &Map{
		Protocol: "actions.json", Version: 1, Tools: []Tool{},
		Surface: Surface{Origin: u.Scheme + "://" + u.Host, Name: ident.First(page.Title, heading(page), u.Host)},
		Provenance: Provenance{
			CreatedBy: "outrider init",
			CreatedAt: o.Now().UTC().Format(time.RFC3339),
			Source:    u.Scheme + "://" + u.Host + u.Path,
		},
	}
	if !page.Complete {
		w.rep.leave("page", page.URL, "the page has more controls than are read at once")
	}
	if err := w.states(ctx, page, targets); err != nil {
		return w.cut(ctx, err, "states")
	}
	if err := w.projections(ctx, page); err != nil {
		return w.cut(ctx, err, "lists")
	}
	d := drafted(page, targets, w.rep, ident.Names{})
	for i, a := range d.actions {
		if o.Progress != nil {
			o.Progress(a.Name, i+1, len(d.actions))
		}
		if err := w.try(ctx, a); err != nil {
			for _, rest := range d.actions[i:] {
				w.rep.leave("action", rest.Name, "it was not tried to its end: init was ended before")
			}
			return w.cut(ctx, err, fmt.Sprintf("%d of %d actions", len(d.actions)-i, len(d.actions)))
		}
	}
	if len(w.out.Tools)+len(w.out.Projections)+len(page.Controls) == 0 {
		w.rep.leave("page", page.URL, "it shows no control and no list: it may not have been drawn")
	}
	return w.result(), w.leave(ctx)
}

// cut gives what was written until init was ended, with what it did not come to.
func (w *writer) cut(ctx context.Context, err error, what string) (*Result, error) {
	if ctx.Err() != nil {
		err = fault.New(fault.CodeOf(ctx.Err()), "init was ended: %s of the page were not tried to the end", what)
	}
	return w.result(), err
}

// result is what was written so far.
func (w *writer) result() *Result { return &Result{Map: w.out, Plan: w.plan(), Report: *w.rep} }

// call runs one call on the tab.
func (w *writer) call(ctx context.Context, name string, arguments any) runtime.Reply {
	return w.do(ctx, runtime.Call{Name: name, Arguments: encode(arguments)})
}

func (w *writer) do(ctx context.Context, c runtime.Call) runtime.Reply {
	c.ID = w.o.NewID()
	c.Target = w.on
	c.Timeout = w.o.Each
	return w.h.Do(ctx, c)
}

func encode(v any) json.RawMessage {
	text, err := jsonout.Line(v)
	if err != nil {
		return nil // only values of ours come here
	}
	return text
}

// site asks the tool of the site with the map as it is.
func (w *writer) site(ctx context.Context, m *Map, arguments runtime.Site) runtime.Reply {
	text, err := m.Encode()
	if err != nil {
		return runtime.Reply{Err: fault.From(err)}
	}
	return w.do(ctx, runtime.Call{
		Name:      runtime.SiteTool,
		Arguments: encode(arguments),
		Map:       &runtime.SuppliedMap{Path: w.path, JSON: text},
	})
}

const (
	quietTime = 5 * time.Second
	// endlessTime is how long the load of a page is waited for that did not end the first time.
	endlessTime = time.Second
)

// quiet waits until nothing is under way on the network. A page that is never quiet is
// read as it is.
func (w *writer) quiet(ctx context.Context) error {
	limit := quietTime
	if w.endless {
		w.wait(ctx, quietTime, "load", "domcontentloaded")
		limit = endlessTime
	}
	reply := w.wait(ctx, limit, "network_idle_ms", 150)
	if reply.Err != nil && ended(ctx, reply.Err) {
		return reply.Err
	}
	return nil
}

// wait waits for one condition.
func (w *writer) wait(ctx context.Context, limit time.Duration, condition string, value any) runtime.Reply {
	return w.call(ctx, "page.wait", map[string]any{
		"timeout_ms": limit.Milliseconds(),
		"conditions": []any{map[string]any{condition: value}},
	})
}

// ended reports whether an error is about the tab or the time, so that nothing further can
// be tried.
func ended(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	switch fault.CodeOf(err) {
	case fault.TabClosed, fault.BrowserLost, fault.BrowserFailed:
		return true
	}
	return false
}

// readPage reads the page, and finds a target for each control and mark.
func (w *writer) readPage(ctx context.Context) (inspect.Page, map[string]*locators.Target, error) {
	var page inspect.Page
	targets := map[string]*locators.Target{}
	within, cancel := context.WithTimeout(ctx, w.o.Each)
	defer cancel()
	err := w.h.Visit(within, w.on, func(ctx context.Context, p primitives.Page) error {
		var err error
		page, err = inspect.Take(ctx, p)
		if err != nil {
			return err
		}
		var seen []likeness.Seen
		for _, c := range page.Controls {
			seen = append(seen, c.Seen)
		}
		for _, m := range page.Marks {
			seen = append(seen, m.Seen)
		}
		unique, err := locators.UniqueOf(ctx, p, seen)
		if err != nil {
			return err
		}
		for i, s := range seen {
			if i >= len(page.Controls) { // what a mark says is another text with other arguments
				unique[i] = slices.DeleteFunc(unique[i], func(l locators.Locator) bool {
					return l.Kind == locators.Text
				})
			}
			if t, ok := locators.TargetOf(s, unique[i]); ok {
				targets[s.Handle] = &t
			}
		}
		return nil
	})
	return page, targets, err
}

// open goes to the page again, as somebody finds it.
func (w *writer) open(ctx context.Context) error {
	left := "" // the address that the page is left at
	i := slices.IndexFunc(w.h.Tabs(), func(t runtime.TabStatus) bool { return t.RuntimeID == w.on.RuntimeID })
	if i >= 0 {
		left = w.h.Tabs()[i].URL
	}
	err := w.navigate(ctx, primitives.NavigateOptions{URL: w.home.URL})
	if fault.CodeOf(err) == fault.DialogOpen {
		w.call(ctx, "browser.dismiss_dialog", map[string]any{"accept": true})
		err = w.navigate(ctx, primitives.NavigateOptions{URL: w.home.URL})
	}
	if err != nil {
		return err
	}
	// An address that differs by its fragment alone is no other document.
	if !strings.Contains(w.home.URL+left, "#") {
		return w.quiet(ctx)
	}
	if err := w.navigate(ctx, primitives.NavigateOptions{Reload: true}); err != nil && ended(ctx, err) {
		return err
	}
	return w.quiet(ctx)
}

// navigate leads the tab somewhere. Where a load has not ended once, the next is waited for a moment alone.
func (w *writer) navigate(ctx context.Context, to primitives.NavigateOptions) error {
	ctx, cancel := context.WithTimeout(ctx, w.o.Each)
	defer cancel()
	to = to.Within(ctx)
	if w.endless {
		to.LoadTimeout = endlessTime
	}
	return w.h.Visit(ctx, w.on, func(ctx context.Context, p primitives.Page) error {
		nav, err := p.Navigate(ctx, to)
		w.endless = w.endless || err == nil && !nav.Loaded && !nav.SameDocument
		return err
	})
}

// leave goes back to the page.
func (w *writer) leave(ctx context.Context) error {
	err := w.open(ctx)
	if err != nil && !ended(ctx, err) {
		return nil // what was written was tried: the page may be left where it is
	}
	return err
}

// states writes the state of the page, and one for each of its parts.
func (w *writer) states(ctx context.Context, page inspect.Page, targets map[string]*locators.Target) error {
	name := ident.First(ident.Slug(heading(page)), ident.Slug(page.Title), "page")
	own := State{
		Name:        w.used.Free(name + "_ready"),
		Description: "The page " + quotedTitle(ident.First(heading(page), page.Title, page.URL)) + " is shown.",
	}
	main := slices.IndexFunc(page.Marks, func(m inspect.Mark) bool {
		return m.Level > 0 && m.Name == heading(page) && targets[m.Handle] != nil
	})
	if main < 0 {
		main = slices.IndexFunc(page.Marks, func(m inspect.Mark) bool {
			return m.Role == "main" && targets[m.Handle] != nil
		})
	}
	if main >= 0 {
		mark := page.Marks[main]
		own.Diagnostics = append(own.Diagnostics, shows("heading", targets[mark.Handle], mark.Name))
	}
	if u, err := url.Parse(page.URL); err == nil && len(u.Path) > 1 {
		own.Diagnostics = append(own.Diagnostics, Probe{Name: "address", URLContains: u.Path})
	}
	if len(own.Diagnostics) == 0 {
		if i := slices.IndexFunc(page.Controls, func(c inspect.Control) bool {
			return targets[c.Handle] != nil && !c.Repeated
		}); i >= 0 {
			own.Diagnostics = append(own.Diagnostics, shows("control", targets[page.Controls[i].Handle], ""))
		}
	}
	states := []State{own}
	for i, m := range page.Marks {
		if i == main || targets[m.Handle] == nil || len(states) == maxStates || ident.Slug(m.Name) == "" {
			continue
		}
		if part := m.Level > 0 && m.Level <= 3 || slices.Contains(
			[]string{"navigation", "region", "search", "form", "dialog", "alertdialog", "complementary"}, m.Role,
		); part {
			name := ident.Slug(m.Name)
			if m.Level == 0 && !strings.Contains(m.Role, "dialog") {
				name += "_" + m.Role
			}
			words := ""
			if m.Level > 0 {
				words = m.Name
			}
			states = append(states, State{
				Name: w.used.Free(name + "_shown"), Description: fmt.Sprintf("The %s %q is shown.", m.Role, m.Name),
				Diagnostics: []Probe{shows("shown", targets[m.Handle], words)},
			})
		}
	}
	states = slices.DeleteFunc(states, func(s State) bool {
		if len(s.Diagnostics) == 0 {
			w.rep.leave("state", s.Name, "nothing on the page tells that it is current")
			return true
		}
		return false
	})
	m := *w.out
	m.States = states
	current, err := w.current(ctx, &m)
	if err != nil {
		return err
	}
	for _, s := range states {
		if !slices.Contains(current, s.Name) {
			w.rep.leave("state", s.Name, "it is not current on the page that it was written of")
			continue
		}
		if s.Name == own.Name {
			w.here = s.Name
		}
		w.out.States = append(w.out.States, s)
		w.rep.States = append(w.rep.States, Kept{Name: s.Name})
		w.shown = append(w.shown, s.Name)
	}
	if w.here != "" { // what else is shown may be another every day
		w.shown = []string{w.here}
	}
	w.drawn = slices.ContainsFunc(w.out.States, func(s State) bool {
		return slices.Contains(w.shown, s.Name) &&
			slices.ContainsFunc(s.Diagnostics, func(p Probe) bool { return p.Target != nil })
	})
	return nil
}

// maxStates bounds the states of one page.
const maxStates = 10

// current are the states of a map that hold.
func (w *writer) current(ctx context.Context, m *Map) ([]string, error) {
	reply := w.site(ctx, m, runtime.Site{Mode: runtime.SiteList})
	if reply.Err != nil {
		return nil, reply.Err
	}
	var out struct {
		Current []string `json:"current_states"`
	}
	err := json.Unmarshal(reply.Output, &out)
	return out.Current, err
}

// projections writes what repeats.
func (w *writer) projections(ctx context.Context, page inspect.Page) error {
	prefix := ident.First(ident.Slug(heading(page)), ident.Slug(page.Title), "page")
	var seen []likeness.Seen
	for _, l := range page.Lists {
		seen = append(seen, l.Seen)
	}
	var unique [][]locators.Locator
	within, cancel := context.WithTimeout(ctx, w.o.Each)
	defer cancel()
	if err := w.h.Visit(within, w.on, func(ctx context.Context, p primitives.Page) (err error) {
		unique, err = locators.UniqueOf(ctx, p, seen)
		return err
	}); err != nil {
		return err
	}
	used := ident.Names{}
	for i, l := range page.Lists {
		label := ident.First(l.Title, l.Name, humane(l.Attributes["id"]), humane(l.Attributes["data-testid"]), l.Kind)
		name := prefix + "." + ident.First(ident.Slug(label), l.Kind)
		container := ""
		for _, u := range unique[i] {
			if u.Kind != locators.RoleName && u.Kind != locators.Text {
				container = u.Selector
				break
			}
		}
		if container == "" {
			w.rep.leave("projection", name, "no selector names the "+l.Kind+" alone")
			continue
		}
		p := projected(page, l, container, name)
		if p == nil {
			w.rep.leave("projection", name, "its entries show nothing that can be read")
			continue
		}
		items, err := w.read(ctx, p)
		if err != nil {
			if ended(ctx, err) {
				return err
			}
			w.rep.leave("projection", name, err.Error())
			continue
		}
		if len(items) == 0 {
			w.rep.leave("projection", name, "it is empty")
			continue
		}
		fields := p.Snapshot.Extract[0].Fields
		fields = slices.DeleteFunc(fields, func(f Field) bool {
			there := 0
			for _, it := range items {
				if v := it[f.Name]; v != nil && v != "" {
					there++
				}
			}
			if there*2 >= len(items) {
				return false
			}
			w.rep.leave("field", name+"."+f.Name, fmt.Sprintf("%d of %d entries have it", there, len(items)))
			return true
		})
		if len(fields) == 0 {
			w.rep.leave("projection", name, "its fields are empty")
			continue
		}
		p.Snapshot.Extract[0].Fields = fields
		note := ""
		if id := identity(fields, items); id != "" {
			p.Identity = map[string]string{"/items": id}
		} else {
			note = "no field tells its entries apart"
		}
		p.Name = used.Free(name)
		w.out.Projections = append(w.out.Projections, *p)
		w.rep.Projections = append(w.rep.Projections, Kept{p.Name, note})
	}
	return nil
}

// read reads a projection and returns its items.
func (w *writer) read(ctx context.Context, p *Projection) ([]map[string]any, error) {
	m := *w.out
	m.Tools, m.Projections = []Tool{}, []Projection{*p}
	reply := w.site(ctx, &m, runtime.Site{Mode: runtime.SiteStateRead, Projection: p.Name})
	if reply.Err != nil {
		return nil, reply.Err
	}
	var out struct {
		State struct {
			Items []map[string]any `json:"items"`
		} `json:"state"`
	}
	if err := json.Unmarshal(reply.Output, &out); err != nil {
		return nil, errors.New("its state cannot be read")
	}
	return out.State.Items, nil
}

// plan is the first plan: it demands the states that name the page and those that its links lead to, reads each
// projection, and runs each action that changes nothing.
func (w *writer) plan() []byte {
	var steps strings.Builder
	for _, name := range w.shown {
		fmt.Fprintf(&steps, "  - expect: {state: %s}\n", yamlText(name))
	}
	if !w.drawn && strings.TrimSpace(w.home.Title) != "" {
		fmt.Fprintf(&steps, "  - expect: {title: %s}\n", yamlText(w.home.Title))
	}
	for _, p := range w.out.Projections {
		fmt.Fprintf(&steps, "  - state: %s\n    expect: \"$count(output.state.items) > 0\"\n", p.Name)
	}
	for _, a := range w.out.Tools {
		leads := slices.IndexFunc(w.links, func(l link) bool { return l.action == a.Name })
		tried := slices.ContainsFunc(w.rep.Actions, func(k Kept) bool { return k.Name == a.Name && k.Note != notSent })
		if leads < 0 && len(a.InputSchema.Properties) == 0 || !tried {
			continue
		}
		fmt.Fprintf(
			&steps, "  - open: %s\n    action: %s\n    args: %s\n",
			yamlText(w.home.URL), a.Name, encode(arguments(a.InputSchema, 0)),
		)
		if leads >= 0 {
			fmt.Fprintf(&steps, "    expect: {state: %s}\n", yamlText(w.links[leads].state))
		}
	}
	if steps.Len() == 0 {
		steps.WriteString("  - call: page.info\n")
	}
	return fmt.Appendf(
		nil, "# Written by outrider init. Each step was run once on %s.\nopen: %s\nmaps: [actions.json]\nsteps:\n%s",
		w.out.Provenance.CreatedAt, yamlText(w.home.URL), steps.String(),
	)
}

func yamlText(s string) string { return string(encode(s)) }
