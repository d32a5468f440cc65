package actionability

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
)

// clickWatch gets from the page what a guarded click hits. Its call begins before
// the element is resolved, so that its call waits in the page when the
// click comes: one that comes after a click waits for the frame that the page
// draws then, which costs more than the click itself.
type clickWatch struct {
	page   primitives.Page
	at     locator.Place
	id     string
	stop   context.CancelFunc
	answer chan verdict
	done   chan struct{} // closed when the page call has ended
	// guarded: the documents around the frame may keep a click from the page, too.
	guarded bool
}

// around is the guard of the documents around the frame, "" for none. It ends with the watch.
func (w *clickWatch) around() string {
	if w == nil || w.at.View == nil {
		return ""
	}
	w.guarded = true
	return w.id
}

// endAround ends the guards of the documents around the frame, and answers what one of them has kept from the page.
func (w *clickWatch) endAround(ctx context.Context) *verdict {
	if !w.guarded {
		return nil
	}
	w.guarded = false
	var out *verdict
	for i := range w.at.Depth() {
		if kept, occluder := w.at.EndGuard(ctx, w.page, w.id, i); kept {
			out = &verdict{Known: true, OccludedBy: occluder}
		}
	}
	return out
}

// leaveAround is endAround of a click that came to where it was meant to: what it does there may keep the page from
// answering. It returns when the page calls are on their way, so that later ones come after them.
func (w *clickWatch) leaveAround(ctx context.Context) {
	if !w.guarded {
		return
	}
	w.guarded = false
	for i := range w.at.Depth() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), keys.ReleaseBound)
		sent := make(chan struct{})
		on := sync.OnceFunc(func() { close(sent) })
		go func() {
			defer cancel()
			defer on()
			w.at.EndGuard(primitives.WhenSent(bounded, on), w.page, w.id, i)
		}()
		<-sent
	}
}

// verdict is the page's answer about a guarded click; the zero value when it does
// not say.
type verdict struct {
	Known   bool  `json:"known"`
	Arrived *bool `json:"arrived"`
	Here    bool  `json:"here"` // a click came, and a listener kept it from us
	// Lost: the document went away before a click came to it. What a click that comes
	// does to the document is later than the answer.
	Lost       bool            `json:"-"`
	OccludedBy json.RawMessage `json:"occluded_by"`
}

// verdictWait is how long after the click the page may take to say what it
// hit, before it is queried again.
const verdictWait = 50 * time.Millisecond

// givenUpWait is how long a call whose context has ended waits for the page to know that.
const givenUpWait = 10 * time.Millisecond

var clickIDs atomic.Int64

// watchClick starts to listen, and returns when the page call is on its way to the page:
// the next page call finds it there. The watch has to be ended with result or end.
func watchClick(ctx context.Context, p primitives.Page, at locator.Place) *clickWatch {
	ctx, stop := context.WithCancel(ctx)
	w := &clickWatch{
		page:   p,
		at:     at,
		id:     "g" + strconv.FormatInt(clickIDs.Add(1), 36),
		stop:   stop,
		answer: make(chan verdict, 1),
		done:   make(chan struct{}),
	}
	sent := make(chan struct{})
	ctx = primitives.WhenSent(ctx, sync.OnceFunc(func() { close(sent) }))
	go func() {
		defer close(w.done)
		w.answer <- w.query(ctx, true)
	}()
	select {
	case <-sent:
	case <-w.done:
	case <-ctx.Done():
	}
	return w
}

func (w *clickWatch) query(ctx context.Context, wait bool) verdict {
	args := map[string]any{"id": w.id, "wait": wait}
	if w.at.View != nil {
		args["view"] = w.at.View
	}
	var seen verdict
	if err := w.page.Call(ctx, w.at.Frame, "click_verdict", args, &seen); err != nil {
		code := fault.CodeOf(err)
		return verdict{Lost: wait && (code == fault.PageNavigated || locator.IsFrameFault(code))}
	}
	return seen
}

// result is what the click hit, and what one hit that came to a document around the frame and was kept from it; nil for
// none. It is called once the click has been handled. When ctx ends, what the page has not said by then is not known.
func (w *clickWatch) result(ctx context.Context) (_ verdict, kept *verdict) {
	decided := func(v verdict) bool { return v.Lost || v.Arrived != nil && *v.Arrived }
	timer := time.NewTimer(verdictWait)
	defer timer.Stop()
	var seen verdict
	answered := false
	select {
	case seen = <-w.answer:
		answered = true
	case <-timer.C:
	case <-ctx.Done():
	}
	if ctx.Err() != nil && !decided(seen) { // the click was handled; nobody waits for what came of it
		return w.end(ctx), nil
	}
	if !answered || !decided(seen) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), keys.ReleaseBound)
		defer cancel()
		last := w.query(bounded, false)
		if !answered {
			// Asked so, the page has answered the call that waited as well.
			select {
			case seen = <-w.answer:
			case <-bounded.Done():
			}
		}
		if !decided(seen) {
			seen = last
		}
	}
	w.stop()
	w.drain()
	if decided(seen) {
		w.leaveAround(ctx)
		return seen, nil
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), keys.ReleaseBound)
	defer cancel()
	return seen, w.endAround(bounded)
}

// drain waits until the last page call has returned. stop has been called.
func (w *clickWatch) drain() { <-w.done }

// end stops watching, whatever keeps the page from answering.
func (w *clickWatch) end(ctx context.Context) verdict {
	if w == nil {
		return verdict{}
	}
	w.stop()
	bound := keys.ReleaseBound
	if ctx.Err() != nil {
		bound = givenUpWait // a blocked page ends the watch when it can, and the call has to be answered
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	seen := w.query(bounded, false)
	w.endAround(bounded)
	w.drain()
	return seen
}
