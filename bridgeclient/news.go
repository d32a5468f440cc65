package bridgeclient

import (
	"sync"

	"github.com/outrider-run/outrider/runtime"
)

// news holds events of the host until the session takes them: the host must
// not wait for a connection.
type news struct {
	limit int

	mu      sync.Mutex
	events  []runtime.Event
	dropped int
	wake    chan struct{}
}

func newNews(limit int) *news { return &news{limit: limit, wake: make(chan struct{}, 1)} }

// add is the host's callback. Beyond the limit an event is counted and
// dropped; what it said about tabs comes back with the next heartbeat, which
// compares all tabs.
func (n *news) add(ev runtime.Event) {
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
func (n *news) take() ([]runtime.Event, int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	events, dropped := n.events, n.dropped
	n.events, n.dropped = nil, 0
	return events, dropped
}
