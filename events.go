package outrider

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// EventKind says what an Event is about.
type EventKind string

const (
	// TabReady: a tab was opened, or its page is there again after a crash or a
	// restart of the browser.
	TabReady EventKind = "tab_ready"
	// TabChanged: the address or the title of a tab changed.
	TabChanged EventKind = "tab_changed"
	// TabRemoved: a tab was closed.
	TabRemoved EventKind = "tab_removed"
	// PageEvent: a signal that a map declares, a change of a watched state, or an
	// event of the runtime such as runtime.navigated.
	PageEvent EventKind = "page_event"
	// EventsLost: the reader was too slow and missed Lost events.
	EventsLost EventKind = "events_lost"
	// WatchdogLost: the process that ends the browser when this program is killed
	// could not be started, or ended. Message says why.
	WatchdogLost EventKind = "watchdog_lost"
)

// Event is something that happened and answers no call.
type Event struct {
	Kind EventKind
	ID   string
	// Tab is nil for EventsLost and WatchdogLost.
	Tab *Tab
	// URL and Title are those of the tab when the event happened.
	URL, Title string
	// Name is the declared name of a PageEvent.
	Name string
	// Payload is the JSON value of a PageEvent.
	Payload    json.RawMessage
	ObservedAt time.Time
	// Lost counts the events that were missed, for EventsLost.
	Lost int
	// Message explains WatchdogLost.
	Message string
}

// eventBuffer is how many events wait for a slow reader.
const eventBuffer = 1024

// Events returns what happens to the session after the call. The iteration ends
// with ctx or when the session is closed. A reader that falls behind by more
// than 1024 events receives EventsLost. It is for one iteration.
func (s *Session) Events(ctx context.Context) iter.Seq[Event] {
	q := newEventQueue(eventBuffer)
	unsubscribe := s.host.Subscribe(func(e runtime.Event) {
		if e.Tab.Workspace == s.groupID() {
			q.push(s.event(e))
		}
	})
	unwatch := s.watchdog.notify(q)
	context.AfterFunc(ctx, unsubscribe)
	context.AfterFunc(ctx, unwatch)
	context.AfterFunc(s.ended, unsubscribe)
	context.AfterFunc(s.ended, unwatch)
	return func(yield func(Event) bool) {
		defer unwatch()
		defer unsubscribe()
		q.each(yield, ctx.Done(), s.ended.Done())
	}
}

// watchdog remembers that the process is lost which ends the browser when this
// program is killed: it may be so before anybody reads events.
type watchdog struct {
	mu     sync.Mutex
	err    error
	queues map[*eventQueue]bool
}

func (w *watchdog) lost(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	for q := range w.queues {
		q.push(watchdogLost(err))
	}
}

// notify puts the loss into q, at once or when it happens, until stop is called.
func (w *watchdog) notify(q *eventQueue) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		q.push(watchdogLost(w.err))
	}
	if w.queues == nil {
		w.queues = map[*eventQueue]bool{}
	}
	w.queues[q] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.queues, q)
	}
}

func watchdogLost(err error) Event {
	return Event{Kind: WatchdogLost, Message: err.Error(), ObservedAt: time.Now()}
}

// eventQueue holds the events that wait for their reader.
type eventQueue struct {
	events chan Event
	lost   atomic.Int64 // missed since the last EventsLost; the queue is full then
}

func newEventQueue(size int) *eventQueue { return &eventQueue{events: make(chan Event, size)} }

// push does not block: an event that finds the queue full is counted instead.
func (q *eventQueue) push(e Event) {
	select {
	case q.events <- e:
	default:
		q.lost.Add(1)
	}
}

// each yields the events until yield returns false or one of the channels is closed.
func (q *eventQueue) each(yield func(Event) bool, ended, closed <-chan struct{}) {
	for {
		if n := q.lost.Swap(0); n > 0 && !yield(Event{Kind: EventsLost, Lost: int(n), ObservedAt: time.Now()}) {
			return
		}
		select {
		case <-ended:
			return
		case <-closed:
			return
		case e := <-q.events:
			if !yield(e) {
				return
			}
		}
	}
}

func (s *Session) event(e runtime.Event) Event {
	kind := EventKind(e.Kind)
	if e.Kind == runtime.DOMEvent {
		kind = PageEvent
	}
	return Event{
		Kind:       kind,
		ID:         e.ID,
		Tab:        &Tab{session: s, id: e.Tab.RuntimeID, number: e.Tab.TabID},
		URL:        e.Tab.URL,
		Title:      e.Tab.Title,
		Name:       e.Name,
		Payload:    e.Payload,
		ObservedAt: e.ObservedAt,
	}
}
