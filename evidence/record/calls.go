package record

import "time"

// Call is one call of a recording with the steps that ran for it.
type Call struct {
	CallEnd
	Tab    int
	Before string // address of the page before it
	// TimeoutMS is what the call had, in milliseconds.
	TimeoutMS float64
	Began     float64
	Ended     float64
	// Finished is false for a call that the recording does not see end: it has no arguments and no result.
	Finished bool
	Steps    []Step
	Map      *Map // that came with the call
	// States are the state projections before the call, After those that it has left on its tab: the next call
	// found them there.
	States, After []StateSeen
}

// StateSeen is a state with its tab.
type StateSeen struct {
	State
	Tab int
}

// Step is one primitive that ran for a call.
type Step struct {
	StepBegin
	Began, Ended float64
	End          *StepEnd // nil when the recording does not see it end
	Snapshots    []Snapshot
}

// Duration is how long the call took.
func (c Call) Duration() time.Duration {
	return time.Duration((c.Ended - c.Began) * float64(time.Millisecond))
}

// Calls puts the calls of a recording together, in the order in which they began. Those that had begun
// before the first event are left out.
func Calls(events []Event) []Call {
	var out []*Call
	calls := map[string]*Call{}
	steps := map[string]*Step{}
	owned := map[string][]*Step{}
	for _, e := range events {
		switch e.Kind {
		case KindCallBegin:
			if b, err := Of[CallBegin](e); err == nil {
				c := &Call{
					CallEnd:   CallEnd{ID: b.ID, Name: b.Name},
					Tab:       e.Tab,
					Before:    b.URL,
					TimeoutMS: b.TimeoutMS,
					Began:     e.T,
					Ended:     e.T,
				}
				calls[b.ID] = c
				out = append(out, c)
			}
		case KindMap:
			if m, err := Of[Map](e); err == nil && calls[m.Call] != nil {
				calls[m.Call].Map = &m
			}
		case KindCallEnd:
			if end, err := Of[CallEnd](e); err == nil && calls[end.ID] != nil {
				c := calls[end.ID]
				c.CallEnd = end
				c.Ended = e.T
				c.Finished = true
			}
		case KindStepBegin:
			if b, err := Of[StepBegin](e); err == nil {
				s := &Step{StepBegin: b, Began: e.T, Ended: e.T}
				steps[b.ID] = s
				owned[b.Call] = append(owned[b.Call], s)
			}
		case KindStepEnd:
			if end, err := Of[StepEnd](e); err == nil && steps[end.ID] != nil {
				steps[end.ID].End, steps[end.ID].Ended = &end, e.T
			}
		case KindState:
			if s, err := Of[State](e); err == nil && calls[s.Call] != nil {
				calls[s.Call].States = append(calls[s.Call].States, StateSeen{s, e.Tab})
			} else if n := len(out); err == nil && s.Call == "" && n > 0 && out[n-1].Tab == e.Tab { // its tab ends
				out[n-1].After = append(out[n-1].After, StateSeen{s, e.Tab})
			}
		case KindSnapshot:
			if s, err := Of[Snapshot](e); err == nil && steps[s.Step] != nil {
				steps[s.Step].Snapshots = append(steps[s.Step].Snapshots, s)
			}
		}
	}
	list := make([]Call, len(out))
	for i, c := range out {
		if i+1 < len(out) && out[i+1].Tab == c.Tab { // what another tab shows is not of this call
			c.After = append(c.After, out[i+1].States...)
		}
		for _, s := range owned[c.ID] {
			c.Steps = append(c.Steps, *s)
		}
		list[i] = *c
	}
	return list
}
