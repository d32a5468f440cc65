package spec

import (
	"cmp"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a plan.
type Problem struct {
	Place
	Message string
}

func (p Problem) String() string { return p.Place.String() + ": " + p.Message }

// Problems are what is wrong with plans, in the order of their lines.
type Problems []Problem

// maxProblems bounds how many are shown.
const maxProblems = 20

func (p Problems) Error() string {
	lines := make([]string, 0, len(p))
	for _, one := range p[:min(len(p), maxProblems)] {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// sorted returns the problems as an error, nil for none.
func (p Problems) sorted() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.CompactFunc(p, func(a, b Problem) bool { return a == b })
}
