package replay_test

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
	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

const list = `<!doctype html><title>List</title><h1>Groceries</h1><input name="q" aria-label="Item">` +
	`<button>Add</button><ul></ul><script src="/a.js"></script>`

const script = `document.title += ' ' + document.cookie;
document.querySelector('button').onclick = async () => {
  const answer = await (await fetch('/price', {method: 'POST', body: document.querySelector('input').value})).text();
  const li = document.createElement('li');
  li.textContent = document.querySelector('input').value + ' ' + answer + ' ' + (Math.random() < 2 ? '' : 'never');
  document.querySelector('ul').append(li);
};`

func site(t *testing.T, page string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	text := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add(
			"Set-Cookie", "theme=dark; Path=/; Expires="+time.Now().Add(time.Hour).UTC().Format(http.TimeFormat),
		)
		w.Header().Add("Set-Cookie", "sid=c4nary; HttpOnly")
		text("text/html", page)(w, r)
	})
	mux.HandleFunc("GET /a.js", text("text/javascript", script))
	prices := 0
	mux.HandleFunc("POST /price", func(w http.ResponseWriter, r *http.Request) {
		prices++
		_, _ = io.WriteString(w, strings.Repeat("$", prices))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

var calls = []runtime.Call{
	{Name: "text.insert", Arguments: json.RawMessage(`{"target":{"selector":"input"},"text":"Milk","mode":"replace"}`)},
	{Name: "pointer.click", Arguments: json.RawMessage(`{"locator":{"role":"button","name":"Add"}}`)},
	{Name: "page.wait", Arguments: json.RawMessage(`{"conditions":[{"text":"Milk $"}]}`)},
	{Name: "pointer.click", Arguments: json.RawMessage(`{"locator":{"role":"button","name":"Add"}}`)},
	{Name: "page.wait", Arguments: json.RawMessage(`{"conditions":[{"text":"Milk $$"}]}`)},
	{Name: "page.snapshot", Arguments: json.RawMessage(`{}`)},
	{Name: "pointer.click", Arguments: json.RawMessage(`{"locator":{"selector":"#nowhere"},"timeout_ms":50}`)},
}

// recording records calls on a page and returns the file.
func recording(t *testing.T, address string, calls []runtime.Call) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.rec")
	recorder, err := capture.Open(capture.Files{Record: path}, capture.Options{Pages: true})
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Attached(t, runtime.Options{Recorder: recorder, Open: []string{address}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, c := range calls {
		h.Do(ctx, c)
	}
	if err := h.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	return path
}

// launched are options whose hosts launch a browser each.
func launched(t *testing.T) replay.Options {
	t.Helper()
	return opening(t, func(*browser.Options) {})
}

// options open hosts over the browser of all tests, each in a browser context of its own.
func options(t *testing.T) replay.Options {
	t.Helper()
	return opening(t, func(o *browser.Options) { browsertest.Attach(t, o) })
}

func opening(t *testing.T, where func(*browser.Options)) replay.Options {
	t.Helper()
	browsertest.Require(t)
	return replay.Options{CallTimeout: 30 * time.Second, Secrets: &mask.Set{}, Open: func(
		ctx context.Context, change func(*runtime.Options) error,
	) (*runtime.Host, func(), error) {
		engine, err := expr.New("", nil)
		if err != nil {
			return nil, nil, err
		}
		o := runtime.Options{Registry: catalog.Standard(), Engine: engine, NewID: runtimetest.NewID, Version: "test"}
		if err := change(&o); err != nil {
			return nil, nil, err
		}
		where(&o.Browser)
		h, err := runtime.Open(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return h, func() {
			_ = h.Close(context.WithoutCancel(ctx))
			_ = engine.Close()
		}, nil
	}}
}

func play(t *testing.T, path string, change func(*replay.Options)) *replay.Report {
	t.Helper()
	l, err := replay.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := options(t)
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := replay.Play(ctx, l, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *replay.Report) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestARecordingIsReplayedOfflineTheSameEachTime(t *testing.T) {
	t.Parallel()
	server := site(t, list)
	path := recording(t, server.URL+"/", calls)
	server.Close()
	first := ""
	for n := range 3 {
		r := play(t, path, func(o *replay.Options) {
			o.Offline = true
			if n == 0 { // which has no network at all
				o.Open = launched(t).Open
			}
		})
		got := text(t, r)
		if r.Verdict != replay.Reproduced || len(r.Calls) != len(calls) {
			t.Fatalf("replay %d: %s", n+1, got)
		}
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("replay %d is another report: %s\nfirst: %s", n+1, got, first)
		}
	}
}

func TestOneChangedByteIsFoundAtItsCall(t *testing.T) {
	t.Parallel()
	server := site(t, list)
	path := recording(t, server.URL+"/", calls)
	server.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The page in the recording, not the snapshots of it.
	changed := bytes.ReplaceAll(raw, []byte("<h1>Groceries</h1>"), []byte("<h1>Grocerier</h1>"))
	if bytes.Equal(raw, changed) {
		t.Fatal("the recording does not have the page")
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	r := play(t, path, func(o *replay.Options) { o.Offline = true })
	if r.Verdict != replay.Differs || r.First != 6 || r.Calls[5].Name != "page.snapshot" {
		t.Fatalf("expected a difference at call 6: %s", text(t, r))
	}
	if page := r.Calls[5].Page; page != nil && len(page.OnlyIs) == 0 {
		t.Errorf("the evidence of the page: %+v", page)
	}
}

func TestAnotherSiteIsReplayedLive(t *testing.T) {
	t.Parallel()
	server := site(t, list)
	path := recording(t, server.URL+"/", calls)
	server.Close()
	again := site(t, list)
	if r := play(t, path, func(o *replay.Options) { o.URL = again.URL + "/" }); r.Verdict != replay.Reproduced {
		t.Errorf("the same pages elsewhere: %s", text(t, r))
	}
	renamed := site(t, strings.Replace(list, "<button>Add", "<button>Put", 1))
	r := play(t, path, func(o *replay.Options) { o.URL = renamed.URL + "/" })
	if r.Verdict != replay.Differs || r.First != 2 || r.Calls[1].Is.Code != "target_not_found" {
		t.Errorf("a renamed button: %s", text(t, r))
	}
}

func TestAPasswordIsAskedForAndNeverTypedAsItsPlaceholder(t *testing.T) {
	t.Parallel()
	page := `<!doctype html><input type="password" name="pin">` +
		`<button onclick="p.textContent=document.querySelector('input').value.length">Send</button><p id="p"></p>`
	server := site(t, page)
	path := recording(t, server.URL+"/", []runtime.Call{
		{Name: "text.insert", Arguments: json.RawMessage(`{"target":{"selector":"input"},"text":"correct horse"}`)},
		{Name: "pointer.click", Arguments: json.RawMessage(`{"locator":{"role":"button"}}`)},
		{Name: "locator.text_content", Arguments: json.RawMessage(`{"locator":{"selector":"#p"}}`)},
	})
	r := play(t, path, func(o *replay.Options) { o.Offline = true })
	if r.Verdict != replay.Cannot || len(r.Missing) != 1 || len(r.Calls) != 0 {
		t.Fatalf("expected the password to be missing: %s", text(t, r))
	}
	if lost := r.Missing[0]; lost.Pointer != "/text" || lost.Secret != "pin" || lost.Event != "c1" {
		t.Fatalf("expected the password to be missing: %s", text(t, r))
	}
	l, err := replay.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := options(t)
	o.Offline = true
	if err := l.Fill(replay.Fill{Secrets: map[string]string{"pin": "correct horse"}}, o.Secrets); err != nil {
		t.Fatal(err)
	}
	r, err = replay.Play(t.Context(), l, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != replay.Reproduced || len(r.Calls) != 3 {
		t.Errorf("with the password: %s", text(t, r))
	}
}
