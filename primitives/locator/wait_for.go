package locator

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorWaitForIn struct {
	Locator   Locator `json:"locator"`
	State     string  `json:"state"`
	TimeoutMS *int    `json:"timeout_ms"`
}

type locatorWaitForOut struct {
	Matched   bool   `json:"matched"`
	State     string `json:"state"`
	ElapsedMS int64  `json:"elapsed_ms"`
}

const (
	waitDefault = 1000 * time.Millisecond
	waitLongest = 30 * time.Second
	// ViewSlice bounds how long a wait inside a frame trusts what it knows of
	// the frame's place: its ancestors scroll without telling it.
	ViewSlice = 250 * time.Millisecond
	// FrameRetry is the pause before a frame that is just being attached or
	// replaced is searched again; no event of a page announces that.
	FrameRetry = 20 * time.Millisecond
	// OpenRounds is how often one look at a document opens the shadow roots that it hides and
	// begins again at once. A page that goes on making such elements is looked at again after
	// OpenPause.
	OpenRounds = 6
	OpenPause  = 500 * time.Millisecond
)

// locatorWaitFor waits in the page and answers as soon as the state holds. It
// is not a delay: a state that holds already is answered at once. A navigation
// ends the wait in the old document and continues it in the new one.
var locatorWaitFor = primitives.Define("locator.wait_for", func(
	ctx context.Context, p primitives.Page, in locatorWaitForIn,
) (locatorWaitForOut, error) {
	w := waiting{in: in, timeout: waitDefault, start: time.Now()}
	if w.in.State == "" {
		w.in.State = "visible"
	}
	if in.TimeoutMS != nil {
		w.timeout = min(time.Duration(*in.TimeoutMS)*time.Millisecond, waitLongest)
	}
	for {
		err := w.once(ctx, p)
		if err == nil {
			return locatorWaitForOut{true, w.in.State, time.Since(w.start).Milliseconds()}, nil
		}
		if ctx.Err() != nil {
			return locatorWaitForOut{}, err
		}
		switch code := fault.CodeOf(err); {
		case code == fault.PageNavigated && w.left() > 0:
			w.last = err
		case code == fault.PageNavigated:
			return locatorWaitForOut{}, w.timedOut(w.last)
		case IsFrameFault(code) && len(in.Locator.Frame) > 0:
			if w.absent() {
				// What is not there is neither attached nor visible.
				return locatorWaitForOut{true, w.in.State, time.Since(w.start).Milliseconds()}, nil
			}
			w.last = err
			if w.left() <= 0 || !primitives.Pause(ctx, FrameRetry) {
				return locatorWaitForOut{}, w.timedOut(err)
			}
		case code == fault.Timeout && w.left() > 0:
			w.last = err // a slice ended
		case code == fault.Timeout:
			return locatorWaitForOut{}, w.timedOut(err)
		default:
			return locatorWaitForOut{}, err
		}
	}
})

type waiting struct {
	in      locatorWaitForIn
	timeout time.Duration
	start   time.Time
	last    error
}

func (w *waiting) left() time.Duration { return w.timeout - time.Since(w.start) }

// absent reports whether the state is one that holds where there is nothing.
func (w *waiting) absent() bool { return w.in.State == "hidden" || w.in.State == "detached" }

// once waits in the documents that are there.
func (w *waiting) once(ctx context.Context, p primitives.Page) error {
	var at Place
	if w.in.Locator.Ref != "" {
		var err error
		at, err = PlaceOfRef(ctx, p, w.in.Locator.Ref)
		if err != nil {
			return err
		}
	}
	for _, selector := range w.in.Locator.Frame {
		args := map[string]any{"selector": selector, "view": at.View}
		fn := "frame_view"
		if !w.absent() {
			fn, args["timeout_ms"] = "frame_wait", w.milliseconds(w.left())
		}
		var step frameStep
		if err := primitives.CallWithin(ctx, p, at.Frame, fn, args, &step, w.left()); err != nil {
			return err
		}
		next, err := at.into(ctx, p, selector, step)
		if err != nil {
			return err
		}
		at = next
	}
	left := w.left()
	if at.View != nil && (w.in.State == "visible" || w.in.State == "hidden") {
		left = min(left, ViewSlice)
	}
	args := map[string]any{"locator": w.in.Locator, "state": w.in.State, "timeout_ms": w.milliseconds(left)}
	if at.View != nil {
		args["view"] = at.View
	}
	var out struct {
		Hosts []string `json:"hosts"`
	}
	for rounds := 1; ; rounds++ {
		out.Hosts = nil
		args["searched"] = rounds > 1 && w.left() <= 0
		if rounds > OpenRounds {
			args["hosts_in"] = OpenPause.Milliseconds()
		}
		if err := primitives.CallWithin(ctx, p, at.Frame, "wait_for", args, &out, w.left()); err != nil ||
			len(out.Hosts) == 0 {
			return err
		}
		if _, err := p.OpenShadows(ctx, at.Frame, out.Hosts); err != nil {
			return err
		}
		args["timeout_ms"] = w.milliseconds(min(left, w.left()))
	}
}

func (w *waiting) milliseconds(d time.Duration) int64 { return max(0, d.Milliseconds()) }

// timedOut is the timeout of the whole wait, with the evidence of its last
// look.
func (w *waiting) timedOut(last error) error {
	out := fault.New(fault.Timeout, "the locator did not reach the state in time")
	var e *fault.Error
	if errors.As(last, &e) {
		for k, v := range e.Evidence {
			out.With(k, v)
		}
		if IsFrameFault(e.Code) {
			out.Message = "the frame of the locator did not appear in time"
		}
	}
	loc, _ := json.Marshal(w.in.Locator)
	return out.With("locator", json.RawMessage(loc)).
		With("state", w.in.State).With("timeout_ms", w.timeout.Milliseconds())
}
