package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Quarantine says that the cases of a plan are known to fail, and until when that is allowed.
type Quarantine struct {
	Owner string `json:"owner" doc:"who sees to it"`
	Until string `json:"until" doc:"the last day, such as 2026-12-31, in UTC; afterwards the case fails"`
	Why   string `json:"why" doc:"what is known, such as the address of an issue"`

	Rows []string `json:"rows,omitempty" doc:"only these rows of the data, by their name or their number"`
}

// has reports whether the quarantine is about a row, or about the whole plan.
func (q *Quarantine) has(row map[string]any, number int) bool {
	if q == nil || len(q.Rows) == 0 {
		return q != nil
	}
	name, named := row["name"]
	return slices.Contains(q.Rows, strconv.Itoa(number)) || named && slices.Contains(q.Rows, fmt.Sprint(name))
}

// Quarantine is that of the case, nil for none.
func (c *Case) Quarantine() *Quarantine {
	if q := c.Plan.Quarantine; q.has(c.Scope.Row, c.Number) {
		return q
	}
	return nil
}

// quarantined refuses rows that the data do not have: the name of one that is gone hides nothing, and
// one that is misspelt excuses nothing.
func (s Source) quarantined(p *Plan, cases []*Case) error {
	if p.Quarantine == nil || s.Row != nil {
		return nil
	}
	var problems Problems
	for i, row := range p.Quarantine.Rows {
		one := Quarantine{Rows: []string{row}}
		if !slices.ContainsFunc(cases, func(c *Case) bool { return c.Number > 0 && one.has(c.Scope.Row, c.Number) }) {
			at := p.places.at("/quarantine/rows/" + strconv.Itoa(i))
			problems = append(problems, Problem{at, fmt.Sprintf("the data have no row %q", row)})
		}
	}
	return problems.sorted()
}

// Over reports whether the last day of the quarantine has passed.
func (q *Quarantine) Over(now time.Time) bool {
	last, err := time.Parse(time.DateOnly, q.Until)
	return err != nil || !now.UTC().Before(last.AddDate(0, 0, 1))
}

// String is the quarantine in one line.
func (q *Quarantine) String() string {
	return "quarantined until " + q.Until + " by " + q.Owner + ": " + q.Why
}

func (c *checker) quarantine(q *Quarantine) {
	if q == nil {
		return
	}
	for member, text := range map[string]string{"owner": q.Owner, "why": q.Why} {
		if strings.TrimSpace(text) == "" {
			c.fail("/quarantine/"+member, "is empty, expected a text")
		}
	}
	if _, err := time.Parse(time.DateOnly, q.Until); err != nil {
		c.fail("/quarantine/until", "is %q, expected a day, such as 2026-12-31", q.Until)
	}
}
