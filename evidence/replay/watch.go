package replay

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime"
)

// watcher knows the pages of a replay. It records nothing, so that a replay takes no longer than it must: a
// document is read when a result differs. It implements runtime.Recorder.
type watcher struct {
	used  *quirks.Used // nil: nobody wants to know
	mu    sync.Mutex
	pages map[int]primitives.Page // by tab
}

// readTime bounds reading a page.
const readTime = 5 * time.Second

func newWatcher(asked *quirks.Used) *watcher {
	return &watcher{used: asked, pages: map[int]primitives.Page{}}
}

func (w *watcher) Wants() runtime.PageWants { return runtime.PageWants{} }
func (w *watcher) Opened(runtime.Info)      {}
func (w *watcher) Close() error             { return nil }
func (w *watcher) Event(runtime.Event)      {}

func (w *watcher) Call(runtime.TabStatus, runtime.Call) (id string, answered func(runtime.Reply)) {
	return "", func(runtime.Reply) {}
}

func (w *watcher) Page(p primitives.Page, e runtime.PageEvent) {
	if e.Tab == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[e.Tab.TabID] = p
}

// Primitive notes the quirks that the documents of the page have used.
func (w *watcher) Primitive(ctx context.Context, in runtime.Invocation) (done func(primitives.Result)) {
	return func(primitives.Result) {
		if w.used == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
		defer cancel()
		for _, f := range in.Page.Frames() {
			var answer struct {
				Names []quirks.Name `json:"names"`
			}
			if in.Page.Call(ctx, f.ID, "record_quirks", map[string]any{}, &answer) != nil {
				continue // whoever uses the names makes sure that they are enough
			}
			for _, n := range answer.Names {
				w.used.Note(n)
			}
		}
	}
}

// document is what a tab shows.
func (w *watcher) document(ctx context.Context, tab int) (text []byte, address string, err error) {
	w.mu.Lock()
	p := w.pages[tab]
	w.mu.Unlock()
	if p == nil {
		return nil, "", fault.New(fault.TargetNotFound, "the tab is not there")
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	return capture.Document(ctx, p)
}
