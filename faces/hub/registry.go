package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Runtime is a connected runtime as GET /runtimes shows it.
type Runtime struct {
	RuntimeID        string `json:"runtime_id"`
	RuntimeKey       string `json:"runtime_key,omitempty"`
	URL              string `json:"url"`
	Title            string `json:"title"`
	Host             string `json:"host"`
	IsLive           bool   `json:"is_live"`
	ExtensionVersion string `json:"extension_version"`
	ConnectedAtMS    int64  `json:"connected_at_ms"`
	LastSeenMS       int64  `json:"last_seen_ms"`
	Device           string `json:"device,omitempty"`
	// Capabilities are those that the runtime reports.
	Capabilities []string `json:"capabilities,omitempty"`
}

// entry is a registered runtime. Protected by Hub.mu.
type entry struct {
	Runtime
	order           int64 // of registration, for stable lists
	authorizationID string
	tabID, windowID json.RawMessage
	browserActive   *bool
	tools           []Tool // of its manifest
	repeats         bool
	cancels         bool // knows action_cancel
	conn            *conn
	seen            time.Time
}

// register enters or replaces the runtime of a runtime_ready.
func (h *Hub) register(c *conn, in *item) {
	now := time.Now()
	e := &entry{
		Runtime: Runtime{
			RuntimeID:        in.RuntimeID,
			RuntimeKey:       in.RuntimeKey,
			URL:              in.URL,
			Title:            in.Title,
			IsLive:           true,
			ExtensionVersion: in.ExtensionVersion,
			ConnectedAtMS:    now.UnixMilli(),
			LastSeenMS:       now.UnixMilli(),
			Device:           in.Device,
			Capabilities:     in.Capabilities,
		},
		authorizationID: in.AuthorizationID,
		repeats:         in.Runtime != nil && in.Runtime.RepeatsCalls,
		cancels:         in.Runtime != nil && in.Runtime.CancelsCalls,
		tools:           manifestTools(in.Manifest),
		conn:            c,
		seen:            now,
	}
	if t := in.Tab; t != nil {
		e.Title = cmp.Or(t.Title, e.Title)
		e.URL = cmp.Or(e.URL, t.URL)
		e.tabID = t.TabID
		e.windowID = t.WindowID
		e.browserActive = t.Active
		if e.tabID == nil {
			e.tabID = t.ID
		}
		if e.windowID == nil {
			e.windowID = t.WindowID2
		}
	}
	e.Host = hostName(e.URL)

	h.mu.Lock()
	if c.closed {
		h.mu.Unlock()
		return
	}
	c.settle()
	var changes []RuntimeChange
	var orphaned *conn
	kind := "connected"
	var again []*pending
	if old := h.runtimes[e.RuntimeID]; old != nil {
		kind = "changed"
		e.order, e.ConnectedAtMS = old.order, old.ConnectedAtMS
		if e.tools == nil {
			e.tools = old.tools // a later announcement leaves the catalog out
		}
		if old.conn != c {
			again = h.inFlight(e)
			if !h.serves(old.conn, e.RuntimeID) {
				orphaned = old.conn
			}
		}
	} else {
		h.orders++
		e.order = h.orders
		again = h.inFlight(e)
	}
	// A runtime_key names a tab for good, so its older runtime is closed. Its
	// connection is closed only when it served nothing else, and never when it
	// is the one that just spoke.
	for id, old := range h.runtimes {
		if id != e.RuntimeID && e.RuntimeKey != "" && old.RuntimeKey == e.RuntimeKey {
			changes = append(changes, h.remove(id, "superseded"))
			if old.conn != c && !h.serves(old.conn, id) {
				orphaned = old.conn
			}
		}
	}
	h.runtimes[e.RuntimeID] = e
	delete(h.lost, e.RuntimeID)
	if h.runtimes[h.active] == nil {
		h.active = e.RuntimeID
	}
	h.touchChanged()
	// Under the lock, so that no later call overtakes them.
	for _, p := range again {
		h.log.Debug("sending a call again", "call", p.id, "runtime", p.runtimeID)
		c.send(p.frame)
	}
	h.mu.Unlock()

	changes = append(changes, RuntimeChange{Kind: kind, Runtime: e.Runtime, Connection: c.num})
	h.announce(changes...)
	if orphaned != nil {
		orphaned.end("superseded")
	}
	h.hydrate(e)
}

// rivals are the other connections whose runtimes an announcement on c would
// take over or away: those with its id or its key. Whoever shows a token may.
func (h *Hub) rivals(c *conn, in *item) []*conn {
	if c.trusted {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*conn
	for _, e := range h.runtimes {
		mine := e.RuntimeID == in.RuntimeID || in.RuntimeKey != "" && e.RuntimeKey == in.RuntimeKey
		if mine && e.conn != c && !slices.Contains(out, e.conn) {
			out = append(out, e.conn)
		}
	}
	return out
}

// contest registers the runtime of an announcement when every rival turns out
// to be disconnected, as after a cut that nobody noticed, and refuses it otherwise:
// without a token anybody on this machine could answer for a live runtime.
func (h *Hub) contest(c *conn, in *item, rivals []*conn) {
	h.background(func(ctx context.Context) {
		for _, r := range rivals {
			pctx, cancel := context.WithTimeout(ctx, h.opts.ProbeTimeout)
			err := r.ws.Ping(pctx)
			cancel()
			if err == nil {
				h.log.Warn(
					"a connection announced a runtime of another one",
					"runtime", clip(in.RuntimeID),
					"connection", c.num,
				)
				c.refuse(in.RuntimeID, fault.PermissionDenied, "a runtime of this id or key is open on another "+
					"connection; with a token of the hub it can be taken over")
				return
			}
			r.end("another connection announced its runtime, and it answers no ping")
			h.dropConn(r, "connection_lost")
		}
		h.register(c, in)
	})
}

// serves reports whether c carries a runtime other than id. mu is held.
func (h *Hub) serves(c *conn, id string) bool {
	for _, e := range h.runtimes {
		if e.conn == c && e.RuntimeID != id {
			return true
		}
	}
	return false
}

// inFlight returns the calls to send again after e reconnected. mu is held.
func (h *Hub) inFlight(e *entry) []*pending {
	if !e.repeats {
		return nil
	}
	var out []*pending
	for _, p := range h.pending {
		if p.runtimeID == e.RuntimeID {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *pending) int { return cmp.Compare(a.order, b.order) })
	return out
}

// remove takes a runtime out. mu is held.
func (h *Hub) remove(id, reason string) RuntimeChange {
	e := h.runtimes[id]
	delete(h.runtimes, id)
	switch reason {
	case "connection_lost":
		at := time.Now()
		h.lost[id] = lostRuntime{e, at}
		for _, p := range h.pending {
			if p.runtimeID == id {
				p.lostAt = at
			}
		}
		time.AfterFunc(h.opts.LostAfter, func() { h.abandonLost(id, at) })
	default:
		h.abandon(id, reason, func(p *pending) bool { return !p.leaves() })
	}
	wasActive := h.active == id
	if wasActive {
		h.active = ""
		for _, o := range h.sorted() {
			h.active = o.RuntimeID
			break
		}
	}
	h.touchChanged()
	removed := e.Runtime
	removed.IsLive = false
	return RuntimeChange{
		Kind:       "removed",
		Reason:     reason,
		Runtime:    removed,
		Connection: e.conn.num,
		WasActive:  wasActive,
	}
}

// abandonLost fails the calls of a runtime that did not come back in time. Those of one that did, and whose
// connection was lost once more since, have time from then on.
func (h *Hub) abandonLost(id string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runtimes[id] == nil {
		h.abandon(id, "connection_lost", func(p *pending) bool { return p.lostAt.Equal(at) })
	}
}

// abandon fails the calls in flight of a runtime that is closed, of which. mu is held.
func (h *Hub) abandon(id, reason string, which func(*pending) bool) {
	for call, p := range h.pending {
		if p.runtimeID != id || !which(p) {
			continue
		}
		delete(h.pending, call)
		r := refused(fault.New(
			fault.TransportFailed, "the runtime went away before it answered; the action may have run",
		).With("call_id", p.id).With("runtime_id", id).With("reason", reason).Next(
			"read the page before calling again",
		))
		r.CallID, r.RuntimeID = &p.id, id
		p.done <- r
	}
}

// leaves reports whether the call takes its own runtime away: the upstream
// extension announces the new document first and then answers for the old one.
func (p *pending) leaves() bool {
	return p.name == "browser.navigate" || p.name == "browser.close_tab"
}

// lostRuntime is a runtime whose connection ended a moment ago.
type lostRuntime struct {
	*entry
	at time.Time
}

func (h *Hub) removeNow(id, reason string, if_ func(*entry) bool) {
	h.mu.Lock()
	var changes []RuntimeChange
	if e := h.runtimes[id]; e != nil && (if_ == nil || if_(e)) {
		changes = append(changes, h.remove(id, reason))
	}
	h.mu.Unlock()
	h.announce(changes...)
}

// dropConn removes the runtimes that were registered through c.
func (h *Hub) dropConn(c *conn, reason string) {
	h.mu.Lock()
	c.closed = true
	c.settle()
	var changes []RuntimeChange
	for _, e := range h.sorted() {
		if e.conn == c {
			changes = append(changes, h.remove(e.RuntimeID, reason))
		}
	}
	h.mu.Unlock()
	h.announce(changes...)
}

// sweep removes runtimes that have been silent for longer than the TTL.
func (h *Hub) sweep() {
	h.mu.Lock()
	var changes []RuntimeChange
	for _, e := range h.sorted() {
		if time.Since(e.seen) > h.opts.TTL {
			changes = append(changes, h.remove(e.RuntimeID, "liveness_sweep"))
		}
	}
	for id, l := range h.lost {
		if time.Since(l.at) > max(h.opts.ReturnWithin, 0) {
			delete(h.lost, id)
		}
	}
	h.mu.Unlock()
	h.announce(changes...)
}

func (h *Hub) announce(changes ...RuntimeChange) {
	for _, ch := range changes {
		if ch.Kind != "changed" {
			h.log.Info("runtime "+ch.Kind, "runtime", ch.Runtime.RuntimeID, "reason", ch.Reason)
		}
		h.logged(ch)
		if h.opts.OnRuntime != nil {
			h.opts.OnRuntime(ch)
		}
	}
}

// touch notes a sign of life.
func (h *Hub) touch(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.runtimes[id]; e != nil {
		e.seen = time.Now()
		e.LastSeenMS = e.seen.UnixMilli()
	}
	for _, p := range h.probes {
		if p.runtimeID == id {
			p.resolve(true)
		}
	}
}

// touchChanged wakes callers that wait for a runtime to register. mu is held.
func (h *Hub) touchChanged() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// sorted returns the registered runtimes, oldest first. mu is held.
func (h *Hub) sorted() []*entry {
	out := make([]*entry, 0, len(h.runtimes))
	for _, e := range h.runtimes {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b *entry) int { return cmp.Compare(a.order, b.order) })
	return out
}

// live returns the runtimes that sent an item within the TTL. mu is held.
func (h *Hub) live() []*entry {
	return slices.DeleteFunc(h.sorted(), func(e *entry) bool { return time.Since(e.seen) > h.opts.TTL })
}

// Runtimes returns the connected runtimes, in the order of their arrival.
func (h *Hub) Runtimes() []Runtime {
	h.mu.Lock()
	defer h.mu.Unlock()
	return rows(h.live())
}

// Active returns the id of the runtime that a call without a selector goes to
// when there are several; "" when there is none.
func (h *Hub) Active() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.active
}

func rows(list []*entry) []Runtime {
	out := make([]Runtime, len(list))
	for i, e := range list {
		out[i] = e.Runtime
	}
	return out
}

// Selector chooses a runtime. All set fields must match; texts are
// case-insensitive substrings.
type Selector struct {
	RuntimeID     string
	RuntimeKey    string
	URLContains   string
	TitleContains string
}

func (s Selector) zero() bool { return s == Selector{} }

func (s Selector) matches(e *entry) bool {
	if s.RuntimeID != "" && s.RuntimeID != e.RuntimeID || s.RuntimeKey != "" && s.RuntimeKey != e.RuntimeKey {
		return false
	}
	return address.Contains(e.URL, s.URLContains) &&
		strings.Contains(strings.ToLower(e.Title), strings.ToLower(s.TitleContains))
}

// candidate describes, in an error, a runtime that could have been meant.
type candidate struct {
	RuntimeID  string `json:"runtime_id"`
	RuntimeKey string `json:"runtime_key,omitempty"`
	URL        string `json:"url"`
	Title      string `json:"title"`
}

func candidates(list []*entry) []candidate {
	const most = 10 // evidence is bounded
	out := []candidate{}
	for _, e := range list[:min(len(list), most)] {
		out = append(out, candidate{e.RuntimeID, e.RuntimeKey, clip(e.URL), clip(e.Title)})
	}
	return out
}

// clip bounds what an answer repeats of what somebody else wrote.
func clip(s string) string { return fault.Clip(s, 100) }

// choose finds the one runtime of s. mu is held.
func (h *Hub) choose(s Selector) (*entry, *fault.Error) {
	all := h.sorted()
	if s.zero() {
		switch {
		case len(all) == 0:
			return nil, fault.New(fault.RuntimeNotReady, "no runtime is connected").
				Next("connect a runtime to /extension, then call again")
		case len(all) == 1:
			return all[0], nil
		case h.runtimes[h.active] != nil && (!h.opts.Strict || h.chosen == h.active):
			return h.runtimes[h.active], nil
		}
		return nil, fault.New(fault.AmbiguousRuntime, "several runtimes are connected and the call names none of them").
			With("candidates", candidates(all)).Next(
			"name one with target_runtime_id, or choose the active one with browser.active_tab.set",
		)
	}
	var fit []*entry
	for _, e := range all {
		if s.matches(e) {
			fit = append(fit, e)
		}
	}
	switch len(fit) {
	case 0:
		e := fault.New(fault.RuntimeNotFound, "no connected runtime matches the selector").
			With("selector", s.evidence())
		e.With("runtimes", candidates(all))
		return nil, e.Next("list the connected runtimes with browser.claimed_tabs.list")
	case 1:
		return fit[0], nil
	}
	return nil, fault.New(
		fault.AmbiguousRuntime, "%d runtimes match the selector; the call was sent to none", len(fit),
	).With("selector", s.evidence()).With("candidates", candidates(fit)).Next("name one with target_runtime_id")
}

func (s Selector) evidence() map[string]string {
	out := map[string]string{}
	for k, v := range map[string]string{
		"target_runtime_id": s.RuntimeID, "target_runtime_key": s.RuntimeKey,
		"target_url_contains": s.URLContains, "target_title_contains": s.TitleContains,
	} {
		if v != "" {
			out[k] = clip(v)
		}
	}
	return out
}

func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
