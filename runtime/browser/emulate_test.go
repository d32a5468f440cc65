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
)

// What is emulated reaches requests, frames of other processes that come later,
// and the next document.
func TestEmulationReachesRequestsAndFrames(t *testing.T) {
	tab := browsertest.Tab(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(
			w, `<!doctype html><title>echo</title><p>%s|%s</p>`,
			r.Header.Get("User-Agent"), r.Header.Get("Accept-Language"),
		)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	other := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	open(t, tab, srv.URL+"/")
	err := tab.Emulate(within(t, 10*time.Second), primitives.Emulation{
		UserAgent: &primitives.UserAgentEmulation{UserAgent: "Probe/2"},
		Locale:    &primitives.LocaleEmulation{Locale: "it-IT"},
		Timezone:  &primitives.TimezoneEmulation{Timezone: "Asia/Tokyo"},
		Media:     &primitives.MediaEmulation{ColorScheme: "dark"},
	})
	if err != nil {
		t.Fatal(err)
	}
	open(t, tab, srv.URL+"/again")
	const say = `document.querySelector("p").textContent + "|" + navigator.userAgent + "|" + navigator.language + "|" +
		Intl.DateTimeFormat().resolvedOptions().timeZone + "|" + matchMedia("(prefers-color-scheme: dark)").matches`
	want := "Probe/2|it-IT|Probe/2|it-IT|Asia/Tokyo|true"
	if got, err := tab.Eval(within(t, 5*time.Second), "", say); got != want {
		t.Errorf("the next document: got %q, want %q, %v", got, want, err)
	}
	if got, err := tab.Eval(
		within(t, 10*time.Second), "",
		`new Promise(ok => { const f = document.createElement("iframe"); f.src = "`+other+
			`/frame"; f.onload = () => ok("loaded"); document.body.append(f) })`,
	); got != "loaded" {
		t.Fatal(got, err)
	}
	frames := tab.Frames()
	if len(frames) != 2 || !frames[1].Remote {
		t.Fatalf("the frame is not in another process: %+v", frames)
	}
	if got, err := tab.Eval(within(t, 5*time.Second), frames[1].ID, say); got != want {
		t.Errorf("a frame of another process: got %q, want %q, %v", got, want, err)
	}
}
