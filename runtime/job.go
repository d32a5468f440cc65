package runtime

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/sites"
)

// stopWait is how long a call whose time is up may take at most to stop by itself before
// it is answered without its own account of what it was doing.
const stopWait = 200 * time.Millisecond

// stopWaitOf is the grace of a call that had so much time: a short one ends soon after it.
func stopWaitOf(timeout time.Duration) time.Duration {
	return max(min(stopWait, timeout/5), stopWait/10)
}

// job is one accepted call on its way to exactly one reply.
type job struct {
	host     *Host
	call     Call
	from     *sites.Map                                   // on whose behalf the call is; nil for an agent's
	visit    func(context.Context, primitives.Page) error // of a Visit, nil for a call
	tab      *Tab
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stop     func() bool // stops the watch on ctx
	done     func(Reply)
	ended    func(Reply) // of a call with a key: what became of it, which may come after done; nil for others
	accepted time.Time
	recorded string // the name of the call for the recorder, while it runs

	mu       sync.Mutex
	started  bool
	finished bool
	deadline *time.Timer
	at       Progress // where a running call is
}

// newJob makes a job, whose time begins now. ended is nil where nobody asks for it.
func (h *Host) newJob(call Call, from *sites.Map, tab *Tab, done, ended func(Reply)) *job {
	timeout := call.Timeout
	if timeout <= 0 {
		timeout = h.opts.CallTimeout
	}
	call.Timeout = timeout
	j := &job{
		host:     h,
		call:     call,
		from:     from,
		tab:      tab,
		done:     done,
		ended:    ended,
		accepted: time.Now(),
	}
	if h.opts.OnCall != nil && call.Name != visitName && call.Name != LaterEffects {
		if answered := h.opts.OnCall(call); answered != nil {
			j.done = func(r Reply) { answered(r); done(r) }
		}
	}
	parent := h.ctx
	if h.opts.Spans != nil {
		spans, end := span.Begin(span.With(h.ctx, h.opts.Spans), span.Call, call.Name)
		answer := j.done
		j.done = func(r Reply) { end(r.Err); answer(r) }
		parent = spans
	}
	ctx, cancel := context.WithCancelCause(parent)
	bounded, release := context.WithTimeout(ctx, timeout)
	j.ctx = bounded
	j.cancel = func(cause error) { cancel(cause); release() }
	j.mu.Lock() // a context that is over already runs expire at once, which needs stop
	j.stop = context.AfterFunc(bounded, j.expire)
	j.mu.Unlock()
	return j
}

// start marks the call as running; false when it was answered while it waited.
func (j *job) start() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.finished {
		return false
	}
	j.started = true
	return true
}

// expire runs when the call's time is up or it was cancelled. A call that has
// not started is answered at once, a running one when it has stopped or after
// a grace period.
func (j *job) expire() {
	j.mu.Lock()
	started := j.started
	if started && !j.finished {
		j.deadline = time.AfterFunc(stopWaitOf(j.call.Timeout), func() { j.fail(fault.From(j.ctx.Err())) })
	}
	j.mu.Unlock()
	if !started {
		j.fail(fault.From(j.ctx.Err()))
	}
}

func (j *job) fail(err *fault.Error) {
	j.finish(Reply{Err: j.explain(err)})
}

// finish answers the call unless it was answered before.
func (j *job) finish(r Reply) {
	j.mu.Lock()
	if j.finished {
		j.mu.Unlock()
		return
	}
	j.finished = true
	started := j.started
	if j.deadline != nil {
		j.deadline.Stop()
	}
	j.mu.Unlock()
	j.stop()
	j.cancel(context.Canceled)
	r = j.completed(r)
	if !started && j.ended != nil {
		j.ended(r)
	}
	j.done(r)
}

// completed is a reply with what the job knows of it, and without secrets.
func (j *job) completed(r Reply) Reply {
	j.mu.Lock()
	r.Started = r.Started || j.started
	j.mu.Unlock()
	r.ID = j.call.ID
	r.Duration = time.Since(j.accepted)
	if j.tab != nil {
		s := j.tab.Status()
		r.RuntimeID, r.URL = s.RuntimeID, s.URL
		if id := j.call.Target.RuntimeID; id != "" {
			r.RuntimeID = id
		}
	}
	return j.host.hideReply(r, j.call)
}

// progress records where the call is, for its answer should its time run out.
func (j *job) progress(p Progress) {
	j.mu.Lock()
	j.at = p
	j.mu.Unlock()
	if j.call.Progress != nil {
		j.call.Progress(p)
	}
}

// explain turns the end of the call's own context into the protocol's words
// (Actions Bridge Protocol, "Timeout Rules"): handler_timeout with the elapsed
// time and the current step. Other errors, a primitive's own timeout among
// them, stay.
func (j *job) explain(err *fault.Error) *fault.Error {
	if j.ctx.Err() == nil {
		return err
	}
	j.mu.Lock()
	at, started := j.at, j.started
	j.mu.Unlock()
	out := *err
	switch {
	case errors.Is(context.Cause(j.ctx), errShutdown):
		out.Code, out.Message = fault.Cancelled, "the runtime is shutting down"
	case errors.Is(context.Cause(j.ctx), context.DeadlineExceeded): // its own, or that of who waits for it
		switch err.Code {
		case fault.Timeout, fault.Cancelled, fault.HandlerTimeout, fault.PageUnresponsive, fault.Internal:
		default:
			return err
		}
		out.Code = fault.HandlerTimeout
		if err.Code != fault.HandlerTimeout {
			out.Message = "the call did not finish within its time"
		}
	default:
		out.Code, out.Message = fault.Cancelled, "the call was cancelled"
	}
	evidence := map[string]any{
		"elapsed_ms": time.Since(j.accepted).Milliseconds(),
		"timeout_ms": j.call.Timeout.Milliseconds(),
		"started":    started,
	}
	if at.Step != "" {
		evidence["step_id"] = at.Step
	}
	if at.Primitive != "" {
		evidence["primitive"] = at.Primitive
	}
	maps.Copy(evidence, err.Evidence)
	out.Evidence = evidence
	return &out
}

var errShutdown = errors.New("runtime is shutting down")
