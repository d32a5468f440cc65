package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

const (
	// postconditionTime is the time in which a page may come to meet a
	// postcondition that does not say timeout_ms, counted from the end of the
	// workflow. The call's own time bounds it in any case.
	postconditionTime    = 5 * time.Second
	maxPostconditionTime = time.Minute
)

// Verdicts of a postcondition.
const (
	verdictConfirmed    = "confirmed"    // it held
	verdictContradicted = "contradicted" // the state was read and it did not hold
	verdictUnknown      = "unknown"      // the state could not be read or judged
)

// postconditionResult is the member postcondition of a workflow's output, and
// of the error when it does not hold.
type postconditionResult struct {
	OK         bool   `json:"ok"`
	Projection string `json:"projection"`
	Verdict    string `json:"verdict"`
}

// postcondition is what must be true of the page after an action.
type postcondition struct {
	check      *projection.Postcondition
	projection string
	time       time.Duration
	in         *sites.Map
}

// postcondition returns what the action's map wants checked after it, nil when
// nothing is: the workflow's own declaration, else the first projection of the
// map that has one for the action. A malformed one is an error before the
// action does anything.
func (m *Maps) postcondition(o *offer, match *sites.Match, program *workflow.Program) (*postcondition, *fault.Error) {
	if pc, ok := o.postconditions.Load(match.Tool); ok {
		return pc.(*postcondition), nil
	}
	raw, containing := program.Postcondition(), ""
	if raw == nil {
		raw, containing = mapPostcondition(match)
	}
	if raw == nil {
		o.postconditions.Store(match.Tool, (*postcondition)(nil))
		return nil, nil
	}
	pc, err := compilePostcondition(raw, containing, m.engine)
	if err != nil {
		return nil, err.With("action", match.Tool.Name)
	}
	pc.in = match.Map
	o.postconditions.Store(match.Tool, pc)
	return pc, nil
}

// compilePostcondition compiles a declaration. containing is the projection it
// stands in, "" for one that stands in a workflow and so has to name its own.
func compilePostcondition(raw json.RawMessage, containing string, engine expr.Engine) (*postcondition, *fault.Error) {
	check, err := projection.CompilePostcondition(raw, engine)
	if err != nil {
		return nil, err
	}
	pc := &postcondition{check: check, projection: cmp.Or(check.Projection(), containing), time: postconditionTime}
	var own struct {
		TimeoutMS *int64 `json:"timeout_ms"` // an extension of this runtime
	}
	if e := json.Unmarshal(raw, &own); e != nil {
		return nil, fault.New(fault.InvalidStatePostcondition, "timeout_ms must be a whole number")
	}
	if ms := own.TimeoutMS; ms != nil {
		if *ms < 1 || *ms > maxPostconditionTime.Milliseconds() {
			return nil, fault.New(fault.InvalidStatePostcondition, "timeout_ms must be between 1 and %d", maxPostconditionTime.Milliseconds())
		}
		pc.time = time.Duration(*ms) * time.Millisecond
	}
	if pc.projection == "" {
		return nil, fault.New(fault.InvalidStatePostcondition, "the postcondition of a workflow names no projection")
	}
	return pc, nil
}

func mapPostcondition(match *sites.Match) (raw json.RawMessage, containing string) {
	for i := range match.Map.Manifest.StateProjections {
		p := &match.Map.Manifest.StateProjections[i]
		if raw := p.Postconditions[match.Tool.Name]; len(raw) > 0 && raw[0] == '{' {
			return raw, p.Name
		}
	}
	return nil, ""
}

// projectionProblems checks a declared projection when its map loads.
func (m *Maps) projectionProblems(raw json.RawMessage) []manifest.Problem {
	_, problems := projection.Compile(raw, m.engine)
	out := make([]manifest.Problem, len(problems))
	for i, p := range problems {
		out[i] = manifest.Problem{Pointer: p.Pointer, Code: p.Code, Message: p.Message}
	}
	return out
}

// projectionWarnings lists what is suspicious about the expressions of a
// projection. What is wrong with them is reported elsewhere.
func (m *Maps) projectionWarnings(raw json.RawMessage) []manifest.Problem {
	p, _ := projection.Compile(raw, m.engine)
	if p == nil {
		return nil
	}
	return mapProblems(p.Warnings(), "")
}

// postconditionWarnings is the same for the postcondition of a workflow.
func (m *Maps) postconditionWarnings(raw json.RawMessage) []manifest.Problem {
	pc, err := projection.CompilePostcondition(raw, m.engine)
	if err != nil {
		return nil
	}
	return mapProblems(pc.Warnings(), "/postcondition")
}

func mapProblems(found []projection.Problem, at string) []manifest.Problem {
	var out []manifest.Problem
	for _, p := range found {
		out = append(out, manifest.Problem{Pointer: at + p.Pointer, Code: p.Code, Message: p.Message})
	}
	return out
}

// projection compiles a projection of o, once.
func (m *Maps) projection(o *offer, declared *manifest.Projection) (*projection.Projection, *fault.Error) {
	if p, ok := o.projections.Load(declared); ok {
		return p.(*projection.Projection), nil
	}
	p, problems := projection.Compile(declared.Raw, m.engine)
	if len(problems) > 0 {
		return nil, fault.New(problems[0].Code, "%s", problems[0].Message).With("projection", declared.Name).With("pointer", problems[0].Pointer)
	}
	o.projections.Store(declared, p)
	return p, nil
}

// verify reads the page until it meets the postcondition or the time is over.
// The page that counts is the one that is shown then: an action that navigates
// is judged at its destination.
func (h *Host) verify(ctx context.Context, t *Tab, supplied *SuppliedMap, pc *postcondition, input json.RawMessage) (postconditionResult, *fault.Error) {
	// The first look may take what is left of the call: a short timeout_ms says
	// how long to go on looking, not that nobody need look.
	whole, end := ctx, context.CancelFunc(func() {})
	if deadline, ok := ctx.Deadline(); ok {
		whole, end = context.WithDeadline(ctx, deadline.Add(-observe.AnswerTime))
	}
	defer end()
	bounded, cancel := context.WithTimeout(whole, pc.time)
	var waits sync.WaitGroup
	defer waits.Wait()
	defer cancel()

	result := postconditionResult{Projection: pc.projection, Verdict: verdictUnknown}
	var failure *fault.Error
	look := func(within context.Context) bool {
		met, snap, err := h.reader(t, supplied).meets(within, pc, input)
		switch {
		case met:
			result.OK, result.Verdict = true, verdictConfirmed
			return true
		case within.Err() != nil && failure != nil:
			// The time ended during the look; the one before it counts.
		case err != nil:
			result.Verdict, failure = verdictUnknown, err
		default:
			result.Verdict, failure = verdictContradicted, pc.contradicted(snap)
		}
		return false
	}
	if look(whole) {
		return result, nil
	}
	for bounded.Err() == nil && !h.opts.Quirks.Has(quirks.PostconditionOnce) {
		page, err := t.LivePage(bounded)
		if err != nil {
			if bounded.Err() == nil {
				result.Verdict, failure = verdictUnknown, fault.From(err)
			}
			break
		}
		// The wait begins before the read, so that nothing falls between.
		wait := observe.Begin(bounded, page, observe.Again, waits.Go)
		if look(bounded) {
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
		unread := fault.New(fault.StatePostconditionProjectionFailed, "the state could not be read in time").With("projection", pc.projection)
		if failure != nil {
			unread.Err = failure
		}
		failure = unread
	}
	out := *failure // it may be the tab's own
	out.Fields = maps.Clone(out.Fields)
	out.Field("postcondition", result)
	if out.NextStep == "" {
		out.Next("the workflow ran; read the state before you repeat the action")
	}
	return result, &out
}

// meets reads the projection once and evaluates the expression over it.
func (r stateReader) meets(ctx context.Context, pc *postcondition, input json.RawMessage) (bool, *projection.Snapshot, *fault.Error) {
	_, snap, err := r.readFound(ctx, namedIn(pc.in, pc.projection), projection.ReadOptions{})
	if err != nil {
		return false, nil, err
	}
	met, err := pc.check.Check(ctx, snap.State, input)
	return met, snap, err
}

func (pc *postcondition) contradicted(snap *projection.Snapshot) *fault.Error {
	message := pc.check.FailureMessage()
	if message == "" {
		message = "the workflow ran, but the page did not come to the state it promises"
	}
	return fault.New(fault.StatePostconditionFailed, "%s", message).
		With("projection", pc.projection).With("state_hash", snap.Hash).With("state", snap.State).With("url", fault.Clip(snap.URL, 200))
}
