// Package quirks names what the upstream Chrome extension does differently from what
// its own documentation, or common sense, asks for. It implements none of them. Code
// that differs asks for one quirk by its name, and the command chooses the profile.
//
// The strict profile has no quirk. The extension profile has all of them, so
// that what goes wrong in the extension goes wrong here too. Code asks for one
// quirk by its name and never for a profile:
//
//	if quirks.Has(quirks.SwallowedStepFailure) { ... }
package quirks

import (
	"maps"
	"slices"
	"sync"
)

// Name is the stable name of one difference.
type Name string

// Quirk describes one difference of behaviour.
type Quirk struct {
	Name Name
	// Where is the primitive, or the part of the runtime, in which a caller meets it.
	Where string
	// Upstream says what the extension does, Strict what this host does without
	// the quirk.
	Upstream, Strict string
	// InPage means that the page library decides it.
	InPage bool
	// Proof names what shows both behaviours: a page below testdata/pages, or
	// a Go test as package.Test.
	Proof string
}

// Profiles by the name that users give.
const (
	StrictProfile    = "strict"
	ExtensionProfile = "extension"
)

// Set says which quirks hold. The zero Set is the strict profile. A Set does
// not change and may be shared.
type Set struct {
	names map[Name]bool
	used  *Used // nil for nobody
}

// Has reports whether the quirk holds.
func (s Set) Has(n Name) bool {
	if s.used != nil && s.names[n] {
		s.used.Note(n)
	}
	return s.names[n]
}

// Used collects the quirks of the profile that the code has checked. No other quirk can explain what
// happened.
type Used struct {
	mu    sync.Mutex
	names map[Name]bool
}

// Note adds a quirk.
func (a *Used) Note(n Name) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.names == nil {
		a.names = map[Name]bool{}
	}
	a.names[n] = true
}

// Names lists them, sorted.
func (a *Used) Names() []Name {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.names))
}

// Watched returns the same set, which notes in a each quirk that is checked. The page library notes those it
// decides for itself, see its query record_quirks.
func (s Set) Watched(a *Used) Set { return Set{s.names, a} }

// Without returns the set without one quirk.
func (s Set) Without(n Name) Set {
	if !s.names[n] {
		return s
	}
	names := maps.Clone(s.names)
	delete(names, n)
	return Set{names, s.used}
}

// Empty reports whether no quirk holds.
func (s Set) Empty() bool { return len(s.names) == 0 }

// Names lists the quirks that hold, sorted.
func (s Set) Names() []Name { return slices.Sorted(maps.Keys(s.names)) }

// InPage lists those that the page library must know, sorted.
func (s Set) InPage() []Name {
	out := []Name{}
	for _, q := range table {
		if q.InPage && s.names[q.Name] {
			out = append(out, q.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Of returns the set of some quirks, for tests of one of them.
func Of(names ...Name) Set {
	s := Set{names: make(map[Name]bool, len(names))}
	for _, n := range names {
		s.names[n] = true
	}
	return s
}

// Profile returns the set of a profile; ok is false when there is none of this
// name. The empty name is the strict profile.
func Profile(name string) (s Set, ok bool) {
	switch name {
	case "", StrictProfile:
		return Set{}, true
	case ExtensionProfile:
		return Extension(), true
	}
	return Set{}, false
}

// Extension is the set of all quirks.
func Extension() Set {
	names := make([]Name, 0, len(table))
	for _, q := range table {
		names = append(names, q.Name)
	}
	return Of(names...)
}

// All lists every quirk in the order of the documentation.
func All() []Quirk { return slices.Clone(table) }
