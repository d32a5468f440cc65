package report_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/report"
)

// hostile is text that a page could show to break each of the formats.
const hostile = "</script><img src=x onerror=alert(1)>\n::error::x # SKIP | `@all` ]]>&\x1b[2J\u202e\x00"

// sampleMap is the map of the sample, whose fourth line does not hold.
const sampleMap = `{
  "protocol": "actions.json", "version": 1, "tools": [],
  "checks": [
    {"id": "next", "severity": "critical", "assertions": [{"target": {"selector": "#next"}, "text_equals": "Next"}]},
    {"id": "send", "target": {"selector": "#send", "fallback_selectors": ["button[type=submit]"]}}
  ]
}
`

func sampleScreenshot() string {
	const w, h = 800, 450
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(0, 0, w, 56), image.NewUniform(color.RGBA{38, 60, 110, 255}), image.Point{}, draw.Src)
	for i := range 4 {
		draw.Draw(
			img, image.Rect(60, 100+i*50, 620-i*60, 124+i*50),
			image.NewUniform(color.RGBA{226, 228, 233, 255}), image.Point{}, draw.Src,
		)
	}
	draw.Draw(
		img, image.Rect(60, 340, 180, 380), image.NewUniform(color.RGBA{70, 120, 220, 255}), image.Point{}, draw.Src,
	)
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(out.Bytes())
}

// sample is a run with a test of every outcome, made of what checks answer.
func sample(t *testing.T) report.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "actions.json")
	if err := os.WriteFile(path, []byte(sampleMap), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := map[string]any{
		"ok": false, "url": "http://shop.test/items", "observed_at": "2026-01-02T03:04:05.000Z",
		"checks": []any{
			map[string]any{
				"check_id":    "next",
				"description": "The way to the next page",
				"severity":    "critical",
				"status":      "failed",
				"map_path":    path,
				"line":        4,
				"pointer":     "/checks/0",
				"error":       map[string]any{"code": "assertion_failed", "message": "the check next fails"},
				"assertions": []any{map[string]any{
					"ok":      false,
					"line":    4,
					"pointer": "/checks/0/assertions/0",
					"box":     map[string]any{"x": 60, "y": 340, "width": 120, "height": 40},
					"mismatches": []any{map[string]any{
						"member":   "text_equals",
						"expected": "Next",
						"found":    "More",
						"message":  `#next: text is "More", expected "Next"`,
					}},
				}},
				"evidence": map[string]any{
					"screenshot": map[string]any{
						"data_url": sampleScreenshot(),
						"viewport": map[string]any{"width": 800, "height": 450},
					},
					"dom_snapshot": map[string]any{"text": "Items\n" + hostile},
				},
			},
			map[string]any{
				"check_id": "send",
				"severity": "major",
				"status":   "drifted",
				"map_path": path,
				"line":     5,
				"pointer":  "/checks/1",
				"drift": []any{map[string]any{
					"preferred": "#send", "matched": "button[type=submit]", "candidate": "fallback_selectors/0",
					"proposal": map[string]any{"selector": "button[type=submit]"},
				}},
			},
			map[string]any{
				"check_id": "setup", "severity": "minor", "status": "not_run", "map_path": path,
				"error": map[string]any{"code": "target_not_found", "message": "the setup of the check setup failed"},
			},
			map[string]any{"check_id": "title", "severity": "minor", "status": "passed", "map_path": path},
			map[string]any{"check_id": "later", "severity": "minor", "status": "skipped", "map_path": path},
		},
		"states": []any{
			map[string]any{"name": "list", "current": true},
			map[string]any{"name": "empty", "current": false},
		},
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var page report.Page
	if err := json.Unmarshal(raw, &page); err != nil {
		t.Fatal(err)
	}
	page.Duration = 340 * time.Millisecond
	page.Texts = []report.Text{
		{Title: "console", Body: "error    Uncaught TypeError: items is undefined  (http://shop.test/app.js:12)"},
		{Title: "network", Body: "500  GET    http://shop.test/api/items  31 ms"},
	}
	nested := report.PageSuite(page)
	nested.Name, nested.URL = "shop.yaml: check", ""
	return report.Run{
		Title:      "shop.yaml",
		StartedAt:  "2026-01-02T03:04:05Z",
		DurationMS: 2140,
		Result:     map[string]any{"ok": false, "plan": "shop.yaml"},
		Suites: []report.Suite{{
			Name:       "shop.yaml",
			File:       "shop.yaml",
			DurationMS: 2140,
			StartedAt:  "2026-01-02T03:04:05Z",
			Tests: []report.Test{
				{
					Name:       "sign in",
					Class:      "plan",
					Outcome:    report.Passed,
					DurationMS: 840,
					Steps: []report.Test{{
						Name: "fill in", Class: "plan", Outcome: report.Passed, DurationMS: 40,
						Steps: []report.Test{{Name: "fill text.insert", Outcome: report.Passed, DurationMS: 30}},
					}},
				},
				{
					Name:       "retried",
					Class:      "plan",
					Outcome:    report.Flaky,
					DurationMS: 620,
					Message:    "held at the second attempt",
				},
				{
					Name:       hostile,
					Class:      "plan",
					Outcome:    report.Failed,
					DurationMS: 512,
					Message:    hostile,
					Kind:       "expectation",
					Failures:   []report.Failure{{Message: hostile}},
				},
				{Name: "sign out", Class: "plan", Outcome: report.Skipped, Message: "the run ended before it"},
			},
		}, nested},
	}
}

// TestTotals holds the totals that every format shows.
func TestTotals(t *testing.T) {
	got, want := sample(t).Total().String(), "2 failed, 1 broken, 1 flaky, 1 drifted, 4 passed, 3 skipped"
	if got != want {
		t.Errorf("totals are %q, want %q", got, want)
	}
}

// junitForm is what the common schema allows in each element: its attributes, and
// its children in their order.
var junitForm = map[string]struct{ attributes, children []string }{
	"testsuites": {[]string{"name", "tests", "failures", "errors", "skipped", "time"}, []string{"testsuite"}},
	"testsuite": {
		[]string{"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "file"},
		[]string{"testcase"},
	},
	"testcase": {
		[]string{"name", "classname", "time", "file", "line"},
		[]string{"failure", "error", "skipped", "system-out"},
	},
	"failure":    {[]string{"message", "type"}, nil},
	"error":      {[]string{"message", "type"}, nil},
	"skipped":    {[]string{"message", "type"}, nil},
	"system-out": {},
}

type node struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []node     `xml:",any"`
}

func (n node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestJUnitIsOfTheCommonForm(t *testing.T) {
	out, err := report.JUnit(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	var root node
	if err := xml.Unmarshal(out, &root); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cases := 0
	var walk func(n node) (tests, failures, errors, skipped int)
	walk = func(n node) (tests, failures, errs, skipped int) {
		name := n.XMLName.Local
		form, ok := junitForm[name]
		if !ok {
			t.Errorf("unknown element %s", name)
		}
		for _, a := range n.Attrs {
			if !slices.Contains(form.attributes, a.Name.Local) {
				t.Errorf("%s has the attribute %s", name, a.Name.Local)
			}
		}
		last := 0
		for _, c := range n.Children {
			at := slices.Index(form.children, c.XMLName.Local)
			if at < last {
				t.Errorf("%s in %s: not allowed there", c.XMLName.Local, name)
			}
			last = at
			a, b, d, e := walk(c)
			tests += a
			failures += b
			errs += d
			skipped += e
		}
		switch name {
		case "testcase":
			cases++
			tests = 1
		case "failure":
			failures = 1
		case "error":
			errs = 1
		case "skipped":
			skipped = 1
		case "testsuite", "testsuites":
			got := fmt.Sprint(n.attr("tests"), n.attr("failures"), n.attr("errors"), n.attr("skipped"))
			want := fmt.Sprint(fmt.Sprint(tests), fmt.Sprint(failures), fmt.Sprint(errs), fmt.Sprint(skipped))
			if got != want {
				t.Errorf("%s %q counts %s, holds %s", name, n.attr("name"), got, want)
			}
		}
		return tests, failures, errs, skipped
	}
	walk(root)
	if cases != 12 {
		t.Errorf("%d cases, want 12", cases)
	}
	if !bytes.Contains(out, []byte(`message="#next: text is &#34;More&#34;, expected &#34;Next&#34;"`)) {
		t.Errorf("no sentence of the failure in\n%s", out)
	}
}

func TestSARIFHasThePlaces(t *testing.T) {
	run := sample(t)
	out, err := report.SARIF(run.Findings(), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, r := range doc.Runs[0].Results {
		if rule := doc.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID; rule != r.RuleID {
			t.Errorf("the rule at %d is %s, want %s", r.RuleIndex, rule, r.RuleID)
		}
		if r.Message.Text == `shop.yaml: check › next: #next: text is "More", expected "Next"` {
			found = true
			at := r.Locations[0].PhysicalLocation
			if at.Region.StartLine != 4 || !strings.HasSuffix(at.ArtifactLocation.URI, "/actions.json") ||
				r.Level != "error" || r.RuleID != "checks.failed" {
				t.Errorf("result %+v", r)
			}
		}
	}
	if doc.Version != "2.1.0" || !found || len(doc.Runs[0].Results) != 5 {
		t.Errorf("found %v, version %s, %d results\n%s", found, doc.Version, len(doc.Runs[0].Results), out)
	}
}

// TestTAPNests reads the protocol back: each plan holds, and no text of a page is a
// directive.
func TestTAPNests(t *testing.T) {
	out := string(report.TAP(sample(t)))
	if !strings.HasPrefix(out, "TAP version 14\n1..2\n# Subtest: shop.yaml\n    1..4\n") {
		t.Fatalf("head of\n%s", out)
	}
	plans, points := map[int]int{}, map[int]int{}
	yaml := false
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n")[1:] {
		body := strings.TrimLeft(l, " ")
		depth := (len(l) - len(body)) / 4
		switch {
		case strings.TrimSpace(l) == "---":
			yaml = true
		case strings.TrimSpace(l) == "...":
			yaml = false
		case yaml:
			name, value, _ := strings.Cut(body, ": ")
			if !json.Valid([]byte(value)) {
				t.Errorf("%s of a YAML block is %s", name, value)
			}
		case strings.HasPrefix(body, "1.."):
			var n int
			fmt.Sscanf(body, "1..%d", &n)
			plans[depth] += n
		case strings.HasPrefix(body, "ok "), strings.HasPrefix(body, "not ok "):
			points[depth]++
			if strings.HasPrefix(body, "not ok ") && strings.Contains(body, " # SKIP") {
				t.Errorf("a failure is skipped: %s", l)
			}
		case !strings.HasPrefix(body, "# Subtest: "):
			t.Errorf("no line of TAP: %q", l)
		}
	}
	if fmt.Sprint(plans) != fmt.Sprint(points) {
		t.Errorf("plans %v, points %v\n%s", plans, points, out)
	}
	if !strings.Contains(out, "\nnot ok 1 - shop.yaml\n") {
		t.Errorf("the suite is not red in\n%s", out)
	}
}

func TestAnnotationsAreOneCommandALine(t *testing.T) {
	out := string(report.Annotations(sample(t)))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for _, l := range lines {
		if !strings.HasPrefix(l, "::error ") && !strings.HasPrefix(l, "::warning ") {
			t.Errorf("no command: %q", l)
		}
	}
	if len(lines) != 5 || !strings.Contains(
		out, `actions.json,line=4,title=checks.failed::shop.yaml: check › next: #next: text is "More", expected "Next"`,
	) {
		t.Errorf("%d lines:\n%s", len(lines), out)
	}
}

func TestSummaryHasNoMarkupOfThePage(t *testing.T) {
	out := string(report.Summary(sample(t)))
	for _, bad := range []string{"<img", "@all", "`", "\x1b"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q in\n%s", bad, out)
		}
	}
	if !strings.Contains(out, "2 failed, 1 broken, 1 flaky, 1 drifted") ||
		!strings.Contains(out, "\n| failed | shop.yaml › ") {
		t.Errorf("summary:\n%s", out)
	}
}

// TestJSONIsAHistory reads a report back as an earlier run.
func TestJSONIsAHistory(t *testing.T) {
	run := sample(t)
	out, err := report.JSON(run)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Plan   string
		Report struct{ Totals map[string]int }
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Plan != "shop.yaml" || doc.Report.Totals["failed"] != 2 {
		t.Errorf("document %+v", doc)
	}
	past, err := report.ReadPast(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(past.Outcomes) != 12 || past.StartedAt != run.StartedAt {
		t.Errorf("past %+v", past)
	}
	if _, err := report.ReadPast([]byte(`{"ok": true}`)); err == nil {
		t.Error("a document without a report is a history")
	}
}

func TestWriteSaysWhatFailed(t *testing.T) {
	files, err := report.ParseFiles("junit=a/b.xml,github=-,github=s.md,tap=t.tap")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var stdout bytes.Buffer
	if failed := files.Write(root, &stdout, sample(t)); len(failed) > 0 {
		t.Fatal(failed)
	}
	for _, name := range []string{"a/b.xml", "s.md", "t.tap"} {
		if _, err := root.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if !strings.HasPrefix(stdout.String(), "::") {
		t.Errorf("standard output is %q", stdout.String())
	}
	if failed := files.Write(root, brokenWriter{}, sample(t)); len(failed) != 1 {
		t.Errorf("a writer that fails gives %v", failed)
	}
	for _, bad := range []string{"pdf=x", "junit=-", "html=a,html=b", "junit"} {
		if _, err := report.ParseFiles(bad); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestSummaryOfAJobIsAppended: commands of one job write to one file.
func TestSummaryOfAJobIsAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", path)
	for range 2 {
		if failed := (report.Files{"github": path}).Write(report.Anywhere, io.Discard, sample(t)); len(failed) > 0 {
			t.Fatal(failed)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), "### "); n != 2 {
		t.Errorf("%d summaries, want 2", n)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	p := report.NewProgress(&out, func() int { return 20 })
	p.Begin("a name that is longer than\nthe terminal is wide", 2, 5)
	p.Clear()
	p.Clear()
	if got, want := out.String(), "\r\x1b[K[2/5] a name that i\r\x1b[K"; got != want {
		t.Errorf("progress is %q, want %q", got, want)
	}
	out.Reset()
	io.WriteString(report.Coloured(&out), "  failed  x\nplain ok\nok      y\n")
	if got, want := out.String(), "  \x1b[31mfailed\x1b[0m  x\nplain ok\n\x1b[32mok\x1b[0m      y\n"; got != want {
		t.Errorf("coloured is %q, want %q", got, want)
	}
}
