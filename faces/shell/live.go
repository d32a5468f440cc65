package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// hostAsk is what a verb asks of a session that it uses as a host. Each has a number, which its answer has too.
type hostAsk struct {
	N    int       `json:"n"`
	Call *hostCall `json:"call,omitempty"`
	// Cancel ends the call of this number, which is answered all the same.
	Cancel bool `json:"cancel,omitempty"`
	Tabs   bool `json:"tabs,omitempty"`
	// Events asks for events from now on.
	Events bool `json:"events,omitempty"`
}

// hostCall is a call of the runtime, as far as verbs make one.
type hostCall struct {
	Target     runtime.Target      `json:"target"`
	Name       string              `json:"name"`
	Arguments  json.RawMessage     `json:"arguments,omitempty"`
	Timeout    time.Duration       `json:"timeout,omitempty"`
	Appearance *runtime.Appearance `json:"appearance,omitempty"`
}

// hostAnswer answers an ask, or is an event, whose number is 0.
type hostAnswer struct {
	N     int                 `json:"n,omitempty"`
	Reply *hostReply          `json:"reply,omitempty"`
	Tabs  []runtime.TabStatus `json:"tabs,omitempty"`
	Event *runtime.Event      `json:"event,omitempty"`
	Error *fault.Error        `json:"error,omitempty"`
}

// hostReply is a reply of the runtime.
type hostReply struct {
	RuntimeID  string          `json:"runtime_id,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      *fault.Error    `json:"error,omitempty"`
	Steps      json.RawMessage `json:"steps,omitempty"`
	Remembered json.RawMessage `json:"remembered,omitempty"`
	Repairs    json.RawMessage `json:"repairs,omitempty"`
	URL        string          `json:"url,omitempty"`
	Duration   time.Duration   `json:"duration,omitempty"`
}

// Live is an open session as a host whose one page is the active one, for verbs that are no commands of a session. All
// that it is asked goes over one connection, so that no command of the caller comes between.
type Live struct {
	session Session
	c       net.Conn
	ctx     context.Context
	reading sync.WaitGroup

	mu      sync.Mutex
	last    int
	waiting map[int]chan hostAnswer
	hears   func(runtime.Event)
	ended   error
	over    chan struct{} // closed when the connection has ended
}

// Live connects to the session. It is session_busy where another command runs on one that is not shared.
func (s Session) Live(ctx context.Context) (*Live, error) {
	c, in, err := s.connect(ctx, request{Ask: askHost})
	if err != nil {
		return nil, err
	}
	l := &Live{
		session: s,
		c:       c,
		ctx:     ctx,
		waiting: map[int]chan hostAnswer{},
		over:    make(chan struct{}),
	}
	l.reading.Go(func() { l.read(in) })
	return l, nil
}

// connect sends a request whose connection goes on when the session agrees.
func (s Session) connect(ctx context.Context, r request) (net.Conn, *bufio.Reader, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", s.Socket())
	if err != nil {
		return nil, nil, s.NotFound()
	}
	r.Protocol = Protocol
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	in := bufio.NewReaderSize(c, 64<<10)
	got, err := s.exchange(ctx, c, in, r)
	if err == nil && got.Error != nil {
		err = got.Error
	}
	if err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return c, in, nil
}

// exchange sends a request and reads one reply.
func (s Session) exchange(ctx context.Context, c net.Conn, in *bufio.Reader, r request) (reply, error) {
	if err := json.NewEncoder(c).Encode(r); err != nil {
		return reply{}, s.lost(ctx, err)
	}
	line, err := readLine(in, mostReply)
	if err != nil {
		return reply{}, s.lost(ctx, err)
	}
	var got reply
	if err := json.Unmarshal(line, &got); err != nil {
		return reply{}, fault.Wrap(fault.Internal, err, "reading the answer of the session")
	}
	return got, nil
}

// Close ends the connection, and the calls that still run on it. The session stays open.
func (l *Live) Close() {
	_ = l.c.Close()
	l.reading.Wait()
}

// Until is ctx, which ends with the session too.
func (l *Live) Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	l.reading.Go(func() {
		select {
		case <-l.over:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// Lost is why the session has ended, nil while it is open.
func (l *Live) Lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// read hands on answers and events until the connection ends.
func (l *Live) read(in *bufio.Reader) {
	for {
		line, err := readLine(in, mostReply)
		var got hostAnswer
		if err == nil {
			err = json.Unmarshal(line, &got)
		}
		if err != nil {
			l.end(l.session.lost(l.ctx, err))
			return
		}
		l.mu.Lock()
		hears, waiting := l.hears, l.waiting[got.N]
		delete(l.waiting, got.N)
		l.mu.Unlock()
		switch {
		case got.Event != nil && hears != nil:
			hears(*got.Event)
		case waiting != nil:
			waiting <- got
		}
	}
}

// end answers all that waits.
func (l *Live) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = why
	close(l.over)
	for _, w := range l.waiting {
		w <- hostAnswer{Error: fault.From(why)}
	}
	clear(l.waiting)
}

// ask asks one thing and waits for its answer. What ctx ends is cancelled.
func (l *Live) ask(ctx context.Context, q hostAsk) hostAnswer {
	answered := make(chan hostAnswer, 1)
	l.mu.Lock()
	err := l.ended
	if err == nil {
		l.last++
		q.N = l.last
		l.waiting[q.N] = answered
		err = json.NewEncoder(l.c).Encode(q)
		if err != nil {
			delete(l.waiting, q.N)
			err = l.session.lost(l.ctx, err)
		}
	}
	l.mu.Unlock()
	if err != nil {
		return hostAnswer{Error: fault.From(err)}
	}
	select {
	case got := <-answered:
		return got
	case <-ctx.Done():
	}
	l.mu.Lock()
	_ = json.NewEncoder(l.c).Encode(hostAsk{N: q.N, Cancel: true}) // a connection that is gone has ended the call
	l.mu.Unlock()
	return <-answered
}

// Do runs a call on the session.
func (l *Live) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	got := l.ask(ctx, hostAsk{Call: &hostCall{
		Target:     call.Target,
		Name:       call.Name,
		Arguments:  call.Arguments,
		Timeout:    call.Timeout,
		Appearance: call.Appearance,
	}})
	if got.Error == nil && got.Reply == nil {
		got.Error = fault.From(errors.New("the session did not answer a call with a reply"))
	}
	if got.Error != nil {
		return runtime.Reply{ID: call.ID, Err: got.Error}
	}
	r := got.Reply
	return runtime.Reply{
		ID:         call.ID,
		RuntimeID:  r.RuntimeID,
		Output:     r.Output,
		Err:        r.Error,
		Steps:      r.Steps,
		Remembered: r.Remembered,
		Repairs:    r.Repairs,
		URL:        r.URL,
		Duration:   r.Duration,
	}
}

// Tabs is the active page, none where there is no page or the session has ended.
func (l *Live) Tabs() []runtime.TabStatus {
	all := l.ask(l.ctx, hostAsk{Tabs: true}).Tabs
	for _, t := range all {
		if t.Active {
			return []runtime.TabStatus{t}
		}
	}
	return all[:min(len(all), 1)]
}

// Subscribe calls fn with each event from now on. There is one subscriber at a time.
func (l *Live) Subscribe(fn func(runtime.Event)) (unsubscribe func()) {
	hear := func(fn func(runtime.Event)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.hears = fn
	}
	hear(fn)
	l.ask(l.ctx, hostAsk{Events: true})
	return func() { hear(nil) }
}
