package hub

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Limits of runtime.agent.await_event (wire reference, "agent_event").
const (
	keepAgentEvents = 1000
	awaitDefault    = 25 * time.Second
	awaitLeast      = time.Second
	awaitMost       = time.Minute
	maxAgentQueues  = 1000
)

var awaitEvent = Tool{
	"runtime.agent.await_event", "Wait for what the agent hosted by a runtime says next.",
	json.RawMessage(`{"type":"object","properties":{"cursor":{"type":"integer","minimum":-1},` +
		`"timeout_ms":{"type":"integer","minimum":1}},"additionalProperties":false}`),
}

// agentEvent is one event as the tool answers it.
type agentEvent struct {
	Seq     int64           `json:"seq"`
	TS      string          `json:"ts"`
	Kind    string          `json:"kind"`
	Payload json.RawMessage `json:"payload"`
}

// agentQueue holds the newest events of one runtime. It outlives the runtime.
type agentQueue struct {
	events []agentEvent
	next   int64
	last   time.Time
}

// agentEvents are the queues of all runtimes.
type agentEvents struct {
	mu      sync.Mutex
	queues  map[string]*agentQueue
	changed chan struct{}
}

func newAgentEvents() *agentEvents {
	return &agentEvents{queues: map[string]*agentQueue{}, changed: make(chan struct{})}
}

// queue returns that of a runtime. mu is held.
func (a *agentEvents) queue(id string) *agentQueue {
	q := a.queues[id]
	if q == nil {
		if len(a.queues) >= maxAgentQueues {
			oldest := ""
			for other, o := range a.queues {
				if oldest == "" || o.last.Before(a.queues[oldest].last) {
					oldest = other
				}
			}
			delete(a.queues, oldest)
		}
		q = &agentQueue{last: time.Now()}
		a.queues[id] = q
	}
	return q
}

func (q *agentQueue) add(ts, kind string, payload json.RawMessage) {
	q.events = append(q.events, agentEvent{q.next, ts, kind, payload})
	q.next++
}

// add takes an event. Beyond the bound the oldest are dropped, and a marker reports it.
func (a *agentEvents) add(in *item) {
	kind := in.Kind
	if kind == "" {
		kind = "unknown"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.queue(in.RuntimeID)
	q.add(in.TS, kind, orNull(in.Payload))
	q.last = time.Now()
	if over := len(q.events) - keepAgentEvents; over > 0 {
		q.events = append(q.events[:0:0], q.events[over+1:]...)
		q.add(in.TS, "events_dropped", marshal(map[string]int{"count": over + 1}))
	}
	close(a.changed)
	a.changed = make(chan struct{})
}

// after returns the events after a cursor; without one, from now on.
func (a *agentEvents) after(id string, cursor *int64) ([]agentEvent, int64, time.Time, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.queue(id)
	since := q.next - 1
	if cursor != nil {
		since = *cursor
	}
	out := []agentEvent{}
	for _, e := range q.events {
		if e.Seq > since {
			out = append(out, e)
			since = e.Seq
		}
	}
	return out, since, q.last, a.changed
}

// await waits until the agent of a runtime sends an event.
func (h *Hub) awaitAgent(
	ctx context.Context, args map[string]json.RawMessage, sel Selector, timeout time.Duration,
) ToolResult {
	if err := only(args, "cursor"); err != nil {
		return refused(err)
	}
	var cursor *int64
	if raw := args["cursor"]; raw != nil && json.Unmarshal(raw, &cursor) != nil {
		return refused(fault.New(fault.InvalidInput, "cursor is not a whole number").With("path", "/arguments/cursor"))
	}
	e, err := h.find(ctx, sel)
	if err != nil {
		return refused(err)
	}
	t := time.NewTimer(min(max(timeout, awaitLeast), awaitMost))
	defer t.Stop()
	for {
		events, next, last, changed := h.agents.after(e.RuntimeID, cursor)
		cursor = &next
		idle := false
		if len(events) == 0 {
			select {
			case <-changed:
				continue
			case <-t.C:
				idle = true
			case <-h.closing:
				return refused(closingError())
			case <-ctx.Done():
				return refused(fault.Wrap(fault.Cancelled, ctx.Err(), "waiting for an event"))
			}
		}
		value := map[string]any{"events": events, "cursor": next, "idle": idle}
		if idle {
			value["silent_ms"] = time.Since(last).Milliseconds()
		}
		return output(e, marshal(map[string]any{
			"ok":         true,
			"primitive":  awaitEvent.Name,
			"adapter":    "bridge",
			"runtime_id": e.RuntimeID,
			"value":      value,
		}))
	}
}
