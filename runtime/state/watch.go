package state

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
)

const (
	// maxWatches bounds the projections watched on one tab.
	maxWatches = 16
	// defaultDebounce is how long the page must be quiet before it is read.
	defaultDebounce = 250 * time.Millisecond
	// debounceLongest is how many debounces a page that never is quiet is waited
	// for before it is read all the same.
	debounceLongest = 4
	// watchIdleTime is when a page without any change is read all the same: other
	// frames, and properties that script writes, change without a word.
	watchIdleTime = 15 * time.Second
	// watchRead bounds one read of a watch.
	watchRead = 10 * time.Second

	// What all watches of a tab may cost together: watchReads reads in a minute,
	// watchBurst of them at once. A watch whose reads find the same state again
	// and again, because the page changes in ways that its projection does not
	// read, waits longer each time, up to watchRest; the first real change ends
	// that. And it rests watchShare times as long as its last read took.
	watchReads = 60
	watchBurst = 10
	watchRest  = 5 * time.Second
	watchShare = 9

	// maxEventBytes bounds the patches of one event. Beyond it the event says
	// that the state changed and leaves the difference out.
	maxEventBytes = 64 << 10
)

// stateChange is the payload of the event state.<projection>.
type stateChange struct {
	Projection     string          `json:"projection"`
	PreviousHash   string          `json:"previous_state_hash"`
	StateHash      string          `json:"state_hash"`
	PatchFormat    string          `json:"patch_format"`
	Patches        json.RawMessage `json:"patches"`
	SemanticDeltas json.RawMessage `json:"semantic_deltas"`
	Truncated      bool            `json:"truncated,omitempty"`
	ObservedAt     string          `json:"observed_at"`
}

// stateWatching is the output of state_watch.
type stateWatching struct {
	OK         bool   `json:"ok"`
	Projection string `json:"projection"`
	Watching   bool   `json:"watching"`
	Event      string `json:"event,omitempty"`
	DebounceMS int64  `json:"debounce_ms,omitempty"`
	StateHash  string `json:"state_hash,omitempty"`
	ObservedAt string `json:"observed_at,omitempty"`
}

// watches are the watched projections of one tab.
type watches struct {
	mu     sync.Mutex
	byName map[string]*watch
	closed bool
	tokens float64 // reads that may begin at once
	filled time.Time
	reads  int // ever begun
}

// watch emits an event whenever the state of a projection has changed.
type watch struct {
	stateReader
	name     string
	debounce time.Duration
	cancel   context.CancelFunc
	done     chan struct{}
}

// watch starts or ends the watch of a projection. The state that later ones are
// compared with first is read within the call, so a watch that could never report
// anything fails here.
func (p *Projections) watch(ctx context.Context, supplied *call.SuppliedMap, in Query) call.Reply {
	name := in.Projection
	if in.Enabled != nil && !*in.Enabled {
		p.watches.stop(name)
		return call.Encoded(stateWatching{OK: true, Projection: name})
	}
	w := &watch{stateReader: p.reader(supplied), name: name, debounce: defaultDebounce, done: make(chan struct{})}
	w.quiet = true
	if in.Debounce != nil {
		w.debounce = *in.Debounce
	}
	_, snap, err := w.read(ctx, name, projection.ReadOptions{})
	if err != nil {
		return call.Reply{Err: err}
	}
	if err := p.watches.start(w, snap); err != nil {
		return call.Reply{Err: err}
	}
	return call.Encoded(stateWatching{
		OK:         true,
		Projection: name,
		Watching:   true,
		Event:      eventName(name),
		DebounceMS: w.debounce.Milliseconds(),
		StateHash:  snap.Hash,
		ObservedAt: jsonout.Time(snap.ObservedAt),
	})
}

func eventName(projection string) string { return "state." + projection }

// start runs w in place of an earlier watch of the same projection.
func (ws *watches) start(w *watch, snap *projection.Snapshot) *fault.Error {
	ws.stop(w.name)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.byName) >= maxWatches {
		return fault.New(fault.LimitExceeded, "%d projections are watched on this tab", maxWatches).
			With("limit", maxWatches)
	}
	closing := fault.New(fault.Cancelled, "the tab is closing")
	if ws.closed {
		return closing
	}
	if ws.byName == nil {
		ws.byName = map[string]*watch{}
		ws.tokens = watchBurst
		ws.filled = time.Now()
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(w.tab.Context())
	if !w.tab.Go(func() {
		defer close(w.done)
		defer w.cancel()
		w.run(ctx, snap)
	}) {
		w.cancel()
		return closing
	}
	ws.byName[w.name] = w
	return nil
}

// stop ends the watch of a projection, if there is one, and returns when no
// event of it can follow.
func (ws *watches) stop(name string) {
	ws.mu.Lock()
	w := ws.byName[name]
	delete(ws.byName, name)
	ws.mu.Unlock()
	if w != nil {
		w.cancel()
		<-w.done
	}
}

// close ends every watch; the host waits for them.
func (ws *watches) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closed = true
	for _, w := range ws.byName {
		w.cancel()
	}
	clear(ws.byName)
}

// take waits until the watches of the tab may read once more.
func (ws *watches) take(ctx context.Context) {
	ws.mu.Lock()
	now := time.Now()
	ws.tokens = min(watchBurst, ws.tokens+now.Sub(ws.filled).Minutes()*watchReads)
	ws.filled = now
	ws.reads++
	ws.tokens-- // below zero it is a place in the line
	wait := time.Duration(-ws.tokens / watchReads * float64(time.Minute))
	ws.mu.Unlock()
	if wait > 0 {
		observe.Pause(ctx, wait)
	}
}

// run waits for changes and reads until ctx ends or the tab is closed.
func (w *watch) run(ctx context.Context, last *projection.Snapshot) {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pause := w.debounce
	changed := false // a change of the page led to this read
	for ctx.Err() == nil {
		page, err := w.tab.LivePage(ctx)
		if err != nil {
			return
		}
		w.watches.take(ctx)
		// The wait begins before the read, so that nothing falls between.
		wait := observe.Begin(ctx, page, w.quietness(), waits.Go)
		began := time.Now()
		p, next := w.observe(ctx)
		took := time.Since(began)
		if next != nil && next.Hash != last.Hash {
			w.report(p, last, next)
			last, pause = next, w.debounce
		} else if changed {
			pause = min(2*pause, max(watchRest, w.debounce))
		}
		observe.Pause(ctx, max(pause-w.debounce, min(watchShare*took, time.Minute)))
		select {
		case <-wait.Over:
			changed = wait.Changed
		case <-ctx.Done():
			return
		}
		if wait.Err != nil { // the document was replaced, a dialog is open, the page hangs
			w.Log.Debug("waiting for a change of state", "tab", w.tab.ID(), "projection", w.name, "error", wait.Err)
			observe.Pause(ctx, w.debounce)
		}
	}
}

func (w *watch) quietness() observe.Quietness {
	return observe.Quietness{
		Quiet:   w.debounce,
		Longest: debounceLongest * w.debounce,
		Timeout: max(watchIdleTime, w.debounce),
	}
}

// observe reads the state beside the tab's queue; nil when the page cannot be read
// or the projection does not apply to it: then its state is as it was.
func (w *watch) observe(ctx context.Context) (*projection.Projection, *projection.Snapshot) {
	bounded, cancel := context.WithTimeout(ctx, watchRead)
	defer cancel()
	p, snap, err := w.read(bounded, w.name, projection.ReadOptions{})
	if err != nil {
		w.Log.Debug("reading a watched state", "tab", w.tab.ID(), "projection", w.name, "error", err)
		return nil, nil
	}
	return p, snap
}

func (w *watch) report(p *projection.Projection, last, next *projection.Snapshot) {
	delta := difference(w.Quirks, p, last.State, next.State)
	change := stateChange{
		Projection:     w.name,
		PreviousHash:   last.Hash,
		StateHash:      next.Hash,
		PatchFormat:    "json_patch",
		Patches:        delta.Patches,
		SemanticDeltas: delta.Semantic,
		ObservedAt:     jsonout.Time(next.ObservedAt),
	}
	if len(change.Patches)+len(change.SemanticDeltas) > maxEventBytes {
		change.Patches = emptyArray
		change.SemanticDeltas = emptyArray
		change.Truncated = true
	}
	reply := call.Encoded(change)
	if reply.Err != nil {
		return
	}
	w.tab.Emit(call.Event{
		Kind:           call.DOMEvent,
		Tab:            w.tab.Status(),
		Name:           eventName(w.name),
		PageEvent:      eventName(w.name),
		Payload:        reply.Output,
		PreviousCallID: w.tab.LastCall(),
	})
}
