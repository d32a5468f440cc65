package plan

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/authoring/repair"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
)

// Report is the checks as a run: a suite for each page.
func (c CheckResult) Report() report.Run {
	run := report.Run{Title: "check", OK: c.OK, StartedAt: stamp(c.started), Result: c}
	for i, p := range c.Pages {
		s := report.PageSuite(p)
		if f := c.broken[i]; f != nil {
			t := &s.Tests[0] // that of the page
			t.Outcome = report.Broken
			t.Kind = string(f.Code)
			t.Texts = append(report.EvidenceText(f), p.Texts...)
		}
		for i := range s.Tests {
			c.repaired(&s.Tests[i])
		}
		run.DurationMS += s.DurationMS
		run.Suites = append(run.Suites, s)
	}
	if len(c.Errors) > 0 {
		s, seen := report.Suite{Name: "repair"}, map[string]int{}
		for _, f := range c.Errors {
			s.Tests = append(s.Tests, report.Test{
				Name:     spec.Numbered("repair", seen),
				Class:    "repair",
				Outcome:  report.Broken,
				Kind:     string(f.Code),
				Message:  said(f),
				Failures: []report.Failure{{Message: said(f)}},
				Texts:    report.EvidenceText(f),
			})
		}
		run.Suites = append(run.Suites, s)
	}
	return run
}

// repaired puts the verified repair of a check into its test, in the place of what was
// only proposed.
func (c CheckResult) repaired(t *report.Test) {
	for _, r := range c.Repairs {
		if slices.Contains(r.Checks, t.Name) &&
			(filepath.ToSlash(r.File) == t.Place.File || r.For(t.Place.File, t.Name)) {
			t.Repairs = []report.Text{{Title: "repair of " + r.File, Body: r.Diff, Diff: true}}
		}
	}
}

// repairs puts the changes with which the action was done into the test of a step.
func (r StepResult) repairs(t *stepTest) {
	for _, m := range r.repaired {
		if diff := repair.Diff([]repair.Applied{m}); diff != "" {
			t.Repairs = append(t.Repairs, report.Text{Title: "repair of " + m.File, Body: diff, Diff: true})
		}
	}
}

// test is a case as a test, with its steps in order. What it says first is what its first step says that
// is not well.
func (c CaseResult) test() report.Test {
	t := report.Test{
		Name:       c.Name,
		Class:      "plan",
		Outcome:    c.Outcome,
		DurationMS: c.DurationMS,
		Place:      report.Place{File: c.Plan},
	}
	if c.Outcome == report.Skipped {
		t.Message = "the run ended before it"
		return t
	}
	for _, r := range c.Steps {
		step := r.test(c.Plan).Test
		if r.page != nil {
			r.page.Screenshot, r.page.Texts = r.screenshot, r.texts
			step.Steps = append(step.Steps, report.PageSuite(*r.page).Tests...)
		}
		t.Steps = append(t.Steps, step)
	}
	t.Texts = c.appTexts()
	for i, f := range c.Failed {
		c.earlier(&t, i+1, f)
	}
	for _, s := range t.Steps {
		if !s.Outcome.Red() && s.Outcome != report.Flaky {
			continue
		}
		if t.Message == "" {
			t.Message, t.Kind = s.Message, s.Kind
		}
		for _, f := range s.Failures {
			if f.Place.File == "" {
				f.Place = s.Place
			}
			t.Failures = append(t.Failures, f)
		}
	}
	if c.Outcome == report.Quarantined {
		t.Message += " (" + c.quarantineLine() + ")"
	} else if t.Message == "" {
		t.Message = c.quarantineLine()
	}
	drifted := func(s report.Test) bool { return s.Outcome == report.Drifted }
	for _, s := range t.Steps {
		if i := slices.IndexFunc(s.Steps, drifted); i >= 0 && t.Outcome == report.Passed {
			t.Outcome, t.Message = report.Drifted, s.Steps[i].Name+": "+s.Steps[i].Message
		}
	}
	return t
}

// earlier shows an attempt of the case at the step that it failed at. What is no step of the plan, such as
// opening the page, is listed only when it fails: one that is flaky is added, and of a case that stayed red
// the attempt is shown where it is red.
func (c CaseResult) earlier(s *report.Test, attempt int, f FailedCase) {
	at := slices.IndexFunc(s.Steps, func(t report.Test) bool { return t.Name == f.Step })
	if at < 0 && c.OK {
		at = 0
		s.Steps = slices.Insert(s.Steps, 0, report.Test{
			Name:       f.Step,
			Class:      "plan",
			Outcome:    report.Passed,
			DurationMS: f.DurationMS,
			Place:      report.Place{File: c.Plan},
		})
	}
	if at < 0 || s.Steps[at].Outcome == report.Skipped {
		at = max(0, slices.IndexFunc(s.Steps, func(t report.Test) bool { return t.Outcome.Red() }))
	}
	if len(s.Steps) == 0 {
		return
	}
	t := stepTest{s.Steps[at]}
	if t.Outcome == report.Passed {
		t.flaky(f.Detail, len(c.Failed), f.result.screenshot, f.result.texts)
	} else {
		t.earlier(attempt, f.Step+": "+f.Detail, f.result.Artifacts, f.result.texts)
	}
	s.Steps[at] = t.Test
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// longestOutput is how much of a step's output a failure shows.
const longestOutput = 16 << 10

func (r StepResult) test(path string) stepTest {
	t := stepTest{report.Test{
		Name:        r.Name,
		Class:       "plan",
		Outcome:     report.Passed,
		DurationMS:  r.DurationMS,
		URL:         r.URL,
		Description: r.does(),
		Steps:       r.workflow(),
		Place:       r.at,
	}}
	if t.Place.File == "" {
		t.Place.File = path
	}
	if r.Phase != "" {
		t.Class = "plan." + r.Phase
	}
	switch {
	case r.Skipped:
		t.Outcome, t.Message = report.Skipped, "a step before it failed"
		return t
	case r.Flaky():
		t.flaky(r.Failed[0].Detail, len(r.Failed), r.Failed[0].screenshot, r.Failed[0].texts)
		r.attempts(&t, 1)
		return t
	case r.OK:
		r.repairs(&t)
		return t
	}
	t.Outcome = report.Failed
	t.Message = r.Detail()
	t.Kind = "expectation"
	t.Screenshot = r.screenshot
	switch {
	case len(r.unmet) > 0:
		t.Failures = append(t.Failures, r.unmet...)
	case r.page != nil && r.Unmet != "":
		t.Failures = append(t.Failures, r.pageFailures()...)
	}
	if r.Error != nil {
		t.Kind = string(r.Error.Code)
		t.Failures = append(t.Failures, report.Failure{Message: sentence(r.Error)})
		t.Texts = append(t.Texts, report.EvidenceText(r.Error)...)
	}
	if t.Screenshot != nil {
		t.Screenshot.Outlines = r.boxes()
	}
	r.repairs(&t)
	if r.Expect != "" {
		t.Texts = append(t.Texts, report.Text{Title: "expect", Body: r.Expect})
	}
	if r.Error == nil && r.page == nil && len(r.Output) > 0 {
		body := report.Pretty(r.Output)
		if len(body) > longestOutput {
			body = fmt.Sprintf("%d bytes, see the json report", len(r.Output))
		}
		t.Texts = append(t.Texts, report.Text{Title: "output", Body: body})
	}
	if shot := r.Artifacts["screenshot"]; shot != "" {
		t.Texts = append(t.Texts, report.Text{Title: "screenshot", Body: shot})
	}
	t.Texts = append(t.Texts, r.texts...)
	r.attempts(&t, 0)
	return t
}

// pageFailures are what the checks of a page say that failed, each with its place in the map.
func (r StepResult) pageFailures() []report.Failure {
	var out []report.Failure
	for _, t := range report.PageSuite(*r.page).Tests {
		if !t.Outcome.Red() {
			continue
		}
		failures := t.Failures
		if len(failures) == 0 {
			failures = []report.Failure{{Message: t.Message, Place: t.Place}}
		}
		for _, f := range failures {
			if t.Class != "page" {
				f.Message = t.Name + ": " + f.Message
			}
			out = append(out, f)
		}
	}
	if len(out) > 0 {
		out[0].Message = r.page.Misled() + out[0].Message
	}
	return out
}

// attempts shows those before the last, from one on.
func (r StepResult) attempts(t *stepTest, from int) {
	for i := from; i < len(r.Failed); i++ {
		t.earlier(i+1, r.Failed[i].Detail, r.Failed[i].Artifacts, r.Failed[i].texts)
	}
}

// earlier shows an attempt that failed, with what was known then.
func (t *stepTest) earlier(attempt int, detail string, artifacts map[string]string, texts []report.Text) {
	name := fmt.Sprintf("attempt %d", attempt)
	t.Texts = append(t.Texts, report.Text{Title: name, Body: detail})
	if shot := artifacts["screenshot"]; shot != "" {
		t.Texts = append(t.Texts, report.Text{Title: name + ": screenshot", Body: shot})
	}
	for _, x := range texts {
		x.Title = name + ": " + x.Title
		t.Texts = append(t.Texts, x)
	}
}

// stepTest is the test of a step.
type stepTest struct{ report.Test }

// flaky makes a test one that passed after it failed.
func (t *stepTest) flaky(detail string, failed int, shot *report.Screenshot, texts []report.Text) {
	t.Outcome = report.Flaky
	t.Kind = "flaky"
	t.Screenshot = shot
	t.Message = fmt.Sprintf("passed at attempt %d; at first: %s", failed+1, detail)
	t.Failures = append(t.Failures, parseFailure(detail))
	t.Texts = append(t.Texts, texts...)
}

// parseFailure parses a sentence of the form "what: found, expected wanted", as expectations of a plan
// write it.
func parseFailure(message string) report.Failure {
	f := report.Failure{Message: message}
	if head, expected, ok := strings.Cut(message, ", expected "); ok && !strings.Contains(expected, ", expected ") {
		if _, found, ok := strings.Cut(head, ": "); ok {
			f.Expected, f.Found = expected, found
			// What stands in brackets at the end says more about what was found.
			if i := strings.LastIndex(expected, " ("); i > 0 && strings.HasSuffix(expected, ")") {
				f.Expected, f.Found = expected[:i], found+expected[i:]
			}
		}
	}
	return f
}

// does describes what the step does.
func (r StepResult) does() string {
	for _, one := range []struct{ word, name string }{
		{"action", r.Action}, {"state", r.State}, {"call", r.Call}, {"request", r.Request},
	} {
		if one.name != "" && one.name != r.Name {
			return one.word + " " + one.name
		}
	}
	return ""
}

// workflow are the steps of the site action.
func (r StepResult) workflow() []report.Test {
	var in []struct {
		ID         string `json:"id"`
		Primitive  string `json:"primitive"`
		OK         bool   `json:"ok"`
		Skipped    bool   `json:"skipped"`
		DurationMS int64  `json:"duration_ms"`
		Error      string `json:"error"`
	}
	if json.Unmarshal(r.Steps, &in) != nil {
		return nil
	}
	var out []report.Test
	for _, s := range in {
		one := report.Test{
			Name:       strings.TrimSpace(s.ID + " " + s.Primitive),
			Outcome:    report.Passed,
			DurationMS: s.DurationMS,
			Message:    s.Error,
		}
		switch {
		case s.Skipped:
			one.Outcome = report.Skipped
		case !s.OK:
			one.Outcome = report.Failed
		}
		out = append(out, one)
	}
	return out
}

// boxes is where the targets are that the step failed at.
func (r StepResult) boxes() []report.Box {
	if r.page != nil {
		return r.page.Boxes()
	}
	if r.Error != nil {
		return boxesOf(r.Error.Evidence)
	}
	return nil
}

// boxesOf is where the evidence of an error says that its target is.
func boxesOf(evidence map[string]any) []report.Box {
	raw, err := json.Marshal(evidence)
	if err != nil {
		return nil
	}
	var in struct {
		Box, Rect *report.Box
		Target    struct{ Box, Rect *report.Box }
	}
	if json.Unmarshal(raw, &in) != nil {
		return nil
	}
	for _, b := range []*report.Box{in.Box, in.Rect, in.Target.Box, in.Target.Rect} {
		if b != nil && b.Width > 0 && b.Height > 0 {
			return []report.Box{*b}
		}
	}
	return nil
}
