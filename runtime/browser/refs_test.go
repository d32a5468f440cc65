package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

func refOf(t *testing.T, tab *browser.Tab, frame primitives.FrameID, selector string) string {
	t.Helper()
	var out struct{ Ref string }
	args := map[string]any{"handle": keepElement(t, tab, frame, selector)}
	if err := tab.Call(within(t, 10*time.Second), frame, "ref_of", args, &out); err != nil {
		t.Fatal(err)
	}
	return out.Ref
}

// resolve finds the element of a ref and returns its label, or the reason why
// there is none.
func resolve(t *testing.T, tab *browser.Tab, ref string) string {
	t.Helper()
	frame, err := tab.Refs().Frame(ref)
	var out struct{ Label string }
	if err == nil {
		err = tab.Call(within(t, 10*time.Second), frame, "ref_handle", map[string]any{"ref": ref}, &out)
	}
	if err != nil {
		e := fault.From(err)
		if e.Code != fault.ElementStale {
			return string(e.Code)
		}
		return fmt.Sprint("stale: ", e.Evidence["reason"])
	}
	return out.Label
}

func TestRefsAreNeverGivenTwice(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/in" {
			fmt.Fprint(w, `<button id="in">In</button>`)
			return
		}
		other := strings.Replace("http://"+r.Host, "127.0.0.1", "localhost", 1)
		fmt.Fprintf(w, `<button id="a">A</button><button id="b">B</button><iframe id="near" src="/in"></iframe>`+
			`<iframe id="far" src="%s/in"></iframe>`, other)
	}))
	defer srv.Close()
	tab := browsertest.Tab(t)
	open(t, tab, srv.URL)
	a, b := refOf(t, tab, "", "#a"), refOf(t, tab, "", "#b")
	if a != "e1" || b != "e2" || refOf(t, tab, "", "#a") != a {
		t.Errorf("got %s and %s in the first document, want e1 and e2 again and again", a, b)
	}
	frames := tab.Frames()
	if len(frames) != 3 {
		t.Fatalf("there are %d frames", len(frames))
	}
	near, far := refOf(t, tab, frames[1].ID, "#in"), refOf(t, tab, frames[2].ID, "#in")
	seen := map[string]bool{a: true, b: true, near: true, far: true}
	if len(seen) != 4 {
		t.Errorf("refs over frames are not unique: %s %s %s %s", a, b, near, far)
	}
	for ref, want := range map[string]string{
		a:      "button#a",
		b:      "button#b",
		near:   "button#in",
		far:    "button#in",
		"e3":   "stale: unknown",
		"f9e1": "stale: unknown",
		"x":    "stale: unknown",
	} {
		if got := resolve(t, tab, ref); got != want {
			t.Errorf("ref %s: got %q, want %q", ref, got, want)
		}
	}
	_, err := tab.Eval(within(t, 10*time.Second), "", `document.querySelector('#b').replaceWith('gone')`)
	if err != nil {
		t.Fatal(err)
	}
	if got := resolve(t, tab, b); got != "stale: removed" {
		t.Errorf("ref of a removed element: got %q", got)
	}
	// The same document in the same frame continues; a new one begins later.
	for _, url := range []string{srv.URL + "/again", strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)} {
		open(t, tab, url)
		fresh := refOf(t, tab, "", "#a")
		if seen[fresh] {
			t.Errorf("ref %s was given twice", fresh)
		}
		seen[fresh] = true
		if got := resolve(t, tab, a); got != "stale: document_replaced" {
			t.Errorf("ref %s after a navigation: got %q", a, got)
		}
		if got := resolve(t, tab, near); got != "frame_not_found" {
			t.Errorf("ref %s after its frame went away: got %q", near, got)
		}
	}
}

// A document that gave more refs than the caller read of them does not let the
// next one give them again.
func TestRefsOfAFrameThatNavigates(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/" {
			fmt.Fprint(w, `<button id="in">In</button>`)
			return
		}
		fmt.Fprint(w, `<iframe id="f" src="/in"></iframe>`)
	}))
	defer srv.Close()
	tab := browsertest.Tab(t)
	open(t, tab, srv.URL+"/")
	child := tab.Frames()[1].ID
	old := refOf(t, tab, child, "#in")
	if _, err := tab.Eval(
		within(t, 10*time.Second), "",
		`new Promise(done => { const f = document.querySelector('#f'); f.onload = () => done(1); f.src = '/in2' })`,
	); err != nil {
		t.Fatal(err)
	}
	fresh := refOf(t, tab, child, "#in")
	if fresh == old || fresh[:2] != old[:2] {
		t.Errorf(
			"the frame's second document gave %s, its first %s: want the same prefix and another number", fresh, old,
		)
	}
	if got := resolve(t, tab, old); got != "stale: document_replaced" {
		t.Errorf("ref %s: got %q", old, got)
	}
}
