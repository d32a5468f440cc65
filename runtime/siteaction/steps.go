package siteaction

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// defaultStepTime is how long an abstract step waits for its target, its state
// or its assertion when it does not say timeout_ms.
const defaultStepTime = 5 * time.Second

// maxUntil bounds the repetitions of a step with until.
const maxUntil = workflow.MaxAttempts

// executionOutput is the primitive that the output of an execution names, as
// actions.workflow is for workflows.
const (
	executionOutput = "actions.execution"
	handlerOutput   = "actions.handler"
)

// stepSummary is that of a workflow's step, with what abstract steps have
// beside it. primitive is the one that did the work.
type stepSummary struct {
	workflow.StepSummary
	Type            string        `json:"type"`
	Optional        bool          `json:"optional,omitempty"`
	RateLimitWaitMS int64         `json:"rate_limit_wait_ms,omitempty"`
	Drift           *checks.Drift `json:"drift,omitempty"`
}

// executionRun is one run of an execution.
type executionRun struct {
	ctx    context.Context
	a      *Actions
	lib    *sites.Library
	match  *sites.Match
	v      invoker
	input  map[string]json.RawMessage
	raw    json.RawMessage // the arguments of the call
	values []namedValue    // what steps gave, in order
	steps  []stepSummary

	signals  chan call.Event // those that steps wait for; nil when none does
	received []call.Event    // and nobody has waited for yet

	// acted is set once something may have changed the page.
	acted       bool
	appearances appearances
	// Of the running step.
	whole     context.Context // what is left of the call, less the time for its answer
	bound     context.Context // for waiting: timeout_ms, or the default
	endBound  context.CancelFunc
	work      context.Context // for primitives: timeout_ms, or the whole call
	primitive string
	drift     *checks.Drift
	// relocated are targets that were not found, with those that the run goes on with.
	relocated map[*manifest.Target]*manifest.Target
}

type namedValue struct {
	name  string
	value json.RawMessage
	shown bool // a member of the result
}

// runExecution runs a tool by its abstract steps, its handler, or one in place
// of the other.
func (a *Actions) runExecution(
	ctx context.Context, v invoker, o *mapset.Offer, e *execution, match *sites.Match, arguments json.RawMessage,
) call.Reply {
	ctx = primitives.InOwnWords(ctx) // the extension has no abstract steps
	r := &executionRun{
		ctx:   ctx,
		a:     a,
		lib:   o.Library,
		match: match,
		v:     v,
		raw:   arguments,
	}
	_, merged, err := match.Primitive(arguments) // the binding's, and the caller's over them
	if err != nil {
		return call.Reply{Err: err}
	}
	if err := json.Unmarshal(merged, &r.input); err != nil {
		return call.Reply{
			Err: fault.New(fault.InvalidInput, "the arguments must be an object").With("tool", match.Tool.Name),
		}
	}
	r.appearances = newAppearances(v.Message().Appearance)
	reply := r.inMode(e)
	r.appearances.note(&reply)
	return reply
}

// inMode runs the steps, the handler, or one in place of the other.
func (r *executionRun) inMode(e *execution) call.Reply {
	ctx := r.ctx
	var reply call.Reply
	switch e.mode {
	case handlerOnly:
		reply = r.byHandler(e)
	case handlerFirst:
		reply = r.byHandler(e)
		// A handler that is not there has done nothing; one that failed may
		// have, and only the map can know that the steps may follow it.
		if err := reply.Err; err != nil && len(e.steps) > 0 && ctx.Err() == nil {
			missing := err.Code == fault.MissingHandler && e.fallback != "none"
			if missing || err.Code == fault.HandlerFailed && e.fallback == "steps" {
				reply = because(r.bySteps(e), err)
			}
		}
	default:
		reply = r.bySteps(e)
		falls := e.handler != "" && e.fallback != "none" && (!r.acted || e.fallback == "handler")
		if err := reply.Err; err != nil && falls && ctx.Err() == nil {
			steps := reply.Steps
			reply = because(r.byHandler(e), err)
			reply.Steps = steps
		}
	}
	return reply
}

// because notes in a reply why its form ran in place of the other one.
func because(r call.Reply, err *fault.Error) call.Reply {
	cause := map[string]any{"code": err.Code, "message": err.Message}
	if r.Err != nil {
		e := *r.Err
		r.Err = e.With("fallback_from", cause)
		return r
	}
	if len(r.Output) > 2 && r.Output[0] == '{' {
		r.Output = call.WithMember(r.Output, "fallback_from", cause)
	}
	return r
}

// byHandler calls the tool's handler with the binding's arguments and those of
// the call over them.
func (r *executionRun) byHandler(e *execution) call.Reply {
	if r.a.Maps.Known(e.handler) {
		_, merged, err := r.match.Primitive(r.raw)
		if err != nil {
			return call.Reply{Err: err}
		}
		res := r.v.Invoke(r.ctx, e.handler, merged)
		if res.Err != nil {
			return call.Reply{Err: res.Err.Field("primitive", res.Primitive)}
		}
		return r.a.checkResult(r.match, res.Payload, call.Reply{Output: res.Envelope()})
	}
	value, err := r.a.pageHandler(r.ctx, r.v, r.match, e.handler, r.raw)
	if err != nil {
		return call.Reply{Err: err}
	}
	return r.a.checkResult(r.match, value, call.Encoded(struct {
		OK        bool            `json:"ok"`
		Primitive string          `json:"primitive"`
		Action    string          `json:"action"`
		Handler   string          `json:"handler"`
		Value     json.RawMessage `json:"value"`
	}{true, handlerOutput, r.match.Name, e.handler, value}))
}

// bySteps runs the abstract steps.
func (r *executionRun) bySteps(e *execution) call.Reply {
	started := time.Now()
	defer r.listen(e)()
	var failure *fault.Error
	for i := range e.steps {
		failure = r.step(&e.steps[i], started)
		if failure != nil {
			break
		}
	}
	reply := call.Reply{Err: failure, Steps: call.JSON(r.steps)}
	if failure != nil {
		return reply
	}
	value := json.RawMessage(`{"ok":true}`)
	for _, v := range r.values {
		if v.shown {
			value = call.WithMember(value, v.name, v.value)
		}
	}
	if len(value) > workflow.MaxOutputBytes {
		reply.Err = fault.New(
			fault.WorkflowOutputTooLarge,
			"the output of the steps has %d bytes; the limit is %d", len(value), workflow.MaxOutputBytes,
		).With("bytes", len(value)).With("limit_bytes", workflow.MaxOutputBytes).Next("extract less in one action")
		return reply
	}
	reply.Output = call.JSON(struct {
		OK        bool            `json:"ok"`
		Primitive string          `json:"primitive"`
		Action    string          `json:"action"`
		Value     json.RawMessage `json:"value"`
	}{true, executionOutput, r.match.Name, value})
	var drifts []checks.Drift
	for _, s := range r.steps {
		if s.Drift != nil {
			drifts = append(drifts, *s.Drift)
		}
	}
	if len(drifts) > 0 {
		reply.Output = call.WithMember(reply.Output, "drift", drifts)
	}
	return r.a.checkResult(r.match, value, reply)
}

// step runs one step and keeps its summary. An error ends the run.
func (r *executionRun) step(s *plannedStep, started time.Time) (failed *fault.Error) {
	if r.ctx.Err() != nil {
		return r.interrupted(s, started)
	}
	around := r.ctx
	ctx, end := span.Begin(around, span.Step, s.id)
	r.ctx = ctx
	defer func() {
		r.ctx = around
		end(failed)
	}()
	planned := s
	s, failed = r.filled(planned)
	if failed != nil {
		missing := *failed
		return missing.Field("step_id", planned.id).Field("step_type", planned.Type)
	}
	uses := s.kind.uses(s)
	r.primitive, r.drift = "", nil
	if len(uses) > 0 {
		r.primitive = uses[len(uses)-1]
	}
	r.v.Progress(call.Progress{Step: s.id, Primitive: r.primitive, Phase: "step"})
	sum := stepSummary{Type: s.Type, Optional: s.Optional != nil && *s.Optional}
	sum.ID = s.id
	begin := time.Now()
	var out json.RawMessage
	var err *fault.Error
	if s.missingArgument(r) && sum.Optional {
		sum.OK, sum.Skipped = true, true
	} else {
		var waited time.Duration
		waited, err = r.limitRate(s)
		if err == nil {
			out, err = r.perform(s)
		}
		sum.RateLimitWaitMS = waited.Milliseconds()
		sum.OK = err == nil
	}
	sum.DurationMS = time.Since(begin).Milliseconds()
	sum.Primitive = r.primitive
	sum.Drift = r.drift
	if r.ctx.Err() != nil && err != nil {
		err = r.interrupted(s, started)
	}
	if err != nil {
		sum.Error = err.Code
	}
	r.steps = append(r.steps, sum)
	if err == nil {
		if !sum.Skipped {
			r.keep(s, out)
		}
		return nil
	}
	if sum.Optional && r.ctx.Err() == nil {
		return nil
	}
	out2 := *err
	return out2.Field("step_id", s.id).Field("step_type", s.Type).Field("primitive", r.primitive)
}

// perform does the step, its assertion, and its repetition.
func (r *executionRun) perform(s *plannedStep) (json.RawMessage, *fault.Error) {
	whole, end := observe.Answerable(r.ctx)
	defer end()
	r.whole, r.endBound = whole, func() {}
	if s.kind.reads {
		r.a.Settled(r.whole) // before its time begins
	}
	r.allowTime(s)
	defer func() { r.endBound() }()
	var out json.RawMessage
	var err *fault.Error
	if s.Until != nil && s.Type != "wait" && s.Type != "wait_for" {
		out, err = r.repeat(s)
	} else {
		out, err = s.kind.run(r, s)
	}
	if err != nil || s.Assert == nil {
		return out, err
	}
	f, err := r.await(func(sv *verify.Batch) {
		sv.Add(r.match.Map, s.Assert, nil)
	}, func(sv *verify.Batch) (verify.Observation, bool) {
		f := sv.Judge(r.match.Map, s.Assert, nil)
		return f, f.Verdict == verify.Yes
	})
	if err != nil {
		return out, err
	}
	if f.Verdict != verify.Yes {
		return out, fault.New(fault.StateMismatch, "what step %s asserts does not hold after it", s.id).
			With("assertion", f).
			Next("read the page before you repeat the action: the step itself was done")
	}
	return out, nil
}

// allowTime begins the time of a step.
func (r *executionRun) allowTime(s *plannedStep) {
	r.endBound()
	limit, own := defaultStepTime, s.TimeoutMS != nil && *s.TimeoutMS > 0
	if own {
		limit = time.Duration(*s.TimeoutMS) * time.Millisecond
	}
	r.bound, r.endBound = context.WithTimeout(r.whole, limit)
	r.work = r.ctx
	if own {
		r.work = r.bound
	}
}

// repeat runs a step until its target in until is there, as one scrolls until a
// row appears. Nothing is done when it is there already.
func (r *executionRun) repeat(s *plannedStep) (json.RawMessage, *fault.Error) {
	var out json.RawMessage
	for n := 0; ; n++ {
		m, err := r.resolve(s.Until)
		if err != nil {
			return out, err
		}
		if m.Found && (m.Facts == nil || m.Facts.Rendered) {
			if out == nil {
				out = call.JSON(map[string]any{"until": true, "attempts": n})
			}
			return out, nil
		}
		if n == maxUntil || r.bound.Err() != nil {
			return out, fault.New(
				fault.WorkflowRetryExhausted, "what step %s waits for did not appear in %d attempts", s.id, n,
			).With("until", m).With("attempts", n)
		}
		page, e := r.a.LivePage(r.bound)
		if e != nil {
			return out, fault.From(e)
		}
		var waits sync.WaitGroup
		ctx, cancel := context.WithCancel(r.bound)
		wait := observe.Begin(ctx, page, observe.Again, waits.Go)
		done, err := s.kind.run(r, s)
		if err == nil {
			out = done
			select {
			case <-wait.Over:
			case <-r.bound.Done():
			}
		}
		cancel()
		waits.Wait()
		if err != nil {
			return out, err
		}
	}
}

func (r *executionRun) interrupted(s *plannedStep, started time.Time) *fault.Error {
	code, what := fault.Cancelled, "was cancelled"
	if fault.CodeOf(r.ctx.Err()) == fault.Timeout {
		code, what = fault.HandlerTimeout, "did not finish in time"
	}
	var done []string
	for _, sum := range r.steps {
		if sum.OK {
			done = append(done, sum.ID)
		}
	}
	f := fault.New(code, "the action %s at step %s; the remaining steps were not started", what, s.id).
		With("elapsed_ms", time.Since(started).Milliseconds()).
		With("step_id", s.id).With("steps_completed", append([]string{}, done...))
	if r.acted {
		f.Next("steps have taken effect; read the page before you repeat the action")
	}
	return f
}

// keep remembers what a step gave, under as or its id.
func (r *executionRun) keep(s *plannedStep, out json.RawMessage) {
	if out == nil {
		return
	}
	name := s.As
	if name == "" {
		name = s.id
	}
	r.values = append(r.values, namedValue{name, out, s.As != "" || s.kind.reads})
}

// argument is the value of a dotted name: an argument of the call, or what an
// earlier step gave.
func (r *executionRun) argument(path string) (json.RawMessage, bool) {
	head, rest, _ := strings.Cut(path, ".")
	raw, ok := r.input[head]
	if whole, exact := r.input[path]; exact {
		return whole, true
	}
	if !ok {
		for i := len(r.values) - 1; i >= 0 && !ok; i-- {
			if r.values[i].name == head {
				raw, ok = r.values[i].value, true
			}
		}
	}
	for ok && rest != "" {
		head, rest, _ = strings.Cut(rest, ".")
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return nil, false
		}
		raw, ok = members[head]
	}
	return raw, ok
}

// missingArgument reports whether the step waits for an argument that the call
// does not give.
func (s *plannedStep) missingArgument(r *executionRun) bool {
	for _, from := range []string{s.ValueFrom, s.URLFrom} {
		if from != "" {
			if _, ok := r.argument(from); !ok {
				return true
			}
		}
	}
	return false
}

// value is the text, choice or address of a step.
func (r *executionRun) value(s *plannedStep) (json.RawMessage, *fault.Error) {
	switch {
	case s.ValueFrom != "":
		v, ok := r.argument(s.ValueFrom)
		if !ok {
			return nil, fault.New(
				fault.InvalidInput, "the call gives no %s, which step %s needs", fault.Clip(s.ValueFrom, 60), s.id,
			).With("missing_required", []string{s.ValueFrom})
		}
		return v, nil
	case s.Value != nil:
		return s.Value, nil
	}
	return call.JSON(s.Text), nil
}

// limitRate keeps the distance that a step wants between two of its runs on
// this tab.
func (r *executionRun) limitRate(s *plannedStep) (time.Duration, *fault.Error) {
	if s.RateLimitMS == nil || *s.RateLimitMS == 0 {
		return 0, nil
	}
	key := "step\x00" + r.match.Map.Path + "\x00" + r.match.Tool.Name + "\x00" + s.id
	return r.a.limiter.wait(r.ctx, key, time.Duration(*s.RateLimitMS)*time.Millisecond)
}

// invoke runs one primitive and returns its payload.
func (r *executionRun) invoke(name string, args any) (json.RawMessage, *fault.Error) {
	raw, ok := args.(json.RawMessage)
	if !ok {
		reply := call.Encoded(args)
		if reply.Err != nil {
			return nil, reply.Err
		}
		raw = reply.Output
	}
	r.primitive = name
	record, known := r.a.Registry.Lookup(name)
	res := r.v.Invoke(r.work, name, raw)
	// Looking an element up may scroll, which undoes nothing.
	if known && record.Acts && name != "locator.element_info" && (res.Err == nil || !unstarted(res.Err.Code)) {
		r.acted = true
	}
	if res.Err != nil {
		return nil, res.Err
	}
	return res.Payload, nil
}

// unstarted are the codes of primitives that did nothing.
func unstarted(code fault.Code) bool {
	switch code {
	case fault.InvalidInput, fault.TargetNotFound, fault.InvalidSelector, fault.CapabilityUnavailable,
		fault.MissingCoordinates,
		fault.PointOutOfViewport, fault.UnknownAction, fault.TargetNotEditable, fault.InvalidKey,
		fault.TargetNotActionable, fault.FrameNotFound:
		return true
	}
	return false
}

// resolve resolves one target.
func (r *executionRun) resolve(t *manifest.Target) (descriptor.Match, *fault.Error) {
	s := verify.Batch{Library: r.lib}
	s.AddTarget(t)
	s.AddState(r.match.Map, t.State)
	page, e := r.a.LivePage(r.bound)
	if e != nil {
		return descriptor.Match{}, fault.From(e)
	}
	if e := s.Evaluate(r.bound, page); e != nil {
		return descriptor.Match{}, fault.From(e)
	}
	m := s.Match(verify.DescriptorOf(t, "", nil))
	if t.State != "" && s.Diagnose(r.match.Map, t.State).Verdict == verify.No {
		m.Found, m.Reason = false, "state"
	}
	return m, nil
}

// await observes until judged is satisfied or the step's time is over, again after
// each change of the page, and returns what it saw last.
func (r *executionRun) await(
	want func(*verify.Batch), judged func(*verify.Batch) (verify.Observation, bool),
) (verify.Observation, *fault.Error) {
	return r.awaitWithin(r.bound, want, judged)
}

// awaitWithin is await with another time than the step's.
func (r *executionRun) awaitWithin(
	bound context.Context, want func(*verify.Batch), judged func(*verify.Batch) (verify.Observation, bool),
) (verify.Observation, *fault.Error) {
	var last verify.Observation
	_, err := observe.Until(r.whole, bound, r.a, func(ctx context.Context, page primitives.Page) (bool, error) {
		s := verify.Batch{Library: r.lib}
		want(&s)
		if err := s.Evaluate(ctx, page); err != nil {
			return false, err
		}
		f, ok := judged(&s)
		last = f
		return ok, nil
	})
	if r.ctx.Err() != nil {
		return last, fault.From(r.ctx.Err())
	}
	if err != nil {
		return last, fault.From(err)
	}
	return last, nil
}
