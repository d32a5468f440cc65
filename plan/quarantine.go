package plan

import (
	"fmt"
	"io"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
)

// now is the time of the options.
func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// endQuarantine fails a case whose quarantine is over, also one that is well again: a plan that says
// what is no longer so hides the next failure.
func (r *run) endQuarantine() {
	q := r.c.Quarantine()
	if q == nil || !q.Over(r.o.now()) {
		return
	}
	over := fault.New(
		fault.InvalidInput, "the quarantine by %s ended with %s (%s): expected that it is taken away",
		q.Owner, q.Until, q.Why,
	)
	r.stop("quarantine", over, r.c.Plan.At("/quarantine"))
}

// outcome is how the case ended, by its steps and attempts.
func (c CaseResult) outcome(over bool) report.Outcome {
	out := c.ended()
	if out == report.Failed && c.Quarantine != nil && !over {
		return report.Quarantined
	}
	return out
}

// harmless reports whether the case lets its run be well.
func (c CaseResult) harmless() bool {
	return c.OK || c.Outcome == report.Skipped || c.Outcome == report.Quarantined
}

// quarantineLine is what readers have to know of the quarantine of a case, "" without one.
func (c CaseResult) quarantineLine() string {
	switch {
	case c.Quarantine == nil || c.Outcome == report.Skipped:
		return ""
	case c.OK:
		return c.Quarantine.String() + "; the case passes, so this can be taken away"
	}
	return c.Quarantine.String()
}

// PrintQuarantine shows why the failure of a case is none of the run.
func (c CaseResult) PrintQuarantine(w io.Writer, indent string) {
	if text := c.quarantineLine(); text != "" {
		fmt.Fprintf(w, "%s%s\n", indent, report.Printable(text))
	}
}

// over reports whether the quarantine of a case has ended.
func over(c *spec.Case, o Options) bool {
	q := c.Quarantine()
	return q != nil && q.Over(o.now())
}
