package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
)

// process is a verb that runs until the test ends it, with its lines as they come.
type process struct {
	t      *testing.T
	stop   context.CancelFunc
	lines  chan string // of both streams; closed when the verb has ended
	ended  chan struct{}
	status int
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	p := &process{t: t, stop: stop, lines: make(chan string, 1000), ended: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() {
		defer close(p.ended)
		p.status = execute(ctx, args, strings.NewReader(""), w, w)
		_ = w.Close()
	})
	running.Go(func() {
		defer close(p.lines)
		in := bufio.NewScanner(r)
		for in.Scan() {
			p.lines <- in.Text()
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	return p
}

// says waits for a line and returns its first group.
func (p *process) says(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var seen []string
	late := time.After(2 * time.Minute)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("it ended without a line like %s; it said:\n%s", pattern, strings.Join(seen, "\n"))
			}
			if m := re.FindStringSubmatch(line); m != nil {
				return m[len(m)-1]
			}
			seen = append(seen, line)
		case <-late:
			p.t.Fatalf("there is no line like %s; it said:\n%s", pattern, strings.Join(seen, "\n"))
		}
	}
}

func request(t *testing.T, method, url, host, body string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func answers(t *testing.T, url string, status int, parts ...string) {
	t.Helper()
	got, text := request(t, "GET", url, "", "")
	if got != status {
		t.Errorf("%s has the status %d, want %d: %.300s", url, got, status, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf(
				"%s does not say %q: %s",
				url, part, regexp.MustCompile(`(?m)^(?:#|go_|process_|outrider_call_d).*\n`).ReplaceAllString(text, ""),
			)
		}
	}
}

const opsLine = `health and metrics at (http://\S+)`

// TestOperations follows a hub and a runtime from their start to the end of the hub.
func TestOperations(t *testing.T) {
	browsertest.Require(t)
	hub := start(t, "hub", "--listen", "127.0.0.1:0", "--ops", "0")
	hubOps := hub.says(opsLine)
	bridge := hub.says(`listening on (http://\S+),`)
	answers(t, hubOps+"/healthz", 200, "ok")
	answers(t, hubOps+"/readyz", 200, "ready")
	answers(t, hubOps+"/metrics", 200, "outrider_hub_runtimes 0", `outrider_info{version="`+version+`"} 1`)
	// The routes are on the hub's own address, too.
	answers(t, bridge+"/readyz", 200, "ready")

	runtime := start(t, "connect", strings.Replace(bridge, "http", "ws", 1)+"/extension", "--ops", "127.0.0.1:0")
	runtimeOps := runtime.says(opsLine)
	answers(t, runtimeOps+"/healthz", 200, "ok")
	runtime.says(`ready: announced 1 tab`)
	hub.says(`^connected `)
	answers(t, runtimeOps+"/readyz", 200, "ready")
	for body, want := range map[string]int{`{"name":"page.info"}`: 200, `{"name":"no.such.thing"}`: 200} {
		if status, text := request(t, "POST", bridge+"/mcp/tools/call", "", body); status != want {
			t.Errorf("%s: status %d: %s", body, status, text)
		}
	}
	counted := []string{
		`outrider_calls_total{code="ok",name="page.info"} 1`,
		`outrider_calls_total{code="unknown_action",name="site_action"} 1`, "outrider_calls_in_flight 0",
	}
	answers(t, runtimeOps+"/metrics", 200, append(
		counted, "outrider_tabs 1", "outrider_bridge_connected 1",
		`outrider_call_duration_seconds_count{name="page.info"} 1`,
	)...)
	answers(
		t, bridge+"/metrics", 200,
		append(counted, "outrider_hub_runtimes 1", `outrider_hub_runtime_changes_total{kind="connected"} 1`)...,
	)

	hub.stop()
	<-hub.ended
	if hub.status != exitInterrupted {
		t.Errorf("the hub has the exit code %d, want %d", hub.status, exitInterrupted)
	}
	runtime.says(`lost: `)
	answers(t, runtimeOps+"/readyz", 503, "not ready: there is no connection to the bridge")
	answers(t, runtimeOps+"/healthz", 200, "ok")
	answers(
		t, runtimeOps+"/metrics", 200, "outrider_bridge_connected 0",
		`outrider_bridge_losses_total{connection="established"} 1`,
	)
}

func TestOperationsOfAnMCPServer(t *testing.T) {
	browsertest.Require(t)
	server := start(t, "mcp", "--http", "127.0.0.1:0", "--ops", "0")
	at := server.says(opsLine)
	answers(t, at+"/healthz", 200, "ok") // also while its browser starts
	url := server.says(`serving MCP at (\S+)`)
	answers(t, at+"/readyz", 200, "ready")
	answers(t, at+"/metrics", 200, "outrider_tabs 1", "outrider_calls_in_flight 0")
	ask(t, agent(t, url), "snapshot", `{}`)
	answers(
		t, at+"/metrics", 200, `outrider_calls_total{code="ok",name="page.snapshot"} `, "outrider_calls_in_flight 0",
	)
}

// A web page whose name was pointed at this machine reads nothing.
func TestOperationsAreForThisMachine(t *testing.T) {
	hub := start(t, "hub", "--listen", "127.0.0.1:0", "--ops", ":0")
	at := hub.says(opsLine)
	if !strings.HasPrefix(at, "http://127.0.0.1:") {
		t.Errorf("--ops :0 listens at %s, want an address of this machine only", at)
	}
	for host, want := range map[string]int{
		"":                200,
		"localhost:9464":  200,
		"[::1]:9464":      200,
		"evil.example":    403,
		"evil.example:80": 403,
	} {
		if status, text := request(t, "GET", at+"/metrics", host, ""); status != want {
			t.Errorf("Host %q: status %d, want %d: %.100s", host, status, want, text)
		}
	}
	if status, _ := request(t, "POST", at+"/metrics", "", "{}"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST has the status %d", status)
	}
}

func TestOpsAddress(t *testing.T) {
	for in, want := range map[string]string{
		"9464":         "127.0.0.1:9464",
		":9464":        "127.0.0.1:9464",
		"0.0.0.0:9464": "0.0.0.0:9464",
		"[::]:9464":    "[::]:9464",
	} {
		if got, err := opsAddress(t.Context(), in); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"nonsense", "70000", "host:port:9464", "-1"} {
		if got, err := opsAddress(t.Context(), in); err == nil {
			t.Errorf("%s: got %s, want a refusal", in, got)
		}
	}
}
