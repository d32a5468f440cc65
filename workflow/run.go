package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/projection/expr"
)

// Invoker runs one primitive. It is the dispatch of direct calls, so that a
// step and a call of the same primitive do the same.
type Invoker interface {
	Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result
}

// RunOptions are the particulars of one run.
type RunOptions struct {
	// Action is the name of the site action, for the output.
	Action string
	// Input are the arguments of the call. What is not an object counts as an
	// empty one.
	Input json.RawMessage
	// OnStep, when not nil, is called for each step before it starts, skipped ones
	// included. It must not block.
	OnStep func(stepID, primitive string)
	// Quirks are the behaviours of the Chrome extension to keep to. Without
	// any, settle_after follows only success and is pacing, as schema v1 says: a
	// timeout is noted in the summary of the step and nothing else.
	Quirks quirks.Set
	// ChecksPostcondition promises that the caller checks Program.Postcondition
	// once the run has succeeded. Without it a program that declares one is
	// refused before its first step: an action whose effect nobody verifies must
	// not seem verified.
	ChecksPostcondition bool

	Now   func() time.Time                                 // default time.Now
	Sleep func(ctx context.Context, d time.Duration) error // default a timer
	// Changed returns when the page has changed, and after d at the latest: it is the
	// pause between the attempts of retry_until. Default Sleep.
	Changed func(ctx context.Context, d time.Duration) error
}

// Outcome is what became of a run.
type Outcome struct {
	// Output is set on success:
	// {"ok":true,"primitive":"actions.workflow","action":...,"value":...}.
	Output json.RawMessage
	Err    *fault.Error
	// Steps are the summaries of the steps that were reached, in order. After
	// a failure the last one is that of the step that failed.
	Steps []StepSummary
}

// StepSummary says how one step went.
type StepSummary struct {
	ID         string     `json:"id"`
	Primitive  string     `json:"primitive"`
	OK         bool       `json:"ok"`
	Skipped    bool       `json:"skipped"`
	DurationMS int64      `json:"duration_ms"`
	Settle     *Settle    `json:"settle,omitempty"`
	Error      fault.Code `json:"error,omitempty"`
	// Drift lists locators that only a fallback found.
	Drift []primitives.Drift `json:"drift,omitempty"`
}

// Settle says how settle_after went.
type Settle struct {
	OK      bool    `json:"ok"`
	Mode    string  `json:"mode"` // "delay" or "locator"
	DelayMS float64 `json:"delay_ms,omitempty"`
	// Reason is "timeout" when the locator did not reach its state, else the
	// code with which looking for it failed.
	Reason string `json:"reason,omitempty"`
}

// Run executes the program. It returns when ctx ends; the step that was
// running then may still have taken effect on the page.
func (p *Program) Run(ctx context.Context, inv Invoker, opts RunOptions) Outcome {
	if p.postcondition != nil && !opts.ChecksPostcondition {
		return Outcome{Err: fault.New(fault.CapabilityUnavailable,
			"the workflow declares a postcondition, which this runtime cannot check; nothing was done")}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Sleep == nil {
		opts.Sleep = sleep
	}
	if opts.Changed == nil {
		opts.Changed = opts.Sleep
	}
	if opts.Quirks.Has(quirks.ToolOnlyNames) {
		for _, name := range p.Primitives() {
			if slices.Contains(toolOnly, name) {
				return Outcome{Err: fault.New(
					fault.InvalidWorkflow, "%s is not a primitive of the extension's dictionary", name,
				).With("primitive", name)}
			}
		}
	}
	r := &run{
		ctx:     ctx,
		program: p,
		opts:    opts,
		started: opts.Now(),
		input:   opts.Input,
		results: newResults(),
	}
	r.inv = driftWatch{inv, r}
	if kind(r.input) != '{' {
		r.input = json.RawMessage("{}")
	}
	for i := range p.steps {
		if err := r.step(&p.steps[i]); err != nil {
			return Outcome{Err: err, Steps: r.summaries}
		}
	}
	out, err := r.finish()
	return Outcome{Output: out, Err: err, Steps: r.summaries}
}

// run is the state of one execution.
type run struct {
	ctx       context.Context
	program   *Program
	inv       Invoker
	opts      RunOptions
	started   time.Time
	input     json.RawMessage
	results   *results
	summaries []StepSummary
	completed []string // ids of the steps that ended
	current   *step
	drift     []primitives.Drift // of the current step
	drifts    []primitives.Drift // of all steps
}

// driftWatch keeps what the primitives of a run say of drift.
type driftWatch struct {
	Invoker
	run *run
}

// Invoke implements Invoker.
func (w driftWatch) Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result {
	res := w.Invoker.Invoke(ctx, name, args)
	for _, d := range res.Drift {
		if !slices.Contains(w.run.drift, d) {
			w.run.drift = append(w.run.drift, d)
		}
	}
	return res
}

var jsonNull = json.RawMessage("null")

// scope is what expressions see outside of loops.
func (r *run) scope() expr.Input { return r.scopeOf(jsonNull, jsonNull) }

func (r *run) scopeOf(item, index json.RawMessage) expr.Input {
	return expr.Input{
		{Name: "input", JSON: r.input},
		{Name: "steps", JSON: r.results.json()},
		{Name: "item", JSON: item},
		{Name: "index", JSON: index},
	}
}

// step runs one step and keeps its result and summary. An error ends the
// workflow.
func (r *run) step(s *step) (failed *fault.Error) {
	if err := r.ended(s); err != nil {
		return err
	}
	around := r.ctx
	ctx, closes := span.Begin(around, span.Step, s.id)
	r.ctx = ctx
	defer func() {
		r.ctx = around
		closes(failed)
	}()
	r.current = s
	if r.opts.OnStep != nil {
		r.opts.OnStep(s.id, s.primitive)
	}
	sum := StepSummary{ID: s.id, Primitive: s.primitive}
	start := r.opts.Now()
	r.drift = nil
	end := r.execute(s, &sum)
	sum.Drift = r.drift
	r.drifts = append(r.drifts, r.drift...)
	sum.DurationMS = r.opts.Now().Sub(start).Round(time.Millisecond).Milliseconds()
	if err := r.ended(s); err != nil {
		// Whatever the step made of it, on_error included: the time is over.
		// A step that ended before has ended all the same.
		if end == nil && sum.OK {
			r.completed = append(r.completed, s.id)
			err.With("steps_completed", r.completed)
		} else {
			sum.OK, sum.Error = false, err.Code
		}
		r.summaries = append(r.summaries, sum)
		return err
	}
	if end != nil && sum.Error == "" {
		sum.OK, sum.Error = false, end.Code
	}
	r.summaries = append(r.summaries, sum)
	r.completed = append(r.completed, s.id)
	return end
}

// execute runs one step in whichever form it has.
func (r *run) execute(s *step, sum *StepSummary) *fault.Error {
	if s.when != nil {
		v, undefined, err := s.when.Eval(r.ctx, r.scope(), slotLimits)
		if err != nil {
			return r.conclude(s, sum, failed(failureOf(err)))
		}
		if !expr.Truthy(expr.Value{JSON: v, Undefined: undefined}) {
			sum.OK, sum.Skipped = true, true
			return r.store(s, sum, result{ok: true, tail: []byte(`,"skipped":true`)})
		}
	}
	switch {
	case s.forEach != nil:
		return r.loop(s, sum)
	case s.retryUntil != nil:
		return r.retry(s, sum)
	}
	res := r.invoke(s.primitive, s.args, r.scope())
	if end := r.conclude(s, sum, res); end != nil {
		return end
	}
	return r.settlePlain(s, sum)
}

var slotLimits = expr.Limits{OutputBytes: maxSlotBytes}

// invoke evaluates args in scope and runs one primitive.
func (r *run) invoke(primitive string, args *arguments, scope expr.Input) result {
	a, err := args.eval(r.ctx, scope, r.opts.Quirks)
	if err != nil {
		return failed(failureOf(err))
	}
	return r.resultOf(r.inv.Invoke(r.ctx, primitive, a))
}

// conclude keeps the result of a step and returns the error that ends the
// workflow when the step failed and may not.
func (r *run) conclude(s *step, sum *StepSummary, res result) *fault.Error {
	if err := r.store(s, sum, res); err != nil {
		return err
	}
	sum.OK = res.ok
	if res.ok {
		return nil
	}
	sum.Error = res.failure.code
	if s.goOn {
		return nil
	}
	return r.stepFailed(s, res.failure)
}

// store puts a result under steps.<id>. A result that does not fit ends the
// workflow whatever on_error says: nothing after it would fit either.
func (r *run) store(s *step, sum *StepSummary, res result) *fault.Error {
	if r.results.put(s.id, res) {
		return nil
	}
	f := failureOf(fault.New(
		fault.PayloadTooLarge, "the results of the steps exceed %d bytes together", MaxRetainedBytes,
	).With("limit_bytes", MaxRetainedBytes).
		Next("narrow what the step reads"))
	r.results.put(s.id, failed(f))
	sum.OK, sum.Error = false, f.code
	return r.stepFailed(s, f)
}

// ended returns the error of a run whose context is over: remaining steps are
// not started.
func (r *run) ended(s *step) *fault.Error {
	if r.ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(r.ctx)
	code := fault.CodeOf(cause)
	what := "was interrupted"
	switch {
	case code == fault.Timeout || errors.Is(cause, context.DeadlineExceeded):
		code, what = fault.HandlerTimeout, "did not finish in time"
	case code == fault.Cancelled || code == fault.Internal:
		code, what = fault.Cancelled, "was cancelled"
	}
	elapsed := r.opts.Now().Sub(r.started).Milliseconds()
	f := fault.New(
		code, "the workflow %s at step %s after %d ms; the remaining steps were not started", what, s.id, elapsed,
	).With("elapsed_ms", elapsed).
		With("step_id", s.id).
		With("primitive", s.primitive).
		With("steps_completed", append([]string{}, r.completed...)).
		Field("step_id", s.id).
		Field("primitive", s.primitive)
	if r.current == s {
		f.Next("the step may have taken effect; read the page before you repeat the action")
	} else {
		f.Next("the steps before it took effect; read the page before you repeat the action")
	}
	f.Err = cause
	return f
}

// finish computes the output.
func (r *run) finish() (json.RawMessage, *fault.Error) {
	var value json.RawMessage
	steps := r.results.json()
	if t := r.program.output; t != nil {
		v, undefined, err := t.Eval(r.ctx, r.scope(), slotLimits)
		if err != nil {
			if len(r.program.steps) > 0 {
				if end := r.ended(&r.program.steps[len(r.program.steps)-1]); end != nil {
					return nil, end
				}
			}
			f := fault.From(err)
			if f.Code == fault.Internal {
				f = fault.Translate(fault.WorkflowOutputFailed, err, "the output of the workflow could not be computed")
			}
			return nil, f
		}
		if !undefined {
			value = v
		}
	} else {
		value = append(append([]byte(`{"steps":`), steps...), '}')
	}
	if len(value) > MaxOutputBytes {
		return nil, fault.New(
			fault.WorkflowOutputTooLarge,
			"the output of the workflow has %d bytes; the limit is %d", len(value), MaxOutputBytes,
		).With("bytes", len(value)).With("limit_bytes", MaxOutputBytes).
			Next("declare an output that selects what the caller needs")
	}
	action, err := json.Marshal(r.opts.Action)
	if err != nil {
		return nil, fault.From(err)
	}
	out := append([]byte(`{"ok":true,"primitive":"`+outputPrimitive+`","action":`), action...)
	if value != nil {
		out = append(append(out, `,"value":`...), value...)
	}
	if r.program.output == nil {
		out = append(append(out, `,"steps":`...), steps...)
	}
	if len(r.drifts) > 0 {
		list, err := json.Marshal(r.drifts)
		if err != nil {
			return nil, fault.From(err)
		}
		out = append(append(out, `,"drift":`...), list...)
	}
	return append(out, '}'), nil
}

func indexJSON(i int) json.RawMessage { return strconv.AppendInt(nil, int64(i), 10) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
