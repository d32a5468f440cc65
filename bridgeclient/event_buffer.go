package bridgeclient

import (
	"sync"

	"github.com/outrider-run/outrider/runtime"
)

// eventBuffer holds events of the host until the session takes them: the host must
// not wait for a connection.
type eventBuffer struct {
	limit int

	mu      sync.Mutex
	events  []runtime.Event
	dropped int
	wake    chan struct{}
}

func newEventBuffer(limit int) *eventBuffer {
	return &eventBuffer{limit: limit, wake: make(chan struct{}, 1)}
}

// add is the host's callback. Beyond the limit an event is counted and
// dropped. What it reported about tabs is repeated by the next heartbeat, which
// compares all tabs.
func (n *eventBuffer) add(ev runtime.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.events) >= n.limit {
		if ev.Kind == runtime.DOMEvent {
			n.dropped++
		}
		return
	}
	n.events = append(n.events, ev)
	signal(n.wake)
}

// take returns the events that wait and how many page events were dropped.
func (n *eventBuffer) take() ([]runtime.Event, int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	events, dropped := n.events, n.dropped
	n.events, n.dropped = nil, 0
	return events, dropped
}
