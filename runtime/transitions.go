package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// transitionOutput is the primitive that the output of a transition names.
const transitionOutput = "actions.transition"

// transitionReport says how a transition went. It is the member transition of
// the output of a tool that moves between states, and of a transition that was
// called by its name.
type transitionReport struct {
	Name string `json:"name"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Reached is whether the state to was current after it; null when that
	// state cannot be seen.
	Reached     *bool    `json:"reached"`
	StatesAfter []string `json:"states_after"`
	// Diagnosis is that of the state to, when it was not reached.
	Diagnosis *diagnosis `json:"diagnosis,omitempty"`

	RateLimitMS     int   `json:"rate_limit_ms,omitempty"`
	RateLimitWaitMS int64 `json:"rate_limit_wait_ms"`
	// Unverified lists preconditions that are written for people.
	Unverified []string `json:"unverified_preconditions,omitempty"`
	Reveals    []string `json:"reveals,omitempty"`
	DoNotUse   []string `json:"do_not_use,omitempty"`

	// Of a repeated traversal. Complete is null when nobody can tell.
	Attempts    int             `json:"attempts,omitempty"`
	MaxAttempts int             `json:"max_attempts,omitempty"`
	Complete    *bool           `json:"complete,omitempty"`
	StoppedBy   string          `json:"stopped_by,omitempty"` // complete_when, max_attempts, time, single, signal, state
	Signal      json.RawMessage `json:"signal,omitempty"`     // payload of the one that reported the movement
}

// reachTime is how long the page may take after a transition to come to its
// state.
const reachTime = 2 * time.Second

// moves are the transitions that a tool performs.
func moves(match *sites.Match) []*manifest.Transition {
	var out []*manifest.Transition
	for i := range match.Map.Manifest.Transitions {
		if t := &match.Map.Manifest.Transitions[i]; t.Tool == match.Tool.Name {
			out = append(out, t)
		}
	}
	return out
}

// transition returns the map and the transition that a name means on a page:
// those of the best scope that declare it count, as for actions; nil when no map
// does.
func (o *offer) transition(pageURL, name string) (*sites.Map, *manifest.Transition, *fault.Error) {
	var via, in *sites.Map
	var found *manifest.Transition
	for _, m := range o.library.For(pageURL) {
		c := o.library.Composition(m)
		for i := range c.Transitions {
			e := &c.Transitions[i]
			switch {
			case e.Name != name:
			case via == nil:
				via, in, found = m, e.Source.Map, e.Entry
			case via.Location.Scope == m.Location.Scope && found != e.Entry:
				return nil, nil, fault.New(fault.SiteActionAmbiguous, "several maps of the same scope declare the transition").
					With("transition", clip(name, 100)).With("map_paths", []string{via.Path, m.Path})
			}
		}
	}
	return in, found, nil
}

// gate is what is looked at, in one round trip, before a tool may start.
type gate struct {
	m        *sites.Map
	required []string               // states
	signedIn *bool                  // somebody must be signed in, or nobody
	moves    []*manifest.Transition // one of them applies
	checks   []*manifest.Check      // they must pass
	chosen   *manifest.Transition

	// What the last look could not decide, and held nothing up: required states
	// and signed_in, checks that need a setup.
	undecided, unchecked []string
}

func (h *Host) gateOf(match *sites.Match, transitions []*manifest.Transition) *gate {
	return &gate{
		m: match.Map, required: requiredStates(match.Map, match.Tool), signedIn: needsSignedIn(match.Map, match.Tool), moves: transitions,
		checks: slices.DeleteFunc(checksAbout(match.Map, match.Tool.Name), func(k *manifest.Check) bool { return k.Severity != "critical" }),
	}
}

// pass waits a moment for the page to be where the tool may start, and chooses
// the transition that applies.
func (g *gate) pass(ctx context.Context, t *Tab) *fault.Error {
	if len(g.moves) > 0 {
		g.chosen = g.moves[0]
	}
	if len(g.required)+len(g.checks) == 0 && g.signedIn == nil && !g.asks() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, stateGrace)
	defer cancel()
	var refused *fault.Error
	met, err := t.lookUntil(ctx, bounded, func(ctx context.Context, page primitives.Page) (bool, error) {
		var s survey
		s.attached = t.attachmentState
		g.want(&s)
		if err := s.ask(ctx, page); err != nil {
			return false, err
		}
		refused = g.judge(&s)
		return refused == nil, nil
	})
	switch {
	case met:
		return nil
	case ctx.Err() != nil:
		return fault.From(ctx.Err())
	case refused != nil:
		return refused
	case err != nil:
		return fault.From(err)
	}
	return fault.New(fault.StateMismatch, "the page could not be looked at in time; nothing was done")
}

// note puts into a reply what the gate could not decide: an agent learns what
// nobody has verified, whether the action went well or not.
func (g *gate) note(reply Reply) Reply {
	for _, n := range []struct {
		member string
		names  []string
	}{{"unverified_requires", g.undecided}, {"unverified_checks", g.unchecked}} {
		switch {
		case len(n.names) == 0:
		case reply.Err != nil:
			e := *reply.Err
			e.Evidence = maps.Clone(e.Evidence)
			reply.Err = e.With(n.member, n.names)
		default:
			reply.Output = withMember(reply.Output, n.member, n.names)
		}
	}
	return reply
}

// asks says whether the transitions depend on anything that can be seen.
func (g *gate) asks() bool {
	return slices.ContainsFunc(g.moves, func(t *manifest.Transition) bool {
		if g.m.Manifest.State(t.From) != nil {
			return true
		}
		return slices.ContainsFunc(t.Preconditions, func(p string) bool {
			return g.m.Manifest.State(p) != nil || g.m.Manifest.Check(p) != nil
		})
	})
}

func (g *gate) want(s *survey) {
	for _, n := range g.required {
		s.wantState(g.m, n)
	}
	if g.signedIn != nil {
		s.wantSignedIn(g.m)
	}
	for _, k := range g.checks {
		s.wantCheck(g.m, k)
	}
	for _, t := range g.moves {
		s.wantState(g.m, t.From)
		for _, p := range t.Preconditions {
			s.wantState(g.m, p)
			if k := g.m.Manifest.Check(p); k != nil {
				s.wantCheck(g.m, k)
			}
		}
	}
}

func (g *gate) judge(s *survey) *fault.Error {
	g.undecided, g.unchecked = nil, nil
	if err := s.require(g.m, g.required); err != nil {
		return err
	}
	for _, n := range requiredNames(g.m, g.required) {
		if s.diagnose(g.m, n).verdict == unknown {
			g.undecided = append(g.undecided, n)
		}
	}
	if g.signedIn != nil {
		decided, err := s.requireSignedIn(g.m, *g.signedIn)
		if err != nil {
			return err
		}
		if !decided {
			g.undecided = append(g.undecided, signedInName(*g.signedIn))
		}
	}
	for _, k := range g.checks {
		switch r := s.check(g.m, k); r.Status {
		case checkFailed:
			return r.fault("a critical check of the action fails; nothing was done")
		case checkNotRun:
			g.unchecked = append(g.unchecked, k.ID)
		}
	}
	if len(g.moves) == 0 {
		return nil
	}
	var first *fault.Error
	for _, t := range g.moves {
		before := len(g.unchecked)
		err := g.precondition(s, t)
		if err == nil {
			g.chosen = t
			return nil
		}
		g.unchecked = g.unchecked[:before]
		if first == nil {
			first = err
		}
	}
	return first
}

// precondition says why a transition cannot start from what the page shows.
func (g *gate) precondition(s *survey, t *manifest.Transition) *fault.Error {
	names := append([]string{t.From}, t.Preconditions...)
	if err := s.require(g.m, names); err != nil {
		return err.With("transition", t.Name)
	}
	for _, p := range t.Preconditions {
		if k := g.m.Manifest.Check(p); k != nil && g.m.Manifest.State(p) == nil {
			switch r := s.check(g.m, k); r.Status {
			case checkFailed:
				return r.fault("a precondition of the transition fails; nothing was done").With("transition", t.Name)
			case checkNotRun:
				g.unchecked = append(g.unchecked, k.ID)
			}
		}
	}
	return nil
}

// begin reports a transition before it starts, and keeps its rate.
func (h *Host) begin(ctx context.Context, t *Tab, m *sites.Map, tr *manifest.Transition) (*transitionReport, *fault.Error) {
	r := &transitionReport{
		Name: tr.Name, From: tr.From, To: tr.To, RateLimitMS: tr.RateLimitMS, Reveals: tr.Reveals, DoNotUse: tr.DoNotUse, StatesAfter: []string{},
	}
	for _, p := range tr.Preconditions {
		if m.Manifest.State(p) == nil && m.Manifest.Check(p) == nil {
			r.Unverified = append(r.Unverified, p)
		}
	}
	return r, h.paceTransition(ctx, t, m, tr, r)
}

func (h *Host) paceTransition(ctx context.Context, t *Tab, m *sites.Map, tr *manifest.Transition, r *transitionReport) *fault.Error {
	if tr.RateLimitMS == 0 {
		return nil
	}
	waited, err := t.limiter.wait(ctx, "transition\x00"+m.Path+"\x00"+tr.Name, time.Duration(tr.RateLimitMS)*time.Millisecond)
	r.RateLimitWaitMS += waited.Milliseconds()
	return err
}

// arrive diagnoses where the page is after a transition, giving it a moment to
// come to the state it leads to.
func (h *Host) arrive(ctx context.Context, t *Tab, m *sites.Map, tr *manifest.Transition, r *transitionReport) {
	whole, end := answerable(ctx)
	defer end()
	bounded, cancel := context.WithTimeout(whole, reachTime)
	defer cancel()
	// What cannot be looked at any more is reported as it was seen last.
	_, _ = t.lookUntil(whole, bounded, func(ctx context.Context, page primitives.Page) (bool, error) {
		seen, err := surveyStates(ctx, page, statesDeclared(m))
		if err != nil {
			return false, err
		}
		r.StatesAfter, r.Reached, r.Diagnosis = append([]string{}, seen.current()...), nil, nil
		for _, d := range seen.states {
			if d.Name != tr.To {
				continue
			}
			r.Reached = d.Current
			if d.verdict == no {
				r.Diagnosis = &d
				return false, nil
			}
		}
		return true, nil
	})
	t.diagnoser.poke()
}

// runTransition performs a transition that was called by its name: its tool, as
// often as its convergence asks, or the wait for its signal.
func (h *Host) runTransition(ctx context.Context, v invoker, o *offer, m *sites.Map, tr *manifest.Transition, arguments json.RawMessage) Reply {
	if tr.Tool == "" && tr.Signal != "" {
		return h.awaitMovement(ctx, v, m, tr)
	}
	tool := m.Manifest.Tool(tr.Tool)
	if tool == nil || !tool.AgentCallable() {
		return Reply{Err: fault.New(fault.UnsupportedExecutionMode, "the transition names no tool that performs it, and no signal that reports it").
			With("transition", tr.Name).With("method", tr.Method).With("map_path", m.Path)}
	}
	match := &sites.Match{Name: tool.Name, Map: m, Tool: tool, Via: m}
	if err := match.ValidateInput(arguments); err != nil {
		return Reply{Err: err.With("transition", tr.Name)}
	}
	p, err := h.prepare(o, match)
	if err != nil {
		return Reply{Err: err}
	}
	if err := h.unmet(o, match, p.uses); err != nil {
		return Reply{Err: err}
	}
	goal, err := h.goalOf(m, tr, arguments)
	if err != nil {
		return Reply{Err: err}
	}
	var report *transitionReport
	var values []json.RawMessage
	var reply Reply
	var first *gate
	longest := time.Duration(0)
	for attempt := 1; ; attempt++ {
		if goal != nil {
			if met := goal.before(ctx, v.tab); met { // it may hold already
				if report == nil {
					report = &transitionReport{Name: tr.Name, From: tr.From, To: tr.To, MaxAttempts: goal.most}
				}
				report.stop(yes, "complete_when")
				break
			}
		}
		started := time.Now()
		g := h.gateOf(match, []*manifest.Transition{tr})
		if attempt > 1 {
			g.moves = nil // it may have moved on from the state it starts from
		}
		if err := g.pass(ctx, v.tab); err != nil {
			return Reply{Err: err, Steps: reply.Steps}
		}
		if first == nil {
			first = g
		}
		if report == nil {
			report, err = h.begin(ctx, v.tab, m, tr)
			if goal != nil {
				report.MaxAttempts = goal.most
			}
		} else {
			err = h.paceTransition(ctx, v.tab, m, tr, report)
		}
		if err != nil {
			return Reply{Err: err, Steps: reply.Steps}
		}
		v.job.progress(Progress{Step: tr.Name, Phase: "attempt " + itoa(attempt)})
		steps := reply.Steps
		reply = h.runPrepared(ctx, v, o, match, p, arguments)
		reply.Steps = joinSteps(steps, reply.Steps)
		report.Attempts = attempt
		if reply.Err != nil {
			e := *reply.Err
			reply.Err = e.Field("transition", report)
			return first.note(reply)
		}
		value := valueOf(reply.Output)
		values = append(values, value)
		longest = max(longest, time.Since(started))
		if goal == nil {
			report.stop(unknown, "single")
			report.Complete = nil
			break
		}
		met := goal.after(ctx, v.tab, values)
		switch deadline, bounded := ctx.Deadline(); {
		case met == yes:
			report.stop(yes, "complete_when")
		case met == unknown:
			report.stop(unknown, "single")
		case attempt >= goal.most:
			report.stop(no, "max_attempts")
		case bounded && time.Until(deadline) < longest+answerTime+time.Duration(tr.RateLimitMS)*time.Millisecond:
			report.stop(no, "time")
		}
		if report.StoppedBy != "" {
			break
		}
	}
	h.arrive(ctx, v.tab, m, tr, report)
	out := map[string]any{"ok": true, "primitive": transitionOutput, "action": tr.Name, "tool": tr.Tool}
	if len(values) > 0 {
		out["value"] = values[len(values)-1]
	}
	if all := encoded(values).Output; len(values) > 1 && len(all) <= workflow.MaxOutputBytes {
		out["values"] = values
	}
	out["transition"] = report
	result := encoded(out)
	result.Steps = reply.Steps
	if first != nil {
		result = first.note(result)
	}
	return result
}

func (r *transitionReport) stop(complete verdict, by string) {
	r.Complete, r.StoppedBy = complete.pointer(), by
}

// joinSteps puts the summaries of two runs into one list.
func joinSteps(a, b json.RawMessage) json.RawMessage {
	var x, y []json.RawMessage
	if json.Unmarshal(a, &x) != nil {
		return b
	}
	if json.Unmarshal(b, &y) != nil {
		return a
	}
	return encoded(append(x, y...)).Output
}

// valueOf is what an action computed: the member value of its output, or all of
// it.
func valueOf(output json.RawMessage) json.RawMessage {
	var o struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(output, &o) == nil && o.Value != nil {
		return o.Value
	}
	if output == nil {
		return json.RawMessage("null")
	}
	return output
}

// awaitMovement waits until the signal of a transition reports the movement, or
// the state it leads to is current without it.
func (h *Host) awaitMovement(ctx context.Context, v invoker, m *sites.Map, tr *manifest.Transition) Reply {
	t := v.tab
	events := make(chan Event, 16)
	id := t.Status().RuntimeID
	defer h.Subscribe(func(ev Event) {
		if ev.Kind == DOMEvent && (ev.Name == tr.Signal || ev.declared == declaredSignal{m.Path, tr.Signal}) && ev.Tab.RuntimeID == id {
			select {
			case events <- ev:
			default: // one is enough
			}
		}
	})()
	g := &gate{m: m, moves: []*manifest.Transition{tr}}
	if err := g.pass(ctx, t); err != nil {
		return Reply{Err: err}
	}
	report, err := h.begin(ctx, t, m, tr)
	if err != nil {
		return Reply{Err: err}
	}
	defer h.awaitSignal(ctx, t, m, tr.Signal)()
	v.job.progress(Progress{Step: tr.Name, Phase: "waiting for the signal"})
	whole, end := answerable(ctx)
	defer end()
	waiting, cancel := context.WithCancel(whole)
	arrived := make(chan bool, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ok := false
		if m.Manifest.State(tr.To) != nil && tr.To != tr.From {
			ok, _ = t.lookUntil(waiting, waiting, func(ctx context.Context, page primitives.Page) (bool, error) {
				var s survey
				s.wantState(m, tr.To)
				if err := s.ask(ctx, page); err != nil {
					return false, err
				}
				return s.diagnose(m, tr.To).verdict == yes, nil
			})
		}
		if ok {
			arrived <- true
		}
	}()
	select {
	case ev := <-events:
		report.stop(yes, "signal")
		report.Signal = ev.Payload
	case <-arrived:
		report.stop(yes, "state")
	case <-whole.Done():
	}
	cancel()
	<-done
	if report.StoppedBy == "" {
		if ctx.Err() != nil {
			return Reply{Err: fault.From(ctx.Err())}
		}
		return Reply{Err: fault.New(fault.Timeout, "the signal %s did not come in time", clip(tr.Signal, 100)).
			With("transition", tr.Name).With("signal", tr.Signal).With("to", tr.To)}
	}
	h.arrive(ctx, t, m, tr, report)
	return encoded(map[string]any{"ok": true, "primitive": transitionOutput, "action": tr.Name, "transition": report})
}

// requiredNames drops what is no state of the map, and repetitions.
func requiredNames(m *sites.Map, names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" || m.Manifest.State(n) == nil })
	slices.Sort(names)
	return slices.Compact(names)
}

// require fails with state_mismatch when one of the named states is certainly
// not current. States that nobody declares or that cannot be seen hold nothing
// up: a map that gives no way to see them cannot expect them to be seen.
func (s *survey) require(m *sites.Map, names []string) *fault.Error {
	names = requiredNames(m, names)
	var missing []string
	var report []diagnosis
	for _, n := range names {
		if d := s.diagnose(m, n); d.verdict == no {
			missing, report = append(missing, n), append(report, d)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(fault.StateMismatch, "the page is not in the state %s, which the action needs; nothing was done", clip(strings.Join(missing, ", "), 200)).
		With("required", names).With("missing", missing).With("diagnosis", report).With("url", clip(s.url, 200)).
		Next("bring the page into that state first; mode list names the states that are current and the transitions between them")
}
