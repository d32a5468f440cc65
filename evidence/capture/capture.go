// Package capture records what is done on the tabs of a host and what happens there: it implements
// runtime.Recorder and writes events of package record. It does not read recordings, and decides nothing
// about a call. The verbs that own a browser make one for each host.
package capture

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Options say what is recorded. Calls, their steps and the elements that they are about always are.
type Options struct {
	Header record.Header
	// Snapshots of the document before and after each acting step, and what requests and the console say.
	Pages bool
	// Requests records what pages request, also without Pages.
	Requests bool
	// Quiet leaves out requests and the console: no page notices that it is recorded, and it costs less.
	Quiet bool
	// Pictures while the page changes.
	Pictures bool
	// BodyLimit bounds a body; default 4 MiB.
	BodyLimit int
	// Secrets are those that were declared, nil for none.
	Secrets *mask.Set
	// Maps are the files and folders of maps on offer.
	Maps []string
	// Sinks keep the recording.
	Sinks []record.Sink
	// OnClose, which may be nil, is called when the recording is whole.
	OnClose func() error
	// Lost is called with the error of Close. It may be nil.
	Lost func(error)
}

const (
	defaultBodyLimit = 4 << 20
	// closeTime bounds the wait for what is being read of pages at the end.
	closeTime = 3 * time.Second
)

// Recorder records one host. It is safe for concurrent use.
type Recorder struct {
	opts    Options
	log     *record.Log
	queue   *queue // of what is put into log
	secrets secrets

	ctx  context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // reading bodies, snapshots and secret places
	slot chan struct{}  // bounds the bodies that are read at once

	closing   atomic.Bool
	ending    chan struct{} // closed when the recording is about to end
	mu        sync.Mutex
	closed    bool
	nextCall  int64
	nextStep  int64
	pages     map[primitives.Page]*page
	byTab     map[int]*page
	downloads map[string]string // states that were recorded, by id
}

// page is what the recorder knows of one page.
type page struct {
	page    primitives.Page
	tab     int      // 0 until it is known
	waiting []func() // what happened before the tab was known
	urls    map[string]string

	frames   map[primitives.FrameID]*document
	ended    *ended                   // the last step that changes documents, until the snapshot after it is taken
	reading  int                      // requests whose bodies are being read
	read     chan struct{}            // closed when none is, made when somebody waits
	picture  *browser.ScreencastFrame // the newest that waits to be prepared
	painting bool                     // pictures are being prepared
	acted    time.Time                // when the last step that changes documents began or ended
	pictured time.Time                // when the last picture was recorded
}

// maxWaiting bounds what is remembered of a page whose tab is not known.
const maxWaiting = 500

// New begins a recording.
func New(opts Options) *Recorder {
	if opts.BodyLimit <= 0 {
		opts.BodyLimit = defaultBodyLimit
	}
	r := &Recorder{
		opts:      opts,
		queue:     newQueue(),
		ending:    make(chan struct{}),
		slot:      make(chan struct{}, 8),
		pages:     map[primitives.Page]*page{},
		byTab:     map[int]*page{},
		downloads: map[string]string{},
	}
	r.secrets.declared = opts.Secrets
	r.ctx, r.end = context.WithCancel(context.Background())
	r.log = record.NewLog(opts.Header, r.secrets.mask, opts.Sinks...)
	r.log.Strings = r.secrets.strings
	r.recordMaps(opts.Maps)
	return r
}

// Log is the recording, for events that others add.
func (r *Recorder) Log() *record.Log { return r.log }

// Close implements runtime.Recorder: it ends the recording and returns the first error of writing it.
func (r *Recorder) Close() error {
	if !r.closing.CompareAndSwap(false, true) {
		return nil
	}
	close(r.ending)
	// The browser is still there for what is being read of it.
	late := time.AfterFunc(closeTime, r.end)
	r.takeEnded()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.work.Wait()
	r.queue.close()
	late.Stop()
	r.end()
	err := r.log.Finish()
	if r.opts.OnClose != nil {
		err = errors.Join(err, r.opts.OnClose())
	}
	if err != nil && r.opts.Lost != nil {
		r.opts.Lost(err)
	}
	return err
}

// spawn runs f beside the host; not after Close.
func (r *Recorder) spawn(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.work.Go(f)
	return true
}

// Settle returns when what has happened until here is in the sinks, the snapshots after the last steps too.
func (r *Recorder) Settle() {
	r.takeEnded()
	r.queue.settle()
}

// enqueue adds an event of this moment to the recording.
func (r *Recorder) enqueue(kind record.Kind, tab int, data any) {
	at := time.Now()
	r.queue.add(func() { r.log.PutAt(at, kind, tab, data) })
}

// Opened implements runtime.Recorder.
func (r *Recorder) Opened(info runtime.Info) {
	r.enqueue(record.KindHost, 0, record.Host{Version: info.Version, Browser: info.Browser, Device: info.Device})
}

// Event implements runtime.Recorder.
func (r *Recorder) Event(ev runtime.Event) {
	switch ev.Kind {
	case runtime.TabChanged:
		r.tab("changed", ev.Tab)
	case runtime.TabRemoved:
		r.tab("removed", ev.Tab)
		r.mu.Lock()
		p := r.byTab[ev.Tab.TabID]
		r.mu.Unlock()
		if p == nil {
			return
		}
		r.take(p) // the browser ends after its tabs were removed
		r.mu.Lock()
		if p := r.byTab[ev.Tab.TabID]; p != nil {
			delete(r.pages, p.page)
			delete(r.byTab, ev.Tab.TabID)
		}
		r.mu.Unlock()
	case runtime.DOMEvent:
		r.enqueue(record.KindSignal, ev.Tab.TabID, record.Signal{Name: ev.Name, URL: ev.URL, Payload: ev.Payload})
	}
}

func (r *Recorder) tab(state string, t runtime.TabStatus) {
	r.enqueue(record.KindTab, t.TabID, record.Tab{
		State:     state,
		RuntimeID: t.RuntimeID,
		URL:       t.URL,
		Title:     t.Title,
		States:    t.States,
	})
}

// Wants implements runtime.Recorder.
func (r *Recorder) Wants() runtime.PageWants {
	return runtime.PageWants{
		Requests: (r.opts.Pages || r.opts.Requests) && !r.opts.Quiet,
		Console:  r.opts.Pages && !r.opts.Quiet,
		Pictures: r.opts.Pictures,
		States:   r.opts.Pages && !r.opts.Quiet,
		Items:    !r.opts.Quiet,
	}
}

// Call implements runtime.Recorder.
func (r *Recorder) Call(tab runtime.TabStatus, c runtime.Call) (id string, answered func(runtime.Reply)) {
	r.mu.Lock()
	r.nextCall++
	id = "c" + strconv.FormatInt(r.nextCall, 10)
	r.mu.Unlock()
	began := time.Now()
	r.queue.add(func() {
		r.log.PutAt(began, record.KindCallBegin, tab.TabID, record.CallBegin{
			ID:        id,
			Name:      c.Name,
			URL:       tab.URL,
			TimeoutMS: ms(c.Timeout),
		})
		if c.Map != nil {
			name := r.log.Keep("application/json", c.Map.JSON)
			r.log.PutAt(began, record.KindMap, tab.TabID, record.Map{Path: c.Map.Path, Resource: name, Call: id}, name)
		}
	})
	return id, func(reply runtime.Reply) {
		r.recordDownloads(tab.TabID)
		at := time.Now()
		failed := reply.Err.Clone() // who made the call may add to it while this one waits
		r.queue.add(func() {
			end := record.CallEnd{
				ID:         id,
				Name:       c.Name,
				CallerID:   fault.Clip(c.ID, 200),
				Arguments:  withoutStores(c.Name, object(c.Arguments)),
				OK:         reply.Err == nil,
				Output:     r.output(c.Name, reply.Output),
				Summaries:  reply.Steps,
				URL:        reply.URL,
				DurationMS: ms(at.Sub(began)),
			}
			if failed != nil {
				end.Error = jsonOf(failed)
			}
			r.log.PutAt(at, record.KindCallEnd, tab.TabID, end, resources(end.Output)...)
		})
		r.queue.awaitSpace()
	}
}

// Page implements runtime.Recorder.
func (r *Recorder) Page(p primitives.Page, e runtime.PageEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	state := r.pages[p]
	if state == nil {
		state = &page{page: p, urls: map[string]string{}, frames: map[primitives.FrameID]*document{}}
		r.pages[p] = state
	}
	if e.Tab != nil {
		if old := r.byTab[e.Tab.TabID]; old != nil && old != state { // opened again
			delete(r.pages, old.page)
		}
		state.tab = e.Tab.TabID
		r.byTab[state.tab] = state
		r.tab("opened", *e.Tab)
		for _, f := range state.waiting {
			f()
		}
		state.waiting = nil
		return
	}
	at := time.Now()
	switch {
	case e.Request != nil:
		state.reading++
		r.work.Go(func() {
			r.request(state, *e.Request)
			r.mu.Lock()
			defer r.mu.Unlock()
			if state.reading--; state.reading == 0 && state.read != nil {
				close(state.read)
				state.read = nil
			}
		})
		return
	case e.Picture != nil:
		state.picture = e.Picture // in place of one that nobody has prepared yet
		if !state.painting {
			state.painting = true
			r.work.Go(func() { r.pictures(state) })
		}
		return
	case e.Console != nil:
		m := e.Console
		r.put(state, at, record.KindConsole, record.Console{
			Level:  m.Level,
			Source: m.Source,
			Type:   m.Type,
			Text:   m.Text,
			URL:    m.URL,
			Line:   m.Line,
			Column: m.Column,
			At:     m.At,
		})
	case len(e.States) > 0:
		r.later(state, func(tab int) { r.states(at, tab, e) })
	case e.Dialog != nil:
		d := record.Dialog{
			State:   "closed",
			Type:    e.Dialog.Type,
			Message: e.Dialog.Message,
			Default: e.Dialog.DefaultPrompt,
			URL:     e.Dialog.URL,
		}
		if e.Open {
			d.State = "opened"
		}
		r.put(state, at, record.KindDialog, d)
	}
}

// put adds an event of a page, when its tab is known. r.mu is held.
func (r *Recorder) put(state *page, at time.Time, kind record.Kind, data any) {
	r.later(state, func(tab int) { r.log.PutAt(at, kind, tab, data) })
}

// later queues f, when the tab of a page is known. r.mu is held.
func (r *Recorder) later(state *page, f func(tab int)) {
	do := func() {
		tab := state.tab // known from here on, and the same
		r.queue.add(func() { f(tab) })
	}
	if state.tab == 0 {
		if len(state.waiting) < maxWaiting {
			state.waiting = append(state.waiting, do)
		}
		return
	}
	do()
}

// recordDownloads records the downloads that are new or have another state.
func (r *Recorder) recordDownloads(tab int) {
	r.mu.Lock()
	p := r.byTab[tab]
	r.mu.Unlock()
	if p == nil {
		return
	}
	list, err := p.page.Downloads()
	if err != nil {
		return
	}
	for _, d := range list {
		r.mu.Lock()
		known := r.downloads[d.ID] == d.State
		r.downloads[d.ID] = d.State
		r.mu.Unlock()
		if !known {
			r.enqueue(record.KindDownload, d.TabID, record.Download{
				ID:       d.ID,
				URL:      d.URL,
				Filename: d.Filename,
				State:    d.State,
				Received: d.Received,
				SHA256:   d.SHA256,
			})
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func jsonOf(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// object is arguments as a JSON object.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return slices.Clip(raw)
}
