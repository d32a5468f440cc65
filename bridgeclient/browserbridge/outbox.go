package browserbridge

import (
	"encoding/json"
	"sync"
)

const (
	// maxOut bounds one message, in bytes.
	maxOut = 64 << 20
	// maxWaiting bounds what waits to be sent. A backend that does not read loses
	// its connection; while there is none the oldest events are dropped.
	maxWaiting = 4096
)

// outbox is what is to be sent, in order. Events wait for the next connection;
// a response belongs to the connection on which its request came.
type outbox struct {
	mu    sync.Mutex
	items []outgoing
	gen   uint64        // of the connection that is there, 0 for none
	wake  chan struct{} // buffered, 1
}

type outgoing struct {
	gen   uint64 // 0 for an event
	frame []byte
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

func (o *outbox) event(fields map[string]any) {
	frame, err := json.Marshal(Event{Type: "event", Event: fields})
	if err != nil {
		return // strings and numbers only
	}
	o.add(outgoing{frame: frame})
}

func (o *outbox) respond(gen uint64, r Response) {
	r.Type = "response"
	frame, err := json.Marshal(r)
	if err == nil && len(frame) > maxOut {
		r.Result, r.Error = nil, &Error{codeInternal, "the result is too large for a message"}
		frame, err = json.Marshal(r)
	}
	if err != nil {
		r.Result, r.Error = nil, &Error{codeInternal, "the result could not be encoded"}
		frame, _ = json.Marshal(r)
	}
	o.add(outgoing{gen, frame})
}

func (o *outbox) add(item outgoing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if item.gen != 0 && item.gen != o.gen {
		return // the connection of its request is closed
	}
	o.items = append(o.items, item)
	if len(o.items) > maxWaiting {
		o.items = o.items[1:]
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// begin starts a connection: what was for an earlier one is dropped.
func (o *outbox) begin(gen uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gen = gen
	kept := o.items[:0]
	for _, item := range o.items {
		if item.gen == 0 {
			kept = append(kept, item)
		}
	}
	o.items = kept
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns the next item, false when there is none.
func (o *outbox) take() (item outgoing, full, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 {
		return item, false, false
	}
	full = len(o.items) >= maxWaiting
	item, o.items = o.items[0], o.items[1:]
	return item, full, true
}

// giveBack puts an event that could not be sent in front again.
func (o *outbox) giveBack(item outgoing) {
	if item.gen != 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.items = append([]outgoing{item}, o.items...)
}
