package outridertest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider"
)

// Expectation has the assertions about a target. One that does not come true within [Page.Patience] fails the test.
type Expectation struct {
	target Target
	not    bool
}

// Expect begins an assertion about the target.
func (x Target) Expect() Expectation { return Expectation{target: x} }

// Not makes the opposite of the assertions: that soon it is not so.
func (e Expectation) Not() Expectation {
	e.not = !e.not
	return e
}

// element is an assertion about the one element. got describes what it is.
func (e Expectation) element(
	want string, what outrider.Reading, holds func(outrider.Element) bool, got func(outrider.Element) string,
) {
	e.target.page.t.Helper()
	e.judge(want, what, func(found *outrider.Elements) (bool, string) {
		if found.Count != 1 {
			return false, fmt.Sprintf("%d elements", found.Count)
		}
		return holds(found.List[0]) != e.not, got(found.List[0])
	})
}

// judge waits until what is found is as it must be.
func (e Expectation) judge(
	want string, what outrider.Reading, judged func(*outrider.Elements) (ok bool, got string),
) {
	t := e.target.page.t
	t.Helper()
	ctx, cancel := e.target.page.within(e.target.page.Patience)
	defer cancel()
	until := time.Now().Add(e.target.page.Patience)
	state := ""
	if e.not {
		want = "not " + want
	}
	for {
		began := time.Now() // on a busy machine one look may take all of the patience
		found, err := e.target.Locator.Changed(ctx, what, state, max(0, time.Until(until)))
		switch {
		case err != nil && time.Now().Before(until) && again(err):
			state = ""
			continue
		case err != nil:
			t.Fatalf("%s: expected %s: %s", e.target, want, explain(err))
		}
		ok, got := judged(found)
		if ok {
			return
		}
		if began.After(until) || found.State == state {
			t.Fatalf("%s\n\texpected %s\n\tfound    %s%s", e.target, want, got, nearest(found.Looked))
		}
		state = found.State
	}
}

// again reports whether an error is one of a page that is just being replaced.
func again(err error) bool {
	return errors.Is(err, outrider.Code("page_navigated")) || errors.Is(err, outrider.Code("frame_not_found"))
}

// yes is the description of a state.
func yes(state string, holds func(outrider.Element) bool) func(outrider.Element) string {
	return func(e outrider.Element) string {
		if holds(e) {
			return "a " + e.Tag + " that is " + state
		}
		return "a " + e.Tag + " that is not " + state
	}
}

func (e Expectation) is(state string, holds func(outrider.Element) bool) {
	e.target.page.t.Helper()
	e.element(state, outrider.Reading{}, holds, yes(state, holds))
}

// Visible: there is one element, and it is drawn, also outside of the viewport.
func (e Expectation) Visible() {
	e.target.page.t.Helper()
	if e.not {
		Expectation{target: e.target}.Hidden()
		return
	}
	e.is("visible", func(x outrider.Element) bool { return x.Rendered })
}

// Hidden: there is no element, or none that is drawn.
func (e Expectation) Hidden() {
	e.target.page.t.Helper()
	if e.not {
		Expectation{target: e.target}.Visible()
		return
	}
	e.judge("hidden", outrider.Reading{}, func(found *outrider.Elements) (bool, string) {
		drawn := slices.ContainsFunc(found.List, func(x outrider.Element) bool { return x.Rendered })
		return !drawn, "an element that is visible"
	})
}

// Enabled: it takes input.
func (e Expectation) Enabled() {
	e.target.page.t.Helper()
	e.is("enabled", func(x outrider.Element) bool { return x.Enabled })
}

// Disabled: it takes no input.
func (e Expectation) Disabled() {
	e.target.page.t.Helper()
	e.is("disabled", func(x outrider.Element) bool { return !x.Enabled })
}

// Editable: text can be written into it.
func (e Expectation) Editable() {
	e.target.page.t.Helper()
	e.is("editable", func(x outrider.Element) bool { return x.Editable })
}

// Checked: it is a checked checkbox, radio button or switch.
func (e Expectation) Checked() {
	e.target.page.t.Helper()
	e.is("checked", func(x outrider.Element) bool { return x.Checked == true })
}

// Focused: it has the keyboard focus.
func (e Expectation) Focused() {
	e.target.page.t.Helper()
	e.is("focused", func(x outrider.Element) bool { return x.Focused })
}

// says is an assertion about a text of the element.
func (e Expectation) says(
	want string, what outrider.Reading, of func(outrider.Element) string, holds func(got string) bool,
) {
	e.target.page.t.Helper()
	e.element(want, what, func(x outrider.Element) bool { return holds(of(x)) }, func(x outrider.Element) string {
		return quoted(of(x))
	})
}

func textOf(x outrider.Element) string { return x.Text }

// Text: the whole text is this, white space as one space.
func (e Expectation) Text(want string) {
	e.target.page.t.Helper()
	want = strings.Join(strings.Fields(want), " ")
	e.says("the text "+quoted(want), outrider.Reading{}, textOf, func(got string) bool { return got == want })
}

// Contains: the text has this part.
func (e Expectation) Contains(part string) {
	e.target.page.t.Helper()
	part = strings.Join(strings.Fields(part), " ")
	e.says("a text with "+quoted(part), outrider.Reading{}, textOf, func(got string) bool {
		return strings.Contains(got, part)
	})
}

// Matches: the text matches the pattern.
func (e Expectation) Matches(pattern *regexp.Regexp) {
	e.target.page.t.Helper()
	e.says("a text that matches "+pattern.String(), outrider.Reading{}, textOf, pattern.MatchString)
}

// Value: the control holds this.
func (e Expectation) Value(want string) {
	e.target.page.t.Helper()
	e.says("the value "+quoted(want), outrider.Reading{}, func(x outrider.Element) string {
		if x.Value == nil {
			return "(no value)"
		}
		return *x.Value
	}, func(got string) bool { return got == want })
}

// Role: the ARIA role is this.
func (e Expectation) Role(want string) {
	e.target.page.t.Helper()
	e.says("the role "+quoted(want), outrider.Reading{}, func(x outrider.Element) string { return x.Role },
		func(got string) bool { return got == want })
}

// Name: the accessible name is this.
func (e Expectation) Name(want string) {
	e.target.page.t.Helper()
	e.says("the name "+quoted(want), outrider.Reading{}, func(x outrider.Element) string { return x.Name },
		func(got string) bool { return got == want })
}

// Attribute: an attribute has this value.
func (e Expectation) Attribute(name, want string) {
	e.target.page.t.Helper()
	of := func(x outrider.Element) string {
		if value, ok := x.Attributes[name]; ok {
			return value
		}
		return "(no attribute " + name + ")"
	}
	e.says("the attribute "+name+" "+quoted(want), outrider.Reading{Attributes: []string{name}}, of,
		func(got string) bool { return got == want })
}

// Class: it has this class among others.
func (e Expectation) Class(want string) {
	e.target.page.t.Helper()
	of := func(x outrider.Element) string { return x.Attributes["class"] }
	e.says("the class "+quoted(want), outrider.Reading{Attributes: []string{"class"}}, of, func(got string) bool {
		return slices.Contains(strings.Fields(got), want)
	})
}

// CSS: a computed style property has this value, such as rgb(255, 0, 0).
func (e Expectation) CSS(property, want string) {
	e.target.page.t.Helper()
	of := func(x outrider.Element) string { return x.CSS[property] }
	e.says("the style "+property+" "+quoted(want), outrider.Reading{CSS: []string{property}}, of,
		func(got string) bool { return got == want })
}

// Count: there are so many elements.
func (e Expectation) Count(want int) {
	e.target.page.t.Helper()
	e.judge(fmt.Sprintf("%d elements", want), outrider.Reading{}, func(found *outrider.Elements) (bool, string) {
		return (found.Count == want) != e.not, fmt.Sprintf("%d elements", found.Count)
	})
}
