package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
)

// KnownNames is what there is for steps to name.
type KnownNames struct {
	Primitives []string
	// Maps reads the maps of a run. whole says that nothing else can be on offer: all of
	// them were read, and none imports from the web.
	Maps func(paths []string) (l *sites.Library, whole bool)
}

// WholeLibrary reports whether a library has all that its maps can offer on any page: what they
// import from the web is read through a page.
func WholeLibrary(l *sites.Library) bool {
	for _, m := range l.Maps() {
		for _, s := range l.Composition(m).Sources {
			if s.Pending || s.Err != nil {
				return false
			}
		}
	}
	return true
}

// enoughNameProblems is when no further case is judged: fewer are shown.
const enoughNameProblems = 100

// CheckNames refuses primitives, actions and states of cases that a run with these maps is certain
// not to have. The error is spec.Problems.
func CheckNames(cases []*spec.Case, paths []string, n KnownNames) error {
	read := sync.OnceValues(func() (*sites.Library, bool) { return n.Maps(paths) }) // only where a step asks
	judges := n.judges(read)
	var problems spec.Problems
	for _, c := range cases {
		if len(problems) > enoughNameProblems {
			break
		}
		found, _ := c.CheckNames(judges).(spec.Problems) //nolint:errorlint // it returns them unwrapped
		for _, p := range found {
			if !slices.Contains(problems, p) { // rows and plans share places
				problems = append(problems, p)
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

func (n KnownNames) judges(read func() (*sites.Library, bool)) spec.Names {
	action := func(name string) (known []string, unknown bool) {
		l, whole := read()
		if !whole {
			return nil, false
		}
		if _, err := l.Find("", name); err == nil || err.Code != fault.UnknownAction {
			return nil, false
		}
		for _, m := range l.Maps() {
			c := l.Composition(m)
			for _, t := range c.Transitions {
				known = append(known, t.Name)
			}
			for _, t := range c.Tools {
				if t.Entry.AgentCallable() {
					known = append(known, t.Name)
				}
			}
		}
		return known, !slices.Contains(known, name)
	}
	return spec.Names{
		Call: func(name string) error {
			if name == runtime.SiteTool || slices.Contains(n.Primitives, name) {
				return nil
			}
			if _, unknown := action(name); !unknown { // an action can be called by its name, too
				return nil
			}
			if near := fault.Nearest(name, n.Primitives); near != "" {
				return fmt.Errorf("there is no primitive %s: did you mean %s?", name, near)
			}
			return fmt.Errorf("there is no primitive %s", name)
		},
		Action: func(name string) error {
			if known, unknown := action(name); unknown {
				return unknownName("action", name, known)
			}
			return nil
		},
		State: func(name string) error {
			l, whole := read()
			if _, _, err := l.FindProjection("", name); !whole || err == nil ||
				err.Code != fault.StateProjectionNotFound {
				return nil
			}
			var known []string
			for _, m := range l.Maps() {
				for _, p := range l.Composition(m).Projections {
					known = append(known, p.Name)
				}
			}
			return unknownName("state projection", name, known)
		},
		Current: func(name string) error {
			l, whole := read()
			if !whole {
				return nil
			}
			var known []string
			for _, m := range l.Maps() {
				for _, s := range l.Composition(m).States {
					known = append(known, s.Name)
				}
			}
			if slices.Contains(known, name) {
				return nil
			}
			return unknownName("state", name, known)
		},
	}
}

// shownNames bounds how many names are told of those that there are.
const shownNames = 10

// unknownName says that no map has a name, and which one was likely meant, or what there is.
func unknownName(kind, name string, known []string) error {
	slices.Sort(known)
	known = slices.Compact(known)
	text := fmt.Sprintf("no map of the run has the %s %s", kind, name)
	switch near := fault.Nearest(name, known); {
	case near != "":
		text += ": did you mean " + near + "?"
	case len(known) > shownNames:
		text += fmt.Sprintf(": there are %s and %d more", strings.Join(known[:shownNames], ", "), len(known)-shownNames)
	case len(known) > 0:
		text += ": there are " + strings.Join(known, ", ")
	default:
		text += ": they have none"
	}
	return fmt.Errorf("%s", text)
}
