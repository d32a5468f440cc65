package plan

import (
	"fmt"
	"io"
	"strings"

	"github.com/outrider-run/outrider/evidence/report"
)

// mostLines is how many lines a step has in a comment.
const mostLines = 5

// Comment is the review as Markdown, for a comment of a change.
func (r Reviewed) Comment() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Review: %s\n\n", r.totals())
	for _, s := range r.Steps {
		at := strings.ReplaceAll(s.At, "`", "'")
		fmt.Fprintf(&b, "**%s: %s** (`%s`)\n\n", inMarkdown(s.Case), inMarkdown(s.Step), at)
		for i, d := range s.Says {
			if i == mostLines-1 && len(s.Says) > mostLines {
				fmt.Fprintf(&b, "- and %d more\n", len(s.Says)-i)
				break
			}
			fmt.Fprintf(&b, "- %s: %s\n", d.Kind, inMarkdown(d.Line))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// inMarkdown is a text of a page that means nothing in Markdown.
func inMarkdown(s string) string {
	s = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;").Replace(report.Printable(s))
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "@", "@\u200b",
	).Replace(s)
}

func (r Reviewed) totals() string {
	return fmt.Sprintf("%s with differences, %d without", report.Count(len(r.Steps), "step"), r.Same)
}

// Print shows the review for people.
func (r Reviewed) Print(w io.Writer) {
	for _, s := range r.Steps {
		fmt.Fprintf(w, "%s: %s  at %s\n", report.Printable(s.Case), report.Printable(s.Step), report.Printable(s.At))
		for i, d := range s.Says {
			if i == mostLines-1 && len(s.Says) > mostLines {
				fmt.Fprintf(w, "    and %d more\n", len(s.Says)-i)
				break
			}
			fmt.Fprintf(w, "    %-8s %s\n", d.Kind, d.Line)
		}
	}
	fmt.Fprintf(w, "%s in %.1f s\n", r.totals(), float64(r.DurationMS)/1000)
}

// Report is the review as a run: a test for each step that differs.
func (r Reviewed) Report() report.Run {
	run := report.Run{Title: "review", OK: r.OK, DurationMS: r.DurationMS, Result: r, Suites: []report.Suite{}}
	for _, s := range r.Steps {
		t := report.Test{Name: s.Step, Class: "review", Outcome: report.Drifted, Place: s.place}
		t.Message = s.Says[0].Line
		for _, d := range s.Says {
			if d.Kind == "outcome" && d.Was == "ok" || d.Is == "not reached" {
				t.Outcome = report.Failed
			}
			f := report.Failure{Message: d.Kind + ": " + d.Line, Expected: d.Was, Found: d.Is}
			if d.Kind == "pixels" {
				f.Compared = s.images
			}
			t.Failures = append(t.Failures, f)
		}
		run.Suites = report.Join(run.Suites, report.Suite{Name: s.Case, File: s.place.File, Tests: []report.Test{t}})
	}
	return run
}
