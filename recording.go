package outrider

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Recording has the calls of a session and the events of its pages, from [Session.Record] on. It is kept in memory.
type Recording struct {
	of       *recorders
	group    string
	recorder *capture.Recorder
	data     *recorded
}

// recorded keeps the bytes of a recording.
type recorded struct{ bytes.Buffer }

func (*recorded) Close() error { return nil }

// Record begins to record the session: calls, their steps with the elements that they are about, and the documents
// before and after each; requests and the console too with [Options.Record]. It ends with [Recording.Close] or with the
// browser. A session has one recording at a time.
func (s *Session) Record() (*Recording, error) { return s.recorders.begin(s.groupID()) }

// Save ends the recording and writes it to a file: for trace.playwright.dev and npx playwright show-trace where path
// ends with .zip, else for outrider trace and outrider replay. It can be called again with another path.
func (r *Recording) Save(ctx context.Context, path string) error {
	if err := r.Close(); err != nil {
		return err
	}
	if filepath.Ext(path) != ".zip" {
		return fromFault(os.WriteFile(path, r.data.Bytes(), 0o600))
	}
	whole := path + ".recording"
	err := os.WriteFile(whole, r.data.Bytes(), 0o600)
	if err == nil {
		err = trace.ExportFile(ctx, whole, path)
	}
	return fromFault(errors.Join(err, os.RemoveAll(whole)))
}

// Close ends the recording. It may be called more than once.
func (r *Recording) Close() error {
	r.of.end(r)
	return fromFault(r.recorder.Close())
}

// recorders hands what happens on the tabs of a host to the recordings of its sessions.
type recorders struct {
	wants   runtime.PageWants
	secrets *mask.Set

	mu    sync.Mutex
	info  runtime.Info
	list  map[string]*Recording // by session
	tabs  map[int]string        // the sessions of tabs
	pages map[primitives.Page]runtime.TabStatus
}

func newRecorders(pages bool, secrets *mask.Set) *recorders {
	return &recorders{
		wants:   runtime.PageWants{Requests: pages, Console: pages},
		secrets: secrets,
		list:    map[string]*Recording{},
		tabs:    map[int]string{},
		pages:   map[primitives.Page]runtime.TabStatus{},
	}
}

func (r *recorders) begin(group string) (*Recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list[group] != nil {
		e := fault.New(fault.InvalidInput, "the session is being recorded")
		return nil, fromFault(e.Next("close that recording"))
	}
	data := &recorded{}
	header := record.Header{
		Format:  record.Format,
		Version: record.Version,
		Started: time.Now(),
		Program: "outrider " + r.info.Version,
		Browser: r.info.Browser,
	}
	recorder := capture.New(capture.Options{
		Header: header, Pages: true, Quiet: !r.wants.Requests, Secrets: r.secrets,
		Sinks: []record.Sink{record.NewFile(data)},
	})
	recorder.Opened(r.info)
	for page, status := range r.pages {
		if status.Workspace == group {
			recorder.Page(page, runtime.PageEvent{Tab: &status})
		}
	}
	out := &Recording{r, group, recorder, data}
	r.list[group] = out
	return out, nil
}

func (r *recorders) end(ended *Recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.list[ended.group] == ended {
		delete(r.list, ended.group)
	}
}

// endOf ends the recording of a session that is closed.
func (r *recorders) endOf(group string) error {
	r.mu.Lock()
	recording := r.list[group]
	r.mu.Unlock()
	if recording == nil {
		return nil
	}
	return recording.Close()
}

// of is the recorder of a session, nil for none.
func (r *recorders) of(group string) *capture.Recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.list[group]; found != nil {
		return found.recorder
	}
	return nil
}

// Wants implements runtime.Recorder.
func (r *recorders) Wants() runtime.PageWants { return r.wants }

// Opened implements runtime.Recorder.
func (r *recorders) Opened(info runtime.Info) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.info = info
}

// Event implements runtime.Recorder.
func (r *recorders) Event(e runtime.Event) {
	if to := r.of(e.Tab.Workspace); to != nil {
		to.Event(e)
	}
	if e.Kind != runtime.TabRemoved {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tabs, e.Tab.TabID)
	for page, status := range r.pages {
		if status.TabID == e.Tab.TabID {
			delete(r.pages, page)
		}
	}
}

// Call implements runtime.Recorder.
func (r *recorders) Call(tab runtime.TabStatus, c runtime.Call) (id string, answered func(runtime.Reply)) {
	if to := r.of(tab.Workspace); to != nil {
		return to.Call(tab, c)
	}
	return "", func(runtime.Reply) {}
}

// Primitive implements runtime.Recorder.
func (r *recorders) Primitive(ctx context.Context, in runtime.Invocation) (done func(primitives.Result)) {
	r.mu.Lock()
	group := r.tabs[in.TabID]
	r.mu.Unlock()
	if to := r.of(group); to != nil {
		return to.Primitive(ctx, in)
	}
	return func(primitives.Result) {}
}

// Page implements runtime.Recorder.
func (r *recorders) Page(p primitives.Page, e runtime.PageEvent) {
	r.mu.Lock()
	if e.Tab != nil {
		r.pages[p] = *e.Tab
		r.tabs[e.Tab.TabID] = e.Tab.Workspace
	}
	group := r.pages[p].Workspace
	r.mu.Unlock()
	if to := r.of(group); to != nil {
		to.Page(p, e)
	}
}

// Close implements runtime.Recorder: it ends all recordings while the browser is there.
func (r *recorders) Close() error {
	r.mu.Lock()
	list := r.list
	r.list = map[string]*Recording{}
	r.mu.Unlock()
	var failed error
	for _, recording := range list {
		failed = errors.Join(failed, recording.recorder.Close())
	}
	return failed
}
