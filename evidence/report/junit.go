package report

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// The form of JUnit reports that continuous integration reads. Suites nest.

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
	Timestamp string       `xml:"timestamp,attr,omitempty"`
	File      string       `xml:"file,attr,omitempty"`
	Cases     []junitCase  `xml:"testcase"`
	Suites    []junitSuite `xml:"testsuite"`
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
		all.Suites = append(all.Suites, junitOf(s, nil, classes))
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

func counts(t Totals, ms int64) junitCounts {
	return junitCounts{Tests: t.All(), Failures: t[Failed], Errors: t[Broken], Skipped: t[Skipped], Time: seconds(ms)}
}

func junitOf(s Suite, path []string, classes func([]string, *Test) string) junitSuite {
	path = append(path[:len(path):len(path)], s.Name)
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
			Class: line(classes(path, t)),
			Time:  seconds(t.DurationMS),
			File:  t.Place.File,
			Line:  t.Place.Line,
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
		case Passed, Drifted, Flaky:
			c.SystemOut = m.Text
		}
		if t.PictureFile != "" {
			c.SystemOut += "[[ATTACHMENT|" + line(t.PictureFile) + "]]\n" // as Jenkins, GitLab and others read it
		}
		one.Cases = append(one.Cases, c)
	}
	for _, n := range s.Suites {
		one.Suites = append(one.Suites, junitOf(n, path, classes))
	}
	return one
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }

// longestBody is how long a piece of evidence may be in text for a log.
const longestBody = 4_000

// plain is what a reader of a log needs of a test that did not simply pass.
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
	return b.String()
}
