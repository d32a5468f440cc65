package page

import (
	"context"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// classify tells a call that never reached its document from one that was
// interrupted there.
func (t *Page) classify(ctx context.Context, p place, err error) error {
	var pe *cdp.Error
	if !errors.As(err, &pe) {
		return err
	}
	switch pe.Message {
	case "Cannot find context with specified id",
		"Session with given id not found.",
		"No frame for given id found",
		"No frame with given id found",
		"Frame with the given id was not found.",
		"Node with given id does not belong to the document", // which has lost its frame
		"No node with given id found",
		"Agent needs to be enabled first", // another process has taken the frame over, and is still being told
		"Argument should belong to the same JavaScript world as target object":
		_ = t.awaitNews(ctx, p) // what comes of it is asked anew
		return errStale
	case "Execution context was destroyed.",
		"Inspected target navigated or closed",
		"Cannot find default execution context",
		"Promise was collected":
		if err := t.awaitNews(ctx, p); err != nil {
			return err
		}
		return &fault.Error{Code: fault.PageNavigated, Message: "the document was replaced during the call", Err: err}
	case "Target crashed":
		return fault.New(fault.TabCrashed, "the page's renderer process crashed")
	}
	return err
}

// unstarted is for commands that come before the call itself: an interruption
// there did no harm.
func unstarted(err error) error {
	if errors.Is(err, fault.PageNavigated) {
		return errStale
	}
	return err
}

// awaitNews gives the event that explains a failed call a moment to arrive. It
// returns an error when the tab itself is gone.
func (t *Page) awaitNews(ctx context.Context, p place) error {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-p.life.Done():
		return p.life.Err()
	case <-p.doc.Replaced():
	case <-p.s.Done():
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-p.life.Done():
		return p.life.Err()
	default:
		return nil
	}
}
