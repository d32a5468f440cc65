package plan

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime"
)

// mutation is a mutant of a page, or of a whole run.
type mutation struct {
	ID         string           `json:"id"`
	Key        string           `json:"key"`
	Kind       string           `json:"kind"`
	Zone       string           `json:"zone"`
	Says       string           `json:"says"`
	Assertions []map[string]any `json:"assertions"`

	step   string // with the number of its visit
	at     report.Place
	name   string
	killed bool
	kills  map[string]any // the assertion that would notice it
}

// prover tries mutants while a case runs. It is for one goroutine.
type prover struct {
	verifies bool // a second run: what was found must hold again
	began    time.Time
	spent    time.Duration // of the run, on the proof
	part     float64       // of the time of the plan that the proof may take
	all      []*mutation   // in the order of their first step
	byKey    map[string]*mutation
	left     int
	varies   map[string]bool // assertions that did not hold in another run, by their step
	named    []string        // texts by which steps name elements
	requests []askedFor
	cursor   int    // of the network
	opened   string // the first address that was open
	other    *wholeRun

	before struct {
		held, judged bool
		address      string
	}
}

func newProver(budget float64, c *spec.Case) *prover {
	p := &prover{byKey: map[string]*mutation{}, varies: map[string]bool{}, part: max(0.1, budget-2)}
	for _, one := range c.All() {
		p.names(one.Steps)
	}
	return p
}

// names collects the texts that arguments of steps have: an element that a step names by one is looked for by it.
func (p *prover) names(steps []spec.Step) {
	for i := range steps {
		if f := steps[i].ForEach; f != nil {
			p.names(f.Steps)
		}
		if text, err := json.Marshal(steps[i].Args); err == nil && len(steps[i].Args) > 0 {
			p.named = append(p.named, string(text))
		}
	}
}

// allowed reports whether the proof may take more time.
func (p *prover) allowed() bool {
	plain := time.Since(p.began) - p.spent
	return p.spent < time.Duration(p.part*float64(plain))
}

// timed adds what the proof takes.
func (p *prover) timed() (end func()) {
	from := time.Now()
	return func() { p.spent += time.Since(from) }
}

// acts reports whether a step may change the page.
func acts(x *spec.Step) bool {
	return (x.Action != "" || x.Call != "") && !onlyReads(x)
}

// ofPage are the members of an expectation that a changed page can make false at once.
func ofPage(e spec.Expectation) spec.Expectation {
	e.Expression, e.Screenshot = "", ""
	e.Status = 0
	e.ConsoleErrors = nil
	e.Network = nil
	e.Within = 1
	return e
}

// saysNothing reports whether nothing is left of an expectation.
func saysNothing(e spec.Expectation) bool {
	return e.Text+e.TextGone+e.State+e.Snapshot+e.URL+e.Title == "" && e.Target == nil
}

// holds reports whether an expectation holds at once.
func (r *run) holds(ctx context.Context, at place, e spec.Expectation) bool {
	if saysNothing(e) {
		return true
	}
	e.Within = 1
	return len(r.unmet(ctx, at, e, marks{}, &StepResult{})) == 0
}

// next are the expectations of a step, or where it has none those of the next step that has some.
func (r *run) next(s *spec.Step, x *spec.Step) spec.Expectations {
	if len(x.Expect) > 0 {
		return x.Expect
	}
	found := false
	for _, p := range r.c.All() {
		for i := range p.Steps {
			one := &p.Steps[i]
			found = found || one.At == s.At
			if !found || len(one.Expect) == 0 {
				continue
			}
			if y, err := expanded(one, &r.scope); err == nil {
				return y.Expect
			}
		}
	}
	return nil
}

// proves is called before a step acts: a control that does nothing leaves the page as it is now.
func (r *run) proves(ctx context.Context, at place, s, x *spec.Step) {
	p := r.o.prover
	p.before.judged, p.before.held = false, false
	p.before.address = at.status().URL
	if !acts(x) || x.Open != "" || p.verifies || p.other != nil {
		return
	}
	defer p.timed()()
	at.session.Do(ctx, r.proofCall(at, "mutants_before", nil))
	p.before.judged, p.before.held = r.heldBefore(ctx, at, r.next(s, x))
}

// heldBefore reports whether all expectations of a step hold before it acts: then they do not tell it from a step that
// does nothing. judged is false where that is known only of what the step answers.
func (r *run) heldBefore(ctx context.Context, at place, list spec.Expectations) (judged, held bool) {
	for _, e := range list {
		if e.Expression != "" || len(e.Network) > 0 {
			return false, false
		}
	}
	for _, e := range list {
		if !r.holds(ctx, at, e) {
			return true, false
		}
	}
	return true, true
}

func (r *run) proofCall(at place, name string, in any) runtime.Call {
	call := runtime.Call{
		ID:      r.o.NewID(),
		Target:  at.target,
		Name:    runtime.SiteTool,
		Timeout: evidenceTimeout,
		Proves:  name,
	}
	if in != nil {
		call.Arguments, _ = json.Marshal(in) // lists of texts
	}
	return call
}

// listed is what can be made of a page.
type listed struct {
	Mutants   []*mutation      `json:"mutants"`
	Of        int              `json:"of"`
	Effects   []map[string]any `json:"effects"`
	Navigated bool             `json:"navigated"`
}

// mostMutants bounds what is listed for one step.
const mostMutants = 40

// mutants lists what can be wrong with what a step read or changed.
func (r *run) mutants(ctx context.Context, at place, x *spec.Step, result StepResult) (out listed, ok bool) {
	in := map[string]any{"most": mostMutants, "all": onlyReads(x)}
	locators, texts := checked(result), []string{}
	for _, e := range x.Expect {
		if l := locatorOf(e); l != nil {
			locators = append(locators, l)
		}
		if e.Text != "" {
			texts = append(texts, e.Text)
		}
		if e.Snapshot != "" || e.Screenshot != "" {
			in["all"] = true
		}
	}
	in["locators"], in["texts"] = locators, texts
	reply := at.session.Do(ctx, r.proofCall(at, "mutants", in))
	if reply.Err != nil || json.Unmarshal(reply.Output, &out) != nil {
		return out, false
	}
	return out, true
}

// checked are the elements that checks of a page assert something of.
func checked(result StepResult) []any {
	out := []any{}
	if result.page == nil {
		return out
	}
	for _, c := range result.page.Checks {
		for _, a := range c.Assertions {
			if a.Selector != "" {
				out = append(out, map[string]any{"selector": a.Selector})
			}
		}
	}
	return out
}

// ofTime are members of answers that are others each time.
var ofTime = lazyregexp.New(`"(?:\w+_at|\w+_ms|snapshot_id)":(?:"[^"]*"|[0-9.]+)`)

func timeless(answer []byte) string { return ofTime().ReplaceAllString(string(answer), "") }

// mutantSession makes a mutant while calls read the page.
type mutantSession struct {
	Session
	id string
}

func (s mutantSession) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	call.Mutant = s.id
	return s.Session.Do(ctx, call)
}

// under is a place where calls read a mutant.
func (p place) under(id string) place {
	s := *p.session
	s.Session = mutantSession{s.Session, id}
	return place{&s, p.target}
}

// notices reports whether an expectation, or the reading of a step, is another one on a mutant. read is whether the
// step read what the mutant changes.
func (r *run) notices(
	ctx context.Context, at place, x *spec.Step, id string, result StepResult,
	do func(context.Context, Host) runtime.Reply,
) (notices, read bool) {
	on := at.under(id)
	if onlyReads(x) || x.Check {
		reply := do(ctx, on.session)
		if reply.Err != nil {
			return true, true
		}
		read = !x.Check && timeless(reply.Output) != timeless(result.Output)
		if x.Check {
			var page report.Page
			if json.Unmarshal(reply.Output, &page) == nil && !page.OK {
				return true, true
			}
		}
		other := result
		other.Output = reply.Output
		for _, e := range x.Expect {
			if read && e.Expression != "" && len(r.falseOf(ctx, e, other)) > 0 {
				return true, true
			}
		}
	}
	for _, e := range x.Expect {
		if e.Screenshot != "" && e.Target == nil && e.Region == nil {
			return true, true // every mutant is one of what is drawn
		}
		if one := ofPage(e); !saysNothing(one) && len(r.unmet(ctx, on, one, marks{}, &StepResult{})) > 0 {
			return true, true
		}
	}
	return false, read
}

// proved is called after a step is well.
func (r *run) proved(
	ctx context.Context, at place, x *spec.Step, since marks, result StepResult,
	do func(context.Context, Host) runtime.Reply,
) {
	p := r.o.prover
	switch {
	case p.verifies:
		r.verified(ctx, at, result)
		return
	case p.other != nil:
		r.tried(ctx, at, since, result)
		return
	}
	defer p.timed()()
	list, ok := r.mutants(ctx, at, x, result)
	if !ok {
		return
	}
	address := at.status().URL
	if p.opened == "" {
		p.opened = address
	}
	page := pathOf(address)
	r.asked(ctx, at, result, list.Effects)
	if p.before.judged && acts(x) {
		r.deaf(ctx, at, x, result, list)
	}
	p.left += max(0, list.Of-len(list.Mutants))
	for i, m := range list.Mutants {
		m.Key = page + " " + m.Key
		known := p.byKey[m.Key]
		if known != nil && known.killed {
			continue
		}
		if known == nil && !p.allowed() {
			p.left += len(list.Mutants) - i
			return
		}
		killed, read := r.notices(ctx, at, x, m.ID, result, do)
		if m.Zone == "page" && !killed && !read && known == nil {
			continue // nothing of the plan is about it
		}
		if known == nil {
			m.step, m.name = stepKey(result), result.Name
			m.at = result.at
			p.byKey[m.Key], p.all = m, append(p.all, m)
			known = m
		}
		known.killed = known.killed || killed || p.namedBy(m)
		if !known.killed && known.kills == nil {
			known.kills = r.killing(ctx, at, m.ID, m.Assertions)
		}
	}
}

func stepKey(result StepResult) string {
	return result.Phase + "|" + result.Session + "|" + result.Name
}

// namedBy reports whether a step looks for an element by the text that a mutant changes, acts on the control that it
// disables, or types the value that it changes, which the act itself confirms.
func (p *prover) namedBy(m *mutation) bool {
	for _, a := range m.Assertions {
		about := a["text_equals"]
		switch m.Kind {
		case "wrong_value":
			about = a["value_equals"]
		case "disabled":
			target, _ := a["target"].(map[string]any)
			about = target["name"]
		case "missing_item", "doubled_item", "misplaced_text":
			continue
		}
		text, ok := about.(string)
		quoted, err := json.Marshal(text)
		if !ok || text == "" || err != nil {
			continue
		}
		if slices.ContainsFunc(p.named, func(args string) bool { return strings.Contains(args, string(quoted)) }) {
			return true
		}
	}
	return false
}

// killing is the first of some assertions that holds on the page and not on a mutant; nil when none does.
func (r *run) killing(ctx context.Context, at place, id string, assertions []map[string]any) map[string]any {
	for _, a := range assertions {
		e, err := expectationOf(a)
		if err != nil || !r.holds(ctx, at, e) {
			continue
		}
		if !r.holds(ctx, at.under(id), e) {
			return a
		}
	}
	return nil
}

// expectationOf reads an assertion.
func expectationOf(a map[string]any) (e spec.Expectation, err error) {
	raw, err := json.Marshal(a)
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	return e, err
}

// deaf judges a control that does nothing: the expectations of its step held before it acted.
func (r *run) deaf(ctx context.Context, at place, x *spec.Step, result StepResult, list listed) {
	p := r.o.prover
	now := at.status().URL
	moved := pathOf(p.before.address) != pathOf(now)
	if !moved && len(list.Effects) == 0 {
		return // nothing that a person sees came of it
	}
	m := &mutation{
		Key:    "deaf " + stepKey(result),
		Kind:   "deaf_control",
		Says:   "the step does nothing",
		killed: !p.before.held,
		step:   stepKey(result),
		name:   result.Name,
		at:     result.at,
	}
	switch {
	case m.killed:
	case moved && !list.Navigated || moved && !strings.Contains(p.before.address, pathOf(now)):
		m.kills = map[string]any{"url": pathOf(now)}
	default:
		m.kills = r.killing(ctx, at, "unchanged", list.Effects)
	}
	if p.byKey[m.Key] == nil {
		p.byKey[m.Key], p.all = m, append(p.all, m)
	}
}

// verified has the assertions that were found at a step hold in this run, too.
func (r *run) verified(ctx context.Context, at place, result StepResult) {
	p := r.o.prover
	for _, m := range p.all {
		if m.killed || m.kills == nil || m.step != stepKey(result) {
			continue
		}
		e, err := expectationOf(m.kills)
		if err != nil || !r.holdsSoon(ctx, at, e) {
			m.kills = nil
			p.varies[m.Key] = true
		}
	}
}

// soon is how long an assertion may take to hold in another run.
const soon = 400 * time.Millisecond

func (r *run) holdsSoon(ctx context.Context, at place, e spec.Expectation) bool {
	e.Within = spec.Duration(soon)
	return len(r.unmet(ctx, at, e, marks{}, &StepResult{})) == 0
}

// pathOf is the path of an address.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Path
}
