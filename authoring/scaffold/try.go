package scaffold

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/authoring/sample"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/observe"
)

// Notes of actions.
const (
	notSent    = "filled in and not sent: --submit sends it"
	notClicked = "its button was found and not clicked: --submit clicks it"
	nothingNew = "nothing was seen to change, so it has no postcondition"
	wasRefused = "the page refused it, so it has no postcondition: "
	thereFirst = "what appeared is there without the action, too, so it has no postcondition"
)

// arguments are the n-th example of the arguments of an action.
func arguments(s Schema, n int) map[string]any {
	out := map[string]any{}
	for _, p := range s.Properties {
		out[p.Name] = p.Value(n)
	}
	return out
}

// try runs a drafted action on the page as somebody finds it, and keeps it when that
// succeeds. What appears is its postcondition, when it appears again with other
// arguments. The error is about the tab, not about the action.
func (w *writer) try(ctx context.Context, a *action) error {
	if err := w.open(ctx); err != nil {
		if ended(ctx, err) {
			return err
		}
		w.rep.leave("action", a.Name, "the page could not be opened again: "+err.Error())
		return nil
	}
	held := a.risk == changes && !w.o.Submit && a.operate >= 0
	attempt := a.Tool
	if held {
		attempt.XActions.Execution.Steps = slices.Clone(attempt.XActions.Execution.Steps)
		s := &attempt.XActions.Execution.Steps[a.operate]
		s.Type = "inspect"
		s.Key = ""
		s.ValueFrom = ""
	}
	before, _, err := w.readPage(ctx)
	if err != nil {
		if ended(ctx, err) {
			return err
		}
		w.rep.leave("action", a.Name, "the page could not be read: "+err.Error())
		return nil
	}
	rows := w.rows(ctx)
	if failure, err := w.run(ctx, attempt, 0); failure != "" || err != nil {
		if err == nil {
			w.rep.leave("action", a.Name, failure)
		}
		return err
	}
	if held {
		note := notSent
		if len(a.InputSchema.Properties) == 0 {
			note = notClicked
		}
		w.keep(a.Tool, note)
		return nil
	}
	seen, err := w.appeared(ctx, a, before, rows)
	if err != nil {
		return err
	}
	if seen.link != nil {
		return w.keepLink(ctx, a, seen)
	}
	if seen.refused != "" {
		w.rep.leave("postcondition", a.Name, seen.refused)
		w.keep(a.Tool, wasRefused+seen.refused)
		return nil
	}
	if !seen.something() {
		note := nothingNew
		if last := a.XActions.Execution.Steps[len(a.XActions.Execution.Steps)-1]; last.Type == "check" {
			note = "" // the step itself sees that the control changed
		}
		w.keep(a.Tool, note)
		return nil
	}
	return w.confirm(ctx, a, seen)
}

// confirm runs an action with its postcondition and other arguments.
func (w *writer) confirm(ctx context.Context, a *action, seen outcome) error {
	promised := a.Tool
	promised.XActions.Execution.Steps = slices.Clone(promised.XActions.Execution.Steps)
	last := &promised.XActions.Execution.Steps[len(promised.XActions.Execution.Steps)-1]
	last.Assert = seen.assert
	if seen.read != nil {
		ids := ident.Names{}
		for _, s := range promised.XActions.Execution.Steps {
			ids[s.ID] = true
		}
		promised.XActions.Execution.Steps = append(promised.XActions.Execution.Steps, Step{
			ID:     ids.Free("shown"),
			Type:   "read",
			Target: seen.read,
		})
	}
	saved := slices.Clone(w.out.Projections)
	if seen.row != nil {
		p := &w.out.Projections[seen.projection]
		if p.Postconditions == nil {
			p.Postconditions = map[string]Postcondition{}
		}
		p.Postconditions[a.Name] = *seen.row
	}
	undo := func() {
		w.out.Projections = saved
		if seen.row != nil {
			delete(saved[seen.projection].Postconditions, a.Name)
			if len(saved[seen.projection].Postconditions) == 0 {
				saved[seen.projection].Postconditions = nil
			}
		}
	}
	if err := w.open(ctx); err != nil {
		undo()
		if ended(ctx, err) {
			return err
		}
		w.keep(a.Tool, nothingNew)
		return nil
	}
	there, err := w.holds(ctx, seen.assert)
	if err == nil && there {
		undo()
		w.rep.leave("postcondition", a.Name, "it holds on the page before anything is done")
		w.keep(a.Tool, thereFirst)
		return nil
	}
	if err != nil {
		undo()
		return err
	}
	failure, err := w.run(ctx, promised, 1)
	if err != nil {
		undo()
		return err
	}
	if failure != "" {
		undo()
		w.keep(a.Tool, "what appeared did not appear again, so it has no postcondition: "+failure)
		return nil
	}
	w.keep(promised, "")
	if seen.state != nil && w.here != "" {
		seen.state.Name = w.used.Free(seen.state.Name)
		w.out.States = append(w.out.States, *seen.state)
		w.rep.States = append(w.rep.States, Kept{Name: seen.state.Name})
		w.transition(a.Name, seen.state.Name)
	}
	return nil
}

// freshTime is how long a page may take to show by itself what an action was thought to do.
const freshTime = 1500

// holds reports whether an assertion holds on the page as it was opened, before anything is done.
func (w *writer) holds(ctx context.Context, assert *Probe) (bool, error) {
	if assert == nil {
		return false, nil
	}
	tool := Tool{Name: "page.look", Description: "Look.", InputSchema: Schema{Type: "object", Properties: Properties{}}}
	tool.XActions.Execution.Mode = "steps_only"
	tool.XActions.Execution.Steps = []Step{{ID: "look", Type: "assert", Assert: assert, TimeoutMS: freshTime}}
	failure, err := w.run(ctx, tool, 0)
	return err == nil && failure == "", err
}

// refusalWords are words of classes of messages that say that something went wrong.
var refusalWords = strings.Fields("error errors errorlist invalid danger failed failure warning wrong")

// refusal says by what a page refuses what was sent, "" when it does not: a message that is an alert or is
// drawn as an error, a field that is marked as wrong, a password that is asked for again.
func refusal(a *action, before, after inspect.Page) string {
	for _, m := range slices.Concat(inspect.Appeared(before, after), inspect.Reworded(before, after)) {
		if m.Text == "" {
			continue
		}
		if m.Role == "alert" {
			return "an alert appeared"
		}
		for _, word := range strings.FieldsFunc(strings.ToLower(m.Attributes["class"]), func(r rune) bool {
			return r < 'a' || r > 'z'
		}) {
			if slices.Contains(refusalWords, word) {
				return "a message of the class " + word + " appeared"
			}
		}
	}
	wrong := func(p inspect.Page) (n int) {
		for _, c := range p.Controls {
			if v := c.Limits["aria-invalid"]; v != "" && v != "false" {
				n++
			}
		}
		return n
	}
	if wrong(after) > wrong(before) {
		return "a field is marked as invalid"
	}
	secret := slices.ContainsFunc(a.InputSchema.Properties, func(p Named) bool { return p.WriteOnly })
	stays := slices.ContainsFunc(after.Controls, func(c inspect.Control) bool { return c.Type == "password" })
	if secret && stays {
		return "the page asks for the password again"
	}
	return ""
}

func (w *writer) transition(tool, to string) {
	_, verb, _ := strings.Cut(tool, ".")
	t := Transition{Name: w.used.Free(ident.First(verb, tool)), From: w.here, To: to, Tool: tool}
	w.out.Transitions = append(w.out.Transitions, t)
	w.rep.Transitions = append(w.rep.Transitions, Kept{Name: t.Name})
}

func (w *writer) keep(t Tool, note string) {
	w.out.Tools = append(w.out.Tools, t)
	w.rep.Actions = append(w.rep.Actions, Kept{t.Name, note})
}

// run runs an action as the map would have it. failure says why it failed; err is about
// the tab.
func (w *writer) run(ctx context.Context, t Tool, n int) (failure string, err error) {
	m := *w.out
	m.Tools, m.Transitions = []Tool{t}, nil
	reply := w.site(ctx, &m, runtime.Site{
		Mode:      runtime.SiteCall,
		Action:    t.Name,
		Arguments: arguments(t.InputSchema, n),
	})
	if e := reply.Err; e != nil {
		if ended(ctx, e) {
			return "", e
		}
		if e.Code == fault.DialogOpen {
			w.call(ctx, "browser.dismiss_dialog", map[string]any{"accept": true})
		}
		step := ""
		if id, ok := e.Fields["step_id"].(string); ok {
			step = " at step " + id
		}
		return fmt.Sprintf("it failed%s: %s: %s", step, e.Code, e.Message), nil
	}
	return "", nil
}

// outcome is what an action was seen to do.
type outcome struct {
	refused    string // by what the page refuses it
	assert     *Probe
	read       *locators.Target // what says how it went
	row        *Postcondition   // an entry of a projection that it adds
	projection int
	state      *State
	link       *inspect.Page // the page that it led to
	linkMark   *locators.Target
}

func (o outcome) something() bool { return o.assert != nil || o.row != nil }

// key tells outcomes apart.
func (o outcome) key() string {
	text, err := json.Marshal([]any{o.assert, o.row, o.refused})
	if err != nil {
		return ""
	}
	return string(text)
}

// settleTime is how long the page may take to show what an action did.
const settleTime = 2 * time.Second

// stableTime is how long what is there has to stay until it counts as what the action did.
const stableTime = 800 * time.Millisecond

// appeared compares the page with what it was, again after each change, until something
// has appeared that stays, or the time is over. What says that something is under way goes again.
func (w *writer) appeared(
	ctx context.Context, a *action, before inspect.Page, rows [][]map[string]any,
) (outcome, error) {
	deadline := time.Now().Add(settleTime)
	known := ""
	var since time.Time
	for {
		after, targets, err := w.readPage(ctx)
		if err != nil {
			if ended(ctx, err) {
				return outcome{}, err
			}
			return outcome{}, nil
		}
		out := w.difference(ctx, a, before, after, targets, rows)
		if now := out.key(); now != known {
			known, since = now, time.Now()
		}
		left := time.Until(deadline)
		if out.something() || out.refused != "" && len(after.Marks) > 0 && time.Until(deadline) < settleTime/2 {
			left = min(left, stableTime-time.Since(since))
		}
		if out.link != nil || left <= 0 {
			return out, nil
		}
		w.changed(ctx, left)
	}
}

// changed waits for the page to change, for d at the longest.
func (w *writer) changed(ctx context.Context, d time.Duration) {
	within, cancel := context.WithTimeout(ctx, w.o.Each)
	defer cancel()
	_ = w.h.Visit(within, w.on, func(ctx context.Context, p primitives.Page) error {
		waiting, stop := context.WithCancel(ctx)
		quiet := observe.Again
		quiet.Timeout = d
		var waits sync.WaitGroup
		defer waits.Wait()
		defer stop()
		c := observe.Begin(waiting, p, quiet, waits.Go)
		<-c.Over
		return nil
	})
}

// difference is what is on the page that was not.
func (w *writer) difference(
	ctx context.Context, a *action, before, after inspect.Page,
	targets map[string]*locators.Target, rows [][]map[string]any,
) outcome {
	var out outcome
	yes, no := true, false
	from, e1 := url.Parse(before.URL)
	to, e2 := url.Parse(after.URL)
	if e1 != nil || e2 != nil {
		return out
	}
	moved := (to.Path != from.Path || to.Fragment != from.Fragment)
	if a.link != "" {
		if moved {
			out.link = &after
			if i := slices.IndexFunc(after.Marks, func(m inspect.Mark) bool {
				return m.Level > 0 && m.Name == heading(after) && targets[m.Handle] != nil
			}); i >= 0 {
				out.linkMark = targets[after.Marks[i].Handle]
			}
		}
		return out
	}
	out.refused = refusal(a, before, after)
	if out.refused != "" {
		return out
	}
	// Something that says how it went, or that covers the page, or a heading.
	for _, m := range inspect.Appeared(before, after) {
		t := targets[m.Handle]
		if t == nil {
			continue
		}
		rank := m.Rank()
		appeared := shows("", t, "")
		out.assert = &appeared
		if m.Text != "" && (rank == 4 || rank == 1) {
			out.read = t
		}
		if rank == 5 && m.Name != "" || rank == 3 {
			out.state = &State{
				Name:        ident.First(ident.Slug(m.Name), ident.Slug(m.Role), "part") + "_shown",
				Description: fmt.Sprintf("The %s %q is shown.", m.Role, m.Name),
				Diagnostics: []Probe{shows("shown", t, "")},
			}
		}
		break
	}
	if out.assert == nil && len(a.InputSchema.Properties) == 0 { // without arguments it is the same text again
		for _, m := range inspect.Reworded(before, after) {
			// A place alone with another text is what is drawn anew: the words of an editor, the cells of a grid.
			if t := targets[m.Handle]; t != nil && !slices.Equal(t.Kinds(), []locators.Kind{locators.Structure}) {
				out.assert = &Probe{Target: t, TextContains: m.Text}
				break
			}
		}
	}
	if i, p := w.newRow(ctx, a, rows); p != nil {
		out.row, out.projection = p, i
	}
	if out.something() {
		return out
	}
	if moved {
		out.assert = &Probe{URLContains: ident.First(to.Fragment, to.Path)}
		if to.Fragment != "" {
			out.assert.URLContains = "#" + to.Fragment
		}
		return out
	}
	for name := range to.Query() {
		if !from.Query().Has(name) {
			out.assert = &Probe{URLContains: name + "="}
			return out
		}
	}
	if a.pressed == nil {
		return out
	}
	// The control itself: open, chosen, pressed, or away.
	target := a.XActions.Execution.Steps[len(a.XActions.Execution.Steps)-1].Target
	i := slices.IndexFunc(after.Controls, func(c inspect.Control) bool { return sameControl(c, *a.pressed) })
	if i < 0 {
		if target != nil && len(before.Controls) > 0 {
			out.assert = &Probe{Target: target, Visible: &no}
		}
		return out
	}
	for _, name := range []string{"aria-expanded", "aria-selected", "aria-pressed", "open"} {
		was, is := a.pressed.Limits[name], after.Controls[i].Limits[name]
		if is == "" || is == was || target == nil {
			continue
		}
		selector := ident.First(target.Selector, a.pressed.Tag)
		if target.Selector == "" && len(target.FallbackSelectors) > 0 {
			selector = target.FallbackSelectors[0]
		}
		exact := *target
		exact.Selector, exact.FallbackSelectors = locators.Attribute(selector, name, is), nil
		if name == "open" {
			exact.Selector = map[string]string{
				"true":  "details[open] > summary",
				"false": "details:not([open]) > summary",
			}[is]
		}
		out.assert = &Probe{Target: &exact, Exists: &yes}
		return out
	}
	return out
}

func sameControl(a, b inspect.Control) bool {
	return a.Tag == b.Tag && a.Role == b.Role && a.Name == b.Name && a.Attributes["id"] == b.Attributes["id"]
}

// rows are the items of each projection as they are.
func (w *writer) rows(ctx context.Context) [][]map[string]any {
	out := make([][]map[string]any, len(w.out.Projections))
	for i := range w.out.Projections {
		items, err := w.read(ctx, &w.out.Projections[i])
		if err == nil {
			out[i] = items
		}
	}
	return out
}

// newRow is a projection that has an entry with what was typed, and had none.
func (w *writer) newRow(ctx context.Context, a *action, before [][]map[string]any) (int, *Postcondition) {
	has := func(items []map[string]any, field, text string) bool {
		return slices.ContainsFunc(items, func(it map[string]any) bool {
			s, ok := it[field].(string)
			return ok && strings.Contains(s, text)
		})
	}
	for i := range w.out.Projections {
		p := &w.out.Projections[i]
		var after []map[string]any
		for _, argument := range a.InputSchema.Properties {
			if argument.Type != "string" || argument.WriteOnly {
				continue
			}
			typed := sample.Text(argument.Value(0))
			if _, err := strconv.ParseFloat(typed, 64); err == nil {
				continue // a number stands in an entry by chance
			}
			for _, f := range p.Snapshot.Extract[0].Fields {
				if after == nil {
					var err error
					after, err = w.read(ctx, p)
					if err != nil {
						after = []map[string]any{}
					}
				}
				if len(typed) < 2 || !has(after, f.Name, typed) || has(before[i], f.Name, typed) {
					continue
				}
				return i, &Postcondition{
					Verify: Expression{"jsonata", fmt.Sprintf(
						"$exists(state.items[$contains($string(%s), $string($$.input.%s))])", f.Name, argument.Name,
					)},
					FailureMessage: fmt.Sprintf("no entry of %s shows what was given as %s", p.Name, argument.Name),
				}
			}
		}
	}
	return 0, nil
}

// keepLink keeps a link with the state that it leads to, when that is current where it leads.
func (w *writer) keepLink(ctx context.Context, a *action, seen outcome) error {
	u, err := url.Parse(seen.link.URL)
	if err != nil {
		return nil // the address of a page that was read
	}
	address := ident.First(u.Path, "/")
	if u.Fragment != "" {
		address = "#" + u.Fragment
	}
	t := a.Tool
	t.XActions.Execution.Steps = slices.Clone(t.XActions.Execution.Steps)
	t.XActions.Execution.Steps[len(t.XActions.Execution.Steps)-1].Assert = &Probe{URLContains: address}
	name := ident.First(ident.Slug(heading(*seen.link)), ident.Slug(address), "page") + "_open"
	state := State{
		Name:        w.used.Free(name),
		Description: "The page at " + address + " is shown.",
		Diagnostics: []Probe{{Name: "address", URLContains: address}},
	}
	if seen.linkMark != nil {
		state.Diagnostics = append(state.Diagnostics, shows("heading", seen.linkMark, heading(*seen.link)))
	}
	w.keep(t, "")
	m := *w.out
	m.States, m.Transitions = []State{state}, nil
	current, err := w.current(ctx, &m)
	if err != nil && ended(ctx, err) {
		return err
	}
	if len(current) == 0 {
		w.rep.leave("state", state.Name, "it is not current on the page that the link leads to")
		return nil
	}
	w.out.States = append(w.out.States, state)
	w.rep.States = append(w.rep.States, Kept{Name: state.Name})
	w.links = append(w.links, link{t.Name, state.Name})
	if w.here != "" {
		w.transition(t.Name, state.Name)
	}
	return nil
}
