package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Distinct is the run with each suite and each test called by a name of its own among
// those beside it, and with the id of each test, which says where it belongs.
func (r Run) Distinct() Run {
	r.Suites = distinct(r.Suites)
	r.Walk(func(path []string, t *Test) { t.ID = idOf(path, t) })
	return r
}

func distinct(suites []Suite) []Suite {
	suites = slices.Clone(suites)
	files := map[string]string{} // of the first suite with a name
	seen := map[string]int{}
	for i := range suites {
		s := &suites[i]
		if first, ok := files[s.Name]; !ok {
			files[s.Name] = s.File
		} else if first != s.File && s.File != "" { // plans of one name
			s.Name += " (" + s.File + ")"
		}
		s.Name = numbered(s.Name, seen)
		s.Tests = distinctTests(s.Tests)
	}
	return suites
}

func distinctTests(tests []Test) []Test {
	tests = slices.Clone(tests)
	names := map[string]map[string]int{}
	for i := range tests {
		t := &tests[i]
		if names[t.Class] == nil {
			names[t.Class] = map[string]int{}
		}
		t.Name = numbered(t.Name, names[t.Class])
		t.Steps = distinctTests(t.Steps)
	}
	return tests
}

// numbered is a name, with a number where it was seen before.
func numbered(name string, seen map[string]int) string {
	unique := name
	for seen[unique] > 0 {
		seen[name]++
		unique = fmt.Sprintf("%s (%d)", name, seen[name])
	}
	seen[unique]++
	return unique
}

// idOf names a test of a run: what it is in, and its name.
func idOf(path []string, t *Test) string { return suiteName(path) + " › " + line(t.Name) }

// classOf is what a reader of JUnit tells tests apart by beside their names: the case of a
// plan, or the page, and what kind of test it is.
func classOf(path []string, t *Test) string {
	path = slices.Clone(path)
	path[0] = withoutOrigin(path[0])
	return suiteName(path) + kindOf(t)
}

func kindOf(t *Test) string {
	if kind := strings.TrimPrefix(strings.TrimPrefix(t.Class, "plan"), "."); kind != "" {
		return " " + kind
	}
	return ""
}

// withoutOrigin is the name of a page's suite, which is an address, without the part that is
// another one on each machine.
func withoutOrigin(name string) string {
	u, err := url.Parse(name)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return name
	}
	if _, rest, ok := strings.Cut(name, "://"+u.Host); ok && rest != "" {
		return rest
	}
	return name
}

// classes are what classOf says of each test, with the whole addresses of pages where
// those of several sites would be one.
func (r Run) classes() func(path []string, t *Test) string {
	short := map[string]int{}
	for _, s := range r.Suites {
		short[withoutOrigin(s.Name)]++
	}
	return func(path []string, t *Test) string {
		if short[withoutOrigin(path[0])] > 1 {
			return suiteName(path) + kindOf(t)
		}
		return classOf(path, t)
	}
}

// prefixes say to which case or page a test belongs, where its name alone does not.
func (r Run) prefixes() func(path []string, t *Test) string {
	names, tests := map[string]int{}, 0
	r.Walk(func(path []string, t *Test) {
		names[t.Name]++
		if len(path) == 1 {
			tests++
		}
	})
	several := len(r.Suites) > 1 ||
		len(r.Suites) == 1 && r.Suites[0].Name != r.Title && r.Suites[0].Name != r.Suites[0].URL
	return func(path []string, t *Test) string {
		switch {
		case len(path) > 1 && tests > 1: // the case says enough
			return suiteName(path[1:]) + " › "
		case len(path) > 2 && names[t.Name] > 1:
			return suiteName(path[2:]) + " › "
		case len(path) == 1 && several && t.Class != planClass:
			return suiteName(path) + " › "
		}
		return ""
	}
}

// planClass is the class of cases and of steps of plans.
const planClass = "plan"
