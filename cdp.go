package outrider

import (
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// CDPSession is a session of the Chrome DevTools Protocol on a tab or on the browser. What is turned on in it changes
// nothing of what the library does there, but for one thing: while the domain Page is on, its end answers an open
// dialog with no. A session ends with Close, or with the tab. It is safe for concurrent use.
//
// Target.attachToTarget and Target.setAutoAttach attach to more within the session, always with flatten: their events
// come with the session's own, and CallIn sends commands to them.
type CDPSession struct {
	session *browser.ProtocolSession

	mu      sync.Mutex
	waiting map[*cdpQueue]bool
}

// CDPEvent is an event of the protocol.
type CDPEvent struct {
	// SessionID is "" for the session itself, else the id of one that was attached to within it.
	SessionID string

	Method string
	Params json.RawMessage
}

// CDP sends one command of the Chrome DevTools Protocol to the tab and decodes its answer into result, which may be
// nil. What a command turns on ends with it: open a session with [Tab.OpenCDP] for that.
func (t *Tab) CDP(ctx context.Context, method string, params, result any) error {
	s, err := t.OpenCDP(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Call(ctx, method, params, result)
}

// OpenCDP opens a session of the Chrome DevTools Protocol on the tab.
func (t *Tab) OpenCDP(ctx context.Context) (*CDPSession, error) {
	target := runtime.Target{Workspace: t.session.groupID(), RuntimeID: t.id}
	return openCDP(ctx, func(take takesEvents) (*browser.ProtocolSession, error) {
		return t.session.host.OpenProtocol(ctx, target, take)
	})
}

// OpenCDP opens a session of the Chrome DevTools Protocol on the browser, which an isolated session shares with others.
func (s *Session) OpenCDP(ctx context.Context) (*CDPSession, error) {
	return openCDP(ctx, func(take takesEvents) (*browser.ProtocolSession, error) {
		return s.host.OpenBrowserProtocol(ctx, take)
	})
}

// takesEvents receives events of the protocol.
type takesEvents func(session, method string, params json.RawMessage)

func openCDP(ctx context.Context, open func(takesEvents) (*browser.ProtocolSession, error)) (*CDPSession, error) {
	s := &CDPSession{waiting: map[*cdpQueue]bool{}}
	timeout := timeOf(ctx)
	session, err := open(s.take)
	if err != nil {
		return nil, endedBy(ctx, timeout, err)
	}
	s.session = session
	return s, nil
}

// Call sends a command and decodes its answer into result, which may be nil. What the browser says of one that it
// refuses is in the evidence of the error, invalid_arguments.
func (s *CDPSession) Call(ctx context.Context, method string, params, result any) error {
	return s.CallIn(ctx, "", method, params, result)
}

// CallIn sends a command to a session that was attached to within s, whose id is session.
func (s *CDPSession) CallIn(ctx context.Context, session, method string, params, result any) error {
	raw, err := json.Marshal(object(params))
	if err != nil {
		return fromFault(fault.New(fault.InvalidInput, "the parameters of %s do not encode as JSON: %v", method, err))
	}
	timeout := timeOf(ctx)
	answer, err := s.session.Do(ctx, session, method, raw)
	if err != nil {
		return endedBy(ctx, timeout, err)
	}
	if result == nil {
		return nil
	}
	return decode(answer, result)
}

// Events iterates over the events with these names, all without one, that come after the call. It ends with ctx or
// with the session. A reader that falls behind by more than 16,384 events misses the oldest. It is for one iteration.
func (s *CDPSession) Events(ctx context.Context, methods ...string) iter.Seq[CDPEvent] {
	q := s.subscribe(methods...)
	context.AfterFunc(ctx, func() { s.forget(q) })
	return func(yield func(CDPEvent) bool) {
		defer s.forget(q)
		for {
			e, ok := s.await(ctx, q)
			if !ok || !yield(e) {
				return
			}
		}
	}
}

// subscribe is a queue of the events with these names, all without one, that come from here on.
func (s *CDPSession) subscribe(methods ...string) *cdpQueue {
	q := &cdpQueue{methods: methods, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[q] = true
	return q
}

func (s *CDPSession) forget(q *cdpQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, q)
}

// await is the next event of a queue. ok is false when ctx or the session ends before one comes.
func (s *CDPSession) await(ctx context.Context, q *cdpQueue) (e CDPEvent, ok bool) {
	for {
		if e, ok := s.next(q); ok {
			return e, true
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return CDPEvent{}, false
		case <-s.session.Done():
			return CDPEvent{}, false
		}
	}
}

// Close ends the session.
func (s *CDPSession) Close() { s.session.Close() }

// cdpQueue holds the events of one reader. The session's mutex guards it.
type cdpQueue struct {
	methods []string
	events  []CDPEvent
	wake    chan struct{}
}

func (q *cdpQueue) wants(method string) bool {
	for _, m := range q.methods {
		if m == method {
			return true
		}
	}
	return len(q.methods) == 0
}

// cdpBuffer is how many events of the protocol wait for a slow reader.
const cdpBuffer = 16384

// take gives an event to those who wait for it.
func (s *CDPSession) take(session, method string, params json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q := range s.waiting {
		if !q.wants(method) {
			continue
		}
		if len(q.events) == cdpBuffer {
			q.events = q.events[1:]
		}
		q.events = append(q.events, CDPEvent{session, method, params})
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
}

func (s *CDPSession) next(q *cdpQueue) (CDPEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(q.events) == 0 {
		return CDPEvent{}, false
	}
	e := q.events[0]
	q.events = q.events[1:]
	return e, true
}
