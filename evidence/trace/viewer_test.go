package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// viewerVersion is the version of playwright-core whose viewer reads the traces of the test.
const viewerVersion = "1.65.1"

// viewer is the folder of Playwright's trace viewer, from npm.
func viewer(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed, and the viewer comes from it")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	root := filepath.Join(cache, "outrider-test", "playwright-core-"+viewerVersion)
	dir := filepath.Join(root, "node_modules", "playwright-core", "lib", "vite", "traceViewer")
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err == nil {
		return dir
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		ctx, npm, "install", "--no-audit", "--no-fund", "--prefix", root, "playwright-core@"+viewerVersion,
	)
	cmd.Env = append(os.Environ(), "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm does not bring playwright-core %s: %v\n%s", viewerVersion, err, out)
	}
	return dir
}

const shop = `<!doctype html><title>Shop</title><link rel="stylesheet" href="/a.css">
<h1>Shop</h1><input name="q" aria-label="Search"><button onclick="add()">Add</button><ul></ul>
<iframe src="/frame" width="200" height="60"></iframe>
<script>function add(){const li=document.createElement('li');li.textContent=document.querySelector('[name=q]').value;document.querySelector('ul').append(li);console.warn('added '+li.textContent)}</script>`

const shopMap = `{"protocol":"actions.json","version":1,"surface":{"name":"Shop"},"tools":[{"name":"shop.add","description":"Adds.",
"input_schema":{"type":"object","properties":{"item":{"type":"string"}}},
"workflow":{"version":1,"expression_language":"jsonata","steps":[
 {"id":"write","primitive":"text.insert","args":{"target":{"selector":"[name=q]"},"text":"{% input.item %}","mode":"replace"}},
 {"id":"send","primitive":"pointer.click","args":{"locator":{"role":"button","name":"Add"}}}]}}]}`

func serve(t *testing.T, routes map[string]string) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, text := range routes {
		kind := "text/html"
		if strings.HasSuffix(path, ".css") {
			kind = "text/css"
		}
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		})
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// run records 25 steps: direct primitives, and a site action with two steps each time.
func run(t *testing.T) string {
	t.Helper()
	base := serve(t, map[string]string{
		"/{$}":   shop,
		"/a.css": "h1{color:rgb(10,20,30)}",
		"/frame": "<!doctype html><p>inner words</p>",
	})
	dir := t.TempDir()
	zip := filepath.Join(dir, "run.zip")
	recorder, err := capture.Open(
		capture.Files{Trace: zip, Export: exportFile}, capture.Options{Pages: true, Pictures: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Open(t, runtime.Options{Recorder: recorder, Open: []string{base + "/"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	supplied := &runtime.SuppliedMap{Path: "shared/sites/127.0.0.1/actions.json", JSON: json.RawMessage(shopMap)}
	for i := range 12 {
		if r := h.Do(ctx, runtime.Call{
			Name:      "shop.add",
			Map:       supplied,
			Arguments: json.RawMessage(fmt.Sprintf(`{"item":"thing %d"}`, i)),
		}); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if r := h.Do(ctx, runtime.Call{
		Name:      "pointer.click",
		Arguments: json.RawMessage(`{"locator":{"selector":"#nowhere"},"timeout_ms":100}`),
	}); r.Err == nil {
		t.Fatal("a click on nothing succeeded")
	}
	if err := h.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	return zip
}

// Playwright's own viewer shows the recording of a run.
func TestPlaywrightsViewerShowsARun(t *testing.T) {
	dir := viewer(t)
	zip := run(t)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/t/run.zip", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, zip) })
	s := httptest.NewServer(mux)
	defer s.Close()
	h := runtimetest.Open(t, runtime.Options{Open: []string{s.URL + "/index.html?trace=/t/run.zip"}})
	evaluate := func(body string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		args, _ := json.Marshal(map[string]any{"body": "return (async () => {" + body + "})()", "timeout_ms": 60000})
		r := h.Do(ctx, runtime.Call{Name: "page.evaluate", Arguments: args, Timeout: 90 * time.Second})
		if r.Err != nil {
			t.Fatalf("%v %v\n%s", r.Err, r.Err.Evidence, body)
		}
		var out struct {
			Value struct{ Value json.RawMessage }
		}
		if err := json.Unmarshal(r.Output, &out); err != nil {
			t.Fatal(err)
		}
		var text string
		if json.Unmarshal(out.Value.Value, &text) == nil {
			return text
		}
		return string(out.Value.Value)
	}
	const until = `const until = async (what, f) => { for (let i = 0; i < 100; i++) { const v = f(); if (v) return v; await new Promise(r => setTimeout(r, 100)); } throw new Error('not seen: ' + what + ' in ' + document.body.innerText.slice(0, 300)); };
`
	rows := evaluate(until + `await until('rows', () => document.querySelectorAll('.action-title-method').length >= 13);
for (let n = 0; n < 60; n++) {
  const closed = [...document.querySelectorAll('[data-testid=actions-tree] .codicon-chevron-right')];
  if (closed.length === 0) break;
  closed[0].click();
  await new Promise(r => setTimeout(r, 50));
}
return [...document.querySelectorAll('.action-title-method')].map(e => e.getAttribute('title') || e.textContent).join('|');`)
	for _, title := range []string{
		"shop.add", "shop.add › step write", "shop.add › step send", "text.insert", "pointer.click",
	} {
		if !strings.Contains(rows, title) {
			t.Errorf("no row has the title %s", title)
		}
	}
	if n := strings.Count(rows, "shop.add › step"); n != 24 {
		t.Errorf("%d rows of steps: expected 24 in %s", n, rows)
	}
	tabs := evaluate(`return [...document.querySelectorAll('.tabbed-pane-tab')].map(e => e.textContent).join('|');`)
	for _, tab := range []string{"Errors1", "Console", "Network"} {
		if !strings.Contains(tabs, tab) {
			t.Errorf("the tabs are %s: expected %s", tabs, tab)
		}
	}
	if film := evaluate(
		until + `return String((await until('film', () => document.querySelectorAll('.film-strip-frame').length)))`,
	); film == "0" {
		t.Error("the film strip has no picture")
	}
	shown := evaluate(until + `
const rows = [...document.querySelectorAll('[data-testid=actions-tree] [role=treeitem]')];
const click = rows.filter(r => (r.querySelector('.action-title-method') || {}).textContent.startsWith('pointer.click'))[0];
(click.querySelector('.action-title-method')).click();
const out = {};
const shows = { Before: /before/, Action: /action|input/, After: /after/ };
for (const name of ['Before', 'Action', 'After']) {
  const tab = await until('tab ' + name, () => [...document.querySelectorAll('.snapshot-tab [role=tab]')].find(e => e.textContent.trim() === name));
  tab.click();
  const text = await until('snapshot ' + name, () => {
    const frame = document.querySelector('iframe.snapshot-visible[name=snapshot]');
    const doc = frame && frame.contentDocument;
    if (!doc || !doc.body || !doc.querySelector('h1')) return null;
    if (!shows[name].test(new URL(frame.contentWindow.location.href).search)) return null;
    const inner = doc.querySelector('iframe');
    return { items: doc.querySelectorAll('li').length, value: doc.querySelector('input').value, color: doc.defaultView.getComputedStyle(doc.querySelector('h1')).color,
      target: doc.defaultView.getComputedStyle(doc.querySelector('button')).outlineStyle, inner: inner && inner.contentDocument && inner.contentDocument.body ? inner.contentDocument.body.innerText : '' };
  });
  out[name] = text;
}
return out;`)
	var v struct {
		Before, Action, After struct {
			Items                       int
			Value, Color, Target, Inner string
		}
	}
	if err := json.Unmarshal([]byte(shown), &v); err != nil {
		t.Fatal(err)
	}
	if v.Before.Items != 0 || v.After.Items != 1 || v.Before.Value != "thing 0" {
		t.Errorf("before %+v, after %+v: expected no item before and one after", v.Before, v.After)
	}
	if v.Before.Color != "rgb(10, 20, 30)" {
		t.Errorf("the stylesheet of the page does not apply: %s", v.Before.Color)
	}
	if v.Before.Target != "solid" && v.Action.Target != "solid" {
		t.Errorf("the target is not marked: before %q, action %q", v.Before.Target, v.Action.Target)
	}
	if !strings.Contains(v.Before.Inner, "inner words") {
		t.Errorf("the frame shows %q", v.Before.Inner)
	}
}
