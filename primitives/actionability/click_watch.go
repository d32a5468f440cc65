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
}

// verdict is what the page says of a guarded click; the zero value when it does
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

// result is what the click hit. It is called once the click has been handled.
func (w *clickWatch) result(ctx context.Context) verdict {
	decided := func(v verdict) bool { return v.Lost || v.Arrived != nil && *v.Arrived }
	timer := time.NewTimer(verdictWait)
	defer timer.Stop()
	var seen verdict
	answered := false
	select {
	case seen = <-w.answer:
		answered = true
	case <-timer.C:
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
	return seen
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
		bound = verdictWait // a blocked page ends the watch when it can, and the call has to be answered
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	seen := w.query(bounded, false)
	w.drain()
	return seen
}
