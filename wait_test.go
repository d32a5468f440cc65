package outrider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
)

func TestWaitsForWhatAnActSetsOff(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			fmt.Fprint(w, "a,b\n1,2\n")
		case "/data":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Kind", "data")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"n": 1}`)
		case "/next":
			fmt.Fprint(w, "<title>Next</title><h1>Next</h1>")
		default:
			fmt.Fprint(w, `<title>First</title><a href="/file">Save</a><a href="/next" target=_blank>Popup</a>
<a href="/next">Next</a><a href="#there">Within</a><button onclick="fetch('/data?q=1')">Load</button>
<button onclick="this.title = String(confirm('Sure?'))">Ask</button>
<button onclick="console.warn('Low', 3)">Log</button>`)
		}
	}))
	defer site.Close()
	s, err := outrider.Open(t.Context(), outrider.Options{
		Open: []string{site.URL}, Browser: outrider.BrowserOptions{DownloadDir: t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tab := s.Tab()
	click := func(role, name string) func() error {
		return func() error { return tab.ByRole(role, name).Click(ctx) }
	}

	for range 2 { // the second is not the first one again
		d, err := tab.WaitDownload(ctx, click("link", "Save"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(f)
		f.Close()
		if !strings.HasPrefix(d.Name, "report") || string(data) != "a,b\n1,2\n" || d.Size != 8 {
			t.Errorf("download: %+v, %q", d, data)
		}
	}

	r, err := tab.WaitResponse(ctx, "**/data?q=*", click("button", "Load"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	if r.Status != 202 || r.Method != "GET" || r.Header.Get("X-Kind") != "data" || string(body) != `{"n": 1}` {
		t.Errorf("response: %+v, %s", r, body)
	}

	line, err := tab.WaitConsole(ctx, click("button", "Log"))
	if err != nil || line.Level != "warning" || line.Text != "Low 3" {
		t.Errorf("console: %+v, %v", line, err)
	}

	d, err := tab.WaitDialog(ctx, click("button", "Ask"))
	if err != nil || d.Type != "confirm" || d.Message != "Sure?" {
		t.Fatalf("dialog: %+v, %v", d, err)
	}
	if err := d.Accept(ctx, ""); err != nil {
		t.Error(err)
	}
	if title, _, err := tab.ByRole("button", "Ask").Attribute(ctx, "title"); err != nil || title != "true" {
		t.Errorf("after the dialog: %q, %v", title, err)
	}

	popup, err := tab.WaitPopup(ctx, click("link", "Popup"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := popup.ByRole("heading", "").Text(ctx); err != nil || text != "Next" {
		t.Errorf("popup: %q, %v", text, err)
	}

	if err := tab.WaitNavigation(ctx, click("link", "Within")); err != nil || !strings.HasSuffix(tab.URL(), "#there") {
		t.Errorf("within the document: %s, %v", tab.URL(), err)
	}
	if err := tab.WaitNavigation(ctx, click("link", "Next")); err != nil || !strings.HasSuffix(tab.URL(), "/next") {
		t.Errorf("navigation: %s, %v", tab.URL(), err)
	}

	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = tab.WaitPopup(short, func() error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, outrider.Code("timeout")) {
		t.Errorf("a popup that does not come: %v", err)
	}
	failed := errors.New("no")
	if _, err := tab.WaitResponse(ctx, "", func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("an act that fails: %v", err)
	}
}

// A session of the protocol is nobody else's: what it turns off is on for the library.
func TestCDPSessionsAreSeparate(t *testing.T) {
	tab := locatorTab(t, `<button onclick="document.title = 'Clicked'">Go</button>`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var version struct{ Product string }
	if err := tab.CDP(ctx, "Browser.getVersion", nil, &version); err != nil || version.Product == "" {
		t.Errorf("%+v, %v", version, err)
	}
	var e *outrider.Error
	if err := tab.CDP(ctx, "Page.noSuchCommand", nil, nil); !errors.As(err, &e) || e.Code != "invalid_arguments" {
		t.Errorf("an unknown command: %v", err)
	}
	s, err := tab.OpenCDP(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Call(ctx, "Page.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	events := s.Events(ctx, "Page.frameNavigated")
	if err := tab.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if e.Method != "Page.frameNavigated" || !strings.Contains(string(e.Params), "127.0.0.1") {
			t.Errorf("%+v", e)
		}
		break
	}
	for _, domain := range []string{"Page", "Network", "Runtime"} {
		if err := s.Call(ctx, domain+".disable", nil, nil); err != nil {
			t.Error(err)
		}
	}
	s.Close()
	s.Close()
	if err := s.Call(ctx, "Page.enable", nil, nil); err == nil {
		t.Error("a closed session answers")
	}
	if err := tab.ByRole("button", "Go").Click(ctx); err != nil {
		t.Error(err)
	}
	if title, err := outrider.Evaluate[string](ctx, tab, "document.title"); err != nil || title != "Clicked" {
		t.Errorf("%q, %v", title, err)
	}
}

// What a session attaches to is a part of it: events come with the id of their session, and commands go there.
func TestCDPSessionsAttachToMore(t *testing.T) {
	tab := locatorTab(t, `<script>work = () => new Worker(URL.createObjectURL(new Blob(['']))) && 1</script>`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := tab.OpenCDP(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	attach := map[string]bool{"autoAttach": true, "flatten": true, "waitForDebuggerOnStart": false}
	if err := s.Call(ctx, "Target.setAutoAttach", attach, nil); err != nil {
		t.Fatal(err)
	}
	events := s.Events(ctx, "Target.attachedToTarget", "Runtime.consoleAPICalled")
	if _, err := outrider.Evaluate[int](ctx, tab, "work"); err != nil {
		t.Fatal(err)
	}
	var in struct{ SessionID string }
	for e := range events {
		if e.Method == "Runtime.consoleAPICalled" {
			if e.SessionID != in.SessionID {
				t.Errorf("the event is of %q, not of %q", e.SessionID, in.SessionID)
			}
			break
		}
		if err := json.Unmarshal(e.Params, &in); err != nil || e.SessionID != "" {
			t.Fatalf("%+v, %v", e, err)
		}
		for _, call := range []string{"Runtime.enable", "Runtime.evaluate"} {
			log := map[string]string{"expression": "console.log(1)"}
			if err := s.CallIn(ctx, in.SessionID, call, log, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.CallIn(ctx, "none", "Runtime.enable", nil, nil); !errors.Is(err, outrider.Code("tab_closed")) {
		t.Errorf("a session that is not there: %v", err)
	}
	whole, err := tab.Session().OpenCDP(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	var targets struct{ TargetInfos []struct{ Type string } }
	if err := whole.Call(ctx, "Target.getTargets", nil, &targets); err != nil || len(targets.TargetInfos) == 0 {
		t.Errorf("the browser's targets: %+v, %v", targets, err)
	}
}

func TestRoutesAreAnsweredByHandlers(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>Real</title>real "+r.URL.Path)
	}))
	defer site.Close()
	s, err := outrider.Open(t.Context(), outrider.Options{Open: []string{site.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tab := s.Tab()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Kind", r.Header.Get("X-Want"))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s!", body)
	})
	stop, err := tab.Route(ctx, "*/api/*", func(w outrider.RouteWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/real":
			w.Continue()
		case "/api/none":
			w.Abort()
		case "/api/panic":
			panic("handler")
		default:
			mux.ServeHTTP(w, r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) string {
		text, err := outrider.Evaluate[string](ctx, tab, `path => fetch(path, path === '/api/echo'
			? {method: 'POST', body: 'hello', headers: {'X-Want': 'k'}} : {}).then(
			async r => r.status + ' ' + r.headers.get('X-Kind') + ' ' + (await r.text()).replace(/<.*>/, ''),
			() => 'failed')`, path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for path, want := range map[string]string{
		"/api/echo": "418 k hello!", "/api/real": "200 null real /api/real", "/api/none": "failed",
		"/api/panic": "failed", "/other": "200 null real /other", "/api/unknown": "404 null 404 page not found\n",
	} {
		if got := ask(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	stop()
	stop()
	if got := ask("/api/none"); got != "200 null real /api/none" {
		t.Errorf("after stop: %q", got)
	}
}
