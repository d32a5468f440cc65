package bridgeclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Client is one runtime's side of a bridge. Make it with New; Run may be
// called once.
type Client struct {
	opts      Options
	dial      func(ctx context.Context) (Conn, error)
	log       *slog.Logger
	out       *outbox
	calls     *ledger
	inbound   *inboundQueue
	buffer    *eventBuffer
	announcer atomic.Pointer[announcer] // of the connection there is
	// eager: the peer keeps what it received of a call for the caller that gives up
	// on it, so the first progress is sent at once.
	eager atomic.Bool
}

// New checks the options. It connects to nothing.
func New(opts *Options) (*Client, error) {
	o := *opts
	if err := o.check(); err != nil {
		return nil, err
	}
	dial, err := dialer(&o)
	if err != nil {
		return nil, err
	}
	return &Client{
		opts:    o,
		dial:    dial,
		log:     o.Logger.With("component", "bridgeclient", "dialect", o.Dialect.Name()),
		out:     newOutbox(o.KeepAnswers, o.MaxQueued, o.MaxEvents),
		calls:   newLedger(o.KeepAnswers),
		inbound: newInboundQueue(),
		buffer:  newEventBuffer(o.MaxEvents),
	}, nil
}

// Run connects, serves, and connects again until ctx ends; then it cancels the
// calls in flight, writes their answers, closes the connection and returns
// ctx's cause. A transport that exists once (stdio) makes Run return nil when
// the peer has stopped sending and every accepted call was answered, and an
// error when it breaks. So does a bridge that refuses the token of the first
// connection. Every goroutine has ended when Run returns.
func (c *Client) Run(ctx context.Context) error {
	unsubscribe := c.opts.Host.Subscribe(func(ev runtime.Event) {
		if ev.Tab.Workspace == "" { // other tabs belong to clients of other faces
			c.buffer.add(ev)
		}
	})
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { c.admit(work) })
	defer func() {
		unsubscribe()
		stopWork()
		wg.Wait()
		c.opts.OnState(State{Kind: Closed})
	}()

	err := c.connectLoop(ctx)
	c.abandon(ctx)
	return err
}

func (c *Client) connectLoop(ctx context.Context) error {
	wait := backoff{min: c.opts.BackoffMin, max: c.opts.BackoffMax, random: c.opts.Random}
	admitted := false
	for {
		c.out.sweep()
		c.opts.OnState(State{Kind: Connecting, Attempt: wait.n + 1})
		conn, err := c.connect(ctx)
		if err == nil {
			admitted = true
			c.opts.OnState(State{Kind: Connected, Attempt: wait.n + 1})
			s := &session{Client: c, conn: conn}
			err = s.serve(ctx)
			if s.lived() {
				wait.reset()
			}
			if conn.Traits().Once {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !admitted && refusesToken(err) {
			return err
		}
		d := wait.next()
		c.log.Info("connection lost", "error", err, "retry_in", d)
		c.opts.OnState(State{Kind: Lost, Attempt: wait.n, Err: err, RetryIn: d})
		t := time.NewTimer(d)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
	}
}

// refusesToken reports whether a bridge answered that the token is missing or wrong. The same token is
// wrong the next time too.
func refusesToken(err error) bool {
	var refused *fault.Error
	return errors.As(err, &refused) && refused.Evidence["status"] == http.StatusUnauthorized
}

func (c *Client) connect(ctx context.Context) (Conn, error) {
	dctx, cancel := context.WithTimeout(ctx, c.opts.ConnectTimeout)
	defer cancel()
	return c.dial(dctx)
}

// abandon ends what is still running when Run ends, within DrainTimeout. After
// a drained connection there is nothing left to do.
func (c *Client) abandon(ctx context.Context) {
	c.inbound.close()
	c.calls.cancelAll()
	wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.opts.DrainTimeout)
	defer cancel()
	if left := c.settled(wctx); len(left) > 0 {
		c.log.Error("calls did not end after they were cancelled", "calls", len(left))
		for _, r := range left {
			c.answer(r, runtime.Reply{Err: fault.New(fault.SessionLost, "the runtime is shutting down")})
		}
	}
	if n := c.out.end(); n > 0 {
		c.log.Warn("answers could not be delivered", "answers", n)
	}
}

// settled waits until every accepted call is answered and returns those that
// are not when ctx ends.
func (c *Client) settled(ctx context.Context) []*record {
	for {
		left, changed := c.calls.unanswered()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return left
		}
	}
}

// accept enters a call of the peer.
func (c *Client) accept(call *Call) {
	r, how := c.calls.arrive(call, c.opts.MaxPending)
	switch how {
	case isNew:
		if !c.inbound.add(r) {
			c.answer(r, runtime.Reply{Err: fault.New(fault.Cancelled, "the runtime is shutting down")})
		}
	case isRunning:
		c.log.Debug("call repeated while it runs", "call", call.ID)
	case isAnswered:
		c.log.Debug("call repeated after it was answered", "call", call.ID)
		c.send(answers, answerKey(call), c.calls.stored(r))
	case isForgotten:
		c.refuse(
			call, fault.New(fault.TransportFailed, "this call was answered before; its answer is too long to be kept"),
		)
	case isOther:
		c.refuse(call, fault.New(fault.InvalidInput, "call_id was used before for another call").
			Next("give every call its own call_id"))
	case isTooMany:
		c.refuse(call, fault.New(fault.QueueFull, "too many calls are waiting, or too long ones").
			With("limit", c.opts.MaxPending).With("limit_bytes", maxHeld))
	}
}

// refuse answers a frame that is not executed.
func (c *Client) refuse(call *Call, err *fault.Error) {
	if call.ID != "" {
		c.recordItem(time.Now(), true, call.Run.Name, call.frame)
		c.send(answers, "", c.encode(call, runtime.Reply{Err: err}))
		return
	}
	if call.RuntimeID == "" {
		// A failure without a call belongs to a runtime.
		own := *call
		own.RuntimeID = c.primary()
		call = &own
	}
	c.send(others, "", c.encode(call, runtime.Reply{Err: err}))
}

// primary is the runtime that speaks for the process.
func (c *Client) primary() string {
	id := ""
	for i, t := range c.opts.Host.Tabs() {
		if i == 0 || t.Active {
			id = t.RuntimeID
		}
	}
	return id
}

// openTab is the call after which there is another tab.
const openTab = "browser.open_tab"

// answer stores and queues the reply to r. Only the first one counts.
func (c *Client) answer(r *record, reply runtime.Reply) {
	call := r.call
	frame := c.encode(call, reply)
	if !c.calls.answer(r, frame) {
		c.log.Error("a call was answered twice", "call", r.key.id)
		return
	}
	if k := c.announcer.Load(); k != nil {
		k.moved(reply.RuntimeID, reply.URL)
		if call.Run.Name == openTab {
			k.opened()
		}
	}
	if call.frame != nil {
		c.recordItem(call.at, true, call.Run.Name, call.frame)
		call.frame = nil
	}
	c.recordItem(time.Now(), false, call.Run.Name, frame)
	c.send(answers, answerKey(call), frame)
}

// itemRecorder is a host that records the messages of its faces.
type itemRecorder interface {
	RecordItem(at time.Time, received bool, name string, item func() []byte)
}

func (c *Client) recordItem(at time.Time, received bool, name string, frame []byte) {
	if r, ok := c.opts.Host.(itemRecorder); ok {
		r.RecordItem(at, received, name, func() []byte { return bytes.Clone(frame) })
	}
}

func answerKey(call *Call) string { return call.RuntimeID + "\x00" + call.ID }

// encode encodes a reply and keeps it within the size the peer accepts.
func (c *Client) encode(call *Call, reply runtime.Reply) []byte {
	frame := c.opts.Dialect.Reply(call, reply)
	if len(frame) <= c.opts.MaxWrite {
		return frame
	}
	return c.opts.Dialect.Reply(call, runtime.Reply{
		ID: reply.ID, RuntimeID: reply.RuntimeID, URL: reply.URL, Duration: reply.Duration,
		Err: fault.New(fault.PayloadTooLarge, "the answer is longer than a message may be").
			With("bytes", len(frame)).With("limit", c.opts.MaxWrite),
	})
}

func (c *Client) send(kind itemKind, key string, frame []byte) {
	c.out.put(&item{kind: kind, key: key, frame: frame})
}
