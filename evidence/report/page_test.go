package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// shown opens the report in a browser and gives what body, statements of a script,
// says about it.
func shown(t *testing.T, run report.Run, body string) map[string]any {
	t.Helper()
	browsertest.Require(t)
	page, err := report.HTML(run)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page)
	}))
	t.Cleanup(site.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := outrider.Open(ctx, outrider.Options{Open: []string{site.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := client.PageEvaluate(ctx, s.Tab(), client.PageEvaluateArgs{Body: body})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r.Value)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

func compare(t *testing.T, got map[string]any, want map[string]string) {
	t.Helper()
	for name, w := range want {
		if g := fmt.Sprint(got[name]); g != w {
			t.Errorf("%s is %q, want %q", name, g, w)
		}
	}
}

// TestPageInABrowser reads the page by its DOM: the sentence of a failure, the
// outline, the filter and the search, and nothing of the page's own markup.
func TestPageInABrowser(t *testing.T) {
	run := sample(t)
	earlier, err := report.JSON(run)
	if err != nil {
		t.Fatal(err)
	}
	past, err := report.ReadPast(earlier)
	if err != nil {
		t.Fatal(err)
	}
	run.Past = []report.Past{past}
	got := shown(t, run, `
		const rows = () => document.querySelectorAll("details.test").length;
		const next = [...document.querySelectorAll("details.test")].find((d) => d.querySelector(".name").firstChild.data === "next");
		const out = {
			all: rows(), open: next.open, sentence: next.querySelector(".failure p").textContent,
			sides: [...next.querySelectorAll("dd")].map((e) => e.textContent).join("|"),
			line: next.querySelector(".hit .n").textContent, outline: next.querySelector("rect").getAttribute("x"),
			titles: [...next.querySelectorAll("h3")].map((e) => e.textContent).join("|"),
			history: next.querySelector(".history").getAttribute("aria-label"),
			foreign: document.querySelectorAll("img[onerror], #list script").length,
		};
		document.querySelector("button[data-outcome=failed]").click();
		out.failed = rows();
		out.pressed = document.querySelector("button[aria-pressed=true]").dataset.outcome;
		const search = document.querySelector("#search");
		search.value = "ACTIONS.json more";
		search.dispatchEvent(new Event("input"));
		out.found = rows();
		out.said = document.querySelector("#count").textContent;
		search.value = "nothing like it";
		search.dispatchEvent(new Event("input"));
		out.empty = document.querySelector("#list").textContent;
		search.value = "";
		document.querySelector("button[data-outcome=drifted]").click();
		search.dispatchEvent(new Event("input"));
		const drifted = document.querySelector("details.test");
		drifted.open = true;
		out.drifted = rows();
		return out;`)
	compare(t, got, map[string]string{
		"all":      "12",
		"open":     "true",
		"sentence": `#next: text is "More", expected "Next"`,
		"sides":    `"Next"|"More"`,
		"line":     "4",
		"outline":  "56",
		"titles":   "Picture|Text of the page|Console|Network",
		"history":  "Last 2 runs, the newest last: failed, failed",
		"foreign":  "0",
		"failed":   "2",
		"pressed":  "failed",
		"found":    "1",
		"said":     "1 of 12 tests",
		"empty":    "No test matches.",
		"drifted":  "1",
	})
}

// TestPageDrawsWhatIsSeen: of 2,000 tests only the first are drawn, the one that failed
// before all others, and the search finds those that are not.
func TestPageDrawsWhatIsSeen(t *testing.T) {
	run := report.Run{Title: "nightly", OK: true}
	for i := range 20 {
		s := report.Suite{Name: fmt.Sprint("suite ", i)}
		for k := range 100 {
			s.Tests = append(s.Tests, report.Test{
				Name:       fmt.Sprintf("test %d-%d", i, k),
				Class:      "plan",
				Outcome:    report.Passed,
				DurationMS: int64(k),
			})
		}
		run.Suites = append(run.Suites, s)
	}
	run.OK, run.Suites[17].Tests[70].Outcome = false, report.Failed
	got := shown(t, run, `
		const rows = () => document.querySelectorAll("details.test").length;
		const out = { some: rows() > 0 && rows() < 1000 };
		const first = () => document.querySelector("details.test .name").textContent;
		const sort = document.querySelector("#sort");
		out.first = first();
		sort.value = "order";
		sort.dispatchEvent(new Event("change"));
		out.asRun = first();
		const search = document.querySelector("#search");
		search.value = "test 19-99";
		search.dispatchEvent(new Event("input"));
		out.found = document.querySelector("details.test .name").textContent;
		search.value = "";
		search.dispatchEvent(new Event("input"));
		dispatchEvent(new Event("beforeprint"));
		out.printed = rows();
		return out;`)
	compare(t, got, map[string]string{
		"first":   "test 17-70",
		"asRun":   "test 0-0",
		"some":    "true",
		"found":   "test 19-99",
		"printed": "2000",
	})
}

// TestRepairIsADifference: the selector that stands once in the map is replaced.
func TestRepairIsADifference(t *testing.T) {
	var diff string
	sample(t).Each(func(_ []string, x *report.Test) {
		if x.Name == "send" {
			diff = x.Repairs[0].Body
		}
	})
	const removed = `-    {"id": "send", "target": {"selector": "#send", ` +
		`"fallback_selectors": ["button[type=submit]"]}}` + "\n"
	const added = `+    {"id": "send", "target": {"selector": "button[type=submit]", ` +
		`"fallback_selectors": ["button[type=submit]"]}}` + "\n"
	want := removed + added
	if len(diff) == 0 || !strings.Contains(diff, want) || !strings.Contains(diff, "@@ -2,6 +2,6 @@\n") {
		t.Errorf("difference:\n%s", diff)
	}
}
