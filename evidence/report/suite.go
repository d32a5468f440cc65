package report

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/checks"
)

// PageSuite is a page as a suite: a test for the page itself, one for each check,
// and one for each state, which is skipped while it is not current.
func PageSuite(p Page) Suite {
	s := Suite{Name: p.URL, URL: p.URL, File: p.file, DurationMS: Milliseconds(p.Duration), StartedAt: p.ObservedAt}
	page := Test{
		Name:        "page",
		Class:       "page",
		Outcome:     Passed,
		URL:         p.URL,
		Place:       Place{File: p.file},
		Description: "The document, and what must hold beside the checks.",
	}
	if len(p.Unmet) > 0 {
		page.Outcome = Failed
		page.Kind = "page"
		page.Message = p.Unmet[0]
		page.Screenshot = p.Screenshot.clone()
		for _, m := range p.Unmet {
			page.Failures = append(page.Failures, Failure{Message: m})
		}
	}
	s.Tests = append(s.Tests, page)
	for _, c := range p.Checks {
		s.Tests = append(s.Tests, checkTest(p, c))
	}
	for _, st := range p.States {
		one := Test{
			Name:        st.Name,
			Class:       "states",
			Outcome:     Passed,
			Description: st.Description,
			Place:       Place{File: cmp.Or(st.File, st.MapPath)},
		}
		switch {
		case st.Current == nil:
			one.Outcome, one.Message = Skipped, "cannot be seen"
		case !*st.Current:
			one.Outcome, one.Message = Skipped, "not current"
		case len(st.Drift) > 0:
			one.Outcome, one.Message = Drifted, st.Drift[0].Message
		}
		s.Tests = append(s.Tests, one)
	}
	return s
}

func checkTest(p Page, c checks.Check) Test {
	t := Test{
		Name:        c.ID,
		Class:       "checks." + c.Severity,
		Outcome:     Passed,
		Description: c.Description,
		URL:         p.URL,
		Place:       withLines(Place{File: c.Shown(), Line: c.Line, Pointer: c.Pointer}),
	}
	switch {
	case c.Status == "not_run" && c.Severity == "info", c.Status == "skipped", c.Status == "unknown":
		t.Outcome = Skipped
	case c.Status == "not_run":
		t.Outcome = Broken
	case c.Breaks():
		t.Outcome = Failed
	case c.Status == "drifted":
		t.Outcome = Drifted
	}
	if c.Status == "passed" {
		return t
	}
	t.Message, t.Kind = c.Detail(), c.Severity
	if c.Status == "failed" {
		t.Failures = failures(c)
	}
	if c.Status == "drifted" {
		t.Repairs = repairs(c)
	}
	if c.Contingency != "" {
		t.Texts = append(t.Texts, Text{Title: "contingency", Body: c.Contingency})
	}
	var shown struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(c.Evidence["dom_snapshot"], &shown) == nil && shown.Text != "" {
		t.Texts = append(t.Texts, Text{Title: "text of the page", Body: block(shown.Text)})
	}
	t.Screenshot = ReadScreenshot(c.Evidence["screenshot"])
	if t.Screenshot == nil && t.Outcome != Skipped {
		t.Screenshot = p.Screenshot.clone()
	}
	t.Texts = append(t.Texts, p.Texts...)
	t.mark(c)
	return t
}

// mark outlines what the assertions that fail found.
func (t *Test) mark(c checks.Check) {
	if t.Screenshot == nil {
		return
	}
	t.Screenshot.Outlines = boxes(c)
}

// boxes is where the elements are that failed assertions found.
func boxes(c checks.Check) (out []Box) {
	for _, a := range slices.Concat(c.Assertions, c.NegativeAssertions) {
		if len(a.Mismatches) > 0 && a.Box != nil && a.Box.Width > 0 && a.Box.Height > 0 {
			out = append(out, *a.Box)
		}
	}
	return out
}

// Boxes is where the elements are that the page's failed checks found.
func (p Page) Boxes() (out []Box) {
	for _, c := range p.Checks {
		if c.Status == "failed" {
			out = append(out, boxes(c)...)
		}
	}
	return out
}

func failures(c checks.Check) []Failure {
	var out []Failure
	for _, a := range slices.Concat(c.Assertions, c.NegativeAssertions) {
		for _, m := range a.Mismatches {
			out = append(out, Failure{
				Message: m.Message, Expected: shown(m.Expected), Found: shown(m.Found),
				Place: withLines(Place{File: c.Shown(), Line: a.Line, Pointer: a.Pointer}),
			})
		}
	}
	return out
}

// shown is a value of a mismatch as text. There is none of what is missing.
func shown(v any) string {
	if v == nil {
		return ""
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return cut(string(raw), longLine)
}

// repairs are what would make the check pass again: a difference of the map where
// the selector stands once in it, and the whole target.
func repairs(c checks.Check) []Text {
	var out []Text
	for _, d := range c.Drift {
		if diff := selectorDiff(c.Shown(), d.Preferred, d.Matched, d.Candidate); diff != "" {
			out = append(out, Text{Title: "change of the map", Body: diff, Diff: true})
		}
		if len(d.Proposal) > 0 {
			out = append(out, Text{Title: "repaired target", Body: string(d.Proposal)})
		}
	}
	return out
}

// ReadScreenshot reads the result of browser.screenshot; nil when there is no
// picture in it.
func ReadScreenshot(raw json.RawMessage) *Screenshot {
	var out struct {
		DataURL  string `json:"data_url"`
		Viewport struct {
			Width  float64 `json:"width"`
			Height float64 `json:"height"`
		} `json:"viewport"`
	}
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	for _, head := range []string{"data:image/jpeg;base64,", "data:image/png;base64,"} {
		if text, ok := strings.CutPrefix(out.DataURL, head); ok {
			if data, err := base64.StdEncoding.DecodeString(text); err == nil && len(data) > 0 {
				return &Screenshot{
					DataURL: head + base64.StdEncoding.EncodeToString(data),
					Width:   out.Viewport.Width,
					Height:  out.Viewport.Height,
				}
			}
		}
	}
	return nil
}

// clone is the picture without outlines, nil of nil.
func (p *Screenshot) clone() *Screenshot {
	if p == nil {
		return nil
	}
	return &Screenshot{DataURL: p.DataURL, Width: p.Width, Height: p.Height}
}

// Console is the lines of console.list since a time, "" when there are none.
func Console(raw json.RawMessage, since time.Time) string {
	var in struct {
		Entries []struct {
			Level string    `json:"level"`
			Text  string    `json:"text"`
			URL   string    `json:"url"`
			Line  int       `json:"line"`
			At    time.Time `json:"at"`
		} `json:"entries"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return ""
	}
	var b strings.Builder
	for _, m := range in.Entries {
		if m.At.Before(since) {
			continue
		}
		fmt.Fprintf(&b, "%-8s %s", m.Level, Shorten(line(m.Text), 500))
		if m.URL != "" {
			fmt.Fprintf(&b, "  (%s:%d)", Shorten(line(m.URL), 200), m.Line)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// Network is the lines of network.list since a time, "" when there are none.
func Network(raw json.RawMessage, since time.Time) string {
	var in struct {
		Entries []struct {
			Method    string    `json:"method"`
			URL       string    `json:"url"`
			Status    int       `json:"status"`
			Duration  float64   `json:"duration_ms"`
			Failure   string    `json:"failure"`
			StartedAt time.Time `json:"started_at"`
		} `json:"entries"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return ""
	}
	var b strings.Builder
	for _, q := range in.Entries {
		if q.StartedAt.Before(since) {
			continue
		}
		status := "-"
		if q.Status != 0 {
			status = strconv.Itoa(q.Status)
		}
		fmt.Fprintf(&b, "%-4s %-6s %s  %.0f ms", status, line(q.Method), Shorten(line(q.URL), 300), q.Duration)
		if q.Failure != "" {
			fmt.Fprintf(&b, "  %s", Shorten(line(q.Failure), 200))
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// EvidenceText is what is known about an error, nil when nothing is.
func EvidenceText(f *fault.Error) []Text {
	if f == nil {
		return nil
	}
	if lines := EvidenceLines(f); len(lines) > 0 {
		return []Text{{Title: "evidence", Body: strings.Join(lines, "\n")}}
	}
	return nil
}

// Pretty is JSON with its members under each other.
func Pretty(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return block(string(raw))
	}
	return block(out.String())
}
