package browser_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// The headless shell has a mouse at the corner of its screen: no window is under it, a popup neither. What it does not
// show names the browser that does.
func TestHeadlessShell(t *testing.T) {
	b := browsertest.Browser(t)
	if !b.Shell() {
		if !strings.HasPrefix(b.Version(), "Chrome/") {
			t.Errorf("%s is taken for Chromium", b.Version())
		}
		return // Chromium has no mouse of its own
	}
	tab := browsertest.Tab(t)
	if _, err := tab.Evaluate(within(t, 20*time.Second), "void window.open('about:blank#popup')"); err != nil {
		t.Fatal(err)
	}
	for _, fragment := range []string{"", "popup"} {
		eventually(t, 20*time.Second, "a window beside the mouse", func() bool {
			return besideTheMouse(t, b, tab.Context(), fragment)
		})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write([]byte("%PDF-1.4"))
	}))
	defer s.Close()
	_, err := tab.Navigate(within(t, 20*time.Second), primitives.NavigateOptions{
		URL:         s.URL + "/a.pdf",
		LoadTimeout: patience,
	})
	told := strings.Contains(fault.From(err).NextStep, "--browser chromium")
	if fault.CodeOf(err) != fault.NavigationFailed || !told {
		t.Errorf("%v does not say where a PDF file can be seen", err)
	}
}

func besideTheMouse(t *testing.T, b *browser.Browser, in, fragment string) bool {
	t.Helper()
	for _, tab := range b.Tabs() {
		u, err := url.Parse(tab.Tab().URL)
		if err != nil || tab.Context() != in || u.Fragment != fragment {
			continue
		}
		at, err := tab.Evaluate(within(t, 20*time.Second), "screenX > 0 && screenY > 0")
		return err == nil && string(at) == "true"
	}
	return false
}
