package main

import (
	"bytes"
	_ "embed" // the page of a report
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reports are the files to write, by their format.
type reports map[string]string

var reportFormats = []string{"junit", "json", "html"}

// parseReports reads --report: junit=FILE,json=FILE,html=FILE.
func parseReports(text string) (reports, error) {
	out := reports{}
	if text == "" {
		return out, nil
	}
	for _, part := range strings.Split(text, ",") {
		format, file, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || file == "" || !slices.Contains(reportFormats, format) {
			return nil, usage("--report is %q: expected junit=FILE,json=FILE,html=FILE, in any choice", text)
		}
		if out[format] != "" {
			return nil, usage("--report names %s twice", format)
		}
		out[format] = file
	}
	return out, nil
}

// writeReports writes what content makes for each format and says which file
// could not be written. Results come first: a full disk must not take what was
// found out from standard output too.
func (a *app) writeReports(files reports, content func(format string) ([]byte, error)) (complete bool) {
	complete = true
	for _, format := range reportFormats {
		file, wanted := files[format]
		if !wanted {
			continue
		}
		text, err := content(format)
		if err == nil {
			err = writeReport(file, text)
		}
		if err != nil {
			complete = false
			fmt.Fprintf(a.stderr, "outrider: the %s report could not be written to %s: %v\n", format, file, err)
		}
	}
	return complete
}

// checkReport is the report of a check in one format.
func checkReport(format string, pages []checkedPage, result any) ([]byte, error) {
	switch format {
	case "junit":
		return junitOf(checkSuites(pages))
	case "html":
		return htmlOf(pages)
	}
	return jsonReport(result)
}

func jsonReport(result any) ([]byte, error) {
	content, err := json.MarshalIndent(result, "", "  ")
	return append(content, '\n'), err
}

func writeReport(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
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

// junitOf counts what the suites hold and encodes them. Characters that XML
// cannot carry are replaced.
func junitOf(suites []junitSuite) ([]byte, error) {
	all := junitSuites{Name: "outrider", Suites: suites}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Tests = len(s.Cases)
		for _, c := range s.Cases {
			switch {
			case c.Failure != nil:
				s.Failures++
			case c.Error != nil:
				s.Errors++
			case c.Skipped != nil:
				s.Skipped++
			}
		}
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	out, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(out, '\n')...), nil
}

// checkSuites has one suite for each page: a case for each check, and one for
// each state, which is skipped while it is not current.
func checkSuites(pages []checkedPage) []junitSuite {
	var out []junitSuite
	for _, p := range pages {
		s := junitSuite{Name: p.URL, Time: fmt.Sprintf("%.3f", p.duration.Seconds()), Timestamp: strings.TrimSuffix(p.ObservedAt, "Z")}
		for _, c := range p.Checks {
			tc := junitCase{Name: c.ID, Class: "checks." + c.Severity, Time: "0"}
			detail := &junitMessage{Message: c.detail(), Type: c.Severity}
			switch {
			case c.Status == "not_run": // nothing is known about the site
				detail.Text = evidenceText(c)
				tc.Error = detail
				if c.Severity == "info" {
					tc.Error, tc.Skipped = nil, detail
				}
			case c.breaks():
				detail.Text = evidenceText(c)
				tc.Failure = detail
			case c.Status == "skipped" || c.Status == "unknown":
				tc.Skipped = detail
			default:
				tc.SystemOut = evidenceText(c)
			}
			s.Cases = append(s.Cases, tc)
		}
		for _, st := range p.States {
			tc := junitCase{Name: st.Name, Class: "states", Time: "0"}
			switch {
			case st.Current == nil:
				tc.Skipped = &junitMessage{Message: "cannot be seen"}
			case !*st.Current:
				tc.Skipped = &junitMessage{Message: "not current"}
			}
			s.Cases = append(s.Cases, tc)
		}
		out = append(out, s)
	}
	return out
}

// evidenceText is what a reader of a log needs of a check.
func evidenceText(c checkedCheck) string {
	if c.Error == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", c.Error.Code, c.Error.Message)
	for _, d := range c.Drift {
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

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{"deref": func(b *bool) bool { return b != nil && *b }}).Parse(reportPage))

// shownCheck is a check as the page of a report shows it.
type shownCheck struct {
	checkedCheck
	Detail     string
	Proposals  []string
	Screenshot template.URL // a data URL that this program made
	Snapshot   string
}

// htmlOf is a page that needs nothing else: styles and pictures are in it.
func htmlOf(pages []checkedPage) ([]byte, error) {
	type shownPage struct {
		checkedPage
		Shown []shownCheck
	}
	var list []shownPage
	for _, p := range pages {
		sp := shownPage{checkedPage: p}
		for _, c := range p.Checks {
			s := shownCheck{checkedCheck: c, Detail: c.detail()}
			for _, d := range c.Drift {
				var pretty bytes.Buffer
				if json.Indent(&pretty, d.Proposal, "", "  ") == nil {
					s.Proposals = append(s.Proposals, pretty.String())
				}
			}
			s.Screenshot = pictureOf(c.Evidence["screenshot"])
			var text struct {
				Text string `json:"text"`
			}
			if json.Unmarshal(c.Evidence["dom_snapshot"], &text) == nil {
				s.Snapshot = text.Text
			}
			sp.Shown = append(sp.Shown, s)
		}
		list = append(list, sp)
	}
	var out bytes.Buffer
	err := reportTemplate.Execute(&out, list)
	return out.Bytes(), err
}

// pictureOf makes a data URL of a screenshot, "" when there is none.
func pictureOf(raw json.RawMessage) template.URL {
	var shot struct {
		DataURL string `json:"data_url"`
	}
	if json.Unmarshal(raw, &shot) != nil {
		return ""
	}
	for _, head := range []string{"data:image/jpeg;base64,", "data:image/png;base64,"} {
		if text, ok := strings.CutPrefix(shot.DataURL, head); ok {
			if data, err := base64.StdEncoding.DecodeString(text); err == nil {
				return template.URL(head + base64.StdEncoding.EncodeToString(data)) //nolint:gosec // two fixed heads and base64
			}
		}
	}
	return ""
}
