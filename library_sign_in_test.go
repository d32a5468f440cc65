package outrider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	outrider "github.com/outrider-run/outrider"
)

// A program signs in to a server by a secret, which it has to name.
func TestHTTPCredentials(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, ok := r.BasicAuth(); !ok || name != "ann" || password != "hunter22-value" {
			w.Header().Set("WWW-Authenticate", `Basic realm="library"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Welcome</title>"))
	}))
	t.Cleanup(site.Close)
	with := func(secret string) outrider.Options {
		return outrider.Options{
			Secrets: map[string]outrider.Secret{"pw": {Value: "hunter22-value"}},
			Browser: outrider.BrowserOptions{
				HTTPCredentials: []outrider.HTTPCredentials{{Origin: site.URL, Name: "ann", Secret: secret}},
			},
		}
	}
	if _, err := outrider.Open(t.Context(), with("other")); err == nil {
		t.Error("a secret that is not there was taken")
	}
	session := open(t, with("pw"))
	tab, err := session.NewTab(t.Context(), site.URL)
	if err != nil {
		t.Fatal(err)
	}
	info, err := tab.Call(t.Context(), "page.info", nil)
	if err != nil || !strings.Contains(string(info), "Welcome") {
		t.Errorf("the page is %s: %v", info, err)
	}
}
