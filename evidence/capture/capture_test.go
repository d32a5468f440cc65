package capture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

const form = `<!doctype html><title>Sign in</title><link rel="stylesheet" href="/a.css">
<form action="/in" method="post">
<label>Name <input name="user"></label>
<label>Password <input name="pass" type="password"></label>
<button type="button" onclick="pass.type='text'">Show</button>
<button type="button" onclick="echo.textContent=pass.value; console.log('typed', pass.value)">Echo</button>
<button>Sign in</button><p id="echo"></p></form>`

func site(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, form)
	})
	mux.HandleFunc("GET /a.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = io.WriteString(w, "button{color:rgb(1,2,3)}")
	})
	mux.HandleFunc("POST /in", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(
			w, "<!doctype html><title>Welcome</title><p>Hello "+r.FormValue("user")+", "+r.FormValue("pass"),
		)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/"
}

func do(t *testing.T, h *runtime.Host, name, args string) runtime.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := h.Do(ctx, runtime.Call{ID: name, Name: name, Arguments: json.RawMessage(args)})
	if r.Err != nil {
		t.Fatalf("%s: %v", name, r.Err)
	}
	return r
}

// recorded runs f on a page and returns the recording.
func recorded(t *testing.T, opts capture.Options, address string, f func(h *runtime.Host)) (*record.Recording, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.rec")
	file, err := record.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	opts.Header.Program = "test"
	opts.Sinks = append(opts.Sinks, file)
	opts.OnClose = file.Close
	r := capture.New(opts)
	h := runtimetest.Open(t, runtime.Options{Recorder: r, Open: []string{address}})
	f(h)
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	out, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return out, path
}

func kinds(r *record.Recording) map[record.Kind]int {
	out := map[record.Kind]int{}
	for _, e := range r.Events {
		out[e.Kind]++
	}
	return out
}

func TestARunIsRecorded(t *testing.T) {
	address := site(t)
	r, _ := recorded(t, capture.Options{Pages: true, Pictures: true}, address, func(h *runtime.Host) {
		do(t, h, "text.insert", `{"target":{"selector":"[name=user]"},"text":"Ada"}`)
		do(t, h, "pointer.click", `{"locator":{"role":"button","name":"Sign in"}}`)
		do(t, h, "page.wait", `{"conditions":[{"text":"Hello Ada"}]}`)
	})
	if r.Cut {
		t.Error("the recording has no end")
	}
	n := kinds(r)
	for _, k := range []record.Kind{
		record.KindHost, record.KindTab, record.KindSnapshot, record.KindRequest, record.KindPicture,
	} {
		if n[k] == 0 {
			t.Errorf("there is no event of kind %s: %v", k, n)
		}
	}
	calls := record.Calls(r.Events)
	if len(calls) != 3 {
		t.Fatalf("%d calls: expected 3", len(calls))
	}
	insert := calls[0].Steps[0]
	if insert.Target == nil || insert.Target.Element == nil || insert.Target.Element.Attributes["name"] != "user" ||
		len(insert.Target.Candidates) == 0 {
		t.Errorf("the target of the first step: %+v", insert.Target)
	}
	if len(insert.Snapshots) != 2 || insert.Snapshots[0].Phase != "before" || insert.Snapshots[1].Phase != "after" {
		t.Fatalf("snapshots of the first step: %+v", insert.Snapshots)
	}
	before, _ := r.Data(insert.Snapshots[0].Resource)
	after, _ := r.Data(insert.Snapshots[1].Resource)
	if bytes.Contains(before, []byte(`"__playwright_value_":"Ada"`)) ||
		!bytes.Contains(after, []byte(`"__playwright_value_":"Ada"`)) {
		t.Errorf("before: %s\nafter: %s", before, after)
	}
	if at := node(t, before, insert.Target.Path); at[0] != "INPUT" || at[1].(map[string]any)["name"] != "user" {
		t.Errorf("the path leads to %v", at)
	}
	posted, css := false, false
	for _, e := range r.Events {
		if e.Kind != record.KindRequest {
			continue
		}
		q, _ := record.Of[record.Request](e)
		body, _ := r.Data(q.Body)
		posted = posted || q.Method == "POST" && q.RequestBody != "" && strings.Contains(string(body), "Hello Ada")
		css = css || strings.HasSuffix(q.URL, "/a.css") && string(body) == "button{color:rgb(1,2,3)}"
	}
	if !posted || !css {
		t.Errorf("posted %v, stylesheet %v: expected both with their bodies", posted, css)
	}
}

// node follows a path in a snapshot.
func node(t *testing.T, snapshot []byte, path []int) []any {
	t.Helper()
	var at any
	if err := json.Unmarshal(snapshot, &at); err != nil {
		t.Fatal(err)
	}
	for _, i := range path {
		at = at.([]any)[i+2]
	}
	return at.([]any)
}

// A page that blocks its renderer and is left at once: what it got is in the recording, and which cookies it
// was to keep, also those of a redirect.
func TestBodiesAndCookiesOfAPageThatIsLeft(t *testing.T) {
	mux := http.NewServeMux()
	page := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Add("Set-Cookie", "theme=dark; Path=/")
			w.Header().Add("Set-Cookie", "lang=0123456789abcdef0; Path=/")
			_, _ = io.WriteString(w, text)
		}
	}
	mux.HandleFunc("GET /in", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "sid=c4nary; HttpOnly; Path=/")
		http.Redirect(w, r, "/busy", http.StatusFound)
	})
	mux.HandleFunc("GET /busy", page(`<!doctype html><title>Busy</title><script>
fetch('/data', {method: 'POST', body: 'sent'}).then((r) => r.text()).then(() => { navigator.sendBeacon('/got'); const end = Date.now() + 900; while (Date.now() < end); });</script>`))
	mux.HandleFunc("POST /data", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "received") })
	mux.HandleFunc("GET /next", page("<!doctype html><title>Next</title>"))
	got := make(chan struct{})
	mux.HandleFunc("POST /got", func(http.ResponseWriter, *http.Request) { close(got) })
	server := httptest.NewServer(mux)
	defer server.Close()
	r, path := recorded(t, capture.Options{Pages: true}, "about:blank", func(h *runtime.Host) {
		do(t, h, "browser.navigate", `{"url":"`+server.URL+`/in"}`)
		<-got // a page that is left before gets no answer
		do(t, h, "browser.navigate", `{"url":"`+server.URL+`/next"}`)
	})
	sent := ""
	received := ""
	cookies := map[string]string{}
	for _, e := range r.Events {
		if e.Kind != record.KindRequest {
			continue
		}
		q, _ := record.Of[record.Request](e)
		if strings.HasSuffix(q.URL, "/data") {
			a, _ := r.Data(q.RequestBody)
			b, _ := r.Data(q.Body)
			sent, received = string(a), string(b)
		}
		var headers map[string]string
		_ = json.Unmarshal(q.ResponseHeaders, &headers)
		cookies[q.URL[len(server.URL):]] = headers["Set-Cookie"]
	}
	if sent != "sent" || received != "received" {
		t.Errorf("the request of the busy page has %q and %q: expected both bodies", sent, received)
	}
	const plain = "theme=dark; Path=/\nlang=" + record.CookieValue + "; Path=/"
	if cookies["/in"] != "sid="+record.CookieValue+"; HttpOnly; Path=/" || cookies["/busy"] != plain ||
		cookies["/next"] != plain {
		t.Errorf("cookies: %q", cookies)
	}
	if raw, err := os.ReadFile(path); err != nil || bytes.Contains(raw, []byte("c4nary")) {
		t.Errorf("the value of a session is in the recording: %v", err)
	}
}

func TestWhatASecretFieldHoldsIsNowhere(t *testing.T) {
	const canary, declared = "tr0ub4dor-canary", "declared-canary-77"
	secrets := &mask.Set{}
	if err := secrets.Add("account", declared); err != nil {
		t.Fatal(err)
	}
	address := site(t)
	r, path := recorded(t, capture.Options{Pages: true, Pictures: true, Secrets: secrets}, address, func(
		h *runtime.Host,
	) {
		do(t, h, "text.insert", `{"target":{"selector":"[name=user]"},"text":"`+declared+`"}`)
		do(t, h, "text.insert", `{"target":{"selector":"[name=pass]"},"text":"`+canary+`"}`)
		do(t, h, "pointer.click", `{"locator":{"role":"button","name":"Show"}}`)
		do(t, h, "pointer.click", `{"locator":{"role":"button","name":"Echo"}}`)
		do(t, h, "page.snapshot", `{}`)
		do(t, h, "pointer.click", `{"locator":{"role":"button","name":"Sign in"}}`)
		do(t, h, "page.wait", `{"conditions":[{"text":"Hello"}]}`)
		do(t, h, "page.extract", `{}`)
	})
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{canary, declared} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%s is in the recording", secret)
		}
	}
	painted, masked := 0, false
	for _, e := range r.Events {
		var names []string
		switch e.Kind {
		case record.KindSnapshot:
			s, _ := record.Of[record.Snapshot](e)
			names = append(names, s.Resource)
		case record.KindRequest:
			q, _ := record.Of[record.Request](e)
			names = append(names, q.Body, q.RequestBody)
		case record.KindPicture:
			p, _ := record.Of[record.Picture](e)
			painted += p.Painted
		case record.KindStepBegin:
			masked = masked || strings.Contains(string(e.Data), `"{{secret:pass}}"`)
		}
		for _, n := range names {
			data, err := r.Data(n)
			if n != "" && err != nil {
				t.Error(err)
			}
			if bytes.Contains(data, []byte(canary)) || bytes.Contains(data, []byte(declared)) {
				t.Errorf("event %d (%s) shows a secret: %s", e.Seq, e.Kind, data)
			}
		}
	}
	if !masked {
		t.Error("no step has the placeholder of the password")
	}
	if painted == 0 {
		t.Error("no picture was painted over")
	}
}
