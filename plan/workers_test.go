package plan_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

func TestMain(m *testing.M) {
	launch.MaybeSupervise()
	os.Exit(m.Run())
}

// ownPage says whose it is by a cookie, by local storage and by a download, and what
// it met there before.
const ownPage = `<!doctype html><title>Own</title><link rel="icon" href="data:,"><p id="met"></p><a id="get" download>get</a>
<script>
const who = new URLSearchParams(location.search).get('who');
met.textContent = 'met [' + document.cookie + '] [' + (localStorage.who || '') + ']';
document.cookie = 'who=' + who;
localStorage.who = who;
document.querySelector('#get').href = '/file?who=' + who;
</script>`

// ownPlan is one case for each row: five steps, each of which would see what another
// case left.
const ownPlan = `open: ${vars.site}?who=${row.who}
data: rows.csv
vars: {site: x}
steps:
  - {expect: {target: "#met", text_equals: "met [] []"}}
  - {call: page.evaluate, args: {body: "return document.cookie + ' ' + localStorage.who"}, expect: output.value.value = 'who=' & row.who & ' ' & row.who}
  - {open: "${vars.site}?who=${row.who}", expect: {target: "#met", text_equals: "met [who=${row.who}] [${row.who}]"}}
  - {call: page.evaluate, args: {body: "document.querySelector('#get').click(); return 1"}}
  - {call: download.wait, args: {}, expect: "$contains($string(output), 'own-' & row.who)"}
`

// ownSite serves ownPage and its downloads.
func ownSite(tb testing.TB) string {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment; filename=own-"+r.URL.Query().Get("who")+".txt")
			fmt.Fprint(w, r.URL.Query().Get("who"))
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, ownPage)
	}))
	tb.Cleanup(site.Close)
	return site.URL + "/"
}

// runOwn runs so many cases of the plan on workers.
func runOwn(tb testing.TB, site string, cases, workers int) plan.RunResult {
	tb.Helper()
	dir := tb.TempDir()
	rows := "who\n"
	for i := range cases {
		rows += fmt.Sprintf("w%03d\n", i)
	}
	for name, text := range map[string]string{"own.yaml": ownPlan, "rows.csv": rows} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	engine := runtimetest.Engine(tb)
	suite, err := plan.Load(plan.Selection{
		Source: spec.Source{Engine: engine, Vars: map[string]any{"site": site}},
		Paths:  []string{filepath.Join(dir, "own.yaml")},
		Part:   schedule.Part{Index: 1, Of: 1},
	})
	if err != nil {
		tb.Fatal(err)
	}
	h := runtimetest.Open(tb, runtime.Options{Browser: browser.Options{DownloadDir: tb.TempDir()}})
	o := plan.RunOptions{Options: plan.Options{NewID: uuid.NewString, CallTimeout: 30 * time.Second}, Workers: workers}
	result := suite.Run(context.WithoutCancel(tb.Context()), plan.Isolated(h), o)
	for _, c := range result.Cases {
		var text strings.Builder
		if c.Print(&text); !c.OK {
			tb.Error(text.String())
		}
	}
	if left := len(h.Tabs()); left != 1 {
		tb.Errorf("%d tabs are left of the cases", left-1)
	}
	return result
}

// Cases that run at once see nothing of each other: cookies, storage, downloads.
func TestWorkersDoNotSeeEachOther(t *testing.T) {
	if result := runOwn(t, ownSite(t), 8, 4); result.Totals["passed"] != 8 {
		t.Errorf("the outcomes are %v", result.Totals)
	}
}
