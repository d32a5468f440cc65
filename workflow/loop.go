package workflow

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// loop runs a step with for_each. Its result has items and no output.
func (r *run) loop(s *step, sum *StepSummary) *fault.Error {
	v, undefined, err := s.forEach.Eval(r.ctx, r.scope(), slotLimits)
	if err != nil {
		return r.conclude(s, sum, failed(failureOf(err)))
	}
	var items []json.RawMessage
	if undefined || kind(v) != '[' || json.Unmarshal(v, &items) != nil {
		// Not a failure of the step: on_error does not apply, and there is
		// nothing to classify.
		got := "undefined"
		if !undefined {
			got = typeName(v)
		}
		return fault.New(
			fault.WorkflowLoopInputInvalid,
			"step %s: for_each gave %s, not an array; write [ ... ] around it to keep a single match an array",
			s.id, got,
		).Field("step_id", s.id)
	}
	items = items[:min(len(items), s.maxItems, MaxItems)]
	var results []result
	var first *failure
	for i, item := range items {
		if r.ctx.Err() != nil {
			return nil // step reports it
		}
		res := r.invoke(s.primitive, s.args, r.scopeOf(item, indexJSON(i)))
		results = append(results, res)
		if res.ok {
			continue
		}
		if first == nil {
			first = res.failure
		}
		if !s.goOn {
			break
		}
	}
	return r.conclude(s, sum, result{
		ok: first == nil, failure: first, silent: true,
		tail: appendResults([]byte(`,"items":`), results),
	})
}

// retry runs a step with retry_until. Its result is that of the last attempt
// with all attempts beside it.
func (r *run) retry(s *step, sum *StepSummary) *fault.Error {
	var attempts []result
	var last result
	// fail ends the loop as an exception does: the step has the failure as its
	// result and on_error applies.
	fail := func(f *failure) *fault.Error { return r.conclude(s, sum, failed(f)) }

	for i := range min(s.maxAttempts, MaxAttempts) {
		if r.ctx.Err() != nil {
			return nil
		}
		args, err := s.args.eval(r.ctx, r.scopeOf(jsonNull, indexJSON(i)), r.opts.Quirks)
		if err != nil {
			return fail(failureOf(err))
		}
		last = r.resultOf(r.inv.Invoke(r.ctx, s.primitive, args))
		attempts = append(attempts, last)
		// The condition reads the attempt under the step's own id.
		if err := r.store(s, sum, last); err != nil {
			return err
		}
		if !last.ok && !s.goOn {
			return r.conclude(s, sum, last.withAttempts(attempts))
		}
		if r.ctx.Err() != nil {
			return nil
		}
		met, err := truth(r, s.retryUntil)
		if err != nil {
			return fail(failureOf(err))
		}
		if met {
			if end := r.conclude(s, sum, last.withAttempts(attempts)); end != nil {
				return end
			}
			if last.ok || r.opts.Quirks.Has(quirks.FatalSettle) {
				sum.Settle, _ = r.settle(s)
			}
			return nil
		}
		if i == min(s.maxAttempts, MaxAttempts)-1 {
			continue
		}
		if s.afterEach == nil {
			if !r.opts.Quirks.Has(quirks.RetriesAtOnce) {
				_ = r.opts.Changed(r.ctx, retryPause(i)) // the next attempt sees that the time is over
			}
			continue
		}
		a, err := s.afterEach.args.eval(r.ctx, r.scope(), r.opts.Quirks)
		if err != nil {
			return fail(failureOf(err))
		}
		began := r.opts.Now()
		between := r.resultOf(r.inv.Invoke(r.ctx, s.afterEach.primitive, a))
		attempts = append(attempts, between)
		if !between.ok && !s.goOn {
			res := last.withAttempts(attempts)
			res.ok, res.failure = false, between.failure
			return r.conclude(s, sum, res)
		}
		// What runs between attempts takes part of the pause, and all of it when it waits itself.
		left := retryPause(i) - r.opts.Now().Sub(began)
		if left > 0 && !r.opts.Quirks.Has(quirks.RetriesAtOnce) {
			_ = r.opts.Changed(r.ctx, left)
		}
	}
	// Exhaustion fails the workflow whatever on_error says: continue arms the
	// loop, it does not make its goal optional.
	f := exhausted(s, last.failure)
	res := last.withAttempts(attempts)
	res.ok, res.failure = false, f
	if err := r.store(s, sum, res); err != nil {
		return err
	}
	sum.OK, sum.Error = false, f.code
	return r.stepFailed(s, f)
}

// retryPause is the longest time after attempt i, counted from 0, on a page that
// does not change: not everything an attempt reads is a change that is seen.
func retryPause(i int) time.Duration {
	return min(50*time.Millisecond<<min(i, 4), 500*time.Millisecond)
}

// appendResults appends results as an array.
func appendResults(b []byte, list []result) []byte {
	b = append(b, '[')
	for i, res := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = res.append(b)
	}
	return append(b, ']')
}

func typeName(v json.RawMessage) string {
	switch kind(v) {
	case '{':
		return "an object"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
