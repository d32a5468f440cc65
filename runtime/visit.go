package runtime

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// visitName is the name of a visit in logs.
const visitName = "runtime.visit"

// Visit runs f with the page of a tab, in the tab's queue like a call: no call runs
// meanwhile, and its time is bounded as theirs is. It is for programs that read a page in
// ways that no primitive answers, such as those that write maps.
func (h *Host) Visit(ctx context.Context, on Target, f func(context.Context, primitives.Page) error) error {
	timeout := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(time.Until(deadline), time.Millisecond)
	}
	tab, err := h.pick(on)
	if err != nil {
		return err
	}
	replies := make(chan Reply, 1)
	visit := Call{Name: visitName, Target: on, Timeout: timeout}
	j := h.newJob(visit, nil, tab, func(r Reply) { replies <- r }, nil)
	j.visit = f
	if err := tab.enqueue(j); err != nil {
		j.finish(Reply{Err: err})
	}
	select {
	case r := <-replies:
		return r.Failure()
	case <-ctx.Done():
		j.cancel(context.Canceled)
		return (<-replies).Failure()
	}
}

// visited runs the function of a visit.
func (h *Host) visited(ctx context.Context, t *Tab, j *job) Reply {
	page, err := t.LivePage(ctx)
	if err == nil {
		err = j.visit(ctx, sessionPage{Page: page, session: h.sessionOf(t, nil)})
	}
	if err != nil {
		return Reply{Err: fault.From(err)}
	}
	return Reply{}
}
