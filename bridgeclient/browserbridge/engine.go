package browserbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

const (
	// maxQueue is how many requests wait for one tab.
	maxQueue = 32
	// loadSlack is what a request that loads a page has beyond navigateLimit.
	loadSlack = 3 * time.Second
	// stopBound bounds how long a stop waits for what runs.
	stopBound = 3 * time.Second
)

var (
	errStopped  = errors.New("stopped")
	errShutdown = errors.New("the runtime is shutting down")
)

// engine executes requests: one after the other on each tab, in parallel on
// different tabs. Everything below mu is reported to the backend in the order in
// which it happens, so events are put out while mu is held; no call of the host
// is made then.
type engine struct {
	o       *Options
	log     *slog.Logger
	out     *outbox
	host    Host
	blocked blocklist

	ctx         context.Context // ends with the client; bounds every request
	cancel      context.CancelCauseFunc
	work        sync.WaitGroup
	unsubscribe func()

	mu       sync.Mutex
	gen      uint64
	own      *runtime.Workspace // of the agent's own tabs, made when needed
	sessions map[int]*session
	uids     map[int]map[string]string // of each tab: uid -> ref
	known    map[int]bool              // tabs that have been there
	prepared map[int]bool              // navigator.webdriver is set
	closing  map[int]bool              // close_tab is at work
	fresh    map[int]bool              // opened, and not reported yet
	lanes    map[int]*lane
	flights  map[string]*flight
	opening  int
	idle     *time.Timer
	closed   bool

	making sync.Mutex // held while the workspace is made
}

// lane is the queue of a tab. Lane 0 is of requests that open one.
type lane struct {
	waiting []func()
	running bool
}

// flight is a request on its way to exactly one response.
type flight struct {
	e      *engine
	gen    uint64
	id     string
	ctx    context.Context
	cancel context.CancelCauseFunc
	stop   func() bool
	done   chan struct{} // closed when it is answered

	mu       sync.Mutex
	running  bool
	answered bool
}

func newEngine(o *Options, log *slog.Logger, out *outbox) *engine {
	e := &engine{
		o:        o,
		log:      log,
		out:      out,
		host:     o.Host,
		sessions: map[int]*session{},
		uids:     map[int]map[string]string{},
		known:    map[int]bool{},
		prepared: map[int]bool{},
		closing:  map[int]bool{},
		fresh:    map[int]bool{},
		lanes:    map[int]*lane{},
		flights:  map[string]*flight{},
	}
	e.blocked.set(o.Block)
	return e
}

func (e *engine) start(ctx context.Context) {
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	e.unsubscribe = e.host.Subscribe(e.onEvent)
	tabs := e.host.Tabs()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range tabs {
		e.known[t.TabID] = true
	}
}

// close ends what runs and closes the agent's tabs.
func (e *engine) close() {
	e.mu.Lock()
	e.closed = true
	if e.idle != nil {
		e.idle.Stop()
	}
	e.mu.Unlock()
	e.unsubscribe()
	e.cancel(errShutdown)
	e.work.Wait()
	e.mu.Lock()
	workspace := e.own
	e.mu.Unlock()
	if workspace == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	if err := workspace.Close(ctx); err != nil {
		e.log.Warn("closing the agent's tabs", "error", err)
	}
}

func (e *engine) nextGeneration() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gen++
	return e.gen
}

// limit is how long a request may take from its arrival, the wait for its turn
// included: two seconds less than the backend waits.
func (a action) limit() time.Duration {
	switch a.kind {
	case actNavigate, actOpenTab:
		return navigateLimit + loadSlack
	case actExtract:
		return extractLimit
	case actScreenshot:
		return screenshotLimit
	case actWaitFor:
		return a.timeout + 3*time.Second
	}
	return otherLimit
}

// request takes a request and returns at once.
func (e *engine) request(gen uint64, id string, raw json.RawMessage) {
	a, bad := decodeAction(raw)
	if bad == nil {
		bad = a.checkAddress()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	refuse := func(err *Error) { e.out.respond(gen, Response{ID: id, Error: err}) }
	switch {
	case e.closed:
		return
	case bad != nil:
		refuse(bad)
		return
	case e.flights[id] != nil:
		refuse(invalidAction("a request with this id is being worked on"))
		return
	}
	e.touchIdle()
	f := &flight{e: e, gen: gen, id: id, done: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(e.ctx)
	bounded, release := context.WithTimeoutCause(ctx, a.limit(), context.DeadlineExceeded)
	f.ctx, f.cancel = bounded, func(cause error) { cancel(cause); release() }
	f.stop = context.AfterFunc(bounded, f.expire)
	e.flights[id] = f
	switch {
	case a.kind == actGetTabs:
		e.work.Go(func() { f.run(func(context.Context) (any, *Error) { return e.listTabs(), nil }) })
	case a.kind == actOpenTab:
		if e.opening >= maxQueue {
			f.answerLocked(nil, &Error{codeInternal, "too many tabs are being opened"})
			return
		}
		e.opening++
		e.work.Go(func() {
			f.run(func(ctx context.Context) (any, *Error) { return e.openTab(ctx, a) })
			e.mu.Lock()
			e.opening--
			e.mu.Unlock()
		})
	case a.tabID != 0:
		e.enqueue(a.tabID, f, func(ctx context.Context) (any, *Error) { return e.onTab(ctx, f, a, a.tabID) })
	default:
		e.route(f, a)
	}
}

// route finds the tab of a request that names none. While a tab is being opened
// for such a request, later ones wait for it. e.mu is held.
func (e *engine) route(f *flight, a action) {
	if l := e.lanes[0]; l != nil && l.running {
		e.queue(0, f, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.place(f, a)
		})
		return
	}
	e.place(f, a)
}

// place sends a request to its tab. e.mu is held.
func (e *engine) place(f *flight, a action) {
	id, err := e.pick()
	switch {
	case err != nil:
		f.answerLocked(nil, err)
	case id != 0:
		e.enqueue(id, f, func(ctx context.Context) (any, *Error) { return e.onTab(ctx, f, a, id) })
	case a.kind == actNavigate:
		e.enqueue(0, f, func(ctx context.Context) (any, *Error) {
			e.mu.Lock()
			id, err := e.pick() // an earlier one may have opened it
			e.mu.Unlock()
			if err == nil && id != 0 {
				return e.onTab(ctx, f, a, id)
			}
			return e.navigateNew(ctx, a)
		})
	default:
		f.answerLocked(nil, &Error{codeSessionNotFound, "there is no session; open a tab or pass tabId"})
	}
}

func (e *engine) enqueue(id int, f *flight, do func(context.Context) (any, *Error)) {
	e.queue(id, f, func() { f.run(do) })
}

// queue puts a request behind those of its tab. e.mu is held.
func (e *engine) queue(id int, f *flight, run func()) {
	l := e.lanes[id]
	if l == nil {
		l = &lane{}
		e.lanes[id] = l
	}
	if len(l.waiting) >= maxQueue {
		f.answerLocked(nil, &Error{codeInternal, fmt.Sprintf("%d requests wait for this tab", maxQueue)})
		return
	}
	l.waiting = append(l.waiting, run)
	if !l.running {
		l.running = true
		e.work.Go(func() { e.drain(id, l) })
	}
}

func (e *engine) drain(id int, l *lane) {
	for {
		e.mu.Lock()
		if len(l.waiting) == 0 {
			l.running = false
			delete(e.lanes, id)
			e.mu.Unlock()
			return
		}
		run := l.waiting[0]
		l.waiting = l.waiting[1:]
		e.mu.Unlock()
		run()
	}
}

// run does the work of a request, unless it was answered while it waited.
func (f *flight) run(do func(context.Context) (any, *Error)) {
	f.mu.Lock()
	if f.answered {
		f.mu.Unlock()
		return
	}
	f.running = true
	f.mu.Unlock()
	result, err := do(f.ctx)
	if err != nil && f.ctx.Err() != nil {
		err = f.ended()
	}
	f.answer(result, err)
}

// expire answers a request that was cancelled or whose time was up before its
// turn came.
func (f *flight) expire() {
	f.mu.Lock()
	running := f.running
	f.mu.Unlock()
	if !running {
		f.answer(nil, f.ended())
	}
}

// ended says why the request's own context is over.
func (f *flight) ended() *Error {
	switch cause := context.Cause(f.ctx); {
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{codeTimeout, "the action did not finish in time"}
	case errors.Is(cause, errShutdown):
		return &Error{codeInternal, errShutdown.Error()}
	}
	return &Error{codeInternal, errStopped.Error()}
}

func (f *flight) answer(result any, err *Error) {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	f.answerLocked(result, err)
}

// answerLocked responds, the first time. e.mu is held.
func (f *flight) answerLocked(result any, err *Error) {
	f.mu.Lock()
	first := !f.answered
	f.answered = true
	f.mu.Unlock()
	if !first {
		return
	}
	delete(f.e.flights, f.id)
	f.stop()
	f.cancel(nil)
	r := Response{ID: f.id, Error: err}
	if err == nil {
		encoded, failed := json.Marshal(result)
		if failed != nil {
			r.Error = &Error{codeInternal, "the result could not be encoded"}
		}
		r.Result = encoded
	}
	f.e.out.respond(f.gen, r)
	close(f.done)
}

// stopAll is the global stop.
func (e *engine) stopAll() {
	e.mu.Lock()
	flights := slices.Collect(maps.Values(e.flights))
	e.mu.Unlock()
	for _, f := range flights {
		f.cancel(errStopped)
	}
	e.awaitAnswers(flights)
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := e.sessionIDs()
	for _, id := range ids {
		e.end(id, endGlobalStop)
	}
	e.out.event(map[string]any{"type": "global_stop", "endedCount": len(ids)})
}

// awaitAnswers waits until cancelled requests have been answered. One that does
// not end is answered in its place.
func (e *engine) awaitAnswers(flights []*flight) {
	timer := time.NewTimer(stopBound)
	defer timer.Stop()
	for _, f := range flights {
		select {
		case <-f.done:
		case <-timer.C:
			for _, f := range flights {
				f.answer(nil, &Error{codeInternal, errStopped.Error()})
			}
			return
		}
	}
}

func (e *engine) sessionIDs() []int { return slices.Sorted(maps.Keys(e.sessions)) }

func (e *engine) stopSession(tabID int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.end(tabID, endUserStopped)
}

func (e *engine) setBlock(domains []string) {
	e.blocked.set(domains)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range e.sessionIDs() {
		if e.blocked.blocks(e.sessions[id].domain) {
			e.end(id, endDomainBlocked)
		}
	}
}

// tabs lists the accessible tabs, the agent's own last.
func (e *engine) tabs() (tabs []runtime.TabStatus, own map[int]bool) {
	e.mu.Lock()
	workspace := e.own
	e.mu.Unlock()
	own = map[int]bool{}
	tabs = e.host.Tabs()
	if !e.o.UserTabs {
		for _, t := range tabs {
			own[t.TabID] = true
		}
	}
	if workspace != nil {
		for _, t := range workspace.Tabs() {
			own[t.TabID] = true
			tabs = append(tabs, t)
		}
	}
	return tabs, own
}

func (e *engine) tab(id int) (t runtime.TabStatus, own, ok bool) {
	tabs, owns := e.tabs()
	for _, t := range tabs {
		if t.TabID == id {
			return t, owns[id], true
		}
	}
	return t, false, false
}

func (e *engine) listTabs() []Tab {
	tabs, _ := e.tabs()
	out := []Tab{}
	for _, t := range tabs {
		if domain := domainOf(t.URL); !e.blocked.blocks(domain) {
			out = append(out, Tab{TabID: t.TabID, URL: t.URL, Title: t.Title, Domain: domain})
		}
	}
	return out
}

// workspace is where the agent's own tabs are.
func (e *engine) workspace(ctx context.Context) (*runtime.Workspace, error) {
	e.making.Lock()
	defer e.making.Unlock()
	e.mu.Lock()
	workspace := e.own
	e.mu.Unlock()
	if workspace != nil {
		return workspace, nil
	}
	workspace, err := e.host.NewWorkspace(ctx, runtime.WorkspaceOptions{})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.own = workspace
	return workspace, nil
}

func (e *engine) callID(kind string) string {
	return "browser-bridge-" + kind + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
}
