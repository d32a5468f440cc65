// Package runtime owns the tabs of one browser and decides which tab runs a call, in
// which order, for how long, and under which policy. What a map means on a live page
// is in the packages below it, which tab_services.go puts together. Faces and the Go library
// call it, through Call, Reply and Event.
package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/projection/expr"

	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/clipboard"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/sites"
)

// Options configure a Host. Registry, Engine and NewID are required.
type Options struct {
	Registry *primitives.Registry
	Engine   expr.Engine
	// NewID makes the ids of runtimes, authorizations and events.
	NewID func() string
	// Maps are the site maps on offer; nil is none.
	Maps *Maps
	// Ready, when set, returns when the maps have been read, and what is wrong with them. It is
	// called beside the start of the browser, which its error ends.
	Ready func() error
	// WatchMaps keeps the maps like their files: an edit is on offer as soon as
	// the files are quiet, and every tab reports it.
	WatchMaps bool
	// Browser says what to launch or attach to.
	Browser browser.Options
	// Open lists the addresses to open, one tab each. Default: the tabs of an
	// attached browser, else one about:blank.
	Open []string
	// NoFirstTab leaves that about:blank out: all that is done is done in workspaces.
	NoFirstTab bool
	// Prepare, when set, is called when the first tab shows about:blank, or what an
	// attached browser has, and before the addresses are opened. Its error ends Open.
	Prepare func(context.Context, *Host) error
	// OnOpen, when set, is called for each address with the tab that shows it, or the error.
	// Then an address that cannot be opened does not end Open.
	OnOpen func(address, runtimeID string, err error)
	// LoadTimeout bounds the wait for each of them to load. Default 15 s.
	LoadTimeout time.Duration
	// CallTimeout bounds a call that brings no timeout. Default 30 s.
	CallTimeout time.Duration
	// Pacing is the least distance between the starts of two human-visible
	// actions on one tab. Nil is the default of the profile: 0, or 500 ms with
	// the quirk default_pacing.
	Pacing *time.Duration
	// MapPermissions are those of the maps that others wrote. Default: none.
	MapPermissions sites.Permissions
	// Quirks are the behaviours of the upstream extension to keep to. Default:
	// none, the strict profile.
	Quirks quirks.Set

	// Secrets are values that callers name by placeholders: fields get the values, and nothing
	// that leaves the host shows one. Nil is none.
	Secrets *mask.Set

	// OnCall, when set, is called with each accepted call. The function that it returns is
	// called with the reply. Neither may block.
	OnCall func(Call) (answered func(Reply))
	// Recorder, when set, receives the calls and events of all tabs.
	Recorder Recorder
	// Remembered answers the modes of actions.site that need the last calls, learn and
	// record. Nil is a host that remembers none.
	Remembered func(ctx context.Context, h *Host, tab TabStatus, arguments json.RawMessage) Reply

	// Limits bound what pages may take. Default: none.
	Limits Limits
	// Spans, when set, receives the spans of each call. It may not block.
	Spans span.Listener

	Version string
	Device  string
	Logger  *slog.Logger
}

// Host runs calls on the tabs of one browser. A browser that ends is started
// again and its tabs are opened again at their addresses.
type Host struct {
	opts Options
	log  *slog.Logger
	// id distinguishes this host from every other one: a bridge takes two runtimes of
	// one runtime_key for the same tab, and the older one away.
	id string

	ctx      context.Context // ends when the host closes; bounds every call
	shutdown context.CancelCauseFunc
	life     sync.WaitGroup // supervisor
	workers  sync.WaitGroup // one per tab

	mu          sync.Mutex
	browser     *browser.Browser // nil while it is away
	tabs        []*Tab
	workspaces  []*Workspace
	nextTab     int
	chosen      int // see choose
	subscribers map[int]func(Event)
	nextSub     int
	closed      bool

	opening  int         // tabs that are being opened, guarded by mu
	refusing atomic.Bool // calls are refused, see RefuseCalls

	manifest   func() json.RawMessage
	stores     sessionStores // of the tabs in no workspace
	queues     workQueues
	clipboards *clipboard.Shared
	signals    *signal.Hub
}

// Open launches (or attaches to) the browser, opens the tabs and waits for
// them to load. The host is open until Close, not until ctx ends.
func Open(ctx context.Context, opts Options) (*Host, error) {
	if opts.LoadTimeout <= 0 {
		opts.LoadTimeout = 15 * time.Second
	}
	if opts.CallTimeout <= 0 {
		opts.CallTimeout = 30 * time.Second
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Maps == nil {
		opts.Maps = mapset.New(opts.Registry, opts.Engine)
	}
	opts.Maps.As(opts.Quirks.Has(quirks.MapsAsTheyCome), opts.Quirks.Has(quirks.UpstreamVocabulary))
	h := &Host{
		opts:        opts,
		log:         opts.Logger.With("component", "runtime"),
		id:          opts.NewID(),
		subscribers: map[int]func(Event){},
	}
	h.manifest = sync.OnceValue(func() json.RawMessage { return announcedManifest(opts.Registry, opts.Quirks) })
	h.clipboards = clipboard.New(h.sharers, h.log)
	h.signals = signal.NewHub(opts.Maps, opts.Quirks, h.log, h.publish)
	h.ctx, h.shutdown = context.WithCancelCause(context.WithoutCancel(ctx))
	opts.Maps.OnRead(func() { h.mapsMoved(h.ctx) })
	if err := h.start(ctx); err != nil {
		_ = h.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	h.watchMaps()
	if r := opts.Recorder; r != nil {
		r.Opened(h.about())
	}
	return h, nil
}

// Close answers every call, closes the browser and returns after everything
// the host started has ended.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	tabs := slices.Clone(h.tabs)
	h.mu.Unlock()
	h.recordLastStates(ctx, tabs)
	h.shutdown(errShutdown)
	for _, t := range tabs {
		t.remove(fault.New(fault.Cancelled, "the runtime is shutting down"))
	}
	h.workers.Wait()
	h.life.Wait()
	h.mu.Lock()
	b := h.browser
	h.mu.Unlock()
	var failed error
	if r := h.opts.Recorder; r != nil {
		failed = r.Close() // the browser is still there for what it reads of pages
	}
	if b != nil {
		failed = errors.Join(failed, b.Close(ctx))
	}
	return failed
}

// Accept queues a call without blocking. Calls on one tab run in the order of
// Accept. done is called exactly once, from another goroutine, within the
// call's timeout and a small slack; also after cancel, which overtakes the
// queue.
func (h *Host) Accept(call Call, done func(Reply)) (cancel func()) {
	end := h.acceptFrom(nil, call, done)
	return func() { end(context.Canceled) }
}

// acceptFrom is Accept for a call on behalf of a map, nil for an agent's.
func (h *Host) acceptFrom(from *sites.Map, call Call, done func(Reply)) (cancel context.CancelCauseFunc) {
	if from == nil && h.actsByKey(&call) {
		return h.acceptByKey(call, done)
	}
	return h.enqueue(from, call, done, nil)
}

// enqueue puts a call into the queue of the tab that it selects. ended, when not nil, is told what became of it, once.
func (h *Host) enqueue(
	from *sites.Map, call Call, done, ended func(Reply),
) (cancel context.CancelCauseFunc) {
	tab, err := h.pick(call.Target)
	if from == nil && err == nil {
		err = h.ending()
	}
	j := h.newJob(call, from, tab, done, ended)
	if err == nil {
		err = tab.enqueue(j)
	}
	if err != nil {
		go j.finish(Reply{Err: err, RuntimeID: call.Target.RuntimeID})
	}
	return j.cancel
}

// Do runs one call and waits for its reply. When ctx ends the call is
// cancelled.
func (h *Host) Do(ctx context.Context, call Call) Reply {
	replies := make(chan Reply, 1)
	cancel := h.acceptFrom(nil, call, func(r Reply) { replies <- r })
	select {
	case r := <-replies:
		return r
	case <-ctx.Done():
		cause := context.Canceled
		if ctx.Err() == context.Canceled {
			cause = context.Cause(ctx) // a time that its caller has measured, perhaps
		}
		cancel(cause)
		return <-replies
	}
}

// Tabs returns the state of every tab that is in no workspace.
func (h *Host) Tabs() []TabStatus { return h.statuses(h.tabsOf(nil)) }

func (h *Host) tabList() []*Tab {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tabs)
}

// Subscribe calls fn for every event until unsubscribe is called. fn must not
// block; events of one tab come in order.
func (h *Host) Subscribe(fn func(Event)) (unsubscribe func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := h.nextSub
	h.nextSub++
	h.subscribers[id] = fn
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subscribers, id)
	}
}

func (h *Host) emit(ev Event) {
	ev.ID = h.opts.NewID()
	ev.ObservedAt = time.Now()
	ev = h.hideEvent(ev)
	h.mu.Lock()
	list := make([]func(Event), 0, len(h.subscribers))
	for _, fn := range h.subscribers {
		list = append(list, fn)
	}
	h.mu.Unlock()
	if h.opts.Recorder != nil {
		h.opts.Recorder.Event(ev)
	}
	for _, fn := range list {
		fn(ev)
	}
}

// Info describes this host.
func (h *Host) Info() Info {
	info := h.about()
	info.Capabilities = siteaction.Capabilities(h.opts.Registry)
	return info
}

// about is Info without what reads every record.
func (h *Host) about() Info {
	info := Info{
		Version: h.opts.Version,
		Host:    call.HostName,
		Device:  h.opts.Device,
	}
	h.mu.Lock()
	b := h.browser
	h.mu.Unlock()
	if b != nil {
		info.Browser = b.Version()
		info.Shell = b.Shell()
	}
	return info
}

// Manifest is the runtime's own actions.json: the primitive dictionary and the
// one stable tool, actions.site.
func (h *Host) Manifest() json.RawMessage { return h.manifest() }

// ImportBundle takes a storage bundle in place of, or merged into, the maps
// that an earlier bundle brought.
func (h *Host) ImportBundle(ctx context.Context, bundle json.RawMessage) (json.RawMessage, *fault.Error) {
	result, err := h.opts.Maps.ImportBundle(bundle)
	h.mapsMoved(ctx)
	return result, err
}
