package shell

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// mostEvents bounds the events that wait for a verb to read them.
const mostEvents = 256

// hosting is the connection of a verb that uses the session as a host.
type hosting struct {
	server *Server
	ctx    context.Context
	events chan runtime.Event
	busy   sync.WaitGroup

	writing sync.Mutex
	out     *json.Encoder

	mu    sync.Mutex
	calls map[int]context.CancelFunc
	stop  func() // ends the subscription
}

// host serves a verb that uses the session as a host, until it goes away.
func (s *Server) host(ctx context.Context, c net.Conn, in *bufio.Reader, answer func(reply)) {
	if !s.begin() {
		answer(reply{End: true, Error: busy()})
		return
	}
	defer s.done()
	ctx, cancel := context.WithCancel(ctx)
	h := &hosting{
		server: s,
		ctx:    ctx,
		events: make(chan runtime.Event, mostEvents),
		out:    json.NewEncoder(c),
		calls:  map[int]context.CancelFunc{},
		stop:   func() {},
	}
	answer(reply{})
	h.busy.Go(h.tell)
	for {
		line, err := readLine(in, mostRequest)
		var q hostAsk
		if err != nil || json.Unmarshal(line, &q) != nil {
			break
		}
		h.take(q)
	}
	cancel()
	h.stop()
	h.busy.Wait()
}

// take answers an ask, or begins to.
func (h *hosting) take(q hostAsk) {
	switch {
	case q.Cancel:
		h.mu.Lock()
		cancel := h.calls[q.N]
		h.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case q.Call != nil:
		ctx, cancel := context.WithCancel(h.ctx)
		h.mu.Lock()
		h.calls[q.N] = cancel
		h.mu.Unlock()
		h.busy.Go(func() {
			h.answer(hostAnswer{N: q.N, Reply: h.do(ctx, q.Call)})
			h.mu.Lock()
			delete(h.calls, q.N)
			h.mu.Unlock()
			cancel()
		})
	case q.Tabs:
		h.answer(hostAnswer{N: q.N, Tabs: h.server.Host.Tabs()})
	case q.Events:
		h.stop()
		h.stop = h.server.Host.Subscribe(func(ev runtime.Event) {
			select {
			case h.events <- ev:
			default: // a reader that is this slow has lost the thread anyway
			}
		})
		h.answer(hostAnswer{N: q.N})
	default:
		h.answer(hostAnswer{N: q.N, Error: fault.New(fault.InvalidInput, "the session does not know what is asked")})
	}
}

func (h *hosting) do(ctx context.Context, c *hostCall) *hostReply {
	r := h.server.Host.Do(ctx, runtime.Call{
		ID:         h.server.NewID(),
		Target:     c.Target,
		Name:       c.Name,
		Arguments:  c.Arguments,
		Timeout:    c.Timeout,
		Appearance: c.Appearance,
	})
	return &hostReply{
		RuntimeID:  r.RuntimeID,
		Output:     r.Output,
		Error:      r.Err,
		Steps:      r.Steps,
		Remembered: r.Remembered,
		Repairs:    r.Repairs,
		URL:        r.URL,
		Duration:   r.Duration,
	}
}

// tell writes events until the end.
func (h *hosting) tell() {
	for {
		select {
		case ev := <-h.events:
			h.answer(hostAnswer{Event: &ev})
		case <-h.ctx.Done():
			return
		}
	}
}

func (h *hosting) answer(a hostAnswer) { // one that has gone away hears nothing
	h.writing.Lock()
	defer h.writing.Unlock()
	_ = h.out.Encode(a)
}
