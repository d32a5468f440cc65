package state

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
)

// Verdicts of a postcondition.
const (
	verdictConfirmed    = "confirmed"    // it was met
	verdictContradicted = "contradicted" // the state was read and it was not met
	verdictUnknown      = "unknown"      // the state could not be read or judged
)

// PostconditionResult is the member postcondition of a workflow's output, and
// of the error when it is not met.
type PostconditionResult struct {
	OK         bool   `json:"ok"`
	Projection string `json:"projection"`
	Verdict    string `json:"verdict"`
}

// Verify reads the page until it meets the postcondition or the time is over.
// The page that counts is the one that is shown then: an action that navigates
// is judged at its destination.
func (p *Projections) Verify(
	ctx context.Context, supplied *call.SuppliedMap, pc *mapset.Postcondition, input json.RawMessage,
) (PostconditionResult, *fault.Error) {
	// The first read may take what is left of the call: a short timeout_ms says
	// how long to go on, not that there need be no read.
	whole, end := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		margin := primitives.AnswerMargin(ctx, time.Until(deadline), observe.AnswerTime)
		whole, end = context.WithDeadline(ctx, deadline.Add(-margin))
	}
	defer end()
	bounded, cancel := context.WithTimeout(whole, pc.Time)
	var waits sync.WaitGroup
	defer waits.Wait()
	defer cancel()

	result := PostconditionResult{Projection: pc.Projection, Verdict: verdictUnknown}
	var failure *fault.Error
	probe := func(within context.Context) bool {
		met, snap, err := p.reader(supplied).meets(within, pc, input)
		switch {
		case met:
			result.OK, result.Verdict = true, verdictConfirmed
			return true
		case within.Err() != nil && failure != nil:
			// The time ended during the read; the one before it counts.
		case err != nil:
			result.Verdict, failure = verdictUnknown, err
		default:
			result.Verdict, failure = verdictContradicted, contradicted(pc, snap)
		}
		return false
	}
	if probe(whole) {
		return result, nil
	}
	for bounded.Err() == nil && !p.Quirks.Has(quirks.PostconditionOnce) {
		page, err := p.tab.LivePage(bounded)
		if err != nil {
			if bounded.Err() == nil {
				result.Verdict, failure = verdictUnknown, fault.From(err)
			}
			break
		}
		// The wait begins before the read, so that nothing falls between.
		wait := observe.Begin(bounded, page, observe.Again, waits.Go)
		if probe(bounded) {
			return result, nil
		}
		select {
		case <-wait.Over:
			if wait.Err != nil {
				observe.Pause(bounded, observe.Again.Longest)
			}
		case <-bounded.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return result, fault.From(err)
	}
	switch fault.CodeOf(failure) {
	case "", fault.Timeout, fault.Cancelled, fault.Internal:
		unread := fault.New(fault.StatePostconditionProjectionFailed, "the state could not be read in time").
			With("projection", pc.Projection)
		if failure != nil {
			unread.Err = failure
		}
		failure = unread
	}
	out := *p.coded(failure) // it may be the tab's own
	out.Fields = maps.Clone(out.Fields)
	out.Field("postcondition", result)
	if out.NextStep == "" {
		out.Next("the workflow ran; read the state before you repeat the action")
	}
	return result, &out
}

// meets reads the projection once and evaluates the expression over it.
func (r stateReader) meets(
	ctx context.Context, pc *mapset.Postcondition, input json.RawMessage,
) (bool, *projection.Snapshot, *fault.Error) {
	_, snap, err := r.readFound(ctx, namedIn(pc.In, pc.Projection), projection.ReadOptions{})
	if err != nil {
		return false, nil, err
	}
	met, err := pc.Expression.Check(ctx, snap.State, input)
	return met, snap, err
}

func contradicted(pc *mapset.Postcondition, snap *projection.Snapshot) *fault.Error {
	message := pc.Expression.FailureMessage()
	if message == "" {
		message = "the workflow ran, but the page did not come to the state it promises"
	}
	return fault.New(fault.StatePostconditionFailed, "%s", message).
		With("projection", pc.Projection).
		With("state_hash", snap.Hash).With("state", snap.State).With("url", fault.Clip(snap.URL, 200))
}
