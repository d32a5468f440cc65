package verify

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Diagnosis is a state with its verdict.
type Diagnosis struct {
	checks.State
	Verdict Verdict    `json:"-"`
	In      *sites.Map `json:"-"` // declares it
	Own     string     `json:"-"` // its name there
}

// Diagnose reports whether a state is current. It is when all of its diagnostics
// that say anything hold.
func (b *Batch) Diagnose(m *sites.Map, name string) Diagnosis { return b.diagnoseAt(m, name, 0) }

func (b *Batch) diagnoseAt(m *sites.Map, name string, depth int) Diagnosis {
	in, state := b.Library.State(m, name)
	d := Diagnosis{State: checks.State{Name: name, MapPath: in.Path}, In: in, Own: name}
	if state == nil || depth > maxStateDepth {
		return d
	}
	d.Own = state.Name
	d.Description, d.Observables = state.Description, state.Observables
	for i := range state.Diagnostics {
		f := b.judgeAt(in, &state.Diagnostics[i], nil, false, depth)
		d.Diagnostics = append(d.Diagnostics, f.Assertion)
		if f.Verdict == No || f.Verdict == Yes && d.Verdict == Unknown {
			d.Verdict = f.Verdict
		}
		d.Drift = append(d.Drift, f.drifts()...)
	}
	if d.Verdict != Yes {
		d.Drift = nil
	}
	d.Current = d.Verdict.Pointer()
	return d
}

// Diagnosed are the diagnoses of one batch of probes.
type Diagnosed struct {
	Library *sites.Library
	URL     string
	At      time.Time
	States  []Diagnosis
}

// Current returns the names of the states that are current, each once, in the
// order of the maps.
func (d Diagnosed) Current() []string {
	var names []string
	for _, s := range d.States {
		if s.Verdict == Yes && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Plain are the states without what only the runtime knows of them.
func (d Diagnosed) Plain() []checks.State {
	out := make([]checks.State, len(d.States))
	for i, s := range d.States {
		out[i] = s.State
	}
	return out
}

// NamedState is a state by the name under which a page's map offers it, which is
// not its own when it was imported into a namespace.
type NamedState struct {
	Name string
	In   *sites.Map // declares it
	Own  string
}

// StatesOffered lists the states that maps offer, those of their imports
// included.
func StatesOffered(l *sites.Library, maps []*sites.Map) []NamedState {
	var out []NamedState
	for _, m := range maps {
		out = append(out, StatesOf(l, m)...)
	}
	return out
}

// StatesOf lists the states that a map sees, by the names it has for them.
func StatesOf(l *sites.Library, m *sites.Map) []NamedState {
	var out []NamedState
	for _, e := range l.States(m) {
		out = append(out, NamedState{e.Name, e.Source.Map, e.Entry.Name})
	}
	return out
}

// DiagnoseStates diagnoses all of the states with one page call.
func DiagnoseStates(
	ctx context.Context, page primitives.Page, lib *sites.Library, states []NamedState,
) (Diagnosed, error) {
	s := Batch{Library: lib}
	for _, n := range states {
		s.AddState(n.In, n.Own)
	}
	if err := s.Evaluate(ctx, page); err != nil {
		return Diagnosed{}, err
	}
	return s.DiagnoseAll(states), nil
}

// DiagnoseAll diagnoses all of the states, by the names that maps offer.
func (b *Batch) DiagnoseAll(states []NamedState) Diagnosed {
	out := Diagnosed{Library: b.Library, URL: b.URL, At: b.At}
	for _, n := range states {
		d := b.Diagnose(n.In, n.Own)
		d.Name = n.Name
		out.States = append(out.States, d)
	}
	return out
}

// IsState reports whether a name means a state inside of a map.
func IsState(lib *sites.Library, m *sites.Map, name string) bool {
	_, state := lib.State(m, name)
	return state != nil
}

// RequiredStates are the states that a tool needs before it starts: those that
// it or its map names in requires, and that of its target.
func RequiredStates(lib *sites.Library, m *sites.Map, t *manifest.Tool) []string {
	var names []string
	for _, r := range []manifest.Requirements{m.Manifest.Requires, t.Needs} {
		names = append(append(names, r.States...), r.Capabilities...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !IsState(lib, m, n) })
	if t.Target != nil && t.Target.State != "" {
		names = append(names, t.Target.State)
	}
	return names
}
