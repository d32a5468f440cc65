package replay

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime"
)

// State is how a state projection was when a call had ended and the next one began.
type State struct {
	Projection string
	Tab        int
	Value      json.RawMessage // nil: it could not be read
	Code       string          // why
}

// statesOf are the states in a recording.
func statesOf(r *record.Recording, list []record.StateSeen) (out []State) {
	for _, s := range list {
		at := State{Projection: s.Projection, Tab: s.Tab, Code: s.Code}
		if s.Resource != "" {
			data, err := r.Data(s.Resource)
			if err != nil {
				continue
			}
			at.Value = data
		}
		out = append(out, at)
	}
	return out
}

const (
	// stateTime bounds the wait for a page to come to the recorded states.
	stateTime = 2 * time.Second
	stateRead = 100 * time.Millisecond // between two reads
)

// compareStates compares the states that a call has left with the recorded ones; after are the calls that follow it. A
// page that comes to them a little later is the same, and one that comes sooner to those that it had after calls that
// only read: it went there by itself.
func (p *player) compareStates(ctx context.Context, h place, c Call, after []Call, result *CallResult) {
	until := time.Now().Add(stateTime)
	for {
		seen := map[int][]runtime.StateSeen{}
		var list []Difference
		for _, was := range c.States {
			if seen[was.Tab] == nil {
				seen[was.Tab] = h.host.States(ctx, p.target(h, was.Tab))
			}
			differs := p.compareState(was, seen[was.Tab])
			if len(differs) > 0 && !p.isAhead(was, after, seen[was.Tab]) {
				list = append(list, differs...)
			}
		}
		if len(list) == 0 || ctx.Err() != nil {
			return
		}
		if time.Now().After(until) {
			result.Differences = list[:min(len(list), maxDifferences)]
			result.Verdict, result.Page = Different, p.evidence(ctx, c, p.target(h, c.Tab), h)
			return
		}
		_ = primitives.Sleep(ctx, stateRead)
	}
}

// acts reports whether a call of a recording could change the page.
func (c Call) acts() bool {
	return slices.ContainsFunc(c.steps, func(s record.Step) bool { return s.Acts })
}

// isAhead reports whether the page has a state that the log has later, with no call between that could make it.
func (p *player) isAhead(was State, after []Call, seen []runtime.StateSeen) bool {
	for _, c := range after {
		if c.acts() {
			return false
		}
		if slices.ContainsFunc(c.States, func(next State) bool {
			return next.Projection == was.Projection && next.Tab == was.Tab && len(p.compareState(next, seen)) == 0
		}) {
			return true
		}
	}
	return false
}

// compareState compares a recorded state with what the page has. Pointers begin with /state and its name.
func (p *player) compareState(was State, seen []runtime.StateSeen) []Difference {
	at := "/state/" + escape(was.Projection)
	i := slices.IndexFunc(seen, func(s runtime.StateSeen) bool { return s.Projection == was.Projection })
	switch {
	case i < 0:
		return []Difference{{Pointer: at, Was: was.word(), Is: "not declared"}}
	case was.Value == nil || seen[i].State == nil:
		if is := (State{Value: seen[i].State, Code: seen[i].Code}).word(); is != was.word() {
			return []Difference{{Pointer: at, Was: was.word(), Is: is}}
		}
		return nil
	}
	list := differences(p.ids, false, was.Value, p.opts.Secrets.MaskJSON(seen[i].State))
	for n := range list {
		list[n].Pointer = at + list[n].Pointer
	}
	return list
}

// word says how reading it went.
func (s State) word() string {
	if s.Value != nil {
		return "read"
	}
	return s.Code
}
