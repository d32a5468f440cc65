package hub

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/primitives/fault"
)

// conn is one runtime connection: one reader, one writer.
type conn struct {
	hub *Hub
	ws  bridgeclient.Conn
	num int64

	// mu protects the queue. It is never held while writing.
	mu    sync.Mutex
	queue [][]byte
	bytes int
	wake  chan struct{}
	stop  context.CancelFunc
	why   string

	received atomic.Int64 // when the last item came, Unix milliseconds
	closed   bool         // closed: it registers no more runtimes; protected by Hub.mu
	// trusted: the peer showed a token or is of this process, so what it says of
	// runtimes of other connections counts.
	trusted   bool
	announced bool // a runtime, at some time; protected by Hub.mu
	// widen, when not nil, lets messages be as long as those of a runtime.
	widen func()
}

// newConn makes the connection of a place that reserve gave.
func (h *Hub) newConn(ws bridgeclient.Conn, trusted bool, stop context.CancelFunc) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns++
	return &conn{
		hub:     h,
		ws:      ws,
		num:     h.conns,
		trusted: trusted,
		wake:    make(chan struct{}, 1),
		stop:    stop,
	}
}

// reserve takes a place among the connections that have announced nothing; false
// when limited and there is none.
func (h *Hub) reserve(limited bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if limited && h.unannounced >= h.opts.MaxUnannounced {
		return false
	}
	h.unannounced++
	return true
}

// release gives a place back that no connection took.
func (h *Hub) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unannounced--
}

// settle counts c as announced, or as closed without an announcement.
func (c *conn) settle() {
	if !c.announced {
		c.announced = true
		if c.widen != nil {
			c.widen()
		}
		c.hub.unannounced--
	}
}

// send queues an item. Items leave in the order of send.
func (c *conn) send(frame []byte) {
	c.mu.Lock()
	full := c.bytes+len(frame) > c.hub.opts.MaxQueued
	if !full {
		c.hub.observe(ToRuntime, c.num, frame)
		c.queue = append(c.queue, frame)
		c.bytes += len(frame) + 64
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	c.mu.Unlock()
	if full {
		c.end("the runtime does not read")
	}
}

// end closes the connection, politely, without waiting for it.
func (c *conn) end(why string) {
	c.mu.Lock()
	if c.why == "" {
		c.why = why
	}
	c.mu.Unlock()
	c.stop()
}

// serve runs the connection until it ends.
func (c *conn) serve(ctx context.Context) {
	rctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, f := range []func(context.Context) error{c.read, c.write, c.poll, c.announceInTime} {
		wg.Go(func() { cancel(f(rctx)) })
	}
	<-rctx.Done()
	// Before the socket is closed: a runtime that reconnects at once must not
	// meet its own old entry.
	reason := "connection_lost"
	if c.hub.isClosing() {
		reason = "shutdown"
	}
	c.hub.dropConn(c, reason)
	if ctx.Err() != nil {
		c.mu.Lock()
		why := c.why
		c.mu.Unlock()
		if why == "" {
			why = "the bridge is shutting down"
		}
		c.ws.Close(why)
	} else {
		c.hub.log.Debug("connection lost", "connection", c.num, "error", context.Cause(rctx))
		c.ws.Abort()
	}
	wg.Wait()
}

// announceInTime ends a connection on which no runtime is announced.
func (c *conn) announceInTime(ctx context.Context) error {
	t := time.NewTimer(c.hub.opts.AnnounceWithin)
	defer t.Stop()
	select {
	case <-t.C:
		c.hub.mu.Lock()
		announced := c.announced
		c.hub.mu.Unlock()
		if !announced {
			c.hub.log.Warn("a connection announced no runtime in time", "connection", c.num)
			c.end("no runtime was announced in time")
		}
	case <-ctx.Done():
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (c *conn) read(ctx context.Context) error {
	for {
		frame, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		c.received.Store(time.Now().UnixMilli())
		c.take(frame)
	}
}

func (c *conn) write(ctx context.Context) error {
	for {
		c.mu.Lock()
		var frame []byte
		if len(c.queue) > 0 {
			frame = c.queue[0]
			c.queue[0] = nil
			c.queue = c.queue[1:]
			c.bytes -= len(frame) + 64
		}
		c.mu.Unlock()
		if frame == nil {
			select {
			case <-c.wake:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := c.ws.Write(ctx, frame); err != nil {
			return err
		}
	}
}

// poll asks for status, at once and then regularly. A connection on which
// no item arrives for long is pinged, and ended when that fails too: a peer
// that vanished without a word would otherwise be kept for hours.
func (c *conn) poll(ctx context.Context) error {
	t := time.NewTicker(c.hub.opts.Heartbeat)
	defer t.Stop()
	c.received.Store(time.Now().UnixMilli())
	for {
		c.send(poll)
		if silent := time.Since(time.UnixMilli(c.received.Load())); silent > c.hub.opts.TTL {
			pctx, cancel := context.WithTimeout(ctx, c.hub.opts.Heartbeat)
			err := c.ws.Ping(pctx)
			cancel()
			if err != nil {
				return err
			}
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take acts on one item of the runtime.
func (c *conn) take(frame []byte) {
	h := c.hub
	var in item
	if err := json.Unmarshal(frame, &in); err != nil || in.Type == "" {
		// Without a type nothing can be said about the frame; with one, a member
		// has the wrong kind.
		h.log.Info("frame refused", "connection", c.num, "bytes", len(frame))
		if in.Type != "action_error" {
			c.refuse("", fault.InvalidFrame, "the message is not an item of the protocol")
		}
		return
	}
	h.observe(ToBridge, c.num, frame)
	switch in.Type {
	case "runtime_ready":
		if in.RuntimeID == "" {
			c.refuse("", fault.InvalidFrame, "runtime_ready needs a runtime_id")
			return
		}
		if rivals := h.rivals(c, &in); len(rivals) > 0 {
			h.contest(c, &in, rivals)
			return
		}
		h.register(c, &in)
	case "runtime_status":
		h.touch(in.RuntimeID)
	case "action_call_output", "action_error":
		h.touch(in.RuntimeID)
		h.complete(&in)
	case "action_progress":
		h.touch(in.RuntimeID)
		h.progressed(&in, frame)
	case "dom_event":
		h.touch(in.RuntimeID)
		if in.EventID == "" || in.RuntimeID == "" || in.Name == "" || len(in.Payload) == 0 {
			c.refuse(in.RuntimeID, fault.InvalidFrame, "dom_event needs event_id, runtime_id, name and payload")
			return
		}
		h.events.add(in.RuntimeID, frame)
	case "runtime_removed":
		h.removeNow(in.RuntimeID, "tab_closed", func(e *entry) bool { return c.trusted || e.conn == c })
	case "runtime_probe_result":
		h.probed(in.ProbeID, in.Alive)
	case "bridge_runtime_replay_summary":
		h.mu.Lock()
		h.replay = append(json.RawMessage(nil), frame...)
		h.mu.Unlock()
	case "a11y_announcement":
		if h.history.add(in.Record, in.RuntimeKey) {
			h.piggybacked.Inject("", in.Record)
		}
	case "agent_event":
		if in.RuntimeID != "" {
			h.agents.add(&in)
		}
	case "credential_hydration_result":
		h.log.Debug("item not used", "type", in.Type, "connection", c.num)
	default:
		h.log.Info("unknown item type", "connection", c.num)
		c.refuse(in.RuntimeID, fault.UnknownItemType, "the item type is not part of the protocol")
	}
}

func (c *conn) refuse(runtimeID string, code fault.Code, message string) {
	c.send(marshal(errorItem{Type: "action_error", RuntimeID: runtimeID, Error: fault.New(code, "%s", message)}))
}
