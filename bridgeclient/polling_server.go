package bridgeclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// PollingServer is the bridge's side of HTTP polling: a handler for POST and GET
// of …/items. Each session of a peer becomes one Conn.
type PollingServer struct {
	// Accept gets each new connection and must not wait for it to end. An error
	// refuses it.
	Accept func(r *http.Request, c Conn) *fault.Error
	// MaxRead bounds one message in bytes. Default 256 MiB.
	MaxRead int
	// Idle is how long a session stays open without a request. Default 60 s.
	Idle time.Duration

	mu       sync.Mutex
	sessions map[string]*polled
	ended    int // of the sessions, those that are kept to be refused
}

const (
	defaultIdle = time.Minute
	// maxEnded bounds the sessions that are remembered after their end, so that a
	// late request does not open them again.
	maxEnded = 1000
)

// sessionIDs are chosen by the peer, which alone knows its own.
var sessionIDs = lazyregexp.New(`^[A-Za-z0-9_-]{16,128}$`)

func (s *PollingServer) idle() time.Duration {
	if s.Idle > 0 {
		return s.Idle
	}
	return defaultIdle
}

// ServeHTTP implements http.Handler.
func (s *PollingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet:
		s.get(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		refusePoll(
			w, http.StatusMethodNotAllowed,
			fault.New(fault.InvalidInput, "the method is not allowed here").With("allow", "GET, POST"),
		)
	}
}

func (s *PollingServer) post(w http.ResponseWriter, r *http.Request) {
	limit := s.MaxRead
	if limit <= 0 {
		limit = 256 << 20
	}
	var in posted
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)+pollBatch))
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		switch big := (*http.MaxBytesError)(nil); {
		case errors.As(err, &big):
			refusePoll(
				w, http.StatusRequestEntityTooLarge,
				fault.New(fault.PayloadTooLarge, "the request is too long").With("limit", big.Limit),
			)
		case errors.Is(err, os.ErrDeadlineExceeded):
			refusePoll(w, http.StatusRequestTimeout, fault.New(fault.Timeout, "the body did not arrive in time"))
		default:
			refusePoll(
				w, http.StatusBadRequest,
				fault.New(fault.InvalidInput, "the body is not an object with session, first and items"),
			)
		}
		return
	}
	if !sessionIDs().MatchString(in.Session) || in.First == 0 {
		refusePoll(
			w, http.StatusBadRequest,
			fault.New(fault.InvalidInput, "session is 16 to 128 letters, digits, - and _, and first begins at 1"),
		)
		return
	}
	p, status, refused := s.session(r, in.Session, in.First == 1)
	if refused != nil {
		refusePoll(w, status, refused)
		return
	}
	defer p.request()()
	received, refused := p.take(r.Context(), &in)
	if refused != nil {
		status := http.StatusGone
		if refused.Code == fault.InvalidInput {
			status = http.StatusConflict
		}
		refusePoll(w, status, refused.With("received", received))
		return
	}
	answerPoll(w, http.StatusOK, fmt.Appendf(nil, `{"received":%d}`, received))
}

func (s *PollingServer) get(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, err := strconv.ParseUint(q.Get("after"), 10, 63)
	wait, err2 := strconv.ParseUint(q.Get("wait_ms"), 10, 31)
	if err != nil || err2 != nil {
		refusePoll(w, http.StatusBadRequest, fault.New(fault.InvalidInput, "after and wait_ms are whole numbers"))
		return
	}
	p, status, failed := s.session(r, q.Get("session"), false)
	if failed != nil {
		refusePoll(w, status, failed)
		return
	}
	defer p.request()()
	first, items, closed, failed := p.give(r.Context(), after, min(time.Duration(wait)*time.Millisecond, pollWait))
	if failed != nil {
		refusePoll(w, http.StatusConflict, failed)
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"first":%d,"items":`, first)
	itemList(&b, items)
	if closed != "" {
		text, _ := json.Marshal(closed)
		fmt.Fprintf(&b, `,"closed":%s`, text)
	}
	b.WriteByte('}')
	answerPoll(w, http.StatusOK, b.Bytes())
}

// session finds a session, or opens one with its first request.
func (s *PollingServer) session(r *http.Request, id string, first bool) (*polled, int, *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.sessions[id]
	switch {
	case p != nil:
		return p, 0, nil
	case !first || !sessionIDs().MatchString(id):
		return nil, http.StatusGone, fault.New(fault.SessionLost, "there is no such session").
			Next("open a new one with a POST whose first is 1")
	}
	p = &polled{outbound: newOutbound(), done: make(chan struct{}), idle: s.idle()}
	p.ended = func() { s.forget(id, p) }
	p.timer = time.AfterFunc(p.idle, func() { p.end("the peer made no request for "+p.idle.String(), false) })
	if err := s.Accept(r, p); err != nil {
		p.timer.Stop()
		return nil, http.StatusServiceUnavailable, err
	}
	if s.sessions == nil {
		s.sessions = map[string]*polled{}
	}
	s.sessions[id] = p
	return p, 0, nil
}

// forget takes out an ended session after a while: a request that comes late must
// not open it again.
func (s *PollingServer) forget(id string, p *polled) {
	out := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sessions[id] == p {
			delete(s.sessions, id)
		}
	}
	s.mu.Lock()
	keep := s.ended < maxEnded
	if keep {
		s.ended++
	}
	s.mu.Unlock()
	if !keep {
		out()
		return
	}
	time.AfterFunc(p.idle, func() {
		out()
		s.mu.Lock()
		s.ended--
		s.mu.Unlock()
	})
}

// polled is one session of a PollingServer, a Conn of the bridge.
type polled struct {
	idle   time.Duration
	ended  func()
	active atomic.Uint64
	posts  sync.Mutex // one POST at a time

	outbound // its mutex protects the rest
	done     chan struct{}
	timer    *time.Timer
	requests int // under way
	in       [][]byte
	inBytes  int
	received uint64
	getter   uint64 // of the GETs, the newest
	nudged   bool   // a GET that waits is to come back
	closing  string // why it ended; "" while it is open
	closed   bool
}

// request notes a request and returns what ends it.
func (p *polled) request() func() {
	p.mu.Lock()
	p.requests++
	p.timer.Stop()
	p.mu.Unlock()
	p.active.Add(1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.requests--; p.requests == 0 && !p.closed {
			p.timer.Reset(p.idle)
		}
	}
}

// take enters the items of a POST, those that have come before apart.
func (p *polled) take(ctx context.Context, in *posted) (uint64, *fault.Error) {
	p.posts.Lock()
	defer p.posts.Unlock()
	p.mu.Lock()
	received := p.received
	p.mu.Unlock()
	if in.First > received+1 {
		return received, fault.New(
			fault.InvalidInput, "item %d is missing, the first of the request is %d", received+1, in.First,
		)
	}
	for i, item := range in.Items {
		if in.First+uint64(i) <= received {
			continue
		}
		err := p.until(ctx, p.done, broken, func() bool {
			if len(p.in) > 0 && p.inBytes > pollBatch {
				return false
			}
			p.in = append(p.in, item)
			p.inBytes += len(item)
			p.received++
			received = p.received
			p.notify()
			return true
		})
		if err != nil {
			return received, p.gone()
		}
	}
	if in.Close != "" {
		// What was sent before counts: the reader ends when it has read it.
		p.end(in.Close, true)
		return received, nil
	}
	select {
	case <-p.done:
		return received, p.gone()
	default:
		return received, nil
	}
}

// give waits for items after a cursor, which confirms those before.
func (p *polled) give(
	ctx context.Context, after uint64, wait time.Duration,
) (first uint64, items [][]byte, closed string, err *fault.Error) {
	p.mu.Lock()
	if after < p.out.acked || !p.out.ack(after) {
		lowest, highest := p.out.acked, p.out.last()
		p.mu.Unlock()
		return 0, nil, "", fault.New(fault.InvalidInput, "after is %d: expected %d to %d", after, lowest, highest)
	}
	p.getter++
	mine := p.getter
	p.nudged = false
	p.notify()
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_ = p.until(ctx, p.done, broken, func() bool {
		return len(p.out.frames) > 0 || p.nudged || p.getter != mine
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	first = p.out.acked + 1
	if p.getter == mine {
		p.nudged = false
		items = p.out.batch()
	}
	if p.closed && len(items) == len(p.out.frames) {
		closed = p.closing
	}
	return first, items, closed, nil
}

func (p *polled) gone() *fault.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fault.New(fault.SessionLost, "the session has ended: %s", p.closing)
}

// end closes the session. keep leaves what was received to the reader.
func (p *polled) end(why string, keep bool) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed, p.closing = true, why
	p.timer.Stop()
	if !keep {
		p.in, p.inBytes = nil, 0
	}
	close(p.done)
	p.mu.Unlock()
	p.ended()
}

func (p *polled) Traits() Traits { return Traits{Confirms: true, Heartbeat: true} }

func (p *polled) Active() uint64 { return p.active.Load() }

func (p *polled) Read(ctx context.Context) ([]byte, error) {
	for {
		p.mu.Lock()
		var frame []byte
		if len(p.in) > 0 {
			frame = p.in[0]
			p.in[0] = nil
			p.in = p.in[1:]
			p.inBytes -= len(frame)
			p.notify()
		}
		changed, closed := p.changed, p.closed
		p.mu.Unlock()
		if frame != nil {
			return frame, nil
		}
		if closed {
			return nil, p.gone()
		}
		select {
		case <-changed:
		case <-p.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (p *polled) Write(ctx context.Context, frame []byte) error {
	return p.write(ctx, p.done, broken, frame)
}

// Ping waits for a GET that confirms everything that was written. One that waits
// is sent back, so that the peer can make it.
func (p *polled) Ping(ctx context.Context) error {
	p.mu.Lock()
	mark, getter := p.out.last(), p.getter
	p.nudged = true
	p.notify()
	p.mu.Unlock()
	return p.until(ctx, p.done, broken, func() bool { return p.out.acked >= mark && p.getter > getter })
}

func (p *polled) Close(reason string) { p.end(reason, false) }

func (p *polled) Abort() { p.end("the connection was lost", false) }

func answerPoll(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

func refusePoll(w http.ResponseWriter, status int, err *fault.Error) {
	body, _ := json.Marshal(struct {
		OK    bool         `json:"ok"`
		Error *fault.Error `json:"error"`
	}{Error: err})
	answerPoll(w, status, body)
}
