package runtime

import (
	"context"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// lookUntil looks at the page until look is satisfied or bounded, which is within
// whole, ends: at once, and then after each change of the page. The first look
// may take all of whole: bounded says how long to go on looking, not that nobody
// need look. A document that is replaced meanwhile is no failure. What was not
// satisfied in time is false without an error, provided that the page was seen
// at all.
func (t *Tab) lookUntil(whole, bounded context.Context, look func(ctx context.Context, page primitives.Page) (bool, error)) (bool, error) {
	var waits sync.WaitGroup
	defer waits.Wait()
	first, endFirst := context.WithCancel(whole)
	defer endFirst()
	later, endLater := context.WithCancel(bounded)
	defer endLater()
	ctx := first
	seen := false
	var wait *change // nil for the first look, which is free when it succeeds
	for {
		page, err := t.livePage(ctx)
		if err == nil {
			if wait == nil && seen {
				// The wait begins before the look, so that nothing falls between.
				wait = awaitChange(ctx, page, lookAgain, waits.Go)
			}
			var ok bool
			if ok, err = look(ctx, page); ok {
				return true, nil
			}
		}
		switch {
		case err == nil:
			seen = true
			if ctx = later; ctx.Err() != nil {
				return false, nil
			}
		case ctx.Err() != nil && seen:
			return false, nil
		case ctx.Err() != nil:
			return false, err
		case fault.CodeOf(err) != fault.PageNavigated:
			return false, err
		}
		if wait == nil {
			if err != nil {
				rest(ctx, lookAgain.quiet)
			}
			continue
		}
		select {
		case <-wait.over:
			if wait.err != nil {
				rest(ctx, lookAgain.quiet)
			}
		case <-ctx.Done():
			return false, nil
		}
		wait = nil
	}
}
