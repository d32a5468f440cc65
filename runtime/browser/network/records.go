package network

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

const (
	// maxExchanges bounds the entries of a tab; the oldest make room.
	maxExchanges = 1000
	// maxHeaders bounds the headers that are kept of one, in bytes.
	maxHeaders = 8 << 10
)

// Traffic is the record of a tab's requests. It implements the part of
// primitives.ObservedPage that is about the network.
type Traffic struct {
	client *cdp.Client
	tab    Tab
	egress *Egress       // nil without allowed or blocked origins
	change cdp.Broadcast // a request began or ended, or a document became quiet

	mu      sync.Mutex
	since   time.Time // zero: not recording
	kept    bool      // see Keep
	entries []*exchange
	byID    map[string]*exchange // newest entry of a request id of the browser
	open    map[*exchange]bool   // without an end, streams left out
	dropped int
	seq     int
	rev     int
	// unknown is the document that was there when recording began, until the
	// browser has found it quiet: what it had sent before is not in entries.
	unknown string
	settled time.Time                       // of the last change of open
	onEnd   func(primitives.NetworkRequest) // nil for nobody
}

// exchange is one entry. Its times are seconds of the browser's own clock.
type exchange struct {
	primitives.NetworkRequest
	request  string // the browser's id
	loader   string
	session  *cdp.Session // that can give the body
	began    float64
	ended    time.Duration
	open     bool // no end yet
	stream   bool // WebSocket, EventSource: not counted as in flight
	at       time.Time
	lastData time.Time // when the head of the answer or data came last; zero before
	length   int64     // of the body by its header; -1 when unknown
	sent     []byte    // the body of the request, where it came with it
	before   *exchange // that led here
	head     bool      // the event with the cookies of the answer came
	reported bool      // to onEnd
	worker   bool      // the script of a worker, which its page asks for
}

// Network implements primitives.ObservedPage.
func (t *Traffic) Network(ctx context.Context) (primitives.NetworkLog, error) {
	if err := t.Record(ctx); err != nil {
		return primitives.NetworkLog{}, cdp.Explain(err, "recording requests")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	log := primitives.NetworkLog{Since: t.since, Dropped: t.dropped, Last: t.rev}
	log.Inflight, _ = t.inflight()
	if t.egress != nil {
		log.HasOriginPolicy = true
		log.Blocked, _ = t.egress.Refused(0)
	}
	log.Requests = make([]primitives.NetworkRequest, len(t.entries))
	for i, e := range t.entries {
		r := e.NetworkRequest
		r.Duration = e.ended
		if e.open {
			r.Duration = time.Since(e.at)
		}
		log.Requests[i] = r
	}
	return log, nil
}

// add makes an entry; t.mu is held.
func (t *Traffic) add(s *cdp.Session, request, kind string, stream bool) *exchange {
	t.seq++
	t.rev++
	x := &exchange{
		request: request,
		session: s,
		open:    true,
		stream:  stream,
		at:      time.Now(),
		length:  -1,
	}
	x.ID = "n" + strconv.Itoa(t.seq)
	x.Seq = t.seq
	x.Revision = t.rev
	x.Type = kind
	x.State = "pending"
	x.Started = x.at
	t.byID[request] = x
	t.entries = append(t.entries, x)
	if len(t.entries) > maxExchanges {
		oldest := t.entries[0]
		t.entries[0] = nil
		t.entries = t.entries[1:]
		t.dropped++
		if t.byID[oldest.request] == oldest && !oldest.open {
			delete(t.byID, oldest.request)
		}
	}
	if !stream {
		t.open[x] = true
		t.settled = x.at
	}
	return x
}

// end closes an entry; t.mu is held.
func (t *Traffic) end(e *exchange, state string, took time.Duration) {
	if !e.open {
		return
	}
	t.rev++
	e.open = false
	e.State = state
	e.Revision = t.rev
	e.ended = max(0, took)
	if !e.stream {
		delete(t.open, e)
		t.settled = time.Now()
	}
	if t.onEnd == nil {
		return
	}
	if e.before != nil {
		e.before.head = true // what has not come does not
		t.report(e.before)
		e.before = nil
	}
	t.report(e)
}

// report tells of a request that has ended, once: of one that was redirected when its cookies came. t.mu is held.
func (t *Traffic) report(e *exchange) {
	if e.open || e.reported || !e.head && e.State == "redirected" {
		return
	}
	e.reported = true
	r := e.NetworkRequest
	r.Duration = e.ended
	t.onEnd(r)
}

// Changed returns a channel that the next change of the record closes.
func (t *Traffic) Changed() <-chan struct{} { return t.change.Wait() }

// Last is the number of the newest entry.
func (t *Traffic) Last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// Since returns the entries after one with its number, and how many of them are
// under way.
func (t *Traffic) Since(seq int) (requests []primitives.NetworkRequest, pending int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.entries {
		if x.Seq <= seq {
			continue
		}
		requests = append(requests, x.NetworkRequest)
		if x.open && !x.stream {
			pending++
		}
	}
	return requests, pending
}

// update changes the entry that an event names.
func (t *Traffic) update(params []byte, change func(*exchange)) {
	id := cdp.PlainString(cdp.Member(params, "requestId"))
	t.mu.Lock()
	e := t.byID[string(id)]
	if e != nil {
		change(e)
	}
	t.mu.Unlock()
	if e != nil {
		t.change.Notify()
	}
}

// DocumentReplaced ends what the documents that were replaced had under
// way: the browser does not always say so.
func (t *Traffic) DocumentReplaced(frame primitives.FrameID, loader string, top bool) {
	t.mu.Lock()
	defer t.change.Notify()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		return
	}
	if top {
		t.unknown = ""
	}
	for _, e := range t.entries {
		if e.open && e.loader != loader && (top || e.Frame == frame) {
			e.Failure, e.Cancelled = "the document was replaced", true
			t.end(e, "failed", time.Since(e.at))
		}
	}
}

// WorkerAttached gives a worker the request for its script: it ends with the worker at the latest.
func (t *Traffic) WorkerAttached(s *cdp.Session, address string) {
	address = truncate.Address(address)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.open && e.URL == address && e.session != nil && e.session.ID == s.Parent {
			e.session = s
			return
		}
	}
}

// SessionDetached ends what a frame in another process had under way.
func (t *Traffic) SessionDetached(s *cdp.Session) {
	t.mu.Lock()
	defer t.change.Notify()
	defer t.mu.Unlock()
	for _, e := range t.entries {
		if e.open && e.session == s {
			e.Failure, e.Cancelled = "the frame went away", true
			t.end(e, "failed", time.Since(e.at))
		}
	}
}
