package primitives

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// overrun is how much later than its own time a page call may answer. A page on a
	// loaded machine does, and what it answers then says more than that it was late.
	overrun = time.Second
	// leastWait is what every page call gets: a page at work answers late, and so does
	// one on a machine at work.
	leastWait = 2 * time.Second
	// onTime is how late a call may be before the page is probed.
	onTime = 100 * time.Millisecond
	// slowFrames is what a page gets beyond that whose thread answers: a tab behind
	// others draws a frame a second, and an element has to rest for some of them.
	slowFrames = 8 * time.Second
)

// errBlocked ends a page call on a thread that answers nothing.
var errBlocked = errors.New("the page's thread answers nothing")

// CallWithin is Page.Call for a page call that waits in the page, and ends there after
// left. A page whose thread is blocked ends nothing, so the time is kept here too: a call
// that is late ends as soon as the thread does not answer an empty call either.
func CallWithin(ctx context.Context, p Page, frame FrameID, fn string, args, out any, left time.Duration) error {
	allowed := max(left+overrun, leastWait)
	calling, cancel := context.WithCancelCause(ctx)
	var blocked atomic.Bool
	probed := make(chan struct{})
	late := time.AfterFunc(max(left, 0)+onTime, func() {
		defer close(probed)
		limit := allowed - max(left, 0) - onTime
		for until := time.Now().Add(slowFrames); time.Now().Before(until); limit = leastWait {
			probe, stop := context.WithTimeout(calling, limit)
			err := p.Call(probe, frame, "document_token", nil, nil)
			stop()
			if err != nil || !Pause(calling, leastWait/4) {
				break
			}
		}
		blocked.Store(calling.Err() == nil)
		cancel(errBlocked)
	})
	err := p.Call(calling, frame, fn, args, out)
	cancel(nil)
	if !late.Stop() {
		<-probed
	}
	if err != nil && ctx.Err() == nil && blocked.Load() {
		return fault.New(fault.PageUnresponsive, "the page did not answer in time: a script blocks its thread, or the machine is overloaded").
			With("timeout_ms", left.Milliseconds())
	}
	return err
}
