package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// diagnosis says whether a state of a map is current, and why.
type diagnosis struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Current is null for a state that cannot be seen from the page: it
	// declares no diagnostics, or none that says anything.
	Current     *bool     `json:"current"`
	MapPath     string    `json:"map_path,omitempty"`
	Diagnostics []finding `json:"diagnostics,omitempty"`
	Observables []string  `json:"observables,omitempty"`

	verdict verdict
	in      *sites.Map // declares it
	own     string     // its name there
}

// diagnose says whether a state is current. It is when all of its diagnostics
// that say anything hold.
func (s *survey) diagnose(m *sites.Map, name string) diagnosis { return s.diagnoseAt(m, name, 0) }

func (s *survey) diagnoseAt(m *sites.Map, name string, depth int) diagnosis {
	in, state := s.lib.State(m, name)
	d := diagnosis{Name: name, MapPath: in.Path, in: in, own: name}
	if state == nil || depth > maxStateDepth {
		return d
	}
	d.own = state.Name
	d.Description, d.Observables = state.Description, state.Observables
	for i := range state.Diagnostics {
		f := s.judgeAt(in, &state.Diagnostics[i], nil, depth)
		d.Diagnostics = append(d.Diagnostics, f)
		if f.verdict == no || f.verdict == yes && d.verdict == unknown {
			d.verdict = f.verdict
		}
	}
	d.Current = d.verdict.pointer()
	return d
}

// diagnosed are the states of maps that were looked at together.
type diagnosed struct {
	lib    *sites.Library
	url    string
	at     time.Time
	states []diagnosis
}

// current returns the names of the states that are current, each once, in the
// order of the maps.
func (d diagnosed) current() []string {
	var names []string
	for _, s := range d.states {
		if s.verdict == yes && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// namedState is a state by the name under which a page's map offers it, which is
// not its own when it was imported into a namespace.
type namedState struct {
	name string
	in   *sites.Map // declares it
	own  string
}

// statesOffered lists the states that maps offer, those of their imports
// included.
func statesOffered(l *sites.Library, maps []*sites.Map) []namedState {
	var out []namedState
	for _, m := range maps {
		out = append(out, statesSeen(l, m)...)
	}
	return out
}

// statesSeen lists the states that a map sees, by the names it has for them.
func statesSeen(l *sites.Library, m *sites.Map) []namedState {
	var out []namedState
	for _, e := range l.States(m) {
		out = append(out, namedState{e.Name, e.Source.Map, e.Entry.Name})
	}
	return out
}

// surveyStates diagnoses all of the states with one look at the page.
func surveyStates(ctx context.Context, page primitives.Page, lib *sites.Library, states []namedState) (diagnosed, error) {
	s := survey{lib: lib}
	for _, n := range states {
		s.wantState(n.in, n.own)
	}
	if err := s.ask(ctx, page); err != nil {
		return diagnosed{}, err
	}
	return s.diagnoseAll(states), nil
}

func (s *survey) diagnoseAll(states []namedState) diagnosed {
	out := diagnosed{lib: s.lib, url: s.url, at: s.at}
	for _, n := range states {
		d := s.diagnose(n.in, n.own)
		d.Name = n.name
		out.states = append(out.states, d)
	}
	return out
}

// isState says whether a name means a state inside of a map.
func isState(lib *sites.Library, m *sites.Map, name string) bool {
	_, state := lib.State(m, name)
	return state != nil
}

// requiredStates are the states that a tool needs before it starts: those that
// it or its map names in requires, and that of its target.
func requiredStates(lib *sites.Library, m *sites.Map, t *manifest.Tool) []string {
	var names []string
	for _, r := range []manifest.Requirements{m.Manifest.Requires, t.Needs} {
		names = append(append(names, r.States...), r.Capabilities...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !isState(lib, m, n) })
	if t.Target != nil && t.Target.State != "" {
		names = append(names, t.Target.State)
	}
	return names
}
