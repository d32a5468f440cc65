package page

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

const (
	// textSlice is how long the known frames are listened to before
	// new ones are searched.
	textSlice = 500 * time.Millisecond
	// textExtraWait is how much longer a frame may take. One whose thread is blocked
	// shows nothing new.
	textExtraWait = time.Second
	// maxTextFrames bounds the frames that are listened to.
	maxTextFrames = 64
)

// waitText waits until some frame shows a text, or until none does. Frames come
// and go meanwhile; only what the main document answers can fail the wait.
func (w *pageWaiting) waitText(ctx context.Context, c waitCondition, end time.Time) ([]bool, error) {
	for {
		left := max(0, time.Until(end))
		frames := w.p.Frames()
		frames = frames[:min(len(frames), maxTextFrames)]
		met, err := w.textInFrames(ctx, c, frames, min(left, textSlice))
		if err == nil && met && c.TextGone != nil && len(frames) > 1 && left > 0 {
			// Each has reported it at a moment of its own.
			met, err = w.textInFrames(ctx, c, frames, 0)
		}
		switch {
		case ctx.Err() != nil:
			return []bool{false}, ctx.Err()
		case err == nil && met:
			return []bool{true}, nil
		case err != nil && fault.CodeOf(err) != fault.PageNavigated:
			return []bool{false}, err
		case time.Until(end) <= 0:
			return []bool{false}, fault.New(fault.Timeout, "the text condition did not hold in time")
		case err != nil && !primitives.Pause(ctx, locator.FrameRetry):
			return []bool{false}, ctx.Err()
		}
	}
}

// textInFrames queries all frames at once. A text has to be in one of them, one
// that is to be absent in none; what decides ends the calls to the others.
// The first frame is the main one.
func (w *pageWaiting) textInFrames(
	ctx context.Context, c waitCondition, frames []primitives.FrameInfo, slice time.Duration,
) (bool, error) {
	type outcome struct {
		main, met bool
		err       error
	}
	evaluating, stop := context.WithCancel(ctx)
	defer stop()
	results := make(chan outcome, len(frames))
	for i, f := range frames {
		id := f.ID
		if i == 0 {
			id = ""
		}
		go func() {
			evaluating := evaluating
			if i > 0 {
				bounded, cancel := context.WithTimeout(evaluating, slice+textExtraWait)
				defer cancel()
				evaluating = bounded
			}
			var out struct {
				Matched bool `json:"matched"`
			}
			args := map[string]any{"conditions": []waitCondition{c}, "mode": "all", "timeout_ms": slice.Milliseconds()}
			err := primitives.CallWithin(evaluating, w.p, id, "page_wait", args, &out, w.left())
			results <- outcome{i == 0, out.Matched, err}
		}()
	}
	gone := c.TextGone != nil
	met, decided := gone, false
	var failed error
	for range frames {
		r := <-results
		switch {
		case decided:
		case r.err != nil && r.main:
			failed, decided = r.err, true
			stop()
		case r.err == nil && r.met != gone: // shown where one is enough, or where there should be none
			met, decided = r.met, true
			stop()
		}
	}
	return met && failed == nil, failed
}
