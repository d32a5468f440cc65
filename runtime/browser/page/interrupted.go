package page

import (
	"context"
	"errors"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// classify distinguishes a call that never reached its document from one that was
// interrupted there.
func (p *Page) classify(ctx context.Context, at resolvedFrame, err error) error {
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
		"Agent needs to be enabled first", // another process has taken the frame over, and is not ready yet
		"Argument should belong to the same JavaScript world as target object":
		_ = p.awaitCause(ctx, at) // the caller resolves the document anew
		return errStale
	case "Execution context was destroyed.",
		"Inspected target navigated or closed",
		"Cannot find default execution context",
		"Promise was collected":
		if err := p.awaitCause(ctx, at); err != nil {
			return err
		}
		return &fault.Error{Code: fault.PageNavigated, Message: "the document was replaced during the call", Err: err}
	case "Target crashed":
		return fault.New(fault.TabCrashed, "the page's renderer process crashed")
	}
	return err
}

// beforeStart is for commands that come before the call itself: an interruption
// there did no harm.
func beforeStart(err error) error {
	if errors.Is(err, fault.PageNavigated) {
		return errStale
	}
	return err
}

// awaitCause gives the event that explains a failed call a moment to arrive. It
// returns an error when the tab itself was closed.
func (p *Page) awaitCause(ctx context.Context, at resolvedFrame) error {
	timer := time.NewTimer(20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-at.lifetime.Done():
		return at.lifetime.Err()
	case <-at.document.Replaced():
	case <-at.session.Done():
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-at.lifetime.Done():
		return at.lifetime.Err()
	default:
		return nil
	}
}
