package bridgeclient

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// inboundQueue keeps the order of calls while the reader goes on: a storage bundle
// has to be in place before the call behind it starts, and importing one may
// take longer than a bridge waits for a probe.
type inboundQueue struct {
	mu     sync.Mutex
	queue  []*record
	closed bool
	wake   chan struct{}
}

func newInboundQueue() *inboundQueue { return &inboundQueue{wake: make(chan struct{}, 1)} }

// add queues r; false means that the queue is closed.
func (q *inboundQueue) add(r *record) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.queue = append(q.queue, r)
	signal(q.wake)
	return true
}

func (q *inboundQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	signal(q.wake)
}

func (q *inboundQueue) next(ctx context.Context) (r *record, closed, ok bool) {
	for {
		q.mu.Lock()
		closed = q.closed
		if len(q.queue) > 0 {
			r = q.queue[0]
			q.queue[0] = nil
			q.queue = q.queue[1:]
			q.mu.Unlock()
			return r, closed, true
		}
		q.mu.Unlock()
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil, closed, false
		}
	}
}

// defaultTimeout bounds a call that names no time of its own.
const defaultTimeout = 30 * time.Second

// admit hands the calls to the host, in order, until ctx ends.
func (c *Client) admit(ctx context.Context) {
	for {
		r, closed, ok := c.inbound.next(ctx)
		if !ok {
			return
		}
		switch {
		case closed:
			c.answer(r, runtime.Reply{Err: fault.New(fault.Cancelled, "the runtime is shutting down")})
		case r.call.Bundle != nil:
			c.importBundle(ctx, r)
		default:
			c.start(r)
		}
	}
}

func (c *Client) start(r *record) {
	run := r.call.Run
	if run.Timeout <= 0 {
		run.Timeout = defaultTimeout
	}
	if waited := time.Since(r.since); waited > 0 {
		run.Timeout -= waited
		if run.Timeout <= 0 {
			c.answer(r, runtime.Reply{Err: fault.New(
				fault.HandlerTimeout, "the call waited for a storage bundle and did not start in time",
			).With("elapsed_ms", waited.Milliseconds())})
			return
		}
	}
	call := r.call
	run.Progress = func(p runtime.Progress) {
		if c.calls.reached(r, p, c.eager.Load(), c.opts.ProgressAfter) {
			c.sendProgress(call, p)
		}
	}
	c.calls.started(r, c.opts.Host.Accept(run, func(reply runtime.Reply) { c.answer(r, reply) }))
}

func (c *Client) sendProgress(call *Call, p runtime.Progress) {
	c.send(statuses, "progress\x00"+answerKey(call), c.opts.Dialect.Progress(call, p, time.Now()))
}

// importBundle takes a storage bundle.
func (c *Client) importBundle(ctx context.Context, r *record) {
	timeout := r.call.Run.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.calls.started(r, cancel)
	out, err := c.opts.Host.ImportBundle(ctx, r.call.Bundle)
	c.answer(r, runtime.Reply{ID: r.key.id, RuntimeID: r.call.RuntimeID, Output: out, Err: err})
}
