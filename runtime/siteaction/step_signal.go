package siteaction

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
)

// maxReceived bounds the signals that a run keeps for steps that wait for them.
const maxReceived = 64

// listen subscribes to the signals that steps of e wait for, from before the first step:
// one that an earlier step causes must not be missed. Signals that are disabled
// by default are enabled for the run. The returned function ends it.
func (r *executionRun) listen(e *execution) (end func()) {
	var wanted []call.SignalID
	var ends []func()
	for i := range e.steps {
		s := &e.steps[i]
		if s.signalIn == nil || slices.Contains(wanted, s.signal) {
			continue
		}
		wanted = append(wanted, s.signal)
		ends = append(ends, r.a.Signals.Await(r.ctx, s.signalIn, s.signal.Name))
	}
	if len(wanted) == 0 {
		return func() {}
	}
	r.signals = make(chan call.Event, maxReceived)
	id, received := r.a.Status().RuntimeID, r.signals
	ends = append(ends, r.a.Subscribe(func(ev call.Event) {
		if ev.Kind == call.DOMEvent && ev.Tab.RuntimeID == id && slices.Contains(wanted, ev.Signal) {
			select {
			case received <- ev:
			default: // enough is waiting
			}
		}
	}))
	return func() {
		for _, f := range ends {
			f()
		}
	}
}

// waitForSignal waits for a signal of the map. Each one that came since the run
// began serves one step.
func (r *executionRun) waitForSignal(s *plannedStep) (json.RawMessage, *fault.Error) {
	begin := time.Now()
	for {
		if i := slices.IndexFunc(r.received, func(ev call.Event) bool { return ev.Signal == s.signal }); i >= 0 {
			ev := r.received[i]
			r.received = slices.Delete(r.received, i, i+1)
			return call.JSON(map[string]any{
				"matched":    true,
				"waited_for": ev.Name,
				"elapsed_ms": time.Since(begin).Milliseconds(),
				"payload":    ev.Payload,
			}), nil
		}
		select {
		case ev := <-r.signals:
			r.received = append(r.received, ev)
		case <-r.bound.Done():
			if r.ctx.Err() != nil {
				return nil, fault.From(context.Cause(r.ctx))
			}
			return nil, fault.New(
				fault.Timeout,
				"the signal %s, which step %s waits for, did not come in time", fault.Clip(s.Signal, 60), s.id,
			).With("waited_for", fault.Clip(s.Signal, 100))
		}
	}
}
