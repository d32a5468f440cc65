package spec

import (
	"strconv"
	"strings"
)

// Names judge what the steps of plans name; each says what is wrong with a name, nil for
// nothing.
type Names struct {
	Call, Action func(name string) error
	State        func(name string) error // a state projection
	Current      func(name string) error // a state that can be current
}

// CheckNames refuses names that nothing has. Those that only a step gives are not judged.
func (c *Case) CheckNames(n Names) error {
	x := &useChecker{scope: c.fresh(), names: &n}
	for _, p := range c.All() {
		x.places = p.places
		x.steps(p.Steps)
	}
	return x.problems.sorted()
}

// named judges the names of a step.
func (x *useChecker) named(s *Step, at string) {
	if x.names == nil {
		return
	}
	x.name(s.Call, at+"/call", x.names.Call)
	x.name(s.Action, at+"/action", x.names.Action)
	x.name(s.State, at+"/state", x.names.State)
	for i, name := range s.Requires {
		x.name(name, at+"/requires/"+strconv.Itoa(i), x.names.Current)
	}
	for i, e := range s.Expect {
		place := at + "/expect"
		if _, list := x.places.lines[place+"/"+strconv.Itoa(i)]; list {
			place += "/" + strconv.Itoa(i)
		}
		x.name(e.State, place+"/state", x.names.Current)
	}
}

func (x *useChecker) name(text, at string, judge func(string) error) {
	name, err := x.scope.Text(text)
	if err != nil || name == "" || strings.Contains(name, unknownText) {
		return
	}
	if err := judge(name); err != nil {
		x.fail(at, err)
	}
}
