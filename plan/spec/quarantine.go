package spec

import (
	"strings"
	"time"
)

// Quarantine says that the cases of a plan are known to fail, and until when that is allowed.
type Quarantine struct {
	Owner string `json:"owner" doc:"who sees to it"`
	Until string `json:"until" doc:"the last day, such as 2026-12-31, in UTC; afterwards the case fails"`
	Why   string `json:"why" doc:"what is known, such as the address of an issue"`
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
