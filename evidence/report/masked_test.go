package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/mask"
)

// secretRun is a run in which a secret stands wherever a page, a map or a plan can say something.
func secretRun(t *testing.T, secret string) report.Run {
	t.Helper()
	run := sample(t)
	run.Title, run.Suites[0].Name = secret+".yaml", "case "+secret
	run.DurationMS = 1234
	run.Result = map[string]any{"ok": false, "plan": secret, "duration_ms": 1234, "name": secret, "test": []int{1234}}
	run.Suites[0].Tests[1].Place = report.Place{File: "root/name/test.yaml", Line: 1234, Pointer: "/" + secret}
	run.Suites[0].Tests = append(run.Suites[0].Tests, report.Test{
		Name:        "types " + secret,
		Class:       "plan",
		Outcome:     report.Failed,
		Kind:        "expectation",
		Message:     "found " + secret,
		Description: secret,
		DurationMS:  1234,
		Failures: []report.Failure{{
			Message:  "found " + secret,
			Expected: secret,
			Found:    secret,
			Place:    report.Place{File: "plan.yaml", Line: 3, Lines: []report.Line{{Number: 3, Text: secret}}},
		}},
		Steps:   []report.Test{{Name: secret, Message: secret, Steps: []report.Test{{Name: secret}}}},
		Texts:   []report.Text{{Title: "console", Body: "typed " + secret}},
		Repairs: []report.Text{{Title: "repair", Body: "+" + secret, Diff: true}},
		URL:     "http://shop.test/?q=" + secret,
	})
	return run
}

// TestFormatsWithASecretThatIsAWord: whatever word or number a secret is, each format is
// what its readers expect, and its texts show the placeholder.
func TestFormatsWithASecretThatIsAWord(t *testing.T) {
	all := &mask.Set{}
	for i, secret := range []string{"test", "root", "1234", "name", "pass", "c4nary-of-reports"} {
		set := &mask.Set{}
		if err := errors.Join(set.Add("PW", secret), all.Add(fmt.Sprint("PW", i), secret)); err != nil {
			t.Fatal(err)
		}
		run := secretRun(t, secret).Masked(set)
		formats := map[string][]byte{"annotations": report.Annotations(run)}
		for _, format := range report.Formats() {
			text, err := run.Render(format)
			if err != nil {
				t.Fatal(err)
			}
			formats[format] = text
			if !strings.Contains(string(text), "{{secret:PW}}") && format != "github" {
				t.Errorf("%s: %s shows no placeholder", secret, format)
			}
			if secret == "c4nary-of-reports" && bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s shows the secret", format)
			}
		}
		parses(t, formats, run)
	}
	got := shown(t, secretRun(t, "test").Masked(all), `
		return {
			rows: document.querySelectorAll("details.test").length, title: document.querySelector("h1").textContent,
			why: [...document.querySelectorAll(".why.failed")].map((e) => e.textContent).find((x) => x.startsWith("found")),
			styled: [...document.styleSheets].length,
		};`)
	compare(t, got, map[string]string{
		"rows":   "13",
		"title":  "{{secret:PW0}}.yaml",
		"why":    "found {{secret:PW0}}",
		"styled": "1",
	})
}

// parses reads the formats that programs read.
func parses(t *testing.T, formats map[string][]byte, run report.Run) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(formats["junit"])); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("junit: %v", err)
		}
	}
	for _, format := range []string{"json", "sarif"} {
		if !json.Valid(formats[format]) {
			t.Errorf("%s is no JSON:\n%s", format, formats[format])
		}
	}
	var doc struct {
		MS     int   `json:"duration_ms"`
		Test   []int `json:"test"`
		Name   string
		Report report.Run
	}
	if err := json.Unmarshal(formats["json"], &doc); err != nil || doc.MS != 1234 || doc.Report.DurationMS != 1234 ||
		doc.Name != "{{secret:PW}}" {
		t.Errorf("%v: %+v", err, doc)
	}
	past, err := report.ReadPast(formats["json"])
	if err != nil {
		t.Fatal(err)
	}
	counted := report.Totals{}
	for _, o := range past.Outcomes {
		counted[o]++
	}
	if counted.String() != run.Total().String() {
		t.Errorf("the history has %s, the run %s", counted, run.Total())
	}
	for _, l := range strings.Split(strings.TrimSpace(string(formats["annotations"])), "\n") {
		if !strings.HasPrefix(l, "::error ") && !strings.HasPrefix(l, "::warning ") &&
			!strings.HasPrefix(l, "::notice ") {
			t.Errorf("no annotation: %q", l)
		}
	}
}
