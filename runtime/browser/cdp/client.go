package cdp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// CommandTimeout bounds a command whose context has no deadline.
	CommandTimeout = 30 * time.Second
	// writeTimeout bounds one write. Chromium reads its pipe on a thread of its
	// own, so only a stopped process keeps us waiting.
	writeTimeout = 10 * time.Second
)

// Client sends commands over one transport and hands out answers and events.
// It is safe for concurrent use.
type Client struct {
	transport Transport
	log       *slog.Logger
	// onEvent is called by the reader for each event, with slices that it must
	// not keep. It must not wait for anything.
	onEvent func(session, method, params []byte)
	traffic *Traffic // nil for none

	writing chan struct{} // held while sending

	mu      sync.Mutex
	lastID  int64
	pending map[int64]*Call
	lost    error // why the connection ended

	ended chan struct{} // closed when the reader has ended
}

// Command is one CDP command. Params is a JSON object, nil for none.
type Command struct {
	Session string
	Method  string
	Params  []byte
	// OnReply, when set, is called by the reader with the answer. Nobody can wait
	// for the answer then.
	OnReply func(Reply)
	// Observe, when set, is called by the reader with the answer before it is handed to
	// the caller that waits for it.
	Observe func(Reply)
}

// Reply is the answer to a command. Result is the caller's to keep, but not the
// callback's.
type Reply struct {
	Result []byte
	Err    error // *Error, or what ended the connection
}

// Call is a command that was sent.
type Call struct {
	id       int64
	method   string
	answered chan Reply // nil with a callback
	onReply  func(Reply)
	observe  func(Reply)
	sent     time.Time // set for traffic only
}

// Replied gives the answer, once. There is none for a command with a callback.
func (c *Call) Replied() <-chan Reply { return c.answered }

// Observed reports whether somebody sees the answer before the caller does.
func (c *Call) Observed() bool { return c.observe != nil }

var errClosed = errors.New("the connection was closed")

// NewClient makes a client of a transport. onEvent gets every event from the reader,
// with slices that it must not keep.
func NewClient(t Transport, log *slog.Logger, onEvent func(session, method, params []byte)) *Client {
	return &Client{
		transport: t,
		log:       log,
		onEvent:   onEvent,
		writing:   make(chan struct{}, 1),
		pending:   map[int64]*Call{},
		ended:     make(chan struct{}),
	}
}

// Log writes the client's traffic to t. It is called before Run.
func (c *Client) Log(t *Traffic) { c.traffic = t }

// Run hands out frames until the transport ends. It returns the cause.
func (c *Client) Run() error {
	defer close(c.ended)
	for {
		frame, err := c.transport.Receive()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the browser closed the connection")
			}
			c.fail(err)
			return err
		}
		c.handle(frame)
	}
}

// handle must survive any frame.
func (c *Client) handle(frame []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("handling a frame failed", "panic", p, "bytes", len(frame))
		}
	}()
	h, ok := scanFrame(frame)
	if !ok {
		c.log.Warn("skipped a malformed frame", "bytes", len(frame), "method", string(h.method))
		if h.hasID {
			c.answer(h.id, Reply{Err: errors.New("the answer is not valid JSON")})
		}
		return
	}
	switch {
	case h.hasID:
		var r Reply
		switch {
		case h.err != nil:
			e := &Error{Message: "unreadable error"}
			if err := json.Unmarshal(h.err, e); err != nil {
				c.log.Warn("unreadable error answer", "bytes", len(h.err))
			}
			r.Err = e
		default:
			r.Result = h.result
		}
		c.answer(h.id, r)
	case h.method != nil:
		if c.traffic != nil {
			c.traffic.event(h.session, h.method, h.params)
		}
		c.onEvent(h.session, h.method, h.params)
	default:
		c.log.Warn("skipped a frame that is neither answer nor event", "bytes", len(frame))
	}
}

func (c *Client) answer(id int64, r Reply) {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if refused, ok := r.Err.(*Error); ok && p != nil {
		refused.Method = p.method
	}
	if c.traffic != nil && p != nil {
		c.traffic.answer(id, p.method, p.sent, r)
	}
	if p != nil && p.observe != nil {
		p.observe(r)
	}
	switch {
	case p == nil: // given up, or of another client
	case p.onReply != nil:
		p.onReply(r)
	default:
		r.Result = bytes.Clone(r.Result)
		p.answered <- r
	}
}

// fail ends the connection: every pending and later command fails because of err.
func (c *Client) fail(err error) {
	c.End(&fault.Error{Code: fault.BrowserLost, Message: "the connection to the browser ended", Err: err})
}

// End has every pending and later command fail with err. Who calls it ends the transport too.
func (c *Client) End(err *fault.Error) {
	c.mu.Lock()
	if c.lost != nil {
		c.mu.Unlock()
		return
	}
	c.lost = err
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, p := range pending {
		if p.onReply != nil {
			p.onReply(Reply{Err: err})
		} else {
			p.answered <- Reply{Err: err}
		}
	}
}

// Close ends the transport and waits for the reader.
func (c *Client) Close() error {
	c.fail(errClosed)
	err := c.transport.Close()
	<-c.ended
	return err
}

// Start sends commands with one write and without waiting for answers. Each
// call must be ended by Wait, Await or Forget, except for commands with a callback.
func (c *Client) Start(ctx context.Context, commands ...Command) ([]*Call, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	calls := make([]*Call, len(commands))
	n := 0
	for i := range commands {
		n += 96 + len(commands[i].Method) + len(commands[i].Params) + len(commands[i].Session)
	}
	buf := make([]byte, 0, n)
	c.mu.Lock()
	if c.lost != nil {
		err := c.lost
		c.mu.Unlock()
		return nil, err
	}
	for i := range commands {
		c.lastID++
		p := &Call{id: c.lastID, method: commands[i].Method, onReply: commands[i].OnReply, observe: commands[i].Observe}
		if p.onReply == nil {
			p.answered = make(chan Reply, 1)
		}
		if c.traffic != nil {
			p.sent = time.Now()
			c.traffic.command(p.id, &commands[i])
		}
		calls[i] = p
		c.pending[p.id] = p
		buf = appendCommand(buf, p.id, &commands[i])
	}
	c.mu.Unlock()
	if err := c.write(ctx, buf); err != nil {
		c.Forget(calls...)
		return nil, fmt.Errorf("sending %s: %w", commands[0].Method, err)
	}
	return calls, nil
}

func appendCommand(b []byte, id int64, cmd *Command) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":"`...)
	b = append(b, cmd.Method...)
	b = append(b, '"')
	if len(cmd.Params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, cmd.Params...)
	}
	if cmd.Session != "" {
		b = append(b, `,"sessionId":"`...)
		b = append(b, cmd.Session...)
		b = append(b, '"')
	}
	return append(b, '}', 0)
}

func (c *Client) write(ctx context.Context, frames []byte) error {
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ended:
		return c.Err()
	}
	defer func() { <-c.writing }()
	deadline := time.Now().Add(writeTimeout)
	theirs, bounded := ctx.Deadline()
	bounded = bounded && theirs.Before(deadline)
	if bounded {
		deadline = theirs
	}
	err := c.transport.Send(frames, deadline)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if bounded {
			// On a busy machine ctx hears of its deadline later than the transport did. Whoever
			// asks ctx why the command was not sent must find the reason there.
			<-ctx.Done()
		}
		return context.DeadlineExceeded
	}
	if err != nil {
		// A transport that fails to write is of no use: end it, so that the
		// reader notices too.
		c.fail(err)
		_ = c.transport.Close()
		return c.Err()
	}
	return nil
}

// Done is closed when the last frame was read.
func (c *Client) Done() <-chan struct{} { return c.ended }

// Err returns why the connection ended, nil while it has not.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// Pending is the number of commands that have no answer yet.
func (c *Client) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// Forget forgets calls whose answers nobody waits for.
func (c *Client) Forget(calls ...*Call) {
	c.mu.Lock()
	for _, p := range calls {
		delete(c.pending, p.id)
	}
	c.mu.Unlock()
}

// Wait returns the answer to a started call.
func (c *Client) Wait(ctx context.Context, p *Call) ([]byte, error) {
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		t := time.NewTimer(CommandTimeout)
		defer t.Stop()
		limit = t.C
	}
	select {
	case r := <-p.answered:
		return r.Result, r.Err
	case <-ctx.Done():
		c.Forget(p)
		return nil, ctx.Err()
	case <-limit:
		c.Forget(p)
		return nil, context.DeadlineExceeded
	}
}

// Do sends one command and decodes its answer into out, which may be nil.
func (c *Client) Do(ctx context.Context, session, method string, params, out any) error {
	cmd, err := NewCommand(session, method, params)
	if err != nil {
		return err
	}
	calls, err := c.Start(ctx, cmd)
	if err != nil {
		return err
	}
	result, err := c.Wait(ctx, calls[0])
	if err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fault.Wrap(fault.Internal, err, "reading the answer to %s", method)
	}
	return nil
}

// Post sends commands from the reader, where nothing may wait. Answers without
// a callback are dropped.
func (c *Client) Post(commands ...Command) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	for i := range commands {
		if commands[i].OnReply == nil {
			commands[i].OnReply = c.LogFailure(commands[i].Method)
		}
	}
	if _, err := c.Start(ctx, commands...); err != nil {
		c.log.Debug("posting a command failed", "method", commands[0].Method, "error", err)
	}
}

func (c *Client) LogFailure(method string) func(Reply) {
	return func(r Reply) {
		if r.Err != nil {
			c.log.Debug("command failed", "method", method, "error", r.Err)
		}
	}
}

func NewCommand(session, method string, params any) (Command, error) {
	cmd := Command{Session: session, Method: method}
	switch p := params.(type) {
	case nil:
	case []byte:
		cmd.Params = p
	case json.RawMessage:
		cmd.Params = p
	default:
		b, err := json.Marshal(params)
		if err != nil {
			return cmd, fault.Wrap(fault.Internal, err, "encoding %s", method)
		}
		cmd.Params = b
	}
	return cmd, nil
}
