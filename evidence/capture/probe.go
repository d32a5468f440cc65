package capture

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime"
)

// sentOnce has the context tell, once, that a page call was sent.
func sentOnce(ctx context.Context) (context.Context, <-chan struct{}) {
	sent := make(chan struct{})
	return primitives.WhenSent(ctx, sync.OnceFunc(func() { close(sent) })), sent
}

// probed is what was read of a page before a step.
type probed struct {
	target    targetAnswer
	to        targetAnswer // where a drag ends
	documents []frameDocument
}

// probe is what is being read of a page before a step.
type probe struct {
	answered chan struct{} // nil for a probe of nothing
	probed
}

// wait returns what was read, nothing when the page does not answer.
func (p *probe) wait() probed {
	if p.answered == nil {
		return probed{}
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case <-p.answered:
		return p.probed
	case <-late.C:
		return probed{}
	}
}

// probe begins to read what a step is about, and the documents before it. It returns when that was sent. The
// calls have no deadline: the end of one would have the browser end a script that blocks the page.
func (r *Recorder) probe(ctx context.Context, in runtime.Invocation, state *page) *probe {
	p := &probe{answered: make(chan struct{})}
	var list []frameDocument
	if r.opts.Pages {
		list = r.frames(state)
	}
	var all sync.WaitGroup
	begin := func(f func(ctx context.Context)) {
		own, sent := sentOnce(r.ctx)
		ended := make(chan struct{})
		all.Add(1)
		if !r.spawn(func() { defer all.Done(); defer close(ended); f(own) }) {
			all.Done()
			return
		}
		timer := time.NewTimer(probeTime)
		defer timer.Stop()
		select {
		case <-sent:
		case <-ended:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if len(list) == 1 { // one call for both
		begin(func(ctx context.Context) {
			p.target = findTarget(ctx, in, map[string]any{"snapshot": list[0].arguments()})
			list[0].answer = p.target.Snapshot
			if list[0].answer == nil {
				list[0].take(ctx, in.Page)
			}
			list[0].find(ctx, in.Page)
		})
	} else {
		begin(func(ctx context.Context) { p.target = findTarget(ctx, in, nil) })
		for i := range list {
			begin(func(ctx context.Context) { list[i].take(ctx, in.Page); list[i].find(ctx, in.Page) })
		}
	}
	if in.Primitive == drags {
		begin(func(ctx context.Context) { p.to = findEnd(ctx, in) })
	}
	if !r.spawn(func() { defer close(p.answered); all.Wait(); p.documents = list }) {
		close(p.answered)
	}
	return p
}
