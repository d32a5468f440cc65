package report

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// Outcome is how a case ended.
type Outcome string

// The outcomes of a case. Broken means that nothing is known about the site,
// since what was to be judged could not be reached.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Broken  Outcome = "broken"
	Skipped Outcome = "skipped"
)

// Suite is what a report groups: the steps of a plan, or the checks of a page.
type Suite struct {
	Name      string
	Took      time.Duration
	Timestamp string // RFC 3339 without the zone, which is UTC; may be empty
	Cases     []Case
}

// Case is one step of a plan, or one check.
type Case struct {
	Name, Class string
	Took        time.Duration
	Outcome     Outcome
	Message     string // one line; may be empty
	Kind        string // of the failure: a code or a severity
	Text        string // more lines
}

// The form of JUnit reports that continuous integration reads.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Class     string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
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

// JUnit counts what the suites hold and encodes them. Characters that XML
// cannot carry are replaced.
func JUnit(suites []Suite) ([]byte, error) {
	all := junitSuites{Name: "outrider"}
	for _, s := range suites {
		one := junitSuite{Name: s.Name, Tests: len(s.Cases), Time: seconds(s.Took), Timestamp: s.Timestamp}
		for _, c := range s.Cases {
			jc := junitCase{Name: c.Name, Class: c.Class, Time: seconds(c.Took)}
			m := &junitMessage{Message: c.Message, Type: c.Kind, Text: c.Text}
			switch c.Outcome {
			case Failed:
				jc.Failure = m
				one.Failures++
			case Broken:
				jc.Error = m
				one.Errors++
			case Skipped:
				jc.Skipped = m
				one.Skipped++
			case Passed:
				jc.SystemOut = c.Text
			}
			one.Cases = append(one.Cases, jc)
		}
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+one.Tests, all.Failures+one.Failures, all.Errors+one.Errors, all.Skipped+one.Skipped
		all.Suites = append(all.Suites, one)
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Suites has one suite for each page: a case for the page itself, one for each
// check, and one for each state, which is skipped while it is not current.
func Suites(pages []Page) []Suite {
	var out []Suite
	for _, p := range pages {
		s := Suite{Name: p.URL, Took: p.Duration, Timestamp: strings.TrimSuffix(p.ObservedAt, "Z")}
		page := Case{Name: "page", Class: "page", Outcome: Passed}
		if len(p.Unmet) > 0 {
			page.Outcome, page.Kind, page.Message, page.Text = Failed, "page", p.Unmet[0], strings.Join(p.Unmet, "\n")+"\nurl: "+p.URL+"\n"
		}
		s.Cases = append(s.Cases, page)
		for _, c := range p.Checks {
			one := Case{Name: c.ID, Class: "checks." + c.Severity, Outcome: Passed}
			switch {
			case c.Status == "not_run":
				one.Outcome, one.Text = Broken, evidenceText(c)
				if c.Severity == "info" {
					one.Outcome = Skipped
				}
			case c.Breaks():
				one.Outcome, one.Text = Failed, evidenceText(c)
			case c.Status == "skipped" || c.Status == "unknown":
				one.Outcome = Skipped
			default:
				one.Text = evidenceText(c)
			}
			if one.Outcome != Passed {
				one.Message, one.Kind = c.Detail(), c.Severity
			}
			s.Cases = append(s.Cases, one)
		}
		for _, st := range p.States {
			one := Case{Name: st.Name, Class: "states", Outcome: Passed}
			switch {
			case st.Current == nil:
				one.Outcome, one.Message = Skipped, "cannot be seen"
			case !*st.Current:
				one.Outcome, one.Message = Skipped, "not current"
			}
			s.Cases = append(s.Cases, one)
		}
		out = append(out, s)
	}
	return out
}

// evidenceText is what a reader of a log needs of a check.
func evidenceText(c Check) string {
	if c.Error == nil {
		return ""
	}
	var b strings.Builder
	if reasons := c.Reasons(); c.Status == "failed" && len(reasons) > 0 {
		for _, r := range reasons {
			fmt.Fprintf(&b, "%s\n    at %s\n", r.Message, r.Place)
		}
	} else {
		fmt.Fprintf(&b, "%s: %s\n    at %s\n", c.Error.Code, c.Error.Message, c.Place())
	}
	for _, d := range c.Drift {
		if c.Status != "drifted" {
			break
		}
		fmt.Fprintf(&b, "preferred %s matches nothing, %s (%s) does\nrepaired target: %s\n", d.Preferred, d.Matched, d.Candidate, d.Proposal)
	}
	if c.Contingency != "" {
		fmt.Fprintf(&b, "contingency: %s\n", c.Contingency)
	}
	if url, ok := c.Evidence["url"]; ok {
		fmt.Fprintf(&b, "url: %s\n", url)
	}
	return b.String()
}
