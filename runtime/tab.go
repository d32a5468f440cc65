package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/observe"
)

// Tab is one tab of the host and its queue. Calls on a tab run in the order in
// which they were accepted; different tabs run in parallel; a cancel or an
// expired deadline overtakes the queue, and so do calls about tabs (controls).
type Tab struct {
	host *Host
	id   int

	mu          sync.Mutex
	page        primitives.Page // nil while the browser is away
	shown       primitives.Page // the last page, also while it is away
	ready       chan struct{}   // closed while page is set
	closed      chan struct{}   // closed when the tab is
	why         *fault.Error    // set before closed is
	calls       lane            // that need the page, in order
	controlLane lane            // that do not: see controls
	status      TabStatus       // address and title are those of the last event: see Status

	emitting sync.Mutex // held while an event about the tab is emitted
	removed  bool       // TabRemoved was emitted; emitting is held

	workspace *Workspace // nil for none

	pacing    time.Duration      // runtime.configure_pacing
	pacedIn   int                // the document that pacing is of, with quirks.DocumentSession
	lastPaced time.Time          // start of the last paced primitive
	watches   primitives.Watches // of effects, which go on after answers
	lastCall  string             // id of the call that ran last
	heavy     bool               // its page held too much memory and was ended

	runningCall string // id of the call that runs, "" for none

	ctx      context.Context // ends with the tab or the host
	end      context.CancelFunc
	features []feature
	services services
}

func newTab(h *Host, id int, status TabStatus) *Tab {
	t := &Tab{
		host:        h,
		id:          id,
		status:      status,
		pacing:      h.pacing(),
		ready:       make(chan struct{}),
		closed:      make(chan struct{}),
		calls:       lane{wake: make(chan struct{}, 1)},
		controlLane: lane{wake: make(chan struct{}, 1)},
	}
	t.ctx, t.end = context.WithCancel(h.ctx)
	return t
}

// Status describes the tab. Address and title are those of its page at this moment:
// who has the reply to a call finds here what the call did, also when the event that
// reports it has not been delivered.
func (t *Tab) Status() TabStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.statusNow()
}

// statusNow is Status for who holds t.mu.
func (t *Tab) statusNow() TabStatus {
	s := t.status
	if t.shown != nil {
		info := t.shown.Tab()
		s.URL, s.Title = info.URL, info.Title
		s.Loading = info.Loading
		s.Busy = info.Busy
	}
	return s
}

// emit emits an event about the tab. Several goroutines do; each event has the status
// of its moment, so the last one that a subscriber gets is right. A tab that was
// removed changes no more.
func (t *Tab) emit(kind EventKind) {
	t.emitting.Lock()
	defer t.emitting.Unlock()
	if t.removed {
		return
	}
	t.removed = kind == TabRemoved
	t.host.emit(Event{Kind: kind, Tab: t.Status()})
}

// attach gives the tab a page: its first, or a new one after the old was lost.
func (t *Tab) attach(p primitives.Page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.page == nil {
		close(t.ready)
	}
	t.page, t.shown = p, p
}

// Page is the tab's page as it is at this moment, nil while the browser is away.
func (t *Tab) Page() primitives.Page {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.page
}

// detach takes page away, unless another one has taken its place, until attach
// is called again. Calls that have not started wait for that, within their own
// time.
func (t *Tab) detach(page primitives.Page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.page != nil && t.page == page {
		t.page = nil
		t.ready = make(chan struct{})
	}
}

// forget is detach for a page that will not be shown again: what happens to it from
// then on is not the tab's concern.
func (t *Tab) forget(page primitives.Page) {
	t.detach(page)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown == page {
		t.status = t.statusNow()
		t.shown = nil
	}
}

// remove ends the tab for good: waiting calls fail with why.
func (t *Tab) remove(why *fault.Error) {
	defer t.end()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == nil {
		t.why = why
		close(t.closed)
	}
}

// LivePage returns the tab's page, waiting for one while the browser is being
// started again.
func (t *Tab) LivePage(ctx context.Context) (primitives.Page, error) {
	for {
		t.mu.Lock()
		page, ready := t.page, t.ready
		t.mu.Unlock()
		if page != nil {
			if !observe.Detached(page) {
				return primitives.WithQuirks(underMutant(ctx, page), t.host.opts.Quirks), nil
			}
			t.detach(page)
			continue
		}
		select {
		case <-ready:
		case <-t.closed:
			return nil, t.why
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maxQueue bounds the calls that wait for one tab.
const maxQueue = 10_000

// lane is a queue of calls, which run one after the other. Tab.mu guards it.
type lane struct {
	queue []*job
	wake  chan struct{} // buffered, 1
}

// controls are the primitives that speak of tabs, not to their pages: a page that does
// not answer must not keep its tab from being listed, left or closed.
var controls = map[string]bool{
	"browser.claimed_tabs.list": true, "browser.claimed_tabs.activate": true,
	"browser.open_tab": true, "browser.close_tab": true, "call.outcome": true,
}

// skipsQueue reports whether a call does not wait for those that were accepted
// before. The upstream bridge says neither how long a call may take nor that it
// gave one up, so in the strict profile the next call waits for a site action
// whose caller has disconnected: beside it, it would act on a page that is in motion.
func (h *Host) skipsQueue(c *Call) bool {
	if !h.opts.Quirks.Has(quirks.SiteActionsBeside) {
		return false
	}
	_, primitive := h.opts.Registry.Lookup(c.Name)
	return !primitive || c.Map != nil
}

func (t *Tab) enqueue(j *job) *fault.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why != nil {
		return t.why
	}
	if t.host.skipsQueue(&j.call) {
		t.host.workers.Go(func() { t.run(j) })
		return nil
	}
	l := &t.calls
	if controls[j.call.Name] && j.call.Map == nil {
		l = &t.controlLane
	}
	if len(l.queue) >= maxQueue {
		return fault.New(fault.QueueFull, "%d calls are waiting for this tab", maxQueue)
	}
	l.queue = append(l.queue, j)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

// work runs queued calls until the tab is closed, then answers those that are
// left.
func (t *Tab) work() {
	var beside sync.WaitGroup
	beside.Go(func() { t.serve(&t.controlLane, t.runControl) })
	t.serve(&t.calls, t.run)
	beside.Wait()
}

func (t *Tab) serve(l *lane, run func(*job)) {
	for {
		j, ok := t.next(l)
		if !ok {
			break
		}
		run(j)
	}
	t.mu.Lock()
	left := l.queue
	l.queue = nil
	t.mu.Unlock()
	for _, j := range left {
		j.fail(t.why)
	}
}

func (t *Tab) next(l *lane) (*job, bool) {
	for {
		select {
		case <-t.closed:
			return nil, false
		default:
		}
		t.mu.Lock()
		if len(l.queue) > 0 {
			j := l.queue[0]
			l.queue[0] = nil
			l.queue = l.queue[1:]
			t.mu.Unlock()
			return j, true
		}
		t.mu.Unlock()
		select {
		case <-l.wake:
		case <-t.closed:
		}
	}
}

// run executes one call and waits until it has really ended, because the next
// one must not touch the page before. The caller may have been answered
// earlier: see job.expire.
func (t *Tab) run(j *job) {
	if !j.start() {
		return
	}
	j.progress(Progress{Phase: "action_handler"})
	began := time.Now()
	t.mu.Lock()
	t.runningCall = j.call.ID
	t.mu.Unlock()
	own := j.visit != nil || j.call.Name == LaterEffects // nothing that a caller has asked for
	answered := func(Reply) {}
	if j.call.Name != LaterEffects {
		answered = t.recordCall(j)
	}
	if !own {
		t.recordStates(j.ctx, j.recorded)
	}
	reply := t.host.execute(j.ctx, t, j)
	if reply.Err != nil {
		reply.Err = j.explain(reply.Err)
	}
	answered(reply)
	if j.ended != nil {
		j.ended(j.completed(reply))
	}
	t.mu.Lock()
	t.lastCall = j.call.ID
	if t.runningCall == j.call.ID { // another one may run beside the queue
		t.runningCall = ""
	}
	t.mu.Unlock()
	if !own {
		t.logCall(j.call, reply, began)
	}
	j.finish(reply)
}

// runControl executes one call that does not touch the page, whatever runs there.
func (t *Tab) runControl(j *job) {
	if !j.start() {
		return
	}
	began := time.Now()
	answered := t.recordCall(j)
	reply := t.host.execute(j.ctx, t, j)
	if reply.Err != nil {
		reply.Err = j.explain(reply.Err)
	}
	answered(reply)
	if j.ended != nil {
		j.ended(j.completed(reply))
	}
	t.logCall(j.call, reply, began)
	j.finish(reply)
}
