package siteaction

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites/manifest"
)

const (
	// quietTime is how long a page that has loaded asks for nothing and does not change until what is not there is
	// not waited for any longer.
	quietTime = 1500 * time.Millisecond
	// quietAfter is how long a step waits before the page is watched for that: most elements are there by then.
	quietAfter = 500 * time.Millisecond
	// nearTime bounds the look for what is near.
	nearTime = time.Second
)

// untilQuiet bounds the wait for the target of a step, to which nobody has given a time: it ends when the page is
// loaded and quiet. ended says whether it has. A step whose purpose is to wait waits all its time.
func (r *executionRun) untilQuiet(s *plannedStep) (within context.Context, end func(), ended func() bool) {
	if s.waits() || s.TimeoutMS != nil && *s.TimeoutMS > 0 || r.a.Quirks.Has(quirks.ActsWhileLoading) {
		return r.bound, func() {}, func() bool { return false }
	}
	bound := r.bound
	within, cancel := context.WithCancel(bound)
	var watching sync.WaitGroup
	watching.Go(func() {
		observe.Pause(within, quietAfter)
		for within.Err() == nil {
			page, err := r.a.LivePage(within)
			if err != nil {
				observe.Pause(within, quietAfter)
				continue
			}
			if isQuiet(within, page) {
				cancel()
			}
		}
	})
	end = func() {
		cancel()
		watching.Wait()
	}
	ended = func() bool { return within.Err() != nil && bound.Err() == nil }
	return within, end, ended
}

// isQuiet watches a page for a while, once it has loaded.
func isQuiet(ctx context.Context, page primitives.Page) bool {
	observe.Settle(ctx, page)
	var waits sync.WaitGroup
	defer waits.Wait()
	watched, end := context.WithCancel(ctx)
	defer end()
	change := observe.Begin(watched, page, observe.Quietness{Timeout: quietTime}, waits.Go)
	silent := page.NetworkQuiet(watched, quietTime, 0) == nil
	select {
	case <-change.Over:
	case <-ctx.Done():
		return false
	}
	if change.Err != nil {
		observe.Pause(ctx, quietAfter)
	}
	return silent && change.Err == nil && !change.Changed && ctx.Err() == nil
}

// near lists near misses of a target: what an element has instead, such as another name.
func (r *executionRun) near(t *manifest.Target) []string {
	ctx, cancel := context.WithTimeout(r.whole, nearTime)
	defer cancel()
	page, err := r.a.LivePage(ctx)
	if err != nil {
		return nil
	}
	d := verify.DescriptorOf(t, "", nil)
	d.Explain = true
	m, err := descriptor.Resolve(ctx, page, d)
	if err != nil {
		return nil
	}
	for _, tried := range m.Tried {
		if tried.Near == nil || tried.Unmatched == "role" {
			continue
		}
		var out []string
		for _, value := range tried.Near.Values {
			if value != "" {
				out = append(out, value)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}
