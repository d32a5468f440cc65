package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/runtime"
)

// TestDraining: an interrupted runtime answers what it accepted, is not ready meanwhile,
// refuses what comes, and then ends. What it did is sent as traces.
func TestDraining(t *testing.T) {
	browsertest.Require(t)
	var sent atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" {
			sent.Add(1)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	release := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>page</title><script>fetch("/late").then(() => document.body.append("it `+
			`is there"))</script><body>`)
	}))
	t.Cleanup(site.Close)
	hub := start(t, "hub", "--listen", "127.0.0.1:0")
	bridge := hub.says(`listening on (http://\S+),`)
	runtime := start(
		t,
		"connect", strings.Replace(bridge, "http", "ws", 1)+"/extension",
		"--open", site.URL,
		"--ops", "0",
		"--drain-timeout", "2m",
		"--max-tabs", "3",
		"--tab-memory", "1GB",
	)
	ops := runtime.says(opsLine)
	runtime.says(`ready: announced 1 tab`)
	hub.says(`^connected `)

	type answer struct {
		status int
		text   string
	}
	call := func(body string) answer {
		status, text := request(t, "POST", bridge+"/mcp/tools/call", "", body)
		return answer{status, text}
	}
	answered := make(chan answer, 1)
	go func() {
		answered <- call(`{"name":"page.wait","arguments":{"conditions":[{"text":"it is there"}],"timeout_ms":60000},` +
			`"timeout_ms":60000}`)
	}()
	eventually(t, "the call is in flight", func() bool {
		_, text := request(t, "GET", ops+"/metrics", "", "")
		return strings.Contains(text, "outrider_calls_in_flight 1\n")
	})
	runtime.stop()
	eventually(t, "it is not ready", func() bool {
		_, text := request(t, "GET", ops+"/readyz", "", "")
		return strings.Contains(text, "not ready: the process is ending")
	})
	if a := call(`{"name":"page.info"}`); !strings.Contains(a.text, "runtime_not_ready") {
		t.Errorf("a call that comes now: %d %s", a.status, a.text)
	}
	close(release)
	select {
	case a := <-answered:
		if a.status != 200 || !strings.Contains(a.text, `"ok":true`) {
			t.Errorf("the call that was accepted: %d %s", a.status, a.text)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the call that was accepted is not answered")
	}
	<-runtime.ended
	if runtime.status != exitInterrupted {
		t.Errorf("the runtime has the exit code %d, want %d", runtime.status, exitInterrupted)
	}
	if sent.Load() == 0 {
		t.Error("no traces were sent")
	}
}

func TestLimitsOfTabs(t *testing.T) {
	for _, c := range []struct {
		tabs   int
		memory string
		open   []string
		want   runtime.Limits
		ok     bool
	}{
		{0, "", nil, runtime.Limits{}, true},
		{4, "512MB", nil, runtime.Limits{Tabs: 4, TabMemory: 512 << 20}, true},
		{2, "2GB", []string{"a", "b"}, runtime.Limits{Tabs: 2, TabMemory: 2 << 30}, true},
		{1, "", []string{"a", "b"}, runtime.Limits{}, false},
		{-1, "", nil, runtime.Limits{}, false},
		{0, "512", nil, runtime.Limits{}, false},
		{0, "0MB", nil, runtime.Limits{}, false},
		{0, "-1GB", nil, runtime.Limits{}, false},
	} {
		if c.ok {
			c.want.StateBytes = 16 << 20
		}
		a := &app{
			origins: valueOrigins{"max-tabs": fromCommandLine},
			browser: browserFlags{maxTabs: c.tabs, tabMemory: c.memory, maxState: "16MB", open: c.open},
		}
		if got, err := a.limits(&a.browser); (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("--max-tabs %d --tab-memory %q: got %+v, %v, want %+v", c.tabs, c.memory, got, err, c.want)
		}
	}
}
