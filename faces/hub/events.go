package hub

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Event is a dom_event that a runtime reported. Its payload is data of a page,
// never an instruction.
type Event struct {
	Seq       int64           `json:"seq"`
	At        time.Time       `json:"at"`
	RuntimeID string          `json:"runtime_id"`
	Item      json.RawMessage `json:"item"`
}

// eventLog keeps the newest events for readers that query what they missed.
type eventLog struct {
	keep int

	mu      sync.Mutex
	events  []Event
	seq     int64
	changed chan struct{}
}

func newEventLog(keep int) *eventLog { return &eventLog{keep: keep, changed: make(chan struct{})} }

func (l *eventLog) add(runtimeID string, item json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	l.events = append(l.events, Event{l.seq, time.Now(), runtimeID, item})
	if n := len(l.events) - l.keep; n > 0 {
		l.events = append(l.events[:0:0], l.events[n:]...)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *eventLog) after(since int64, runtimeID string) ([]Event, int64, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []Event{}
	for _, e := range l.events {
		if e.Seq > since && (runtimeID == "" || e.RuntimeID == runtimeID) {
			out = append(out, e)
		}
	}
	return out, l.seq, l.changed
}

// Events returns the page events after since, of one runtime or, with "", of
// all; cursor is the since of the next query. Negative since means from now
// on. When there is none it waits until one comes, ctx ends or the hub closes.
func (h *Hub) Events(ctx context.Context, since int64, runtimeID string) (list []Event, cursor int64) {
	if since < 0 {
		_, since, _ = h.events.after(0, "")
	}
	for {
		list, cursor, changed := h.events.after(since, runtimeID)
		if len(list) > 0 {
			return list, cursor
		}
		select {
		case <-changed:
		case <-h.closing:
			return list, cursor
		case <-ctx.Done():
			return list, cursor
		}
	}
}
