package verify

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// RequiredNames drops what is no state of the map, and repetitions.
func RequiredNames(lib *sites.Library, m *sites.Map, names []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !IsState(lib, m, n) })
	slices.Sort(names)
	return slices.Compact(names)
}

// Require fails with state_mismatch when one of the named states is certainly
// not current. States that nobody declares or that cannot be observed hold
// nothing up: a map that gives no way to observe them cannot expect it.
func (b *Batch) Require(m *sites.Map, names []string) *fault.Error {
	names = RequiredNames(b.Library, m, names)
	var missing []string
	var report []Diagnosis
	for _, n := range names {
		if d := b.Diagnose(m, n); d.Verdict == No {
			missing, report = append(missing, n), append(report, d)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(
		fault.StateMismatch,
		"the page is not in the state %s, which the action needs; nothing was done",
		fault.Clip(strings.Join(missing, ", "), 200),
	).With("required", names).With("missing", missing).With("diagnosis", report).With("url", fault.Clip(b.URL, 200)).
		Next("bring the page into that state first; mode list names the states that are current and the transitions " +
			"between them")
}

// VerdictOf is the verdict on a state by the name that a map has for it.
func (d Diagnosed) VerdictOf(m *sites.Map, name string) Verdict {
	in, state := d.Library.State(m, name)
	if state == nil {
		return Unknown
	}
	for _, s := range d.States {
		if s.In.Path == in.Path && s.Own == state.Name { // the maps may have been read again since
			return s.Verdict
		}
	}
	return Unknown
}
