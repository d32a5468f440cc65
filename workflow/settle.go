package workflow

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
)

// settlePlain waits for settle_after of a plain step.
func (r *run) settlePlain(s *step, sum *StepSummary) *fault.Error {
	if s.settle == nil || r.ctx.Err() != nil || !sum.OK && !r.opts.Quirks.Has(quirks.FatalSettle) {
		return nil
	}
	var err error
	sum.Settle, err = r.settle(s)
	if err != nil {
		// The locator could not even be computed: an expression failed, which
		// is no matter of pacing.
		return r.conclude(s, sum, failed(failureOf(err)))
	}
	if sum.Settle == nil || sum.Settle.OK || !r.opts.Quirks.Has(quirks.FatalSettle) || s.goOn {
		return nil
	}
	return r.conclude(s, sum, failed(settleTimeout(s, sum.Settle)))
}

// settle waits for settle_after. It returns nil when there is none.
func (r *run) settle(s *step) (*Settle, error) {
	if s.settle == nil {
		return nil, nil
	}
	if s.settle.locator == nil {
		out := &Settle{Mode: "delay", DelayMS: float64(s.settle.delay) / float64(time.Millisecond)}
		out.OK = r.opts.Sleep(r.ctx, s.settle.delay) == nil
		if !out.OK {
			out.Reason = string(fault.Cancelled)
		}
		return out, nil
	}
	locator, err := s.settle.verbatim, error(nil)
	if !r.opts.Quirks.Has(quirks.VerbatimSettle) {
		locator, err = s.settle.locator.eval(r.ctx, r.scope(), r.opts.Quirks)
	}
	if err != nil {
		return &Settle{Mode: "locator", Reason: string(fault.CodeOf(err))}, err
	}
	state, err := json.Marshal(s.settle.state)
	if err != nil {
		return nil, err
	}
	timeout := s.settle.timeout
	if timeout == nil {
		timeout = strconv.AppendInt(nil, defaultSettle.Milliseconds(), 10)
	}
	args := append([]byte(`{"locator":`), locator...)
	args = append(append(args, `,"state":`...), state...)
	args = append(append(args, `,"timeout_ms":`...), timeout...)
	res := r.resultOf(r.inv.Invoke(r.ctx, settlePrimitive, append(args, '}')))
	out := &Settle{OK: res.ok, Mode: "locator"}
	if !res.ok {
		out.Reason = string(res.failure.code)
	}
	return out, nil
}

func truth(r *run, t *expr.Template) (bool, error) {
	v, undefined, err := t.Eval(r.ctx, r.scope(), slotLimits)
	return err == nil && expr.Truthy(expr.Value{JSON: v, Undefined: undefined}), err
}
