package sites

import (
	"strings"

	"github.com/outrider-run/outrider/sites/manifest"
)

// What a name inside of a map means: an entry of the map itself, or of one that
// it imports, under the name by which it sees it. Entries come with the map that
// declares them, because the names inside of them are that map's.

// State returns the state that a name means inside of m; nil when none does.
func (l *Library) State(m *Map, name string) (*Map, *manifest.State) {
	return named(l, m, m.Manifest.State(name), name, func(c *Composition) []Exposed[manifest.State] { return c.States })
}

// Check returns the check that an id means inside of m.
func (l *Library) Check(m *Map, id string) (*Map, *manifest.Check) {
	return named(l, m, m.Manifest.Check(id), id, func(c *Composition) []Exposed[manifest.Check] { return c.Checks })
}

// Tool returns the tool that a name means inside of m.
func (l *Library) Tool(m *Map, name string) (*Map, *manifest.Tool) {
	return named(l, m, m.Manifest.Tool(name), name, func(c *Composition) []Exposed[manifest.Tool] { return c.Tools })
}

// Signal returns the signal that a name means inside of m.
func (l *Library) Signal(m *Map, name string) (*Map, *manifest.Signal) {
	return named(l, m, m.Manifest.Signal(name), name, func(c *Composition) []Exposed[manifest.Signal] {
		return c.Signals
	})
}

// Attachment returns the attachment that an id means inside of m.
func (l *Library) Attachment(m *Map, id string) (*Map, *manifest.Attachment) {
	return named(l, m, m.Manifest.Attachment(id), id, func(c *Composition) []Exposed[manifest.Attachment] {
		return c.Attachments
	})
}

// Target returns the target that a name means inside of m: that of a tool, a
// signal or an attachment, or of a diagnostic (STATE.DIAGNOSTIC, or its own
// name).
func (l *Library) Target(m *Map, name string) (*Map, *manifest.Target) {
	if t := m.Manifest.TargetNamed(name); t != nil || name == "" {
		return m, t
	}
	c := l.within(m)
	if c == nil {
		return m, nil
	}
	for _, s := range c.Sources[1:] {
		own, ok := name, s.Namespace == ""
		if !ok {
			own, ok = strings.CutPrefix(name, s.Namespace+".")
		}
		if ok && s.Map != nil {
			if t := s.Map.Manifest.TargetNamed(own); t != nil {
				return s.Map, t
			}
		}
	}
	return m, nil
}

func named[T any](l *Library, m *Map, own *T, name string, of func(*Composition) []Exposed[T]) (*Map, *T) {
	if own != nil || name == "" {
		return m, own
	}
	c := l.within(m)
	if c == nil {
		return m, nil
	}
	for _, e := range of(c) {
		if e.Name == name {
			return e.Source.Map, e.Entry
		}
	}
	return m, nil
}

// within is the composition of m as it sees it; nil for a map that imports
// nothing.
func (l *Library) within(m *Map) *Composition {
	if l == nil || len(m.Manifest.Imports) == 0 {
		return nil
	}
	if c := l.composed[m]; c != nil {
		return c
	}
	for _, c := range l.composed {
		if inner := c.inside[m]; inner != nil {
			return inner
		}
	}
	return nil
}

// Moves returns the transitions that a tool performs: those of the map that
// declares it, and those of maps that import it.
func (l *Library) Moves(match *Match) []Exposed[manifest.Transition] {
	return concerning(l, match, func(m *Map) []Exposed[manifest.Transition] {
		return exposures(m.Manifest.Transitions, &Source{Map: m}, func(t *manifest.Transition) string { return t.Name })
	},
		func(c *Composition) []Exposed[manifest.Transition] { return c.Transitions },
		func(in *Map, t *manifest.Transition) bool { return l.names(in, t.Tool, match) })
}

// ChecksAbout returns the checks that name a tool, of the map that declares it
// and of maps that import it.
func (l *Library) ChecksAbout(match *Match) []Exposed[manifest.Check] {
	return concerning(l, match, func(m *Map) []Exposed[manifest.Check] {
		return exposures(m.Manifest.Checks, &Source{Map: m}, func(k *manifest.Check) string { return k.ID })
	},
		func(c *Composition) []Exposed[manifest.Check] { return c.Checks },
		func(in *Map, k *manifest.Check) bool {
			if l.names(in, k.Tool, match) || l.names(in, k.TargetOf, match) {
				return true
			}
			for _, n := range k.Tools {
				if l.names(in, n, match) {
					return true
				}
			}
			for _, list := range [][]manifest.Probe{k.Assertions, k.NegativeAssertions} {
				for i := range list {
					if l.names(in, list[i].Tool, match) || l.names(in, list[i].TargetOf, match) {
						return true
					}
				}
			}
			return false
		})
}

func (l *Library) names(in *Map, name string, match *Match) bool {
	switch {
	case name == "":
		return false
	case in == match.Map:
		return name == match.Tool.Name
	case len(in.Manifest.Imports) == 0:
		return false
	}
	_, t := l.Tool(in, name)
	return t == match.Tool
}

func concerning[T any](
	l *Library, match *Match, own func(*Map) []Exposed[T],
	of func(*Composition) []Exposed[T], concerns func(*Map, *T) bool,
) []Exposed[T] {
	via := match.Via
	if via == nil {
		via = match.Map
	}
	var all, out []Exposed[T]
	if c := l.within(via); c != nil {
		all = of(c)
	} else {
		all = own(match.Map)
	}
	for _, e := range all {
		if concerns(e.Source.Map, e.Entry) {
			out = append(out, e)
		}
	}
	return out
}

// States returns the states that m sees, its own and those of its imports.
func (l *Library) States(m *Map) []Exposed[manifest.State] {
	if c := l.within(m); c != nil {
		return c.States
	}
	return exposures(m.Manifest.States, &Source{Map: m}, func(s *manifest.State) string { return s.Name })
}

// Attachments returns the attachments that m sees, its own and those of its
// imports.
func (l *Library) Attachments(m *Map) []Exposed[manifest.Attachment] {
	if c := l.within(m); c != nil {
		return c.Attachments
	}
	return exposures(m.Manifest.Attachments, &Source{Map: m}, func(a *manifest.Attachment) string { return a.ID })
}

// Offered is the name by which the page's map offers what source calls name.
func (s *Source) Offered(name string) string {
	if name == "" {
		return ""
	}
	return join(s.Namespace, name)
}
