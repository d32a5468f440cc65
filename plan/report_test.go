package plan

import (
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/report"
)

// attempt is one that failed, with its console.
func attempt(step, detail string) FailedCase {
	return FailedCase{
		Step:   step,
		Detail: detail,
		result: StepResult{texts: []report.Text{{Title: "console", Body: "said " + detail}}},
	}
}

// TestEachAttemptIsReported: attempts of cases and steps are in the report, with what was
// known of them, and a case that passed later is flaky, whatever failed at first.
func TestEachAttemptIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		result CaseResult
		totals string
		shows  []string
	}{
		"opening failed at first": {
			CaseResult{
				OK:      true,
				Outcome: report.Flaky,
				Steps:   []StepResult{{Name: "buy", OK: true}},
				Failed:  []FailedCase{attempt("open http://x/", "refused")},
			},
			"1 flaky", []string{"passed at attempt 2; at first: refused", "said refused"},
		},
		"two steps failed at first": {
			CaseResult{
				OK:      true,
				Outcome: report.Flaky,
				Steps:   []StepResult{{Name: "find", OK: true}, {Name: "buy", OK: true}},
				Failed:  []FailedCase{attempt("find", "none"), attempt("buy", "late")},
			},
			"1 flaky", []string{"said none", "said late"},
		},
		"one step failed twice": {
			CaseResult{
				OK:      true,
				Outcome: report.Flaky,
				Steps:   []StepResult{{Name: "buy", OK: true}},
				Failed:  []FailedCase{attempt("buy", "none"), attempt("buy", "late")},
			},
			"1 flaky", []string{"said none", "attempt 2: buy: late", "attempt 2: console: said late"},
		},
		"the case stays red": {
			CaseResult{
				Outcome: report.Failed,
				Steps:   []StepResult{{Name: "find", OK: true}, {Name: "buy", Unmet: "no"}},
				Failed:  []FailedCase{attempt("start", "lost"), attempt("buy", "late")},
			},
			"1 failed",
			[]string{"attempt 1: start: lost", "attempt 1: console: said lost", "attempt 2: buy: late"},
		},
		"a step stays red": {
			CaseResult{Outcome: report.Failed, Steps: []StepResult{{Name: "buy", Unmet: "no", Failed: []FailedStep{
				{Detail: "first", texts: []report.Text{{Title: "network", Body: "500"}}},
				{Detail: "second"},
			}}}},
			"1 failed", []string{"attempt 1: first", "attempt 1: network: 500", "attempt 2: second"},
		},
	} {
		run := RunResult{Cases: []CaseResult{c.result}}.Report()
		if got := run.Total().String(); got != c.totals {
			t.Errorf("%s: totals %s, want %s", name, got, c.totals)
		}
		text, err := report.JUnit(run)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.shows {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
	}
}
