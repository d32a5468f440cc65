package primitives

import (
	"context"
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
)

// CallWithin is Page.Call for a page call that waits in the page, and ends there after
// left. A page whose thread is held ends nothing, so the time is kept here too.
func CallWithin(ctx context.Context, p Page, frame FrameID, fn string, args, out any, left time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, max(left+overrun, leastWait))
	defer cancel()
	err := p.Call(bounded, frame, fn, args, out)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil && fault.CodeOf(err) == fault.Timeout {
		return fault.New(fault.PageUnresponsive, "the page did not answer in time: a script holds its thread, or the machine is overloaded").With("waited_ms", max(left+overrun, leastWait).Milliseconds())
	}
	return err
}
