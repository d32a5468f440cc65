package report_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// TestPageHasNoFindingsOfAxe runs axe-core over the page, light and dark, with every test
// of it open. make axe fetches axe-core from npm; without it the test is skipped.
func TestPageHasNoFindingsOfAxe(t *testing.T) {
	path := os.Getenv("OUTRIDER_AXE")
	if path == "" {
		t.Skip("OUTRIDER_AXE does not name axe.min.js of the npm package axe-core: see make axe")
	}
	browsertest.Require(t)
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, err := report.HTML(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	// The policy of the page lets no other script in, so for axe it is taken out.
	page = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAll(page, nil)
	page = []byte(strings.Replace(string(page), "</body>", `<script src="/axe.js"></script><script>
		for (const d of document.querySelectorAll("details.test")) d.open = true;
		setTimeout(async () => {
			const r = await axe.run(document, { resultTypes: ["violations"] });
			const found = r.violations.map((v) => v.id + ": " + v.help + " " + v.nodes.map((n) => n.html.slice(0, 200)).join(" | "));
			document.documentElement.dataset.axe = JSON.stringify({ rules: r.passes.length, found });
		}, 100);
	</script></body>`, 1))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/axe.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(axe)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	}))
	t.Cleanup(site.Close)
	ctx := browsertest.Within(t, 2*time.Minute)
	s, err := outrider.Open(ctx, outrider.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, scheme := range []string{"light", "dark"} {
		tab, err := s.NewTab(ctx, "about:blank")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tab.Call(ctx, "emulate.media", map[string]any{"color_scheme": scheme}); err != nil {
			t.Fatal(err)
		}
		if _, err := tab.Call(ctx, "browser.navigate", map[string]any{"url": site.URL}); err != nil {
			t.Fatal(err)
		}
		if _, err := tab.Call(ctx, "locator.wait_for", map[string]any{
			"locator":    map[string]any{"selector": "html[data-axe]"},
			"state":      "attached",
			"timeout_ms": 60000,
		}); err != nil {
			t.Fatal(err)
		}
		r, err := client.PageEvaluate(ctx, tab, client.PageEvaluateArgs{
			Body: `return JSON.parse(document.documentElement.dataset.axe);`,
		})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		var said struct {
			Rules int
			Found []string
		}
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Fatal(err)
		}
		if said.Rules < 20 {
			t.Errorf("%s: only %d rules were passed: axe has not seen the page", scheme, said.Rules)
		}
		for _, f := range said.Found {
			t.Errorf("%s: %s", scheme, f)
		}
	}
}
