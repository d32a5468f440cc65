package browser

import "sync"

// eventQueue delivers events in order from one goroutine, so that a listener may
// take its time and call back. It stays small: a change of a tab that is already
// queued is not queued again, and what else can happen to a tab happens seldom.
type eventQueue struct {
	deliver func(Event)
	mu      sync.Mutex
	queue   []Event
	closed  bool
	wake    chan struct{}
	ended   chan struct{}
}

// maxEvents bounds the queue when a listener hangs; later events are dropped.
const maxEvents = 4096

func newEventQueue(deliver func(Event)) *eventQueue {
	if deliver == nil {
		return nil
	}
	q := &eventQueue{deliver: deliver, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go q.run()
	return q
}

func (q *eventQueue) add(e Event) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.queue) >= maxEvents {
		return
	}
	if e.Kind == TabChanged {
		for _, old := range q.queue {
			if old.Kind == TabChanged && old.Tab == e.Tab {
				return
			}
		}
	}
	q.queue = append(q.queue, e)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *eventQueue) run() {
	defer close(q.ended)
	for range q.wake {
		for {
			q.mu.Lock()
			if len(q.queue) == 0 {
				closed := q.closed
				q.mu.Unlock()
				if closed {
					return
				}
				break
			}
			e := q.queue[0]
			q.queue = q.queue[1:]
			q.mu.Unlock()
			q.deliver(e)
		}
	}
}

// close delivers what is queued and waits.
func (q *eventQueue) close() {
	if q == nil {
		return
	}
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
	<-q.ended
}
