package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

const (
	// teardownTime bounds the teardown plans of a case, which run also when the case
	// has no time left.
	teardownTime = time.Minute
	// closeTime bounds closing a session.
	closeTime = 15 * time.Second
)

// RunCase runs a test case once, in a session of its own, and returns how it ended. The
// teardown plans run in any case.
func RunCase(ctx context.Context, b Browser, c *spec.Case, o Options) CaseResult {
	started := time.Now()
	r := &run{browser: b, c: c, o: o, sessions: map[string]*session{}, seen: map[string]int{}}
	r.scope = spec.Scope{Vars: maps.Clone(c.Scope.Vars), Row: c.Scope.Row, Items: map[string]any{}, Env: c.Scope.Env}
	for _, p := range c.All() {
		r.of += count(p.Steps, &r.scope)
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if limit := time.Duration(c.Plan.Timeout); limit > 0 {
		bounded, cancel = context.WithTimeoutCause(
			ctx, limit, fault.New(fault.Timeout, "the case did not end within its %s", limit),
		)
	}
	defer cancel()
	if r.serves(); !r.stopped {
		r.begin(bounded)
	}
	for _, p := range c.Setup {
		r.plan(bounded, p, "setup")
	}
	r.plan(bounded, c.Plan, "")
	if !slices.ContainsFunc(r.results, func(s StepResult) bool { return s.Phase == "" }) {
		nothing := fault.New(fault.InvalidInput, "no step ran, expected at least 1") // for_each over nothing
		r.stop("steps", nothing, c.Plan.At("/steps"))
	}
	if len(c.Teardown) > 0 && r.sessions[""] != nil {
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), teardownTime)
		for _, p := range c.Teardown {
			r.stopped = false
			r.plan(last, p, "teardown")
		}
		stop()
	}
	r.endQuarantine()
	failed := slices.ContainsFunc(r.results, func(s StepResult) bool { return !s.OK })
	served := r.settleApps(failed)
	result := CaseResult{
		OK:         true,
		Plan:       c.Plan.Path(),
		Name:       c.Name,
		ID:         c.ID,
		Tags:       c.Tags,
		Steps:      r.results,
		Routes:     r.routeResults,
		Serve:      served,
		Quarantine: c.Quarantine(),
		started:    started,
	}
	for _, s := range result.Steps {
		result.OK = result.OK && s.OK
	}
	if result.OK && ctx.Err() == nil && o.SaveState {
		state, err := readState(ctx, r.sessions[""], o)
		if err != nil {
			o.warn("the storage state could not be read: %w", err)
		}
		result.State = state
	}
	r.close(ctx)
	result.DurationMS = time.Since(started).Milliseconds()
	result.Outcome = result.outcome(over(c, o))
	return result
}

// ended is how the steps and attempts of the case ended.
func (c CaseResult) ended() report.Outcome {
	switch {
	case !c.OK:
		return report.Failed
	case len(c.Failed) > 0 || slices.ContainsFunc(c.Steps, StepResult.Flaky):
		return report.Flaky
	}
	return report.Passed
}

// count is how many steps there are at least.
func count(steps []spec.Step, scope *spec.Scope) int {
	n := 0
	for i := range steps {
		if f := steps[i].ForEach; f != nil {
			items := 1
			if list, err := scope.Expand(f.In); err == nil {
				if list, ok := list.([]any); ok {
					items = len(list)
				}
			}
			n += items * count(f.Steps, scope)
			continue
		}
		n++
	}
	return n
}

// run is one attempt of a case. It is for one goroutine.
type run struct {
	browser Browser
	c       *spec.Case
	o       Options
	scope   spec.Scope

	sessions map[string]*session
	order    []*session
	results  []StepResult
	seen     map[string]int // names of steps
	number   int
	of       int
	stopped  bool

	planRoutes   []routed              // of the plan whose steps run
	planKeys     []browser.Credentials // of the plans that began
	routeResults []RouteResult

	apps   []caseApp
	served []ServeResult
}

// stop adds a failure that is no step's. at is where the plan asks for it, nothing when it does not.
func (r *run) stop(name string, err error, at spec.Place) {
	f := fault.From(err)
	if f.Code == fault.Internal {
		f = fault.Wrap(fault.Internal, err, "%s", err.Error())
	}
	result := StepResult{
		Name: spec.Numbered(name, r.seen), Error: r.o.Secrets.Fault(f),
		at: report.Place{File: at.File, Line: at.Line, Pointer: at.Pointer},
	}
	r.results = append(r.results, result)
	r.reportStep(result)
	r.stopped = true
}

func (r *run) reportStep(s StepResult) {
	if r.o.OnStep != nil {
		r.o.OnStep(s)
	}
}

// plan runs the steps of one plan of the case.
func (r *run) plan(ctx context.Context, p *spec.Plan, phase string) {
	if len(p.HTTPCredentials) > 0 && !r.stopped {
		if err := r.signsIn(ctx, p); err != nil {
			r.stop("http_credentials", err, p.At("/http_credentials"))
		}
	}
	if len(p.Route) > 0 && !r.stopped {
		if err := r.enter(ctx, p); err != nil {
			r.stop("route", err, p.At("/route"))
		}
		defer r.leave(context.WithoutCancel(ctx))
	}
	open := p.Open
	if p == r.c.Plan && r.o.Open != "" {
		open = r.o.Open
	}
	if open != "" && !r.stopped && ctx.Err() == nil {
		s := r.sessions[""]
		err := r.openAt(ctx, s, open)
		on, tabErr := r.tab(ctx, s, "")
		if tabErr != nil {
			err = tabErr
		} else if err == nil && !operatorOnly(open) {
			reply := r.navigate(ctx, s, on, open, r.o.CallTimeout, true)
			if status := badStatus(reply); reply.Err != nil {
				err = reply.Err
			} else if status != 0 && !judgesOpen(p.Steps, status) {
				err = r.refusal(open, reply, status)
			}
		}
		if err != nil {
			at := spec.Place{}
			if open == p.Open {
				at = p.At("/open")
			}
			r.stop("open "+address.WithoutUser(open), err, at)
		}
	}
	r.steps(ctx, p.Steps, phase, "")
}

func (r *run) steps(ctx context.Context, steps []spec.Step, phase, suffix string) {
	for i := range steps {
		s := &steps[i]
		if s.ForEach != nil && !r.stopped && ctx.Err() == nil {
			r.each(ctx, s, phase, suffix)
			continue
		}
		r.step(ctx, s, phase, suffix)
	}
}

// each runs the steps of for_each for each item.
func (r *run) each(ctx context.Context, s *spec.Step, phase, suffix string) {
	list, err := r.scope.Expand(s.ForEach.In)
	items, ok := list.([]any)
	if err == nil && !ok {
		err = fault.New(fault.InvalidInput, "for_each is not over a list")
	}
	if err != nil {
		r.stop(s.Name+suffix, err, s.At)
		return
	}
	if len(items) == 0 && !s.ForEach.AllowEmpty {
		r.nothing(s, phase, suffix)
		return
	}
	before, had := r.scope.Items[s.ForEach.As]
	for i, item := range items {
		r.scope.Items[s.ForEach.As] = item
		label := ""
		if text, ok := item.(string); ok {
			label = " " + report.Shorten(report.Printable(text), 40)
		}
		r.steps(ctx, s.ForEach.Steps, phase, fmt.Sprintf("%s [%d/%d%s]", suffix, i+1, len(items), label))
	}
	if delete(r.scope.Items, s.ForEach.As); had {
		r.scope.Items[s.ForEach.As] = before
	}
}

// nothing is the failure of a for_each without items: its steps would have judged something.
func (r *run) nothing(s *spec.Step, phase, suffix string) {
	result := StepResult{
		Name:  spec.Numbered(s.Name+suffix, r.seen),
		Phase: phase,
		Unmet: spec.NoItems,
		at:    report.Place{File: s.At.File, Line: s.At.Line, Pointer: s.At.Pointer},
	}
	result.unmet = []report.Failure{parseFailure(spec.NoItems)}
	result.unmet[0].Place = result.at
	r.stopped = r.stopped || s.OnFailure != "continue"
	r.results = append(r.results, result)
	r.reportStep(result)
}
