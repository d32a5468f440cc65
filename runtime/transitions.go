package runtime

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/runtime/verify"

	"github.com/outrider-run/outrider/runtime/mapset"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
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
	Diagnosis *verify.Diagnosis `json:"diagnosis,omitempty"`

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

// move is a transition under the name by which the page's map offers it.
type move = sites.Exposed[manifest.Transition]

// transitionAt returns the map of the page and the transition that a name means
// there: those of the best scope that declare it count, as for actions; nil when
// no map does.
func transitionAt(o *mapset.Offer, pageURL, name string) (*sites.Map, *move, *fault.Error) {
	var via *sites.Map
	var found *move
	for _, m := range o.Library.For(pageURL) {
		c := o.Library.Composition(m)
		for i := range c.Transitions {
			e := &c.Transitions[i]
			switch {
			case e.Name != name:
			case via == nil:
				via, found = m, e
			case via.Location.Scope == m.Location.Scope && found.Entry != e.Entry:
				return nil, nil, fault.New(fault.SiteActionAmbiguous, "several maps of the same scope declare the transition").
					With("transition", fault.Clip(name, 100)).With("map_paths", []string{via.Path, m.Path})
			}
		}
	}
	return via, found, nil
}

// gate is what is looked at, in one round trip, before a tool may start.
type gate struct {
	lib      *sites.Library
	m        *sites.Map                      // declares the tool
	required []string                        // states
	target   *manifest.Target                // of the tool: its address must be that of the page
	signedIn *bool                           // somebody must be signed in, or nobody
	moves    []move                          // one of them applies
	checks   []sites.Exposed[manifest.Check] // they must pass
	chosen   *move

	// What the last look could not decide, and held nothing up: required states
	// and signed_in, checks that need a setup.
	undecided, unchecked []string
}

func gateOf(o *mapset.Offer, match *sites.Match, moves []move) *gate {
	return &gate{
		lib: o.Library, m: match.Map, moves: moves, target: match.Tool.Target,
		required: verify.RequiredStates(o.Library, match.Map, match.Tool), signedIn: verify.NeedsSignedIn(o.Library, match.Map, match.Tool),
		checks: slices.DeleteFunc(o.Library.ChecksAbout(match), func(k sites.Exposed[manifest.Check]) bool { return k.Entry.Severity != "critical" }),
	}
}

// pass waits a moment for the page to be where the tool may start, and chooses
// the transition that applies.
func (g *gate) pass(ctx context.Context, t *Tab) *fault.Error {
	if len(g.moves) > 0 {
		g.chosen = &g.moves[0]
	}
	if len(g.required)+len(g.checks) == 0 && g.signedIn == nil && !g.asks() && !hasAddress(g.target) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, stateGrace)
	defer cancel()
	var refused *fault.Error
	met, err := observe.Until(ctx, bounded, t, func(ctx context.Context, page primitives.Page) (bool, error) {
		s := verify.Batch{Library: g.lib, Attached: t.rooms.attachments.State}
		g.want(&s)
		if err := s.Evaluate(ctx, page); err != nil {
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
			reply.Output = call.WithMember(reply.Output, n.member, n.names)
		}
	}
	return reply
}

func hasAddress(t *manifest.Target) bool { return t != nil && t.URLContains+t.URLMatches != "" }

// applies says whether a page has an address that a target is for.
func applies(t *manifest.Target, url string) bool {
	return !hasAddress(t) || (t.URLContains == "" || containsFold(url, t.URLContains)) && (t.URLMatches == "" || location.URLMatches(t.URLMatches, url))
}

// asks says whether the transitions depend on anything that can be seen.
func (g *gate) asks() bool {
	return slices.ContainsFunc(g.moves, func(e move) bool {
		return verify.IsState(g.lib, e.Source.Map, e.Entry.From) ||
			slices.ContainsFunc(e.Entry.Preconditions, func(p string) bool { return verifiable(g.lib, e.Source.Map, p) })
	})
}

// verifiable says whether a precondition names something that can be looked at.
func verifiable(lib *sites.Library, m *sites.Map, precondition string) bool {
	_, check := lib.Check(m, precondition)
	return check != nil || verify.IsState(lib, m, precondition)
}

func (g *gate) want(s *verify.Batch) {
	for _, n := range g.required {
		s.AddState(g.m, n)
	}
	if g.signedIn != nil {
		s.AddSignedIn(g.m)
	}
	for _, k := range g.checks {
		s.AddCheck(k.Source.Map, k.Entry)
	}
	for _, e := range g.moves {
		m := e.Source.Map
		s.AddState(m, e.Entry.From)
		for _, p := range e.Entry.Preconditions {
			s.AddState(m, p)
			if in, k := g.lib.Check(m, p); k != nil {
				s.AddCheck(in, k)
			}
		}
	}
}

func (g *gate) judge(s *verify.Batch) *fault.Error {
	g.undecided, g.unchecked = nil, nil
	if !applies(g.target, s.URL) {
		return fault.New(fault.StateMismatch, "the page is not at an address of the action's target; nothing was done").
			With("target", verify.TargetEvidence(g.target)).With("url", fault.Clip(s.URL, 200)).Next("go to a page that the action is for")
	}
	if err := s.Require(g.m, g.required); err != nil {
		return err
	}
	for _, n := range verify.RequiredNames(g.lib, g.m, g.required) {
		if s.Diagnose(g.m, n).Verdict == verify.Unknown {
			g.undecided = append(g.undecided, n)
		}
	}
	if g.signedIn != nil {
		decided, err := s.RequireSignedIn(g.m, *g.signedIn)
		if err != nil {
			return err
		}
		if !decided {
			g.undecided = append(g.undecided, verify.SignedInName(*g.signedIn))
		}
	}
	for _, k := range g.checks {
		r := s.Check(k.Source.Map, k.Entry).Named(k.Name)
		switch r.Status {
		case verify.CheckFailed:
			return r.Refusal("a critical check of the action fails; nothing was done")
		case verify.CheckNotRun:
			g.unchecked = append(g.unchecked, k.Name)
		}
	}
	if len(g.moves) == 0 {
		return nil
	}
	var first *fault.Error
	for i := range g.moves {
		before := len(g.unchecked)
		err := g.precondition(s, &g.moves[i])
		if err == nil {
			g.chosen = &g.moves[i]
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
func (g *gate) precondition(s *verify.Batch, e *move) *fault.Error {
	m, t := e.Source.Map, e.Entry
	names := append([]string{t.From}, t.Preconditions...)
	if err := s.Require(m, names); err != nil {
		return err.With("transition", e.Name)
	}
	for _, p := range t.Preconditions {
		if in, k := g.lib.Check(m, p); k != nil && !verify.IsState(g.lib, m, p) {
			r := s.Check(in, k).Named(e.Source.Offered(p))
			switch r.Status {
			case verify.CheckFailed:
				return r.Refusal("a precondition of the transition fails; nothing was done").With("transition", e.Name)
			case verify.CheckNotRun:
				g.unchecked = append(g.unchecked, r.CheckID)
			}
		}
	}
	return nil
}

// begin reports a transition before it starts, and keeps its rate.
func (h *Host) begin(ctx context.Context, t *Tab, lib *sites.Library, e *move) (*transitionReport, *fault.Error) {
	tr := e.Entry
	r := &transitionReport{
		Name: e.Name, From: e.Source.Offered(tr.From), To: e.Source.Offered(tr.To), RateLimitMS: tr.RateLimitMS, Reveals: tr.Reveals, DoNotUse: tr.DoNotUse, StatesAfter: []string{},
	}
	for _, p := range tr.Preconditions {
		if !verifiable(lib, e.Source.Map, p) {
			r.Unverified = append(r.Unverified, p)
		}
	}
	return r, h.paceTransition(ctx, t, e, r)
}

func (h *Host) paceTransition(ctx context.Context, t *Tab, e *move, r *transitionReport) *fault.Error {
	m, tr := e.Source.Map, e.Entry
	if tr.RateLimitMS == 0 {
		return nil
	}
	waited, err := t.limiter.wait(ctx, "transition\x00"+m.Path+"\x00"+tr.Name, time.Duration(tr.RateLimitMS)*time.Millisecond)
	r.RateLimitWaitMS += waited.Milliseconds()
	return err
}

// arrive diagnoses where the page is after a transition, giving it a moment to
// come to the state it leads to.
func (h *Host) arrive(ctx context.Context, t *Tab, lib *sites.Library, via *sites.Map, e *move, r *transitionReport) {
	in, to := lib.State(e.Source.Map, e.Entry.To)
	whole, end := observe.Answerable(ctx)
	defer end()
	bounded, cancel := context.WithTimeout(whole, reachTime)
	defer cancel()
	// What cannot be looked at any more is reported as it was seen last.
	_, _ = observe.Until(whole, bounded, t, func(ctx context.Context, page primitives.Page) (bool, error) {
		seen, err := verify.DiagnoseStates(ctx, page, lib, verify.StatesOf(lib, via))
		if err != nil {
			return false, err
		}
		r.StatesAfter, r.Reached, r.Diagnosis = append([]string{}, seen.Current()...), nil, nil
		for _, d := range seen.States {
			if to == nil || d.In != in || d.Own != to.Name {
				continue
			}
			r.Reached = d.Current
			if d.Verdict == verify.No {
				r.Diagnosis = &d
				return false, nil
			}
		}
		return true, nil
	})
	t.rooms.monitor.Poke()
}

// runTransition performs a transition that was called by its name: its tool, as
// often as its convergence asks, or the wait for its signal.
func (h *Host) runTransition(ctx context.Context, v invoker, o *mapset.Offer, via *sites.Map, e *move, arguments json.RawMessage) Reply {
	m, tr := e.Source.Map, e.Entry
	if tr.Tool == "" && tr.Signal != "" {
		return h.awaitMovement(ctx, v, o, via, e)
	}
	in, tool := o.Library.Tool(m, tr.Tool)
	if tool == nil || !tool.AgentCallable() {
		return Reply{Err: fault.New(fault.UnsupportedExecutionMode, "the transition names no tool that performs it, and no signal that reports it").
			With("transition", e.Name).With("method", tr.Method).With("map_path", m.Path)}
	}
	match := &sites.Match{Name: e.Source.Offered(tr.Tool), Map: in, Tool: tool, Via: via}
	if err := match.ValidateInput(arguments); err != nil {
		return Reply{Err: err.With("transition", e.Name)}
	}
	p, err := h.prepare(o, match)
	if err != nil {
		return Reply{Err: err}
	}
	if err := h.unmet(o, match, p.uses); err != nil {
		return Reply{Err: err}
	}
	goal, err := h.goalOf(o.Library, m, tr, arguments)
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
					report = &transitionReport{Name: e.Name, From: e.Source.Offered(tr.From), To: e.Source.Offered(tr.To), MaxAttempts: goal.most}
				}
				report.stop(verify.Yes, "complete_when")
				break
			}
		}
		started := time.Now()
		g := gateOf(o, match, []move{*e})
		if attempt > 1 {
			g.moves = nil // it may have moved on from the state it starts from
		}
		if err := g.pass(ctx, v.tab); err != nil {
			return Reply{Err: err, Steps: reply.Steps}
		}
		if first == nil {
			first = g
		}
		var waited int64
		if report == nil {
			report, err = h.begin(ctx, v.tab, o.Library, e)
			if goal != nil {
				report.MaxAttempts = goal.most
			}
		} else {
			waited = report.RateLimitWaitMS
			err = h.paceTransition(ctx, v.tab, e, report)
		}
		if err == nil && report.RateLimitWaitMS > waited {
			err = g.pass(ctx, v.tab) // the page had time to change
		}
		if err != nil {
			return Reply{Err: err, Steps: reply.Steps}
		}
		v.job.progress(Progress{Step: e.Name, Phase: "attempt " + strconv.Itoa(attempt)})
		steps := reply.Steps
		reply = h.runPrepared(ctx, v, o, match, p, arguments)
		reply.Steps = joinSteps(steps, reply.Steps)
		report.Attempts = attempt
		if reply.Err != nil {
			failed := *h.withChecks(ctx, v.tab, o, match, reply.Err)
			reply.Err = failed.Field("transition", report)
			return first.note(reply)
		}
		value := call.ValueOf(reply.Output)
		values = append(values, value)
		longest = max(longest, time.Since(started))
		if goal == nil {
			report.stop(verify.Unknown, "single")
			report.Complete = nil
			break
		}
		met := goal.after(ctx, v.tab, values)
		if met == verify.No {
			met = goal.arriving(ctx, v.tab, tr.From)
		}
		switch deadline, bounded := ctx.Deadline(); {
		case met == verify.Yes:
			report.stop(verify.Yes, "complete_when")
		case met == verify.Unknown:
			report.stop(verify.Unknown, "single")
		case attempt >= goal.most:
			report.stop(verify.No, "max_attempts")
		case bounded && time.Until(deadline) < longest+observe.AnswerTime+time.Duration(tr.RateLimitMS)*time.Millisecond:
			report.stop(verify.No, "time")
		}
		if report.StoppedBy != "" {
			break
		}
	}
	h.arrive(ctx, v.tab, o.Library, via, e, report)
	out := map[string]any{"ok": true, "primitive": transitionOutput, "action": e.Name, "tool": match.Name}
	if len(values) > 0 {
		out["value"] = values[len(values)-1]
	}
	if all := call.JSON(values); len(values) > 1 && len(all) <= workflow.MaxOutputBytes {
		out["values"] = values
	}
	out["transition"] = report
	result := call.Encoded(out)
	result.Steps = reply.Steps
	if first != nil {
		result = first.note(result)
	}
	return result
}

func (r *transitionReport) stop(complete verify.Verdict, by string) {
	r.Complete, r.StoppedBy = complete.Pointer(), by
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
	return call.JSON(append(x, y...))
}

// awaitMovement waits until the signal of a transition reports the movement, or
// the state it leads to is current without it.
func (h *Host) awaitMovement(ctx context.Context, v invoker, o *mapset.Offer, via *sites.Map, e *move) Reply {
	t, tr := v.tab, e.Entry
	lib, m := o.Library, e.Source.Map
	declares, signal := lib.Signal(m, tr.Signal)
	if signal == nil {
		return Reply{Err: fault.New(fault.UnsupportedExecutionMode, "nobody declares the signal of the transition").
			With("transition", e.Name).With("signal", fault.Clip(tr.Signal, 100)).With("map_path", m.Path)}
	}
	events := make(chan Event, 16)
	id := t.Status().RuntimeID
	defer h.Subscribe(func(ev Event) {
		if ev.Kind == DOMEvent && (ev.Name == e.Source.Offered(tr.Signal) || ev.Signal == call.SignalID{MapPath: declares.Path, Name: signal.Name}) && ev.Tab.RuntimeID == id {
			select {
			case events <- ev:
			default: // one is enough
			}
		}
	})()
	g := &gate{lib: lib, m: m, moves: []move{*e}}
	if err := g.pass(ctx, t); err != nil {
		return Reply{Err: err}
	}
	report, err := h.begin(ctx, t, lib, e)
	if err != nil {
		return Reply{Err: err}
	}
	defer t.rooms.signals.Await(ctx, declares, signal.Name)()
	v.job.progress(Progress{Step: e.Name, Phase: "waiting for the signal"})
	whole, end := observe.Answerable(ctx)
	defer end()
	waiting, cancel := context.WithCancel(whole)
	arrived := make(chan bool, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ok := false
		if verify.IsState(lib, m, tr.To) && tr.To != tr.From {
			ok, _ = observe.Until(waiting, waiting, t, func(ctx context.Context, page primitives.Page) (bool, error) {
				s := verify.Batch{Library: lib}
				s.AddState(m, tr.To)
				if err := s.Evaluate(ctx, page); err != nil {
					return false, err
				}
				return s.Diagnose(m, tr.To).Verdict == verify.Yes, nil
			})
		}
		if ok {
			arrived <- true
		}
	}()
	select {
	case ev := <-events:
		report.stop(verify.Yes, "signal")
		report.Signal = ev.Payload
	case <-arrived:
		report.stop(verify.Yes, "state")
	case <-whole.Done():
	}
	cancel()
	<-done
	if report.StoppedBy == "" {
		if ctx.Err() != nil {
			return Reply{Err: fault.From(ctx.Err())}
		}
		return Reply{Err: fault.New(fault.Timeout, "the signal %s did not come in time", fault.Clip(tr.Signal, 100)).
			With("transition", e.Name).With("signal", e.Source.Offered(tr.Signal)).With("to", e.Source.Offered(tr.To))}
	}
	h.arrive(ctx, t, lib, via, e, report)
	return call.Encoded(map[string]any{"ok": true, "primitive": transitionOutput, "action": e.Name, "transition": report})
}
