package browser_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/page"
)

// site serves pages under two origins that are two sites to Chromium, so that a
// frame of one in the other gets a process of its own.
type site struct {
	origin, other string
}

// newSite serves pages by path. {{OTHER}} in a page is the other origin.
func newSite(t testing.TB, pages map[string]string) site {
	t.Helper()
	var s site
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case strings.HasPrefix(r.URL.Path, "/hang"):
			<-r.Context().Done()
			return
		case r.URL.Path == "/204":
			w.WriteHeader(http.StatusNoContent)
			return
		case r.URL.Path == "/download":
			w.Header().Set("Content-Disposition", "attachment; filename=x.bin")
			w.Write([]byte("x"))
			return
		case r.URL.Path == "/302":
			http.Redirect(w, r, "/", http.StatusFound)
			return
		case !ok:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			w.Write([]byte("<title>nothing here</title>"))
			return
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
		} else {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Write([]byte(strings.ReplaceAll(page, "{{OTHER}}", s.other)))
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	s.origin = srv.URL
	s.other = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	return s
}

const patience = browsertest.Patience

var within, eventually = browsertest.Within, browsertest.Eventually

func open(t testing.TB, tab *browser.Tab, url string) primitives.Navigation {
	t.Helper()
	nav, err := tab.Navigate(within(t, 15*time.Second), primitives.NavigateOptions{URL: url, LoadTimeout: patience})
	if err != nil {
		t.Fatalf("opening %s: %v", url, err)
	}
	return nav
}

func wantCode(t testing.TB, err error, want fault.Code) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %s", err, want)
	}
}

// awaitHang waits until Tab.Hang runs in the page, and long enough for that to be
// known.
func awaitHang(t testing.TB, tab *browser.Tab) {
	t.Helper()
	ctx := within(t, 10*time.Second)
	eventually(t, 10*time.Second, "a call in flight", func() bool {
		got, _ := tab.Eval(
			ctx, "", `(()=>{const h=document.documentElement.dataset,was=h.hanging;delete h.hanging;return was})()`,
		)
		return got == "yes"
	})
	time.Sleep(2 * page.StartProbeDelay) // the probe is sent by a timer and has no event
}
