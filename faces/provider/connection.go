package provider

import (
	"bufio"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/outrider-run/outrider/faces/asyncwriter"
)

const (
	// maxUnderWay bounds the requests of one connection that have no answer yet.
	maxUnderWay = 256
	// maxEvents bounds the events that a slow client has not taken; later ones
	// are left out until there is room.
	maxEvents = 256
	// longestWrite is how long a client may take for one answer after its end, or ours.
	longestWrite = 5 * time.Second
)

// connection serves one client.
type connection struct {
	server    *Server
	transport string

	ctx    context.Context // ends when the peer stops reading answers
	cancel context.CancelFunc

	mu       sync.Mutex
	underWay map[string]context.CancelFunc
	wants    map[string]map[string]bool // session id to events, nil for all
	running  sync.WaitGroup

	out    chan []byte // answers: they wait for a slow client
	events chan Event
}

// Serve serves one client, one message per line, until in ends or ctx does.
// Every request that was read is answered before it returns, unless out fails.
// transport names what the lines travel on, such as "stdio-json".
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer, transport string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	c := &connection{
		server:    s,
		transport: transport,
		ctx:       ctx,
		cancel:    cancel,
		underWay:  map[string]context.CancelFunc{},
		wants:     map[string]map[string]bool{},
		out:       make(chan []byte, 16),
		events:    make(chan Event, maxEvents),
	}
	s.connectionsMu.Lock()
	s.connections[c] = struct{}{}
	s.connectionsMu.Unlock()
	s.busy.Add(1)
	defer s.busy.Done()
	answers := asyncwriter.New(out)
	defer context.AfterFunc(ctx, func() { answers.Drain(longestWrite) })()
	var writing sync.WaitGroup
	writing.Go(func() { c.write(answers) })

	err := c.read(in)
	answers.Drain(longestWrite)
	c.running.Wait()
	s.connectionsMu.Lock()
	delete(s.connections, c)
	s.connectionsMu.Unlock()
	s.sessions.leave(c)
	close(c.out)
	writing.Wait()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// read takes requests until the input ends. An input that does not end with
// ctx, such as a terminal, is left behind.
func (c *connection) read(in io.Reader) error {
	type read struct {
		line    []byte
		release func()
		err     error
	}
	lines := make(chan read)
	go func() {
		defer close(lines)
		r := lineReader{r: bufio.NewReaderSize(in, 64<<10), limit: MaxLine, held: &c.server.held}
		for {
			line, release, err := r.next()
			select {
			case lines <- read{line, release, err}:
			case <-c.ctx.Done():
				release()
				return
			}
			if err != nil && !errors.Is(err, errLineTooLong) {
				return
			}
		}
	}()
	for {
		select {
		case l := <-lines:
			switch {
			case errors.Is(l.err, errLineTooLong):
				c.answer(
					nil, nil, nil,
					invalidRequest(
						"", "the line is longer than %d bytes, or the lines of all clients than %d", MaxLine, maxLines,
					),
				)
			case l.err != nil:
				l.release()
				return l.err
			case len(l.line) > 0:
				c.take(l.line, l.release)
				continue
			}
			l.release()
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
}

// write is the only writer. A client that disconnects ends the connection's
// requests.
func (c *connection) write(out io.Writer) {
	failed := false
	send := func(v []byte) {
		if failed {
			return
		}
		if _, err := out.Write(v); err != nil {
			failed = true
			c.cancel()
		}
	}
	for {
		select {
		case b, ok := <-c.out:
			if !ok {
				return
			}
			send(b)
		case ev := <-c.events:
			if b, err := encodeLine(ev); err == nil {
				send(b)
			}
		}
	}
}

// take starts one request. Its place in the order of its page is taken here,
// while requests are still in the order in which they came. release is called when the line is no
// longer needed.
func (c *connection) take(line []byte, release func()) {
	runs := false
	defer func() {
		if !runs {
			release()
		}
	}()
	req, id, failure := decodeRequest(line)
	if failure != nil {
		c.answer(id, nil, nil, failure)
		return
	}
	m, ok := c.server.methods[req.Method]
	if !ok {
		c.answer(id, nil, nil, unknownMethod(req.Method))
		return
	}
	if problems := m.schema.Validate(req.Params); len(problems) > 0 {
		c.answer(id, nil, nil, invalidRequest(problems[0].Path, "%s%s", problems[0], problems[0].Advice()))
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	_, twice := c.underWay[req.ID]
	full := len(c.underWay) >= maxUnderWay
	if !twice && !full {
		c.underWay[req.ID] = cancel
	}
	c.mu.Unlock()
	if twice || full {
		cancel()
		if twice {
			c.answer(
				id, nil, nil,
				invalidRequest("/id", "a request with this id is under way").with("reason", "duplicate_id"),
			)
		} else {
			f := newFailure(NotReady, "%d requests are under way", maxUnderWay)
			f.Retryable = true
			c.answer(id, nil, nil, f)
		}
		return
	}
	r := &request{
		server:     c.server,
		connection: c,
		id:         req.ID,
		method:     m,
		params:     req.Params,
		key:        req.IdempotencyKey,
	}
	turn := c.server.sessions.turn(r)
	runs = true
	c.running.Go(func() {
		defer release()
		defer turn.end() // after the answer: who sends ahead gets the answers of a page in order too
		result, failure := c.run(ctx, r, turn)
		c.mu.Lock()
		delete(c.underWay, req.ID)
		c.mu.Unlock()
		cancel()
		c.answer(id, result, r.warnings, failure)
	})
}

// run waits for the request's turn and runs it. It never panics.
func (c *connection) run(ctx context.Context, r *request, turn *turn) (result any, failure *Failure) {
	defer func() {
		if p := recover(); p != nil {
			c.server.log.Error("a method panicked", "method", r.method.name, "stack", string(debug.Stack()))
			result, failure = nil, newFailure(InternalError, "%s failed unexpectedly", r.method.name)
		}
	}()
	if !turn.wait(ctx) {
		return nil, cancelled()
	}
	if failure := r.bind(); failure != nil {
		return nil, failure
	}
	defer r.release()
	if r.key != "" && r.session != nil {
		result, failure = r.once(ctx)
	} else {
		result, failure = r.method.run(ctx, r)
	}
	if failure != nil && ctx.Err() != nil {
		return nil, cancelled()
	}
	return result, failure
}

func cancelled() *Failure {
	f := newFailure(InternalError, "the request was cancelled").with("code", "cancelled")
	f.Retryable = true
	return f
}

func unknownMethod(name string) *Failure {
	return newFailure(UnsupportedMethod, "this provider does not implement the method").with("method", name)
}

// stopRequest cancels a request that is under way.
func (c *connection) stopRequest(id string) bool {
	c.mu.Lock()
	cancel, ok := c.underWay[id]
	c.mu.Unlock()
	if ok {
		cancel()
	}
	return ok
}

// answer sends one answer.
func (c *connection) answer(id *string, result any, warnings []Warning, failure *Failure) {
	resp := Response{ProtocolVersion: ProtocolVersion, ID: id, OK: failure == nil, Error: failure}
	if failure == nil {
		encoded, err := encodeLine(result)
		if err != nil {
			c.server.log.Error("encoding a result", "error", err)
			resp.OK, resp.Error = false, newFailure(InternalError, "the result cannot be encoded")
		} else {
			resp.Result, resp.Warnings = encoded, append([]Warning{}, warnings...)
		}
	}
	b, err := encodeLine(resp)
	if err != nil {
		c.server.log.Error("encoding an answer", "error", err)
		return
	}
	c.out <- b
}
