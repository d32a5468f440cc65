package siteaction

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// transitionOutput is the primitive that the output of a transition names.
const transitionOutput = "actions.transition"

// transitionReport describes the outcome of a transition. It is the member transition of
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
	// Drift lists what of the state to was found otherwise than its map says.
	Drift []checks.Drift `json:"drift,omitempty"`

	RateLimitMS     int   `json:"rate_limit_ms,omitempty"`
	RateLimitWaitMS int64 `json:"rate_limit_wait_ms"`
	// Unverified lists preconditions that are written for people.
	Unverified []string `json:"unverified_preconditions,omitempty"`
	Reveals    []string `json:"reveals,omitempty"`
	DoNotUse   []string `json:"do_not_use,omitempty"`

	// Of a repeated traversal. Complete is null when that cannot be decided.
	Attempts    int   `json:"attempts,omitempty"`
	MaxAttempts int   `json:"max_attempts,omitempty"`
	Complete    *bool `json:"complete,omitempty"`
	// complete_when, max_attempts, time, single, signal, state
	StoppedBy string          `json:"stopped_by,omitempty"`
	Signal    json.RawMessage `json:"signal,omitempty"` // payload of the one that reported the movement
}

// transitionTime is how long the page may take after a transition to come to its
// state.
const transitionTime = 2 * time.Second

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
				return nil, nil, fault.New(
					fault.SiteActionAmbiguous, "several maps of the same scope declare the transition",
				).With("transition", fault.Clip(name, 100)).With("map_paths", []string{via.Path, m.Path})
			}
		}
	}
	return via, found, nil
}

// begin reports a transition before it starts, and keeps its rate.
func (a *Actions) begin(ctx context.Context, lib *sites.Library, e *move) (*transitionReport, *fault.Error) {
	tr := e.Entry
	r := &transitionReport{
		Name:        e.Name,
		From:        e.Source.Offered(tr.From),
		To:          e.Source.Offered(tr.To),
		RateLimitMS: tr.RateLimitMS,
		Reveals:     tr.Reveals,
		DoNotUse:    tr.DoNotUse,
		StatesAfter: []string{},
	}
	for _, p := range tr.Preconditions {
		if !verifiable(lib, e.Source.Map, p) {
			r.Unverified = append(r.Unverified, p)
		}
	}
	return r, a.paceTransition(ctx, e, r)
}

func (a *Actions) paceTransition(ctx context.Context, e *move, r *transitionReport) *fault.Error {
	m, tr := e.Source.Map, e.Entry
	if tr.RateLimitMS == 0 {
		return nil
	}
	waited, err := a.limiter.wait(
		ctx, "transition\x00"+m.Path+"\x00"+tr.Name, time.Duration(tr.RateLimitMS)*time.Millisecond,
	)
	r.RateLimitWaitMS += waited.Milliseconds()
	return err
}

// arrive diagnoses where the page is after a transition, giving it a moment to
// come to the state it leads to.
func (a *Actions) arrive(ctx context.Context, lib *sites.Library, via *sites.Map, e *move, r *transitionReport) {
	in, to := lib.State(e.Source.Map, e.Entry.To)
	whole, end := observe.Answerable(ctx)
	defer end()
	bounded, cancel := context.WithTimeout(whole, transitionTime)
	defer cancel()
	// What cannot be observed is reported as it was last.
	_, _ = observe.Until(whole, bounded, a, func(ctx context.Context, page primitives.Page) (bool, error) {
		seen, err := verify.DiagnoseStates(ctx, page, lib, verify.StatesOf(lib, via))
		if err != nil {
			return false, err
		}
		r.StatesAfter = append([]string{}, seen.Current()...)
		r.Reached = nil
		r.Diagnosis = nil
		for _, d := range seen.States {
			if to == nil || d.In != in || d.Own != to.Name {
				continue
			}
			r.Reached, r.Drift = d.Current, d.Drift
			if d.Verdict == verify.No {
				r.Diagnosis = &d
				return false, nil
			}
		}
		return true, nil
	})
	a.Moved()
}

// runTransition performs a transition that was called by its name: its tool, as
// often as its convergence requires, or the wait for its signal.
func (a *Actions) runTransition(
	ctx context.Context, v invoker, o *mapset.Offer, via *sites.Map, e *move, arguments json.RawMessage,
) call.Reply {
	m, tr := e.Source.Map, e.Entry
	if tr.Tool == "" && tr.Signal != "" {
		return a.awaitMovement(ctx, v, o, via, e)
	}
	in, tool := o.Library.Tool(m, tr.Tool)
	if tool == nil || !tool.AgentCallable() {
		return call.Reply{Err: fault.New(
			fault.UnsupportedExecutionMode,
			"the transition names no tool that performs it, and no signal that reports it",
		).With("transition", e.Name).With("method", tr.Method).With("map_path", m.Path)}
	}
	match := &sites.Match{Name: e.Source.Offered(tr.Tool), Map: in, Tool: tool, Via: via}
	if err := a.refused(match, arguments); err != nil {
		return call.Reply{Err: err.With("transition", e.Name)}
	}
	p, err := a.prepare(o, match)
	if err != nil {
		return call.Reply{Err: err}
	}
	if err := a.unmet(o, match, p.uses); err != nil {
		return call.Reply{Err: err}
	}
	ctx = a.Within(ctx, in, via, a.Status().URL)
	goal, err := a.goalOf(o.Library, m, tr, arguments)
	if err != nil {
		return call.Reply{Err: err}
	}
	var report *transitionReport
	var values []json.RawMessage
	var reply call.Reply
	var first *gate
	longest := time.Duration(0)
	for attempt := 1; ; attempt++ {
		if goal != nil {
			if met := goal.before(ctx, a); met { // it may be met already
				if report == nil {
					report = &transitionReport{
						Name:        e.Name,
						From:        e.Source.Offered(tr.From),
						To:          e.Source.Offered(tr.To),
						MaxAttempts: goal.most,
					}
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
		if err := g.pass(ctx, a); err != nil {
			return call.Reply{Err: err, Steps: reply.Steps}
		}
		if first == nil {
			first = g
		}
		var waited int64
		if report == nil {
			report, err = a.begin(ctx, o.Library, e)
			if goal != nil {
				report.MaxAttempts = goal.most
			}
		} else {
			waited = report.RateLimitWaitMS
			err = a.paceTransition(ctx, e, report)
		}
		if err == nil && report.RateLimitWaitMS > waited {
			err = g.pass(ctx, a) // the page had time to change
		}
		if err != nil {
			return call.Reply{Err: err, Steps: reply.Steps}
		}
		v.Progress(call.Progress{Step: e.Name, Phase: "attempt " + strconv.Itoa(attempt)})
		steps := reply.Steps
		reply = a.runPrepared(ctx, v, o, match, p, arguments)
		reply.Steps = joinSteps(steps, reply.Steps)
		report.Attempts = attempt
		if reply.Err != nil {
			failed := *a.withChecks(ctx, o, match, reply.Err)
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
		met := goal.after(ctx, a, values)
		if met == verify.No {
			met = goal.arriving(ctx, a, tr.From)
		}
		switch deadline, bounded := ctx.Deadline(); {
		case met == verify.Yes:
			report.stop(verify.Yes, "complete_when")
		case met == verify.Unknown:
			report.stop(verify.Unknown, "single")
		case attempt >= goal.most:
			report.stop(verify.No, "max_attempts")
		case bounded &&
			time.Until(deadline) < longest+observe.AnswerTime+time.Duration(tr.RateLimitMS)*time.Millisecond:
			report.stop(verify.No, "time")
		}
		if report.StoppedBy != "" {
			break
		}
	}
	a.arrive(ctx, o.Library, via, e, report)
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
func (a *Actions) awaitMovement(ctx context.Context, v invoker, o *mapset.Offer, via *sites.Map, e *move) call.Reply {
	t, tr := a, e.Entry
	lib, m := o.Library, e.Source.Map
	ctx = a.Within(ctx, m, via, a.Status().URL)
	declares, signal := lib.Signal(m, tr.Signal)
	if signal == nil {
		return call.Reply{Err: fault.New(
			fault.UnsupportedExecutionMode, "nobody declares the signal of the transition",
		).With("transition", e.Name).With("signal", fault.Clip(tr.Signal, 100)).With("map_path", m.Path)}
	}
	events := make(chan call.Event, 16)
	id := a.Status().RuntimeID
	defer a.Subscribe(func(ev call.Event) {
		if ev.Kind == call.DOMEvent && (ev.Name == e.Source.Offered(tr.Signal) ||
			ev.Signal == call.SignalID{MapPath: declares.Path, Name: signal.Name}) && ev.Tab.RuntimeID == id {
			select {
			case events <- ev:
			default: // one is enough
			}
		}
	})()
	g := &gate{lib: lib, m: m, moves: []move{*e}}
	if err := g.pass(ctx, t); err != nil {
		return call.Reply{Err: err}
	}
	report, err := a.begin(ctx, lib, e)
	if err != nil {
		return call.Reply{Err: err}
	}
	defer a.Signals.Await(ctx, declares, signal.Name)()
	v.Progress(call.Progress{Step: e.Name, Phase: "waiting for the signal"})
	whole, end := observe.Answerable(ctx)
	defer end()
	waiting, cancel := context.WithCancel(whole)
	arrived := make(chan bool, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ok := false
		if verify.IsState(lib, m, tr.To) && tr.To != tr.From {
			ok, _ = observe.Until(waiting, waiting, a, func(ctx context.Context, page primitives.Page) (bool, error) {
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
			return call.Reply{Err: fault.From(ctx.Err())}
		}
		return call.Reply{Err: fault.New(
			fault.Timeout, "the signal %s did not come in time", fault.Clip(tr.Signal, 100),
		).With("transition", e.Name).With("signal", e.Source.Offered(tr.Signal)).With("to", e.Source.Offered(tr.To))}
	}
	a.arrive(ctx, lib, via, e, report)
	return call.Encoded(map[string]any{
		"ok":         true,
		"primitive":  transitionOutput,
		"action":     e.Name,
		"transition": report,
	})
}
