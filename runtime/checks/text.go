package checks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Reason is one failed expectation, and its place in the map.
type Reason struct {
	Message, Place string
}

// Reasons says why a check fails: a sentence for each assertion that does.
func (c Check) Reasons() []Reason {
	var out []Reason
	for _, a := range slices.Concat(c.Assertions, c.NegativeAssertions) {
		for _, m := range a.Mismatches {
			// Two members of an assertion can have one reason: there is no element.
			if one := (Reason{m.Message, c.place(a.Pointer, a.Line)}); !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}

// Shown is where the check's map is, as well as it is known.
func (c Check) Shown() string { return cmp.Or(c.File, c.MapPath) }

// Place is where the check stands in its map.
func (c Check) Place() string { return c.place(c.Pointer, c.Line) }

func (c Check) place(pointer string, line int) string {
	if line == 0 {
		return c.Shown()
	}
	return fmt.Sprintf("%s:%d %s", c.Shown(), line, pointer)
}

// Proposals are the repaired targets. A check that fails for another reason
// stays red with them, so it has none.
func (c Check) Proposals() []json.RawMessage {
	var out []json.RawMessage
	if c.Status == Drifted {
		for _, d := range c.Drift {
			if len(d.Proposal) > 0 {
				out = append(out, d.Proposal)
			}
		}
	}
	return out
}

// Detail is one line about a check that did not simply pass.
func (c Check) Detail() string {
	reasons := c.Reasons()
	switch {
	case c.Status == Failed && len(reasons) > 0:
		line := reasons[0].Message
		if more := len(reasons) - 1; more > 0 {
			line += fmt.Sprintf("; and %d more", more)
		}
		return line
	case c.Status == Drifted && len(c.Drift) > 0:
		return c.Drift[0].Message
	case c.Error != nil:
		return c.Error.Line()
	case c.Status == NotRun && c.Setup != nil:
		return fmt.Sprintf("somebody has to do first what it says at %s", strings.Join(c.Setup.ByHand, ", "))
	case c.Status == Skipped:
		return "the state it is about is not current"
	case c.Status == Unknown &&
		slices.ContainsFunc(c.Assertions, func(a Assertion) bool { return a.Reason == AlwaysHolds }):
		return "it asks for what every page has"
	case c.Status == Unknown:
		return "it asks for nothing that can be seen"
	}
	return ""
}
