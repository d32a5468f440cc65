package report_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/runtime/checks"
)

// rows is a run with a red step in each of so many cases, a page that was checked twice, and
// a test that knows no file.
func rows(n int) report.Run {
	run := report.Run{Title: "run"}
	plan := report.Suite{Name: "shop.plan.yaml", File: "shop.plan.yaml"}
	for i := range n {
		step := report.Test{
			Name:    "order",
			Class:   "plan",
			Outcome: report.Failed,
			Message: "no order",
			Place:   report.Place{File: "shop.plan.yaml", Line: 7},
		}
		plan.Tests = append(plan.Tests, report.Test{
			Name:    fmt.Sprintf("shop.order [%d]", i+1),
			Class:   "plan",
			Outcome: report.Failed,
			Message: "no order",
			Steps:   []report.Test{{Name: "see", Class: "plan", Outcome: report.Passed}, step},
		})
	}
	run.Suites = append(run.Suites, plan)
	for range 2 {
		page := report.PageSuite(report.Page{Page: checks.Page{
			URL:   "http://127.0.0.1:1234/items?x=1",
			Unmet: []string{"the status is 500"},
		}})
		page.Tests = append(
			page.Tests, report.Test{Name: "next", Class: "checks.critical", Outcome: report.Passed},
			report.Test{Name: "next", Class: "checks.critical", Outcome: report.Broken, Message: "no page"},
		)
		run.Suites = append(run.Suites, page)
	}
	run.Suites = append(run.Suites, report.Suite{
		Name:  "shop.plan.yaml",
		File:  "other/shop.plan.yaml",
		Tests: []report.Test{{Name: "shop.order [1]", Class: "plan", Outcome: report.Passed}},
	})
	return run.Distinct()
}

// TestTestsAreToldApart: cases, pages and rows have classes and ids of their own.
func TestTestsAreToldApart(t *testing.T) {
	text, err := report.JUnit(rows(3))
	if err != nil {
		t.Fatal(err)
	}
	var root node
	if err := xml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	var got []string
	var walk func(node)
	walk = func(n node) {
		if n.XMLName.Local == "testcase" {
			got = append(got, n.attr("classname")+" | "+n.attr("name"))
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(root)
	want := []string{
		"shop.plan.yaml | shop.order [1]", "shop.plan.yaml | shop.order [2]", "shop.plan.yaml | shop.order [3]",
		"/items?x=1 page | page", "/items?x=1 checks.critical | next", "/items?x=1 checks.critical | next (2)",
		"/items?x=1 (2) page | page", "/items?x=1 (2) checks.critical | next",
		"/items?x=1 (2) checks.critical | next (2)",
		"shop.plan.yaml (other/shop.plan.yaml) | shop.order [1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("classes and names are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ids := map[string]bool{}
	rows(3).Each(func(_ []string, x *report.Test) {
		if x.ID == "" || ids[x.ID] {
			t.Errorf("the id %q is not one test's", x.ID)
		}
		ids[x.ID] = true
	})
	if !ids["shop.plan.yaml › shop.order [3]"] {
		t.Errorf("ids %v", ids)
	}
}

// TestAnnotationsThatAreLeftOutAreCounted: GitHub shows ten of a step.
func TestAnnotationsThatAreLeftOutAreCounted(t *testing.T) {
	lines := strings.Split(
		strings.TrimSpace(string(report.Annotations(rows(20), "the summary of the job", "out.html"))), "\n",
	)
	if len(lines) != 10 || lines[9] != "::error title=outrider::15 more: see the summary of the job and out.html" {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	if want := "title=checks.broken::http://127.0.0.1:1234/items?x=1 › next (2): no page"; !strings.HasSuffix(
		lines[0], want,
	) {
		t.Errorf("first is %q, want what could not be judged: %q", lines[0], want)
	}
	if want := "::error file=shop.plan.yaml,line=7,title=plan.failed::shop.order [1] › order: no order"; lines[2] !=
		want {
		t.Errorf("third is %q, want %q", lines[2], want)
	}
	if few := string(report.Annotations(rows(3))); strings.Contains(few, "more:") {
		t.Errorf("nothing is left out of\n%s", few)
	}
}

// TestSARIFIsNowhereWithoutAPlace: every result has a location, and files of the run are
// relative to the sources.
func TestSARIFIsNowhereWithoutAPlace(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	run := rows(1)
	run.Suites = append(run.Suites, report.Suite{Name: "files", Tests: []report.Test{
		{
			Name:    "below",
			Class:   "plan",
			Outcome: report.Failed,
			Place:   report.Place{File: filepath.Join(here, "a b", "map.json")},
		},
		{
			Name:    "elsewhere",
			Class:   "plan",
			Outcome: report.Flaky,
			Place:   report.Place{File: filepath.Join(filepath.Dir(here), "other.json"), Line: 3, Pointer: "/tools/0"},
		},
	}})
	text, err := report.SARIF(run.Findings(), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Runs []struct {
			Results []struct {
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range doc.Runs[0].Results {
		if len(r.Locations) != 1 {
			t.Fatalf("%q has %d locations", r.Message.Text, len(r.Locations))
		}
		at := r.Locations[0].PhysicalLocation
		uri := strings.Replace(at.ArtifactLocation.URI, "file://"+filepath.ToSlash(filepath.Dir(here)), "file://DIR", 1)
		got = append(got, fmt.Sprintf("%s %s:%d", at.ArtifactLocation.URIBaseID, uri, at.Region.StartLine))
	}
	slices.Sort(got)
	want := []string{
		" file://DIR/other.json:3", "%SRCROOT% a%20b/map.json:1",
		"%SRCROOT% actions.json:1", "%SRCROOT% actions.json:1",
		"%SRCROOT% actions.json:1", "%SRCROOT% actions.json:1", "%SRCROOT% shop.plan.yaml:7",
	}
	if !slices.Equal(got, want) {
		t.Errorf("places are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if path := os.Getenv("OUTRIDER_SARIF_OUT"); path != "" {
		os.WriteFile(path, text, 0o600)
	}
}
