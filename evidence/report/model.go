package report

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/plain"
)

// Outcome is how a test ended.
type Outcome string

// The outcomes of a test. A drifted one holds by a fallback; a flaky one holds
// after it failed. Broken means that nothing is known about the site, since what
// was to be judged could not be loaded. A quarantined one failed, and somebody said
// until when that does not make the run fail.
const (
	Passed      Outcome = "passed"
	Drifted     Outcome = "drifted"
	Flaky       Outcome = "flaky"
	Quarantined Outcome = "quarantined"
	Failed      Outcome = "failed"
	Broken      Outcome = "broken"
	Skipped     Outcome = "skipped"
)

// Outcomes are all of them, in the order in which readers want them.
var Outcomes = []Outcome{Failed, Broken, Quarantined, Flaky, Drifted, Passed, Skipped}

// Red reports whether the outcome makes a run fail.
func (o Outcome) Red() bool { return o == Failed || o == Broken }

// shows reports whether readers want to see what the page looked like.
func (o Outcome) shows() bool { return o.Red() || o == Flaky || o == Quarantined }

// Run is what every format is rendered from: suites of tests, a test with its
// failures and what is known about them. Its texts may come from pages and maps.
type Run struct {
	Title      string  `json:"title"`
	OK         bool    `json:"ok"`
	StartedAt  string  `json:"started_at,omitempty"` // RFC 3339
	DurationMS int64   `json:"duration_ms"`
	Suites     []Suite `json:"suites"`
	// Version is that of the program, for formats that name it.
	Version string `json:"-"`
	// Past are earlier runs, the oldest first.
	Past []Past `json:"-"`
	// Result is what the verb prints with --json. The JSON report begins with it.
	Result any `json:"-"`
}

// Suite is what a report groups: the cases of a plan, or the checks of a page.
type Suite struct {
	Name       string `json:"name"`
	URL        string `json:"url,omitempty"`
	File       string `json:"file,omitempty"`
	StartedAt  string `json:"started_at,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Tests      []Test `json:"tests"`
}

// Test is one case of a plan, one check, or one state. A step of a case has the same form.
type Test struct {
	Name string `json:"name"`
	// ID is the name with those of what the test is in, see Run.Distinct.
	ID          string  `json:"id,omitempty"`
	Class       string  `json:"class,omitempty"`
	Description string  `json:"description,omitempty"`
	Outcome     Outcome `json:"outcome"`
	DurationMS  int64   `json:"duration_ms"`
	// Message is one line. It says why the test did not simply pass.
	Message  string    `json:"message,omitempty"`
	Kind     string    `json:"kind,omitempty"` // of the failure: a code or a severity
	URL      string    `json:"url,omitempty"`
	Place    Place     `json:"place,omitzero"`
	Failures []Failure `json:"failures,omitempty"`
	// Steps are what the test did, in order: the steps of a case, those of a workflow, and the
	// checks of a page that a step judged. No total counts them.
	Steps []Test `json:"steps,omitempty"`
	// Repairs are targets that a map could declare, or diffs of the map.
	Repairs    []Text      `json:"repairs,omitempty"`
	Texts      []Text      `json:"texts,omitempty"`
	Screenshot *Screenshot `json:"-"`
	// PictureFile is where the picture was saved, with its outlines.
	PictureFile string `json:"picture_file,omitempty"`
}

// Place is where a map or a plan says something.
type Place struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Pointer string `json:"pointer,omitempty"` // RFC 6901
	// Lines are those around Line.
	Lines []Line `json:"lines,omitempty"`
}

// Line is one line of a file, counted from 1.
type Line struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

// Failure is one failed expectation.
type Failure struct {
	Message  string `json:"message"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
	// Compared is set of a screenshot that differs.
	Compared *Comparison `json:"compared,omitempty"`
	Place    Place       `json:"place,omitzero"`
}

// Text is a piece of evidence: console, network, a difference, a page's text.
type Text struct {
	Title string `json:"title"`
	Body  string `json:"body"`
	Diff  bool   `json:"diff,omitempty"` // lines begin with +, - or a space
}

// Screenshot is what the page showed. Outlines are in CSS pixels of the viewport,
// whose size is that of the picture.
type Screenshot struct {
	DataURL       string
	Width, Height float64
	Outlines      []Box
}

// Totals count tests by outcome.
type Totals map[Outcome]int

// Total counts the tests of the run.
func (r Run) Total() Totals {
	t := Totals{}
	r.Each(func(_ []string, x *Test) { t[x.Outcome]++ })
	return t
}

// All is the number of tests.
func (t Totals) All() int {
	n := 0
	for _, o := range Outcomes {
		n += t[o]
	}
	return n
}

// String is the totals in one line, with what there is none of left out.
func (t Totals) String() string {
	var parts []string
	for _, o := range Outcomes {
		if t[o] > 0 {
			parts = append(parts, strconv.Itoa(t[o])+" "+string(o))
		}
	}
	if parts == nil {
		return "no tests"
	}
	return strings.Join(parts, ", ")
}

// Each calls f with each test and the name of the suite that it is in.
func (r Run) Each(f func(path []string, t *Test)) {
	for i := range r.Suites {
		s := &r.Suites[i]
		for k := range s.Tests {
			f([]string{s.Name}, &s.Tests[k])
		}
	}
}

// Walk calls f with each test, then with its steps, and with the names of what each is in.
func (r Run) Walk(f func(path []string, t *Test)) {
	r.Each(func(path []string, t *Test) { t.walk(path, f) })
}

func (t *Test) walk(path []string, f func(path []string, t *Test)) {
	f(path, t)
	path = append(path[:len(path):len(path)], t.Name)
	for i := range t.Steps {
		t.Steps[i].walk(path, f)
	}
}

func (s *Suite) total() Totals { return Run{Suites: []Suite{*s}}.Total() }

// String is the place as file:line and pointer.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return strings.TrimSpace(p.File + ":" + strconv.Itoa(p.Line) + " " + p.Pointer)
}

// The longest texts that a report carries. What is longer is cut.
const (
	longLine = 2_000
	longText = 64 << 10
)

// line is text of a page on one line, without what a terminal or a reader of
// text would obey.
func line(s string) string { return cut(Printable(s), longLine) }

// block is text of a page on several lines.
func block(s string) string {
	return cut(strings.Map(func(r rune) rune {
		if plain.Hidden(r) {
			return '·'
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")), longText)
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Milliseconds is a duration as reports count it.
func Milliseconds(d time.Duration) int64 { return d.Milliseconds() }
