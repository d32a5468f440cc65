// Package observe evaluates something on a live page again after each change of
// the page, until it holds or its time is over. What is evaluated is its caller's:
// it knows pages, not maps. The packages of the runtime that wait for a page use it.
package observe

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Pages gives the page that a tab shows, waiting for one while there is none.
type Pages interface {
	LivePage(ctx context.Context) (primitives.Page, error)
}

// A page of a browser is each of these; a page of a test may be none.
type (
	losable  interface{ Lost() bool }
	settling interface{ Settle(ctx context.Context) }
)

// Detached reports whether a page was closed or lost with its browser.
func Detached(page primitives.Page) bool {
	p, ok := page.(losable)
	return ok && p.Lost()
}

// Settle waits until the document that is there, or on its way, has loaded: for who reads
// the page once. It is bounded by the page and by half of what ctx leaves.
func Settle(ctx context.Context, page primitives.Page) {
	p, ok := page.(settling)
	if !ok {
		return
	}
	if deadline, bounded := ctx.Deadline(); bounded {
		half, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
		ctx = half
	}
	p.Settle(ctx)
}

// Until observes the page until probe is satisfied or bounded, which is within
// whole, ends: at once, and then after each change of the page. The first
// observation may take all of whole: bounded says how long to go on, not that
// there need be none. A document that is replaced meanwhile is no failure. What
// was not satisfied in time is false without an error, provided that the page
// was observed at all.
func Until(
	whole, bounded context.Context, pages Pages, probe func(ctx context.Context, page primitives.Page) (bool, error),
) (bool, error) {
	var waits sync.WaitGroup
	defer waits.Wait()
	first, endFirst := context.WithCancel(whole)
	defer endFirst()
	later, endLater := context.WithCancel(bounded)
	defer endLater()
	ctx := first
	observed := false
	var wait *Change // nil for the first observation, which is free when it succeeds
	for {
		page, err := pages.LivePage(ctx)
		if err == nil {
			if wait == nil && observed {
				// The wait begins before the probe, so that nothing falls between.
				wait = Begin(ctx, page, Again, waits.Go)
			}
			var ok bool
			ok, err = probe(ctx, page)
			if ok {
				return true, nil
			}
		}
		switch {
		case err == nil:
			observed = true
			ctx = later
			if ctx.Err() != nil {
				return false, nil
			}
		case ctx.Err() != nil && observed:
			return false, nil
		case ctx.Err() != nil:
			return false, err
		case fault.CodeOf(err) != fault.PageNavigated:
			return false, err
		}
		if wait == nil {
			if err != nil {
				Pause(ctx, Again.Quiet)
			}
			continue
		}
		select {
		case <-wait.Over:
			if wait.Err != nil {
				Pause(ctx, Again.Quiet)
			}
		case <-ctx.Done():
			return false, nil
		}
		wait = nil
	}
}

const (
	// AnswerTime is the most that is kept from a call's own short time for its answer: what was
	// waited for in vain says more than that the time is over.
	AnswerTime = 150 * time.Millisecond
	// longestAnswer is the most that Answerable leaves.
	longestAnswer = time.Second
)

// Answerable leaves time of the call for an answer that says more than that the
// time is over: a tenth of what is left, at most longestAnswer, because on a busy machine a
// short answer takes its time too. Of a short time it is a fifth, at most AnswerTime.
func Answerable(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		margin := max(min(left/10, longestAnswer), primitives.AnswerMargin(ctx, left, AnswerTime))
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}
