package hub_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startHub runs a hub on a free port until the test ends.
func startHub(t *testing.T, opts hub.Options) *hub.Hub {
	t.Helper()
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	h, err := hub.New(opts)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	if err := h.Listen(); err != nil {
		t.Fatalf("Listen: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v, want the cause of its context", err)
			}
		case <-time.After(patience):
			t.Error("Run did not return")
		}
	})
	return h
}

// connect runs a client of host until the test ends or the returned function is
// called, and waits until its tabs are announced.
func connect(t *testing.T, addr string, host bridgeclient.Host, more func(*bridgeclient.Options)) (stop func()) {
	t.Helper()
	ready := make(chan struct{}, 1)
	opts := &bridgeclient.Options{
		URL:        "ws://" + addr + "/extension",
		Dialect:    actionsbridge.New(nil),
		Host:       host,
		BackoffMin: 10 * time.Millisecond,
		BackoffMax: 50 * time.Millisecond,
		OnState: func(s bridgeclient.State) {
			if s.Kind == bridgeclient.Ready {
				select { // a client that has to wait here connects no more
				case ready <- struct{}{}:
				default:
				}
			}
		},
	}
	if more != nil {
		more(opts)
	}
	c, err := bridgeclient.New(opts)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("the client did not end")
		}
	}
	t.Cleanup(stop)
	select {
	case <-ready:
	case <-time.After(patience):
		t.Fatal("the client was not ready")
	}
	return stop
}

// patience is what a step of a test may take on a machine under load. A wait that ends
// with what it waits for costs nothing when it is long.
const patience = time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("did not come true: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func waitRuntimes(t *testing.T, h *hub.Hub, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d runtimes", n), func() bool { return len(h.Runtimes()) == n })
}

func post(t *testing.T, addr, path, body string, header ...string) (int, map[string]any) {
	t.Helper()
	return request(t, http.MethodPost, addr, path, body, header...)
}

func request(t *testing.T, method, addr, path, body string, header ...string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	var out map[string]any
	if resp.StatusCode != http.StatusNoContent {
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			t.Fatalf("%s %s: status %d, body is not JSON: %v", method, path, resp.StatusCode, err)
		}
	}
	return resp.StatusCode, out
}

func code(out map[string]any) string {
	e, _ := out["error"].(map[string]any)
	c, _ := e["code"].(string)
	return c
}

func twoTabs() *hosttest.Host {
	return hosttest.New(
		hosttest.Tab(1, "https://shop.example/cart", "Cart"),
		hosttest.Tab(2, "https://shop.example/help", "Help desk"),
	)
}

func TestCallReachesExactlyOneRuntime(t *testing.T) {
	h := startHub(t, hub.Options{})
	host := twoTabs()
	connect(t, h.Addr(), host, nil)
	waitRuntimes(t, h, 2)
	for _, tc := range []struct {
		name, body string
		status     int
		runtime    string // "" means refused
		code       string
	}{
		{"by id", `{"name":"echo","arguments":{},"target_runtime_id":"rt-2"}`, 200, "rt-2", ""},
		{"by id inside the arguments", `{"name":"echo","arguments":{"target_runtime_id":"rt-2"}}`, 200, "rt-2", ""},
		{"by key", `{"name":"echo","arguments":{},"target_runtime_key":"tab:2"}`, 200, "rt-2", ""},
		{
			"by part of the url, any case",
			`{"name":"echo","arguments":{},"target_url_contains":"SHOP.example/HELP"}`, 200, "rt-2", "",
		},
		{"by part of the title", `{"name":"echo","arguments":{},"target_title_contains":"desk"}`, 200, "rt-2", ""},
		{"nothing: the active one", `{"name":"echo","arguments":{}}`, 200, "rt-1", ""},
		{"arguments absent", `{"name":"echo"}`, 200, "rt-1", ""},
		{"arguments null", `{"name":"echo","arguments":null}`, 200, "rt-1", ""},
		{
			"two match", `{"name":"echo","arguments":{},"target_url_contains":"shop.example"}`,
			409, "", "ambiguous_runtime",
		},
		{
			"none matches", `{"name":"echo","arguments":{},"target_url_contains":"nowhere"}`,
			404, "", "runtime_not_found",
		},
		{
			"selectors that contradict", `{"name":"echo","target_runtime_id":"rt-1","target_title_contains":"desk"}`,
			404, "", "runtime_not_found",
		},
		{"arguments not an object", `{"name":"echo","arguments":[1]}`, 400, "", "invalid_input"},
		{"no name", `{"arguments":{}}`, 400, "", "invalid_input"},
		{"not JSON", `{"name":`, 400, "", "invalid_input"},
		{"more than one object", `{"name":"echo"} {"name":"echo"}`, 400, "", "invalid_input"},
		{"member of the wrong kind", `{"name":7}`, 400, "", "invalid_input"},
		{
			"tab number without an owner", `{"name":"browser.navigate","arguments":{"tab_id":1}}`,
			400, "", "owner_runtime_required",
		},
		{"negative time", `{"name":"echo","timeout_ms":-1}`, 400, "", "invalid_input"},
		{"the runtime refuses", `{"name":"no.such.thing","target_runtime_id":"rt-1"}`, 200, "rt-1", "unknown_action"},
		{
			"the runtime reports a failure", `{"name":"fail","target_runtime_id":"rt-1"}`,
			200, "rt-1", "target_not_found",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, out := post(t, h.Addr(), "/mcp/tools/call", tc.body)
			if status != tc.status || code(out) != tc.code {
				t.Fatalf(
					"%s: status %d, code %q, want %d, %q; body %v", tc.body, status, code(out), tc.status, tc.code, out,
				)
			}
			if ok := out["ok"].(bool); ok != (tc.code == "") {
				t.Errorf("ok = %v with code %q", ok, tc.code)
			}
			if got, _ := out["runtime_id"].(string); got != tc.runtime {
				t.Errorf("answered by %q, want %q", got, tc.runtime)
			}
			if tc.code == "" {
				if got := out["output"].(map[string]any)["runtime_id"]; got != tc.runtime {
					t.Errorf("executed by %v, want %s", got, tc.runtime)
				}
			}
		})
	}
}

// A failure envelope is an output: the agent sees ok at the bridge and the
// failure inside.
func TestFailureEnvelopeIsAnOutput(t *testing.T) {
	h := startHub(t, hub.Options{})
	connect(t, h.Addr(), hosttest.New(hosttest.Tab(1, "https://a.example/", "A")), nil)
	waitRuntimes(t, h, 1)
	r := h.Call(t.Context(), hub.ToolCall{Name: "soft"})
	var out struct {
		OK    bool `json:"ok"`
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	err := json.Unmarshal(r.Output, &out)
	if err != nil || !r.OK || out.OK || out.Error.Code != "target_not_found" || len(r.Error) > 0 {
		t.Fatalf("got ok=%v output=%s error=%s, want an output that reports target_not_found", r.OK, r.Output, r.Error)
	}
}

func TestNoRuntime(t *testing.T) {
	h := startHub(t, hub.Options{})
	status, out := post(t, h.Addr(), "/mcp/tools/call", `{"name":"echo"}`)
	if status != 409 || code(out) != "runtime_not_ready" {
		t.Fatalf("status %d, code %q, want 409 runtime_not_ready", status, code(out))
	}
}

func TestRoutesAndErrors(t *testing.T) {
	h := startHub(t, hub.Options{MaxBody: 1000})
	for _, tc := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     string
	}{
		{"health", "GET", "/health", "", nil, 200, ""},
		{"runtimes", "GET", "/runtimes", "", nil, 200, ""},
		{"tools", "GET", "/mcp/tools/list", "", nil, 200, ""},
		{"unknown path", "GET", "/nothing", "", nil, 404, "invalid_input"},
		{"wrong method", "GET", "/mcp/tools/call", "", nil, 405, "invalid_input"},
		{"wrong method on a view", "POST", "/runtimes", "{}", nil, 405, "invalid_input"},
		{
			"body too long", "POST", "/mcp/tools/call",
			`{"name":"` + strings.Repeat("x", 2000) + `"}`, nil, 413, "payload_too_large",
		},
		{
			"page of another origin", "GET", "/runtimes", "",
			[]string{"Origin", "https://evil.example"}, 403, "origin_blocked",
		},
		{
			"page of another origin, preflight", "OPTIONS", "/mcp/tools/call", "",
			[]string{"Origin", "https://evil.example"}, 403, "origin_blocked",
		},
		{"opaque origin", "GET", "/runtimes", "", []string{"Origin", "null"}, 403, "origin_blocked"},
		{
			"other port of this machine", "GET", "/runtimes", "",
			[]string{"Origin", "http://127.0.0.1:1"}, 403, "origin_blocked",
		},
		{"rebound name", "GET", "/runtimes", "", []string{"Host", "evil.example:80"}, 403, "permission_denied"},
		{
			"rebound name that starts well", "GET", "/runtimes", "",
			[]string{"Host", "127.0.0.1.evil.example"}, 403, "permission_denied",
		},
		{"localhost", "GET", "/runtimes", "", []string{"Host", "localhost:1234"}, 200, ""},
		{"not a WebSocket", "GET", "/events?since=x", "", nil, 400, "invalid_input"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, out := request(t, tc.method, h.Addr(), tc.path, tc.body, tc.header...)
			if status != tc.status || code(out) != tc.code {
				t.Fatalf(
					"%s %s %v: status %d, code %q, want %d, %q",
					tc.method, tc.path, tc.header, status, code(out), tc.status, tc.code,
				)
			}
		})
	}
}

func TestOriginMayBeAllowed(t *testing.T) {
	h := startHub(t, hub.Options{AllowOrigins: []string{"chrome-extension://*"}})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+h.Addr()+"/runtimes", nil)
	req.Header.Set("Origin", "chrome-extension://abcdef")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	got := resp.Header.Get("Access-Control-Allow-Origin")
	if resp.StatusCode != 200 || got != "chrome-extension://abcdef" {
		t.Fatalf("status %d, allowed origin %q, want 200 and exactly the origin", resp.StatusCode, got)
	}
}

// A page that dials the hub is refused, and the log says how to admit what the
// user means: the extension's background page has an origin of its own, its
// content script that of the page. Issue 16.
func TestPairingAdmitsAnExtension(t *testing.T) {
	const page, extension = "http://shop.example", "chrome-extension://abcdef"
	for _, tc := range []struct {
		name, origin, query string
		opts                hub.Options
		status              int
		remedy              string
	}{
		{"a page", page, "", hub.Options{Pairing: "pair"}, 403, "pairing address"},
		{"an extension", extension, "", hub.Options{Pairing: "pair"}, 403, "--allow-extension"},
		{"an extension that is allowed", extension, "", hub.Options{AllowExtensions: true}, 101, ""},
		{"a page where extensions are allowed", page, "", hub.Options{AllowExtensions: true}, 403, "pairing address"},
		{"a wrong pairing token", page, "?token=nope", hub.Options{Pairing: "pair"}, 403, "pairing address"},
		{"the pairing token of a page", page, "?token=pair", hub.Options{Pairing: "pair"}, 101, ""},
		{"the pairing token of an extension", extension, "?token=pair", hub.Options{Pairing: "pair"}, 101, ""},
		{
			"the pairing token where there is a token", page, "?token=pair",
			hub.Options{Pairing: "pair", Token: "s3cret"}, 101, "",
		},
		{
			"the token itself does not admit a page", page, "?token=s3cret",
			hub.Options{Pairing: "pair", Token: "s3cret"}, 403, "pairing address",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log strings.Builder
			tc.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			h := startHub(t, tc.opts)
			for range 2 {
				ws, resp, err := websocket.Dial(t.Context(), "ws://"+h.Addr()+"/extension"+tc.query,
					&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {tc.origin}}})
				if resp == nil || resp.StatusCode != tc.status {
					t.Fatalf("got %v (%v), want status %d", resp, err, tc.status)
				}
				if ws != nil {
					_ = ws.CloseNow()
				}
			}
			text := log.String()
			if tc.remedy != "" && (!strings.Contains(text, tc.remedy) || !strings.Contains(text, tc.origin) ||
				strings.Count(text, "level=WARN") != 1) {
				t.Errorf("the log says %q, want once the origin and %q", text, tc.remedy)
			}
		})
	}
	h := startHub(t, hub.Options{Pairing: "pair", Token: "s3cret"})
	if status, out := request(t, "GET", h.Addr(), "/runtimes?token=pair", ""); status != 401 ||
		code(out) != "permission_denied" {
		t.Errorf("the pairing token opens /runtimes: %d %v", status, out)
	}
	again, err := hub.New(hub.Options{Token: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	same, err := hub.New(hub.Options{Token: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	if again.PairingURL() != same.PairingURL() || strings.Contains(again.PairingURL(), "s3cret") {
		t.Errorf("a hub with a token pairs at %s, then at %s", again.PairingURL(), same.PairingURL())
	}
}

func TestToken(t *testing.T) {
	h := startHub(t, hub.Options{Token: "s3cret"})
	for _, tc := range []struct {
		name, path string
		header     []string
		status     int
	}{
		{"none", "/runtimes", nil, 401},
		{"wrong", "/runtimes", []string{"Authorization", "Bearer s3cre"}, 401},
		{"right", "/runtimes", []string{"Authorization", "Bearer s3cret"}, 200},
		{"query counts on the WebSocket only", "/runtimes?token=s3cret", nil, 401},
		{"health is open", "/health", nil, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if status, _ := request(t, "GET", h.Addr(), tc.path, "", tc.header...); status != tc.status {
				t.Fatalf("status %d, want %d", status, tc.status)
			}
		})
	}
	connect(t, h.Addr(), hosttest.New(hosttest.Tab(1, "https://a.example/", "A")), func(o *bridgeclient.Options) {
		o.Token = "s3cret"
	})
	waitRuntimes(t, h, 1)
	connect(t, h.Addr(), hosttest.New(hosttest.Tab(2, "https://b.example/", "B")), func(o *bridgeclient.Options) {
		o.URL += "?token=s3cret"
	})
	waitRuntimes(t, h, 2)
}

func TestOptionsThatAreNotSafe(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts hub.Options
		code fault.Code
	}{
		{"every interface without a token", hub.Options{Listen: ":0"}, fault.PermissionDenied},
		{"another address without a token", hub.Options{Listen: "192.0.2.1:80"}, fault.PermissionDenied},
		{"every origin", hub.Options{AllowOrigins: []string{"*"}}, fault.PermissionDenied},
		{"origin without a scheme", hub.Options{AllowOrigins: []string{"example.com"}}, fault.InvalidInput},
		{"no port", hub.Options{Listen: "127.0.0.1"}, fault.InvalidInput},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := hub.New(tc.opts); !errors.Is(err, tc.code) {
				t.Fatalf("New(%+v) = %v, want code %s", tc.opts, err, tc.code)
			}
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h, err := hub.New(hub.Options{Listen: l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Listen(); !errors.Is(err, fault.TransportFailed) {
		t.Fatalf("Listen on a taken port = %v, want transport_failed", err)
	}
}

func TestTools(t *testing.T) {
	h := startHub(t, hub.Options{})
	names := func() string {
		var out []string
		for _, tool := range h.Tools() {
			out = append(out, tool.Name)
		}
		return strings.Join(out, " ")
	}
	alone := "actions.site browser.claimed_tabs.list browser.active_tab.set runtime.agent.await_event"
	if got := names(); got != alone {
		t.Fatalf("without a runtime: %s, want %s", got, alone)
	}
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"))
	connect(t, h.Addr(), host, nil)
	waitRuntimes(t, h, 1)
	want := "actions.site browser.claimed_tabs.list browser.active_tab.set runtime.agent.await_event echo " +
		"locator.wait_for sleep"
	if got := names(); got != want {
		t.Fatalf("with a runtime: %s, want %s", got, want)
	}
	// The announcement that follows a new address carries no catalog.
	tab := hosttest.Tab(1, "https://a.example/next", "A")
	host.Set(tab)
	eventually(t, "new address", func() bool { return h.Runtimes()[0].URL == tab.URL })
	if got := names(); got != want {
		t.Fatalf("after a new address: %s, want %s", got, want)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	err := json.Unmarshal(h.Tools()[0].InputSchema, &schema)
	if err != nil || schema.Properties["mode"] == nil || schema.Properties["target_runtime_id"] == nil {
		t.Fatalf("schema of actions.site = %s, want mode and the routing properties", h.Tools()[0].InputSchema)
	}
}

func TestActiveRuntime(t *testing.T) {
	h := startHub(t, hub.Options{})
	host := twoTabs()
	connect(t, h.Addr(), host, nil)
	waitRuntimes(t, h, 2)
	set := func(args string) hub.ToolResult {
		return h.Call(t.Context(), hub.ToolCall{Name: "browser.active_tab.set", Arguments: json.RawMessage(args)})
	}
	if r := set(`{"url_contains":"help"}`); !r.OK || h.Active() != "rt-2" {
		t.Fatalf("set by url: ok=%v error=%s active=%s", r.OK, r.Error, h.Active())
	}
	if r := h.Call(t.Context(), hub.ToolCall{Name: "echo"}); r.RuntimeID != "rt-2" {
		t.Fatalf("a call without a selector went to %q, want the active rt-2", r.RuntimeID)
	}
	if r := set(`{"url_contains":"shop"}`); r.Code() != fault.AmbiguousRuntime {
		t.Fatalf("ambiguous choice: %s", r.Error)
	}
	if r := set(`{"nonsense":1}`); r.Code() != fault.InvalidInput {
		t.Fatalf("undeclared argument: %s", r.Error)
	}
	host.Remove("rt-2")
	waitRuntimes(t, h, 1)
	if h.Active() != "rt-1" {
		t.Fatalf("after the active tab closed the active one is %q, want rt-1", h.Active())
	}
	r := h.Call(t.Context(), hub.ToolCall{Name: "browser.claimed_tabs.list"})
	var out struct {
		Count int `json:"count"`
		Tabs  []struct {
			RuntimeID string `json:"runtime_id"`
			TabID     int    `json:"tab_id"`
			Active    bool   `json:"active"`
			Claimed   bool   `json:"claimed"`
		} `json:"tabs"`
	}
	if err := json.Unmarshal(r.Output, &out); err != nil || out.Count != 1 {
		t.Fatalf("tabs: %s (%v)", r.Output, err)
	}
	if tab := out.Tabs[0]; tab.RuntimeID != "rt-1" || tab.TabID != 1 || !tab.Active || !tab.Claimed {
		t.Fatalf("tabs: %s", r.Output)
	}
}

func TestTimes(t *testing.T) {
	h := startHub(t, hub.Options{ExtraWait: patience}) // the runtime answers first, however late it is
	connect(t, h.Addr(), hosttest.New(hosttest.Tab(1, "https://a.example/", "A")), nil)
	waitRuntimes(t, h, 1)
	r := h.Call(t.Context(), hub.ToolCall{Name: "block", TimeoutMS: 100})
	if r.Code() != fault.HandlerTimeout {
		t.Fatalf("a runtime that keeps its time: %s, want handler_timeout", r.Error)
	}
	r = h.Call(t.Context(), hub.ToolCall{Name: "block", Arguments: json.RawMessage(`{"timeout_ms":100}`)})
	if r.Code() != fault.HandlerTimeout {
		t.Fatalf("time inside the arguments: %s, want handler_timeout", r.Error)
	}
	// The tool's own timeout_ms stays in its arguments.
	r = h.Call(t.Context(), hub.ToolCall{Name: "locator.wait_for", Arguments: json.RawMessage(`{"timeout_ms":100}`)})
	if r.Code() != fault.UnknownAction {
		t.Fatalf("fake host: %s, want unknown_action", r.Error)
	}
}

func TestObserverSeesTheConversationInOrder(t *testing.T) {
	var seen []string
	h := startHub(t, hub.Options{Observe: func(o hub.Observation) {
		var item struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(o.Item, &item)
		if item.Type != "runtime_status" {
			seen = append(seen, string(o.Dir)+" "+item.Type)
		}
	}})
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"))
	stop := connect(t, h.Addr(), host, nil)
	waitRuntimes(t, h, 1)
	h.Call(t.Context(), hub.ToolCall{Name: "echo"})
	h.Call(t.Context(), hub.ToolCall{Name: "fail"})
	host.Emit(runtime.Event{
		Kind:    runtime.DOMEvent,
		ID:      "ev-1",
		Tab:     hosttest.Tab(1, "https://a.example/", "A"),
		Name:    "cart.changed",
		Payload: json.RawMessage(`{"n":1}`),
	})
	list, cursor := h.Events(t.Context(), 0, "")
	if len(list) != 1 || cursor != 1 || !strings.Contains(string(list[0].Item), `"cart.changed"`) {
		t.Fatalf("events %v, cursor %d", list, cursor)
	}
	stop()
	want := []string{
		"runtime→bridge runtime_ready",
		"bridge→runtime action_call", "runtime→bridge action_call_output",
		"bridge→runtime action_call", "runtime→bridge action_error",
		"runtime→bridge dom_event",
		"runtime→bridge runtime_removed", // the end of the client
	}
	waitRuntimes(t, h, 0)
	if got := strings.Join(seen, "\n"); got != strings.Join(want, "\n") {
		t.Fatalf("conversation:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

// dial opens a runtime connection that is played by hand.
func dial(t *testing.T, h *hub.Hub, query string) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+h.Addr()+"/extension"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// answers reads a connection until it gets an item of a kind.
func answers(t *testing.T, ws *websocket.Conn, kind string) map[string]any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, frame, err := ws.Read(ctx)
		if err != nil {
			t.Fatalf("waiting for %s: %v", kind, err)
		}
		var it map[string]any
		if json.Unmarshal(frame, &it) == nil && it["type"] == kind {
			return it
		}
	}
}

// Anybody on this machine can connect to a hub without a token. Nobody may
// answer for a live runtime of somebody else, or take it away. Issue 16.
func TestALiveRuntimeIsNotTakenOver(t *testing.T) {
	for _, tc := range []struct {
		name, announcement string
	}{
		{"by its id", `{"type":"runtime_ready","runtime_id":"rt-1","url":"https://evil.example/"}`},
		{
			"by its key",
			`{"type":"runtime_ready","runtime_id":"rt-2","runtime_key":"tab:1","url":"https://evil.example/"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := startHub(t, hub.Options{})
			connect(t, h.Addr(), hosttest.New(hosttest.Tab(1, "https://a.example/", "A")), nil)
			waitRuntimes(t, h, 1)
			ws := dial(t, h, "")
			for _, frame := range []string{`{"type":"runtime_removed","runtime_id":"rt-1"}`, tc.announcement} {
				if err := ws.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
					t.Fatal(err)
				}
			}
			if refusal := answers(t, ws, "action_error"); code(refusal) != "permission_denied" {
				t.Errorf("refused with %v", refusal)
			}
			if got := h.Runtimes(); len(got) != 1 || got[0].URL != "https://a.example/" {
				t.Errorf("the runtimes are %+v", got)
			}
			if r := h.Call(t.Context(), hub.ToolCall{Name: "echo"}); !r.OK || r.RuntimeID != "rt-1" {
				t.Errorf("a call gives %s %s", r.Output, r.Error)
			}
		})
	}
	t.Run("with the pairing token", func(t *testing.T) {
		h := startHub(t, hub.Options{Pairing: "pair"})
		connect(t, h.Addr(), hosttest.New(hosttest.Tab(1, "https://a.example/", "A")), nil)
		waitRuntimes(t, h, 1)
		ws := dial(t, h, "?token=pair")
		if err := ws.Write(
			t.Context(), websocket.MessageText,
			[]byte(`{"type":"runtime_ready","runtime_id":"rt-1","url":"https://b.example/"}`),
		); err != nil {
			t.Fatal(err)
		}
		eventually(t, "taken over", func() bool {
			list := h.Runtimes()
			return len(list) == 1 && list[0].URL == "https://b.example/"
		})
	})
}

// Connections and bodies that say nothing are bounded in number and time.
func TestWhoSaysNothingIsBounded(t *testing.T) {
	h := startHub(t, hub.Options{MaxUnannounced: 2, MaxBodies: 1, BodyWithin: 3 * time.Second})
	a, _ := dial(t, h, ""), dial(t, h, "")
	if _, resp, err := websocket.Dial(t.Context(), "ws://"+h.Addr()+"/extension", nil); err == nil || resp == nil ||
		resp.StatusCode != 503 {
		t.Fatalf("a third silent connection: %v %v, want status 503", resp, err)
	}
	if err := a.Write(
		t.Context(), websocket.MessageText, []byte(`{"type":"runtime_ready","runtime_id":"rt-1"}`),
	); err != nil {
		t.Fatal(err)
	}
	waitRuntimes(t, h, 1)
	dial(t, h, "")

	begin := func() *bufio.Reader {
		slow, err := net.Dial("tcp", h.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = slow.Close() })
		fmt.Fprintf(slow, "POST /mcp/tools/call HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n\r\n{", h.Addr())
		return bufio.NewReader(slow)
	}
	var answers []string
	for _, slow := range []*bufio.Reader{begin(), begin()} {
		line, err := slow.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, strings.Fields(line)[1])
	}
	if slices.Sort(answers); !slices.Equal(answers, []string{"408", "503"}) {
		t.Errorf("two slow bodies, of which one may come, were answered with %q", answers)
	}
	if status, _ := post(t, h.Addr(), "/mcp/tools/call", `{"name":"browser.claimed_tabs.list"}`); status != 200 {
		t.Errorf("afterwards a request has status %d", status)
	}
}

// A body that has said nothing for a while gives its place to the next.
func TestAQuietBodyGivesItsPlace(t *testing.T) {
	h := startHub(t, hub.Options{MaxBodies: 2, BodyWithin: time.Hour})
	for range 2 {
		slow, err := net.Dial("tcp", h.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		fmt.Fprintf(slow, "POST /mcp/tools/call HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n\r\n{", h.Addr())
	}
	eventually(t, "a request beside quiet bodies", func() bool {
		status, _ := post(t, h.Addr(), "/mcp/tools/call", `{"name":"browser.claimed_tabs.list"}`)
		return status == 200
	})
}

// What calls hold together is bounded, and free again when they have ended.
func TestBodiesAreBoundedTogether(t *testing.T) {
	h := startHub(t, hub.Options{MaxBody: 3000, MaxBodyBytes: 4000, BodyWithin: time.Hour})
	slow, err := net.Dial("tcp", h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	long := strings.Repeat("x", 2500)
	fmt.Fprintf(
		slow, "POST /mcp/tools/call HTTP/1.1\r\nHost: %s\r\nContent-Length: 2900\r\n\r\n%s", h.Addr(), `{"name":"`+long,
	)
	call := `{"name":"browser.claimed_tabs.list","_meta":"` + long + `"}`
	eventually(t, "a call for which there is no room", func() bool {
		status, _ := post(t, h.Addr(), "/mcp/tools/call", call)
		return status == 503
	})
	if status, _ := post(t, h.Addr(), "/mcp/tools/call", `{"name":"browser.claimed_tabs.list"}`); status != 200 {
		t.Errorf("a short call beside it has status %d", status)
	}
	_ = slow.Close()
	eventually(t, "room after the long call has gone", func() bool {
		status, _ := post(t, h.Addr(), "/mcp/tools/call", call)
		return status == 200
	})
}

// Who has announced no runtime may send little; a runtime may send more.
func TestMessagesAreShortBeforeTheAnnouncement(t *testing.T) {
	h := startHub(t, hub.Options{MaxAnnouncement: 70_000})
	long := `{"type":"runtime_status","runtime_id":"` + strings.Repeat("x", 80_000) + `"}`
	early := dial(t, h, "")
	_ = early.Write(t.Context(), websocket.MessageText, []byte(long)) // the hub may have closed before its end
	for {
		if _, _, err := early.Read(t.Context()); err != nil {
			if status := websocket.CloseStatus(err); status != websocket.StatusMessageTooBig && status != -1 {
				t.Errorf("closed with %v", status)
			}
			break
		}
	}
	late := dial(t, h, "")
	for _, item := range []string{
		`{"type":"runtime_ready","runtime_id":"rt-1"}`, long,
		`{"type":"runtime_ready","runtime_id":"rt-1","url":"https://a.example/"}`,
	} {
		if err := late.Write(t.Context(), websocket.MessageText, []byte(item)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "a runtime sends long messages", func() bool {
		list := h.Runtimes()
		return len(list) == 1 && list[0].URL == "https://a.example/"
	})
}
