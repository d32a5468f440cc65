package runtime

import (
	"context"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// lookUntil looks at the page until look is satisfied or ctx ends: at once, and
// then after each change of the page. A document that is replaced meanwhile is
// no failure. Nothing that was not satisfied in time is false without an error,
// provided that the page was seen at all.
func (t *Tab) lookUntil(ctx context.Context, look func(ctx context.Context, page primitives.Page) (bool, error)) (bool, error) {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
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
