package report

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// The form of JUnit reports that continuous integration reads.

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	File      string      `xml:"file,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Class     string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitMessage `xml:"failure,omitempty"`
	Error     *junitMessage `xml:"error,omitempty"`
	Skipped   *junitMessage `xml:"skipped,omitempty"`
	SystemOut string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit counts the tests of the suites and encodes them. Characters that XML
// cannot carry are replaced.
func JUnit(r Run) ([]byte, error) {
	all := junitSuites{Name: "outrider", junitCounts: counts(r.Total(), r.DurationMS)}
	classes := r.classes()
	for _, s := range r.Suites {
		all.Suites = append(all.Suites, junitOf(s, classes))
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

func counts(t Totals, ms int64) junitCounts {
	return junitCounts{
		Tests:    t.All(),
		Failures: t[Failed],
		Errors:   t[Broken],
		Skipped:  t[Skipped] + t[Quarantined],
		Time:     seconds(ms),
	}
}

func junitOf(s Suite, classes func([]string, *Test) string) junitSuite {
	// The timestamp has no zone: it is UTC.
	one := junitSuite{
		Name:        line(s.Name),
		junitCounts: counts(s.total(), s.DurationMS),
		Timestamp:   strings.TrimSuffix(s.StartedAt, "Z"),
		File:        s.File,
	}
	for i := range s.Tests {
		t := &s.Tests[i]
		c := junitCase{
			Name:  line(t.Name),
			Class: line(classes([]string{s.Name}, t)),
			Time:  seconds(t.DurationMS),
			File:  t.place().File,
			Line:  t.place().Line,
		}
		m := &junitMessage{Message: line(t.Message), Type: t.Kind, Text: t.plain()}
		switch t.Outcome {
		case Failed:
			c.Failure = m
		case Broken:
			c.Error = m
		case Skipped:
			c.Skipped = m
			m.Text = ""
		case Quarantined: // readers know no other way to show a failure that is not counted
			c.Skipped = m
			c.SystemOut, m.Text = m.Text, ""
		case Passed, Drifted, Flaky:
			c.SystemOut = m.Text
		}
		for _, file := range t.pictures() {
			c.SystemOut += "[[ATTACHMENT|" + line(file) + "]]\n" // as Jenkins, GitLab and others read it
		}
		one.Cases = append(one.Cases, c)
	}
	return one
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }

// longestBody is how long a piece of evidence may be in text for a log.
const longestBody = 4_000

// pictures are the files of the test and its steps, each once.
func (t *Test) pictures() (out []string) {
	t.walk(nil, func(_ []string, x *Test) {
		if x.PictureFile != "" && !slices.Contains(out, x.PictureFile) {
			out = append(out, x.PictureFile)
		}
	})
	return out
}

// outline are the steps, one line each, with what is known of those that are not well.
func (t Test) outline(b *strings.Builder, indent string) {
	for i, s := range t.Steps {
		fmt.Fprintf(b, "%s%d. %s %s (%d ms)", indent, i+1, s.Outcome, line(s.Name), s.DurationMS)
		if place := s.Place.String(); place != "" {
			fmt.Fprintf(b, " at %s", place)
		}
		b.WriteByte('\n')
		if s.Class != "" && (s.Outcome.shows() || s.Outcome == Drifted) {
			for l := range strings.Lines(s.plain()) {
				b.WriteString(indent + "   " + l)
			}
			continue
		}
		s.outline(b, indent+"   ")
	}
}

// plain is what a reader of a log needs of a test that did not simply pass, and its steps.
func (t Test) plain() string {
	var b strings.Builder
	if t.Outcome == Flaky {
		fmt.Fprintf(&b, "flaky: %s\n", line(t.Message))
	}
	for _, f := range t.Failures {
		fmt.Fprintln(&b, line(f.Message))
		if place := f.Place.String(); place != "" {
			fmt.Fprintf(&b, "    at %s\n", place)
		}
	}
	if len(t.Failures) == 0 && t.Outcome != Passed && t.Outcome != Flaky && t.Message != "" {
		fmt.Fprintln(&b, line(t.Message))
		if place := t.Place.String(); place != "" {
			fmt.Fprintf(&b, "    at %s\n", place)
		}
	}
	for _, x := range t.Repairs {
		fmt.Fprintf(&b, "%s: %s\n", x.Title, block(x.Body))
	}
	for _, x := range t.Texts {
		body := block(x.Body)
		if len(body) > longestBody {
			body = fmt.Sprintf("%d bytes, see the json report", len(x.Body))
		}
		sep := " "
		if strings.Contains(body, "\n") {
			sep = "\n"
		}
		fmt.Fprintf(&b, "%s:%s%s\n", x.Title, sep, body)
	}
	if t.URL != "" && t.Outcome.Red() {
		fmt.Fprintf(&b, "url: %s\n", line(t.URL))
	}
	t.outline(&b, "")
	return b.String()
}
