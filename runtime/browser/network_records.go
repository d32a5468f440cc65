package browser

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

const (
	// maxExchanges bounds the entries of a tab; the oldest make room.
	maxExchanges = 1000
	// maxAddress and maxHeaders bound what is kept of one, in bytes.
	maxAddress = 2048
	maxHeaders = 8 << 10
)

// traffic is what is known of a tab's requests. Its zero value records nothing.
type traffic struct {
	change broadcast // a request began or ended, or a document became quiet

	mu      sync.Mutex
	since   time.Time // zero: not recording
	entries []*exchange
	byID    map[string]*exchange // newest entry of a request id of the browser
	open    map[*exchange]bool   // without an end, streams left out
	dropped int
	seq     int
	rev     int
	// unknown is the document that was there when recording began, until the
	// browser has found it quiet: what it had sent before is not in entries.
	unknown string
	settled time.Time // of the last change of open
}

// exchange is one entry. Its times are seconds of the browser's own clock.
type exchange struct {
	primitives.NetworkRequest
	request string // the browser's id
	loader  string
	s       *session // that can give the body
	began   float64
	ended   time.Duration
	open    bool // no end yet
	stream  bool // WebSocket, EventSource: not counted as in flight
	at      time.Time
	heard   time.Time // when the head of the answer or data came last; zero before
	length  int64     // of the body by its header; -1 when unknown
}

// Network implements primitives.ObservedPage.
func (t *Tab) Network(ctx context.Context) (primitives.NetworkLog, error) {
	if err := t.startTraffic(ctx); err != nil {
		return primitives.NetworkLog{}, t.b.explain(err, "recording requests")
	}
	n := &t.net
	n.mu.Lock()
	defer n.mu.Unlock()
	log := primitives.NetworkLog{Since: n.since, Dropped: n.dropped, Last: n.rev}
	log.Inflight, _ = n.inflight()
	if t.b.fence != nil {
		log.Fenced = true
		log.Blocked, _ = t.b.fence.since(0)
	}
	log.Requests = make([]primitives.NetworkRequest, len(n.entries))
	for i, e := range n.entries {
		r := e.NetworkRequest
		r.Duration = e.ended
		if e.open {
			r.Duration = time.Since(e.at)
		}
		log.Requests[i] = r
	}
	return log, nil
}

// add makes an entry; n.mu is held.
func (n *traffic) add(s *session, request, kind string, stream bool) *exchange {
	n.seq++
	n.rev++
	x := &exchange{request: request, s: s, open: true, stream: stream, at: time.Now(), length: -1}
	x.ID, x.Seq, x.Revision = "n"+strconv.Itoa(n.seq), n.seq, n.rev
	x.Type, x.State, x.Started = kind, "pending", x.at
	n.byID[request] = x
	n.entries = append(n.entries, x)
	if len(n.entries) > maxExchanges {
		oldest := n.entries[0]
		n.entries[0] = nil
		n.entries = n.entries[1:]
		n.dropped++
		if n.byID[oldest.request] == oldest && !oldest.open {
			delete(n.byID, oldest.request)
		}
	}
	if !stream {
		n.open[x] = true
		n.settled = x.at
	}
	return x
}

// end closes an entry; n.mu is held.
func (n *traffic) end(e *exchange, state string, took time.Duration) {
	if !e.open {
		return
	}
	n.rev++
	e.open, e.State, e.Revision, e.ended = false, state, n.rev, max(0, took)
	if !e.stream {
		delete(n.open, e)
		n.settled = time.Now()
	}
}

// update changes the entry that an event names.
func (n *traffic) update(params []byte, change func(*exchange)) {
	id := plainString(member(params, "requestId"))
	n.mu.Lock()
	e := n.byID[string(id)]
	if e != nil {
		change(e)
	}
	n.mu.Unlock()
	if e != nil {
		n.change.notify()
	}
}

// documentReplaced ends what the documents of frames that are gone had under
// way: the browser does not always say so.
func (n *traffic) documentReplaced(frame primitives.FrameID, loader string, top bool) {
	n.mu.Lock()
	defer n.change.notify()
	defer n.mu.Unlock()
	if n.since.IsZero() {
		return
	}
	if top {
		n.unknown = ""
	}
	for _, e := range n.entries {
		if e.open && e.loader != loader && (top || e.Frame == frame) {
			e.Failure, e.Cancelled = "the document was replaced", true
			n.end(e, "failed", time.Since(e.at))
		}
	}
}

// sessionGone ends what a frame in another process had under way.
func (n *traffic) sessionGone(s *session) {
	n.mu.Lock()
	defer n.change.notify()
	defer n.mu.Unlock()
	for _, e := range n.entries {
		if e.open && e.s == s {
			e.Failure, e.Cancelled = "the frame went away", true
			n.end(e, "failed", time.Since(e.at))
		}
	}
}
