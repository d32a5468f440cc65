package plan

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/outrider-run/outrider/evidence/report"
)

// ProofResult is what the verb prints.
type ProofResult struct {
	OK       bool    `json:"ok"`
	Score    int     `json:"score"` // over all cases
	Killed   int     `json:"killed"`
	Survived int     `json:"survived"`
	Cases    []Proof `json:"cases"`
}

// enough reports whether the proof is one of a plan that passes, with a score that is not below.
func (p Proof) enough(minScore int) bool { return p.OK && p.Score >= minScore }

// verdict says in a line what the proof came to.
func (p Proof) verdict() string {
	if !p.OK {
		return "not proved: " + p.Failed
	}
	text := fmt.Sprintf("score %d: %d of %d changes noticed", p.Score, p.Killed, p.Killed+p.Survived)
	if p.Unproven > 0 {
		text += fmt.Sprintf(", %d without an assertion that would", p.Unproven)
	}
	if p.Left > 0 {
		text += fmt.Sprintf(", %d not tried", p.Left)
	}
	return text
}

// Print shows the proof for people.
func (p Proof) Print(w io.Writer, minScore int) {
	word := "ok"
	if !p.enough(minScore) {
		word = "failed"
	}
	fmt.Fprintf(w, "%-8s %s: %s (%.1f s, the plan %.1f s)\n", word, report.Printable(p.Name),
		report.Printable(p.verdict()), float64(p.DurationMS)/1000, float64(p.PlanMS)/1000)
	if p.LeftRuns != "" {
		fmt.Fprintf(w, "         %s\n", p.LeftRuns)
	}
	for _, b := range p.Blind {
		fmt.Fprintf(w, "    blind %s: %s\n", report.Printable(b.Step), report.Printable(b.what()))
		fmt.Fprintf(w, "          at %s\n          %s\n", report.Printable(b.At), report.Printable(b.Paste))
	}
}

// ProofReport is proofs as a run: a suite for each plan, a test for each case.
func ProofReport(proofs []Proof, minScore int) report.Run {
	result := ProofResult{OK: true, Cases: proofs}
	run := report.Run{Title: "prove", OK: true, Suites: []report.Suite{}}
	for _, p := range proofs {
		result.Killed += p.Killed
		result.Survived += p.Survived
		result.OK = result.OK && p.enough(minScore)
		run.DurationMS += p.DurationMS
		run.Suites = report.Join(run.Suites, report.Suite{
			Name:       filepath.ToSlash(p.Plan),
			File:       p.Plan,
			DurationMS: p.DurationMS,
			Tests:      []report.Test{p.reported(minScore)},
		})
	}
	result.Score = 100
	if n := result.Killed + result.Survived; n > 0 {
		result.Score = 100 * result.Killed / n
	}
	run.OK, run.Result = result.OK, result
	return run
}

// reported is a proof as a test, with a failure for each blindness where the score is too low.
func (p Proof) reported(minScore int) report.Test {
	t := report.Test{
		Name:       p.Name,
		Class:      "prove",
		Outcome:    report.Passed,
		DurationMS: p.DurationMS,
		Message:    p.verdict(),
		Place:      report.Place{File: p.Plan},
	}
	if !p.OK {
		t.Outcome, t.Kind = report.Broken, "plan_failed"
		t.Failures = p.test.Failures
		t.Steps = p.test.Steps
		return t
	}
	var blind strings.Builder
	low := !p.enough(minScore)
	if low {
		t.Outcome, t.Kind = report.Failed, "score"
		t.Message = fmt.Sprintf("%s, expected a score of %d", t.Message, minScore)
	}
	for _, b := range p.Blind {
		fmt.Fprintf(&blind, "%s: %s\n  at %s\n  %s\n", b.Step, b.what(), b.At, b.Paste)
		if low {
			t.Failures = append(t.Failures, report.Failure{
				Message: b.Step + ": nobody notices that " + b.what() + "; " + b.Paste, Place: b.place,
			})
		}
	}
	if blind.Len() > 0 {
		t.Texts = append(t.Texts, report.Text{Title: "what the plan would not notice", Body: blind.String()})
	}
	if p.LeftRuns != "" {
		t.Texts = append(t.Texts, report.Text{Title: "not tried", Body: p.LeftRuns})
	}
	return t
}
