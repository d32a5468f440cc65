package plan

import (
	"slices"

	"github.com/outrider-run/outrider/evidence/report"
)

// Only is the suite with some of its cases.
func (s *Suite) Only(ids map[string]bool) *Suite {
	out := &Suite{single: s.single, part: s.part, of: s.of, own: s.own}
	for i, c := range s.Cases {
		if ids[c.ID] {
			out.Cases, out.jobs = append(out.Cases, c), append(out.jobs, s.jobs[i])
		}
	}
	return out
}

// With returns one result for each case of a suite: the newer one if the case was run again,
// else the older one. A case that neither result has is skipped.
func (r RunResult) With(s *Suite, newer RunResult) RunResult {
	byID := map[string]CaseResult{}
	for _, c := range slices.Concat(r.Cases, newer.Cases) {
		byID[c.ID] = c
	}
	out := RunResult{
		OK:         true,
		Totals:     map[string]int{},
		DurationMS: newer.DurationMS,
		single:     s.single,
		started:    newer.started,
		warn:       newer.warn,
		Cases:      []CaseResult{},
	}
	for _, c := range s.Cases {
		one, ok := byID[c.ID]
		if !ok {
			one = CaseResult{
				Plan:    c.Plan.Path(),
				Name:    c.Name,
				ID:      c.ID,
				Tags:    c.Tags,
				Steps:   []StepResult{},
				Outcome: report.Skipped,
			}
		}
		out.Cases = append(out.Cases, one)
		out.OK = out.OK && one.harmless()
		out.Totals[one.total()]++
	}
	return out
}
