package capture_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/runtimetest"
)

// BenchmarkRecordedRun is a run of a page load, typing, clicking and reading on a page of 500 nodes, without a
// recording, with what --recent remembers, with a recording, and with pictures.
func BenchmarkRecordedRun(b *testing.B) {
	rows := strings.Repeat(`<li><a href="#">Item</a> <span>some text</span> <button>Buy</button></li>`, 60)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><input id="q"><button id="go" onclick="o.textContent=q.value">Go</button><p id="o"></p><ul>`+rows+`</ul>`)
	}))
	defer server.Close()
	for _, c := range []struct {
		name string
		opts *capture.Options
	}{
		{"none", nil}, {"calls", &capture.Options{}}, {"pages", &capture.Options{Pages: true, Quiet: true}}, // as --recent does
		{"recorded", &capture.Options{Pages: true}}, {"pictures", &capture.Options{Pages: true, Pictures: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			opts := c.opts
			o := runtime.Options{Open: []string{"about:blank"}}
			path := filepath.Join(b.TempDir(), "a.rec")
			if opts != nil {
				recorder, err := capture.Open(capture.Files{Record: path}, *opts)
				if err != nil {
					b.Fatal(err)
				}
				o.Recorder = recorder
			}
			h := runtimetest.Open(b, o)
			do := func(name, args string) {
				if r := h.Do(context.Background(), runtime.Call{Name: name, Arguments: json.RawMessage(args)}); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
			for b.Loop() {
				do("browser.navigate", `{"url":"`+server.URL+`/"}`)
				do("text.insert", `{"target":{"selector":"#q"},"text":"Milk","mode":"replace"}`)
				do("pointer.click", `{"locator":{"selector":"#go"}}`)
				do("page.wait", `{"conditions":[{"text":"Milk"}]}`)
				do("page.snapshot", `{}`)
			}
			if info, err := os.Stat(path); err == nil {
				b.ReportMetric(float64(info.Size())/float64(b.N), "bytes/run")
			}
		})
	}
}
