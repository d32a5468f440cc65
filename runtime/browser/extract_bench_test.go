package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

// extractPage has n rows of four fields.
const extractPage = `<!doctype html><title>Rows</title><body><script>
const row = i => '<div class="row" data-id="' + i + '"><h3>Item ' + i + '</h3><a href="/items/' + i + '">open</a><span class="price">' + (i * 7 %% 1000) + ' EUR</span><p>Text that describes item ' + i + '</p></div>';
document.body.insertAdjacentHTML('beforeend', Array.from({length: %d}, (_, i) => row(i)).join(''));
</script>`

const extractPlan = `{"extract":[[0,{"id":"rows","selector":".row","fields":{
	"id":{"attribute":"data-id"},"title":{"selector":"h3","property":"textContent"},
	"url":{"selector":"a","attribute":"href"},"price":{"selector":".price","property":"textContent"}}}]],
	"limits":{"nodes":200000,"bytes":8388608,"time_ms":60000,"diagnostics":1000}}`

const extractFloor = `JSON.stringify({rows: Array.from(document.querySelectorAll('.row'), e => ({id: e.getAttribute('data-id'),
	title: e.querySelector('h3').textContent, url: e.querySelector('a').getAttribute('href'), price: e.querySelector('.price').textContent}))})`

// BenchmarkExtract compares the extraction of a projection with the least that
// reads the same records: one evaluate that gives them as a string. Both end
// with the records as JSON text in this process.
func BenchmarkExtract(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("%d records of 4 fields", n), func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, extractPage, n)
			}))
			defer server.Close()
			tab := browsertest.Tab(b)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			if _, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: server.URL, LoadTimeout: time.Minute}); err != nil {
				b.Fatal(err)
			}
			var ours, base time.Duration
			fastest := [2]time.Duration{time.Hour, time.Hour}
			size := 0
			for b.Loop() {
				start := time.Now()
				var answer json.RawMessage
				if err := tab.Call(ctx, "", "extract_plan", json.RawMessage(extractPlan), &answer); err != nil {
					b.Fatal(err)
				}
				mid := time.Now()
				raw, err := tab.Floor(ctx, browser.EvaluateString(extractFloor))
				if err != nil {
					b.Fatal(err)
				}
				text, err := browser.StringResult(raw)
				if err != nil {
					b.Fatal(err)
				}
				end := time.Now()
				ours, base, size = ours+mid.Sub(start), base+end.Sub(mid), len(text)
				fastest = [2]time.Duration{min(fastest[0], mid.Sub(start)), min(fastest[1], end.Sub(mid))}
				if len(answer) < size {
					b.Fatalf("%d bytes were extracted, the floor has %d", len(answer), size)
				}
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/ours")
			b.ReportMetric(float64(base.Microseconds())/float64(b.N), "µs/floor")
			b.ReportMetric(float64(ours)/float64(base), "ratio")
			b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "ratio-of-fastest")
			b.ReportMetric(float64(size)/1e6, "MB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAnswer measures how one answer of the page library grows with its
// size: whether a large one should be cut into pieces.
func BenchmarkAnswer(b *testing.B) {
	for _, kb := range []int{64, 1024, 8000} {
		b.Run(fmt.Sprintf("%d KB", kb), func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<!doctype html><p hidden></p><script>document.querySelector('p').textContent = 'a "quoted" text of the page '.repeat(%d)</script>`, kb*1000/28)
			}))
			defer server.Close()
			tab := browsertest.Tab(b)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			if _, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: server.URL, LoadTimeout: time.Minute}); err != nil {
				b.Fatal(err)
			}
			const plan = `{"extract":[[0,{"id":"p","selector":"p"}]],"limits":{"nodes":200000,"bytes":16777216,"time_ms":60000,"diagnostics":1000}}`
			for b.Loop() {
				var answer json.RawMessage
				if err := tab.Call(ctx, "", "extract_plan", json.RawMessage(plan), &answer); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(answer)))
			}
		})
	}
}
