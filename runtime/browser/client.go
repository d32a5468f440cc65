package browser

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
	// commandCap bounds a command whose context has no deadline.
	commandCap = 30 * time.Second
	// writeCap bounds one write. Chromium reads its pipe on a thread of its
	// own, so only a stopped process keeps us waiting.
	writeCap = 10 * time.Second
)

// client sends commands over one transport and hands out answers and events.
// It is safe for concurrent use.
type client struct {
	t   transport
	log *slog.Logger
	// event is called by the reader for each event, with slices that it must
	// not keep. It must not wait for anything.
	event func(session, method, params []byte)

	writing chan struct{} // held while sending

	mu      sync.Mutex
	lastID  int64
	pending map[int64]*call
	lost    error // why the connection ended

	ended chan struct{} // closed when the reader has ended
}

// command is one CDP command. params is a JSON object, nil for none.
type command struct {
	session string
	method  string
	params  []byte
	// then, when set, is called by the reader with the answer.
	then func(reply)
	// heard is too, before the answer goes to who waits for it.
	heard func(reply)
}

// reply is the answer to a command. result is the caller's to keep.
type reply struct {
	result []byte
	err    error // *protocolError, or what ended the connection
}

type call struct {
	id   int64
	done chan reply
	then func(reply)

	heard func(reply)
}

// protocolError is an error answer of the browser.
type protocolError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data"`
	method  string
}

func (e *protocolError) Error() string {
	s := fmt.Sprintf("%s: %s (%d)", e.method, e.Message, e.Code)
	if e.Data != "" {
		s += ": " + e.Data
	}
	return s
}

var errClosed = errors.New("the connection was closed")

func newClient(t transport, log *slog.Logger, event func(session, method, params []byte)) *client {
	return &client{
		t:       t,
		log:     log,
		event:   event,
		writing: make(chan struct{}, 1),
		pending: map[int64]*call{},
		ended:   make(chan struct{}),
	}
}

// read hands out frames until the transport ends. It returns the cause.
func (c *client) read() error {
	defer close(c.ended)
	for {
		frame, err := c.t.Receive()
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
func (c *client) handle(frame []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("handling a frame failed", "panic", p, "bytes", len(frame))
		}
	}()
	h, ok := scanFrame(frame)
	if !ok {
		c.log.Warn("skipped a malformed frame", "bytes", len(frame), "method", string(h.method))
		if h.hasID {
			c.answer(h.id, reply{err: errors.New("the answer is not valid JSON")})
		}
		return
	}
	switch {
	case h.hasID:
		var r reply
		switch {
		case h.err != nil:
			e := &protocolError{Message: "unreadable error"}
			if err := json.Unmarshal(h.err, e); err != nil {
				c.log.Warn("unreadable error answer", "bytes", len(h.err))
			}
			r.err = e
		default:
			r.result = h.result
		}
		c.answer(h.id, r)
	case h.method != nil:
		c.event(h.session, h.method, h.params)
	default:
		c.log.Warn("skipped a frame that is neither answer nor event", "bytes", len(frame))
	}
}

func (c *client) answer(id int64, r reply) {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if p != nil && p.heard != nil {
		p.heard(r)
	}
	switch {
	case p == nil: // given up, or of another client
	case p.then != nil:
		p.then(r)
	default:
		r.result = bytes.Clone(r.result)
		p.done <- r
	}
}

// fail ends the connection: every pending and later command fails with err.
func (c *client) fail(err error) {
	c.mu.Lock()
	if c.lost != nil {
		c.mu.Unlock()
		return
	}
	err = &fault.Error{Code: fault.BrowserLost, Message: "the connection to the browser ended", Err: err}
	c.lost = err
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, p := range pending {
		if p.then != nil {
			p.then(reply{err: err})
		} else {
			p.done <- reply{err: err}
		}
	}
}

// close ends the transport and waits for the reader.
func (c *client) close() error {
	c.fail(errClosed)
	err := c.t.Close()
	<-c.ended
	return err
}

// start sends commands with one write and without waiting for answers. Each
// call must be ended by wait or drop, except for commands with a callback.
func (c *client) start(ctx context.Context, commands ...command) ([]*call, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	calls := make([]*call, len(commands))
	n := 0
	for i := range commands {
		n += 96 + len(commands[i].method) + len(commands[i].params) + len(commands[i].session)
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
		p := &call{id: c.lastID, then: commands[i].then, heard: commands[i].heard}
		if p.then == nil {
			p.done = make(chan reply, 1)
		}
		calls[i] = p
		c.pending[p.id] = p
		buf = appendCommand(buf, p.id, &commands[i])
	}
	c.mu.Unlock()
	if err := c.write(ctx, buf); err != nil {
		c.drop(calls...)
		return nil, fmt.Errorf("sending %s: %w", commands[0].method, err)
	}
	return calls, nil
}

func appendCommand(b []byte, id int64, cmd *command) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":"`...)
	b = append(b, cmd.method...)
	b = append(b, '"')
	if len(cmd.params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, cmd.params...)
	}
	if cmd.session != "" {
		b = append(b, `,"sessionId":"`...)
		b = append(b, cmd.session...)
		b = append(b, '"')
	}
	return append(b, '}', 0)
}

func (c *client) write(ctx context.Context, frames []byte) error {
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ended:
		return c.cause()
	}
	defer func() { <-c.writing }()
	deadline := time.Now().Add(writeCap)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	err := c.t.Send(frames, deadline)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return context.DeadlineExceeded
	}
	if err != nil {
		// A transport that fails to write is of no use: end it, so that the
		// reader notices too.
		c.fail(err)
		_ = c.t.Close()
		return c.cause()
	}
	return nil
}

// cause returns why the connection ended, nil while it has not.
func (c *client) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

// drop forgets calls whose answers nobody waits for.
func (c *client) drop(calls ...*call) {
	c.mu.Lock()
	for _, p := range calls {
		delete(c.pending, p.id)
	}
	c.mu.Unlock()
}

// wait returns the answer to a started call.
func (c *client) wait(ctx context.Context, p *call) ([]byte, error) {
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		t := time.NewTimer(commandCap)
		defer t.Stop()
		limit = t.C
	}
	select {
	case r := <-p.done:
		return r.result, r.err
	case <-ctx.Done():
		c.drop(p)
		return nil, ctx.Err()
	case <-limit:
		c.drop(p)
		return nil, context.DeadlineExceeded
	}
}

// do sends one command and decodes its answer into out, which may be nil.
func (c *client) do(ctx context.Context, session, method string, params, out any) error {
	cmd, err := newCommand(session, method, params)
	if err != nil {
		return err
	}
	calls, err := c.start(ctx, cmd)
	if err != nil {
		return err
	}
	result, err := c.wait(ctx, calls[0])
	if err != nil {
		var pe *protocolError
		if errors.As(err, &pe) {
			pe.method = method
		}
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

// post sends commands from the reader, where nothing may wait. Answers without
// a callback are dropped.
func (c *client) post(commands ...command) {
	ctx, cancel := context.WithTimeout(context.Background(), writeCap)
	defer cancel()
	for i := range commands {
		if commands[i].then == nil {
			commands[i].then = c.ignore(commands[i].method)
		}
	}
	if _, err := c.start(ctx, commands...); err != nil {
		c.log.Debug("posting a command failed", "method", commands[0].method, "error", err)
	}
}

func (c *client) ignore(method string) func(reply) {
	return func(r reply) {
		if r.err != nil {
			c.log.Debug("command failed", "method", method, "error", r.err)
		}
	}
}

func newCommand(session, method string, params any) (command, error) {
	cmd := command{session: session, method: method}
	switch p := params.(type) {
	case nil:
	case []byte:
		cmd.params = p
	case json.RawMessage:
		cmd.params = p
	default:
		b, err := json.Marshal(params)
		if err != nil {
			return cmd, fault.Wrap(fault.Internal, err, "encoding %s", method)
		}
		cmd.params = b
	}
	return cmd, nil
}
