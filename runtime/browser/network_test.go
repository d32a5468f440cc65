package browser_test

import (
	"context"
	"errors"
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

// held is a server whose /held answers wait for release.
func held(t *testing.T, page string) (url string, arrived <-chan struct{}, release chan<- struct{}) {
	t.Helper()
	in, out := make(chan struct{}, 100), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/held"):
			in <- struct{}{}
			select {
			case <-out:
			case <-r.Context().Done():
			}
			w.Header().Set("Access-Control-Allow-Origin", "*")
			fmt.Fprint(w, "done")
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL, in, out
}

func TestNetworkQuietWaitsForWhatIsUnderWay(t *testing.T) {
	tab := browsertest.Tab(t)
	url, arrived, release := held(t, `<!doctype html><title>quiet</title>`)
	open(t, tab, url+"/")
	if err := tab.NetworkQuiet(within(t, 5*time.Second), 20*time.Millisecond, 0); err != nil {
		t.Fatalf("a page that requests nothing: %v", err)
	}
	tab.PostEval(`fetch("/held")`)
	<-arrived
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := tab.NetworkQuiet(short, 250*time.Millisecond, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one request under way: got %v, want the deadline", err)
	}
	if err := tab.NetworkQuiet(within(t, 5*time.Second), 20*time.Millisecond, 1); err != nil {
		t.Errorf("one request under way and one allowed: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- tab.NetworkQuiet(within(t, 5*time.Second), 20*time.Millisecond, 0) }()
	close(release)
	if err := <-done; err != nil {
		t.Errorf("after the answer: %v", err)
	}
}

// A document that still loads when recording begins is waited for, though its
// requests were never seen.
func TestNetworkQuietCountsWhatBeganBefore(t *testing.T) {
	tab := browsertest.Tab(t)
	url, arrived, release := held(t, `<!doctype html><title>quiet</title><script>fetch("/held")</script>`)
	open(t, tab, url+"/")
	<-arrived
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := tab.NetworkQuiet(short, 250*time.Millisecond, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	close(release)
	if err := tab.NetworkQuiet(within(t, 5*time.Second), 20*time.Millisecond, 0); err != nil {
		t.Error(err)
	}
}

// Leaving a page ends its requests.
func TestNetworkQuietForgetsTheOldDocument(t *testing.T) {
	tab := browsertest.Tab(t)
	url, arrived, release := held(t, `<!doctype html><title>quiet</title>`)
	defer close(release)
	open(t, tab, url+"/")
	if _, err := tab.Network(within(t, 5*time.Second)); err != nil {
		t.Fatal(err)
	}
	// Of addresses that are the same Chromium sends one, and the next after 20 s.
	tab.PostEval(`fetch("/held"); for (const n of [1,2]) { const f = document.createElement("iframe"); ` +
		`f.srcdoc = "<script>fetch('/held?" + n + "')<\/script>"; document.body.append(f) }`)
	for range 3 {
		<-arrived
	}
	if _, err := tab.Navigate(within(t, 10*time.Second), primitives.NavigateOptions{URL: "about:blank"}); err != nil {
		t.Fatal(err)
	}
	if err := tab.NetworkQuiet(within(t, 5*time.Second), 20*time.Millisecond, 0); err != nil {
		log, _ := tab.Network(within(t, time.Second))
		t.Errorf("%v: %+v", err, log.Requests)
	}
}

func TestNetworkOfATabThatCloses(t *testing.T) {
	tab := browsertest.Tab(t)
	url, arrived, release := held(t, `<!doctype html>`)
	defer close(release)
	open(t, tab, url+"/")
	if _, err := tab.Network(within(t, 5*time.Second)); err != nil {
		t.Fatal(err)
	}
	tab.PostEval(`fetch("/held")`)
	<-arrived
	done := make(chan error, 1)
	go func() { done <- tab.NetworkQuiet(within(t, 10*time.Second), 20*time.Millisecond, 0) }()
	if err := tab.Close(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; fault.CodeOf(err) != fault.TabClosed {
		t.Errorf("got %v, want tab_closed", err)
	}
}

// What recording costs a page of many resources, in one run.
func BenchmarkNavigateRecorded(b *testing.B) {
	var page strings.Builder
	page.WriteString(`<!doctype html><title>many</title>`)
	for i := range 40 {
		fmt.Fprintf(&page, `<script src="/s%d.js"></script>`, i)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page.String())
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprint(w, "window.n = (window.n || 0) + 1;")
	}))
	b.Cleanup(srv.Close)
	tabs := map[string]*browser.Tab{
		"none":    browsertest.Tab(b),
		"network": browsertest.Tab(b),
		"console": browsertest.Tab(b),
	}
	ctx := context.Background()
	if _, err := tabs["network"].Network(ctx); err != nil {
		b.Fatal(err)
	}
	if _, err := tabs["console"].Console(ctx); err != nil {
		b.Fatal(err)
	}
	took := map[string]time.Duration{}
	for b.Loop() {
		for name, tab := range tabs {
			at := time.Now()
			if _, err := tab.Navigate(ctx, primitives.NavigateOptions{
				URL:         srv.URL + "/",
				LoadTimeout: 20 * time.Second,
			}); err != nil {
				b.Fatal(err)
			}
			took[name] += time.Since(at)
		}
	}
	for name, d := range took {
		b.ReportMetric(float64(d.Microseconds())/float64(b.N), "µs/"+name)
	}
	b.ReportMetric(float64(took["network"])/float64(took["none"]), "network/none")
	b.ReportMetric(float64(took["console"])/float64(took["none"]), "console/none")
	b.ReportMetric(0, "ns/op")
}

// A script that does not read an answer never ends its request; the page is
// quiet all the same.
func TestNetworkQuietDoesNotWaitForUnreadAnswers(t *testing.T) {
	tab := browsertest.Tab(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stream":
			fmt.Fprint(w, "first part")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/unread":
			fmt.Fprint(w, "whole")
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><title>unread</title>`)
		}
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	open(t, tab, srv.URL+"/")
	if _, err := tab.Network(within(t, 5*time.Second)); err != nil {
		t.Fatal(err)
	}
	if got, err := tab.Eval(
		within(t, 5*time.Second), "", `Promise.all([fetch("/stream"), fetch("/unread")]).then(all => all.length)`,
	); got != "2" {
		t.Fatal(got, err)
	}
	if err := tab.NetworkQuiet(within(t, 5*time.Second), 20*time.Millisecond, 0); err != nil {
		log, _ := tab.Network(within(t, time.Second))
		t.Errorf("%v: %+v", err, log.Requests)
	}
}
