package capture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// shopPage has 500 nodes.
var shopPage = `<!doctype html><title>Shop</title><input id="q">` +
	`<button id="go" onclick="o.textContent=q.value">Go</button><p id="o"></p><ul>` +
	strings.Repeat(`<li><a href="#">Item</a> <span>some text</span> <button>Buy</button></li>`, 60) + `</ul>`

// twentyFiveSteps are a run: five times a page is loaded, typed into, clicked, waited for and read.
func twentyFiveSteps(address string) []runtime.Call {
	var out []runtime.Call
	for n := range 5 {
		word := fmt.Sprintf("Milk %d", n)
		for _, c := range [][2]string{
			{"browser.navigate", `{"url":"` + address + `"}`},
			{"text.insert", `{"target":{"selector":"#q"},"text":"` + word + `","mode":"replace"}`},
			{"pointer.click", `{"locator":{"selector":"#go"}}`},
			{"page.wait", `{"conditions":[{"text":"` + word + `"}]}`},
			{"page.snapshot", `{}`},
		} {
			out = append(out, runtime.Call{Name: c[0], Arguments: json.RawMessage(c[1])})
		}
	}
	return out
}

// recordings are what can be recorded of a run, from nothing on.
var recordings = []struct {
	name string
	opts *capture.Options
}{
	// as --recent does
	{"none", nil}, {"calls", &capture.Options{}}, {"pages", &capture.Options{Pages: true, Quiet: true}},
	{"recorded", &capture.Options{Pages: true}}, {"pictures", &capture.Options{Pages: true, Pictures: true}},
}

// BenchmarkRecordedRun is a run of 25 steps with each kind of recording, the kinds one after the other in each
// round, so that a busy machine is busy for all of them. The metrics are the median times, as ratios to the
// run without a recording.
func BenchmarkRecordedRun(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, shopPage)
	}))
	defer server.Close()
	steps := twentyFiveSteps(server.URL + "/")
	hosts := make([]*runtime.Host, len(recordings))
	paths := make([]string, len(recordings))
	times := make([][]time.Duration, len(recordings))
	run := func(i int) time.Duration {
		began := time.Now()
		for _, c := range steps {
			if r := hosts[i].Do(context.Background(), c); r.Err != nil {
				b.Fatal(c.Name, r.Err)
			}
		}
		return time.Since(began)
	}
	for i, c := range recordings {
		o := runtime.Options{Open: []string{"about:blank"}}
		if c.opts != nil {
			paths[i] = filepath.Join(b.TempDir(), c.name+".rec")
			recorder, err := capture.Open(capture.Files{Record: paths[i]}, *c.opts)
			if err != nil {
				b.Fatal(err)
			}
			o.Recorder = recorder
		}
		hosts[i] = runtimetest.Open(b, o)
		run(i) // once to get warm
	}
	rounds := 0
	for b.Loop() {
		rounds++
		for i := range recordings {
			kind := (i + rounds) % len(recordings) // no kind is always first
			times[kind] = append(times[kind], run(kind))
		}
	}
	median := func(list []time.Duration) float64 { slices.Sort(list); return float64(list[len(list)/2]) }
	none := median(times[0])
	b.ReportMetric(none/1e6/float64(len(steps)), "ms/step-none")
	for i, c := range recordings[1:] {
		b.ReportMetric(median(times[i+1])/none, "ratio-"+c.name)
		if info, err := os.Stat(paths[i+1]); err == nil {
			b.ReportMetric(float64(info.Size())/1024/float64(rounds+1), "KiB/run-"+c.name)
		}
	}
}
