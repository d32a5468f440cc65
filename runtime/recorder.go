package runtime

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/call"
)

// Recorder receives the calls and events of the tabs of a host.
type Recorder interface {
	// Wants says what of pages is reported, before the browser starts.
	Wants() PageWants
	// Opened is called when the host is open, Close when no call runs any more and before the browser ends.
	Opened(Info)
	Close() error
	// Event gets what subscribers get. It must not wait for anything.
	Event(Event)
	// Call is called when a call begins to run on a tab. id names the call in Invocation, answered gets
	// its reply.
	Call(tab TabStatus, c Call) (id string, answered func(Reply))
	// Primitive is called before each primitive that runs for a call. It may read the page; what it
	// takes is part of the time of the call. done gets the result.
	Primitive(ctx context.Context, in Invocation) (done func(primitives.Result))
	// Page reports what happened on a page. It must not wait for anything.
	Page(p primitives.Page, e PageEvent)
}

// Invocation is a primitive that is about to run.
type Invocation struct {
	Call      string // as Recorder.Call named it
	Step      string // of the workflow; "" without one
	TabID     int
	Primitive string
	Acts      bool // it can change the page
	Arguments json.RawMessage
	Page      primitives.Page
}

// PageWants selects the page events that a Recorder receives.
type PageWants struct{ Requests, Console, Pictures, States, Items bool }

// PageEvent is one thing that happened on a page: the member that is set.
type PageEvent struct {
	Tab     *TabStatus // it is the page of this tab from here on
	Request *primitives.NetworkRequest
	Console *primitives.ConsoleMessage
	Picture *browser.ScreencastFrame
	Dialog  *primitives.Dialog
	Open    bool // of Dialog: it opened
	// States are the projections that maps declare for the page, before the call of this name; "" is the end.
	States []call.StateSeen
	Call   string
}

// watch has the browser report to the recorder; nil without a recorder.
func (h *Host) watch() *browser.Watch {
	r := h.opts.Recorder
	if r == nil {
		return nil
	}
	wants := r.Wants()
	w := &browser.Watch{
		Dialog: func(t *browser.Tab, d primitives.Dialog, open bool) { r.Page(t, PageEvent{Dialog: &d, Open: open}) },
	}
	if wants.Requests {
		w.Request = func(t *browser.Tab, q primitives.NetworkRequest) { r.Page(t, PageEvent{Request: &q}) }
	}
	if wants.Console {
		w.Console = func(t *browser.Tab, m primitives.ConsoleMessage) { r.Page(t, PageEvent{Console: &m}) }
	}
	if wants.Pictures {
		w.Picture = func(t *browser.Tab, f browser.ScreencastFrame) { r.Page(t, PageEvent{Picture: &f}) }
	}
	return w
}

// recordPage tells the recorder which tab shows a page.
func (t *Tab) recordPage(p primitives.Page) {
	if r := t.host.opts.Recorder; r != nil {
		status := t.Status()
		r.Page(p, PageEvent{Tab: &status})
	}
}

// recordCall tells the recorder that a call runs, and with what it returns that it is answered.
func (t *Tab) recordCall(j *job) func(Reply) {
	r := t.host.opts.Recorder
	if r == nil {
		return func(Reply) {}
	}
	id, answered := r.Call(t.Status(), j.call)
	j.recorded = id
	return func(reply Reply) {
		reply.URL = t.Status().URL
		answered(reply)
	}
}

// recordStates tells the recorder how the projections of the page are before a call, "" at the end.
func (t *Tab) recordStates(ctx context.Context, call string) {
	r := t.host.opts.Recorder
	if r == nil || !r.Wants().States {
		return
	}
	if list, page := t.services.states.Declared(ctx), t.Page(); len(list) > 0 && page != nil {
		r.Page(page, PageEvent{States: list, Call: call})
	}
}

// States are the projections that the maps on offer declare for the page of a tab, as a recording has them.
func (h *Host) States(ctx context.Context, target Target) []StateSeen {
	t, err := h.pick(target)
	if err != nil {
		return nil
	}
	return t.services.states.Declared(ctx)
}

// RecordItem passes a message that a face has received or sent to the recorder. name is that of its call. A message
// with a call is passed on when the call was answered: only then is it known which parts are secret.
func (h *Host) RecordItem(at time.Time, received bool, name string, item func() []byte) {
	if r, ok := h.opts.Recorder.(itemRecorder); ok && h.opts.Recorder.Wants().Items {
		r.Item(at, received, name, item())
	}
}

// recordLastStates does so for tabs that are about to end.
func (h *Host) recordLastStates(ctx context.Context, tabs []*Tab) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for _, t := range tabs {
		t.recordStates(ctx, "")
	}
}

// recordPrimitive does the same for a primitive of a call.
func (v invoker) recordPrimitive(
	ctx context.Context, page primitives.Page, record *primitives.Record, args json.RawMessage,
) func(primitives.Result) {
	r := v.host.opts.Recorder
	if r == nil {
		return func(primitives.Result) {}
	}
	v.job.mu.Lock()
	step := v.job.at.Step
	v.job.mu.Unlock()
	return r.Primitive(ctx, Invocation{
		Call:      v.job.recorded,
		Step:      step,
		TabID:     v.tab.id,
		Primitive: record.Name,
		Acts:      record.Acts,
		Arguments: args,
		Page:      page,
	})
}
