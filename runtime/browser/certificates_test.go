package browser_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// selfSigned serves pages with a certificate that no browser trusts. The page /other
// asks another such server for a script.
func selfSigned(t *testing.T, other func() string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/script":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `document.title = "loaded"`)
		case "/own":
			fmt.Fprint(w, `<!doctype html><title>bare</title><script src="/script"></script>`)
		case "/other":
			fmt.Fprintf(w, `<!doctype html><title>bare</title><script src="%s/script"></script>`, other())
		default:
			fmt.Fprint(w, `<!doctype html><title>page</title>`)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refusals are what is tested
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Certificates that are not valid pass for the origins that are named, and for no other:
// as documents, in frames' and pages' own requests, and in tabs that pages open.
func TestInsecureOrigins(t *testing.T) {
	var second *httptest.Server
	first := selfSigned(t, func() string { return second.URL })
	second = selfSigned(t, func() string { return first.URL })
	tab := launchWith(t, browser.Options{InsecureOrigins: []string{first.URL}})
	for _, c := range []struct {
		name, url, title string
		code             fault.Code
	}{
		{"the origin that is named", first.URL, "page", ""},
		{"a script of it", first.URL + "/own", "loaded", ""},
		{"another origin", second.URL, "", fault.NavigationFailed},
		{"the first again", first.URL, "page", ""},
		{"a script of another origin", first.URL + "/other", "bare", ""},
	} {
		nav, err := tab.Navigate(within(t, 30*time.Second), primitives.NavigateOptions{URL: c.url})
		if fault.CodeOf(err) != c.code && !(err == nil && c.code == "") {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
			continue
		}
		if c.code != "" {
			f := fault.From(err)
			if !strings.Contains(f.Message, "the certificate of the server is not valid") || f.NextStep == "" {
				t.Errorf("%s: message %q, next %q", c.name, f.Message, f.NextStep)
			}
			continue
		}
		if nav.Title != c.title {
			t.Errorf("%s: title %q, want %q", c.name, nav.Title, c.title)
		}
	}

	other, err := tab.Browser().NewTab(within(t, 30*time.Second), first.URL, browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if title := other.Tab().Title; title != "page" {
		t.Errorf("a new tab: title %q, want page", title)
	}
}

// Without origins that are named the browser decides, and refuses.
func TestCertificatesAreChecked(t *testing.T) {
	site := selfSigned(t, nil)
	tab := launchWith(t, browser.Options{})
	_, err := tab.Navigate(within(t, 30*time.Second), primitives.NavigateOptions{URL: site.URL})
	if f := fault.From(err); err == nil || f.Code != fault.NavigationFailed ||
		!strings.Contains(f.Message, "the certificate of the server is not valid") {
		t.Errorf("got %v", err)
	}
}
