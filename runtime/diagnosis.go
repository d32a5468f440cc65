package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
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
}

// diagnose says whether a state is current. It is when all of its diagnostics
// that say anything hold.
func (s *survey) diagnose(m *sites.Map, name string) diagnosis { return s.diagnoseAt(m, name, 0) }

func (s *survey) diagnoseAt(m *sites.Map, name string, depth int) diagnosis {
	d := diagnosis{Name: name, MapPath: m.Path}
	state := m.Manifest.State(name)
	if state == nil || depth > maxStateDepth {
		return d
	}
	d.Description, d.Observables = state.Description, state.Observables
	for i := range state.Diagnostics {
		f := s.judgeAt(m, &state.Diagnostics[i], nil, depth)
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

// surveyMaps diagnoses every state of the maps with one look at the page.
func surveyMaps(ctx context.Context, page primitives.Page, maps []*sites.Map) (diagnosed, error) {
	var s survey
	for _, m := range maps {
		for i := range m.Manifest.States {
			s.wantState(m, m.Manifest.States[i].Name)
		}
	}
	if err := s.ask(ctx, page); err != nil {
		return diagnosed{}, err
	}
	out := diagnosed{url: s.url, at: s.at}
	for _, m := range maps {
		for i := range m.Manifest.States {
			out.states = append(out.states, s.diagnose(m, m.Manifest.States[i].Name))
		}
	}
	return out, nil
}

// requireStates looks whether all of the named states of a map are current, in
// one round trip, and fails with state_mismatch when one is certainly not.
// States that nobody declares or that cannot be seen hold nothing up: a map that
// gives no way to see them cannot expect them to be seen.
func requireStates(ctx context.Context, page primitives.Page, m *sites.Map, names []string) *fault.Error {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" || m.Manifest.State(n) == nil })
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return nil
	}
	var s survey
	for _, n := range names {
		s.wantState(m, n)
	}
	if err := s.ask(ctx, page); err != nil {
		return fault.From(err)
	}
	var missing []string
	var report []diagnosis
	for _, n := range names {
		if d := s.diagnose(m, n); d.verdict == no {
			missing, report = append(missing, n), append(report, d)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(fault.StateMismatch, "the page is not in the state %s, which the action needs; nothing was done", shownList(missing)).
		With("required", names).With("missing", missing).With("diagnosis", report).With("url", clip(s.url, 200)).
		Next("bring the page into that state first; mode list names the states that are current and the transitions between them")
}

func shownList(names []string) string {
	out := ""
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += clip(n, 60)
	}
	return out
}

// requiredStates are the states that a tool needs before it starts: those that
// it or its map names in requires, and that of its target.
func requiredStates(m *sites.Map, t *manifest.Tool) []string {
	var names []string
	for _, r := range []manifest.Requirements{m.Manifest.Requires, t.Needs} {
		names = append(append(names, r.States...), r.Capabilities...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return m.Manifest.State(n) == nil })
	if t.Target != nil && t.Target.State != "" {
		names = append(names, t.Target.State)
	}
	return names
}
