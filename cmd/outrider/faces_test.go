package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/faces/provider"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// countingPage counts clicks of its button and writes down who clicked.
const countingPage = `<!doctype html><title>count</title><input id="who"><button id="b" style="position:fixed;left:0;top:100px;width:200px;height:100px">press</button>
<pre id="log"></pre><script>let n = 0; document.getElementById('b').onclick = () => { document.getElementById('log').textContent += ++n + '\n' }</script>`

func agent(t *testing.T, url string) *sdk.ClientSession {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &sdk.StreamableClientTransport{Endpoint: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

func ask(t *testing.T, cs *sdk.ClientSession, tool, args string) string {
	r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Errorf("%s %s: %v", tool, args, err)
		return ""
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		t.Errorf("%s %s: %s", tool, args, text)
	}
	return text
}

// providerSession is a session of the provider protocol on a connection of its
// own.
type providerSession struct {
	in      *bufio.Reader
	out     io.Writer
	session string
	next    int
}

func newProviderSession(t *testing.T, in io.Reader, out io.Writer, isolation string) *providerSession {
	s := &providerSession{in: bufio.NewReader(in), out: out}
	s.session, _ = s.call(t, "session.ensure", map[string]any{
		"client_session_id": isolation,
		"isolation":         isolation,
	})["session_id"].(string)
	return s
}

// providerSessions are one that shares the runtime's tab and one with a page of
// its own at url.
func providerSessions(
	t *testing.T, ctx context.Context, host provider.Host, url string,
) (own, shared *providerSession) {
	t.Helper()
	server, err := provider.New(ctx, provider.Options{Host: host, NewID: uuid.NewString, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(context.WithoutCancel(ctx)) })
	open := func(isolation string) *providerSession {
		toServer, out := io.Pipe()
		in, fromServer := io.Pipe()
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(ctx, toServer, fromServer, "pipe-json")
		}()
		t.Cleanup(func() { _ = out.Close(); _ = in.Close(); <-served })
		return newProviderSession(t, in, out, isolation)
	}
	own, shared = open("per_jcode_session"), open("shared")
	own.call(t, "page.open", map[string]any{"url": url})
	return own, shared
}

func (s *providerSession) call(t *testing.T, method string, params map[string]any) map[string]any {
	answer := s.ask(t, method, params)
	var a struct {
		ID     string         `json:"id"`
		OK     bool           `json:"ok"`
		Result map[string]any `json:"result"`
	}
	if json.Unmarshal([]byte(answer), &a) != nil || !a.OK || a.ID != fmt.Sprint(s.next) {
		t.Errorf("%s: %s", method, answer)
	}
	return a.Result
}

// ask returns the answer as it came.
func (s *providerSession) ask(t *testing.T, method string, params map[string]any) string {
	s.next++
	if s.session != "" {
		params["session_id"] = s.session
	}
	line, err := json.Marshal(map[string]any{"id": fmt.Sprint(s.next), "method": method, "params": params})
	if err != nil {
		t.Error(err)
		return ""
	}
	if _, err := s.out.Write(append(line, '\n')); err != nil {
		t.Errorf("%s: %v", method, err)
		return ""
	}
	answer, err := s.in.ReadBytes('\n')
	if err != nil {
		t.Errorf("%s: %v", method, err)
	}
	return string(answer)
}

// A bridge, an agent of the bridge over MCP, an MCP client of the runtime itself
// and a client of the provider protocol work on one host: in parallel on tabs of their own, in order on one
// that they share.
func TestFacesShareAHost(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(countingPage))
	}))
	defer page.Close()
	engine, err := expr.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	ctx, stop := context.WithCancel(t.Context())
	host, err := runtime.Open(ctx, runtime.Options{
		Registry: catalog.Standard(),
		Engine:   engine,
		NewID:    uuid.NewString,
		Browser:  browsertest.Options(),
		Open:     []string{page.URL},
		Version:  "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close(context.WithoutCancel(ctx))

	connected := make(chan struct{}, 8)
	bridge, err := hub.New(hub.Options{Listen: "127.0.0.1:0", Version: "test", OnRuntime: func(c hub.RuntimeChange) {
		if c.Kind == "connected" {
			connected <- struct{}{}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	onBridge, err := mcp.NewBridge(ctx, hubBridge{bridge}, mcp.Options{NewID: uuid.NewString, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = onBridge.Close(context.WithoutCancel(ctx)) }()
	bridge.Handle("/mcp", onBridge.Transport(0))
	if err := bridge.Listen(); err != nil {
		t.Fatal(err)
	}
	client, err := bridgeclient.New(&bridgeclient.Options{
		URL:     "ws://" + bridge.Addr() + "/extension",
		Dialect: actionsbridge.New(nil),
		Host:    host,
	})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = bridge.Run(ctx) })
	running.Go(func() { _ = client.Run(ctx) })
	defer running.Wait()
	defer stop()
	select {
	case <-connected:
	case <-time.After(time.Minute):
		t.Fatal("the runtime did not connect to the bridge")
	}

	own, err := mcp.New(ctx, mcp.Options{
		Host:    host,
		NewID:   uuid.NewString,
		Version: "test",
		Tools:   "pointer.click,browser.run_javascript",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close(context.WithoutCancel(ctx)) }()
	front := httptest.NewServer(own.Handler(mcp.HTTPOptions{}))
	defer front.Close()
	defer front.CloseClientConnections()
	routed, direct := agent(t, "http://"+bridge.Addr()+"/mcp"), agent(t, front.URL)

	var session struct{ Page, Session string }
	if err := json.Unmarshal(
		[]byte(ask(t, direct, "tabs", fmt.Sprintf(`{"action":"open_session","url":%q}`, page.URL))), &session,
	); err != nil {
		t.Fatal(err)
	}
	if list := ask(t, routed, "runtimes", `{}`); strings.Count(list, `"runtime_id"`) != 1 {
		t.Errorf("the bridge sees the pages of another client's session: %s", list)
	}

	own3, shared3 := providerSessions(t, ctx, host, page.URL)

	const each = 20
	click := `{"x":50,"y":150}`
	var group sync.WaitGroup
	group.Go(func() { // the bridge, on the shared tab
		for range each {
			if r := bridge.Call(ctx, hub.ToolCall{Name: "pointer.click", Arguments: json.RawMessage(click)}); !r.OK {
				t.Errorf("bridge: %s", r.Error)
			}
		}
	})
	group.Go(func() { // an agent of the bridge, on the same tab
		for range each {
			ask(t, routed, "primitive", `{"name":"pointer.click","arguments":`+click+`}`)
		}
	})
	group.Go(func() { // a client of the runtime, on the same tab
		for range each {
			ask(t, direct, "pointer.click", `{"page":"p1","x":50,"y":150}`)
		}
	})
	group.Go(func() { // and on a tab of its own
		for range each {
			ask(t, direct, "pointer.click", fmt.Sprintf(`{"page":%q,"x":50,"y":150}`, session.Page))
		}
	})
	for _, c := range []*providerSession{shared3, own3} { // a provider client, on both
		group.Go(func() {
			for range each {
				out := c.call(t, "page.click", map[string]any{"position": map[string]any{"x": 50, "y": 150}})
				if out["clicked"] != true {
					t.Errorf("provider: %v", out)
				}
			}
		})
	}
	group.Wait()
	count := func(page string, want int) {
		got := ask(t, direct, "browser.run_javascript", fmt.Sprintf(
			`{"page":%q,"source":"return document.getElementById('log').textContent.trim().split('\\n').length"}`, page,
		))
		if !strings.Contains(got, fmt.Sprintf(`"result":%d`, want)) {
			t.Errorf("page %s counted %s, want %d clicks", page, got, want)
		}
	}
	count("p1", 4*each)
	if got := own3.call(t, "page.eval", map[string]any{
		"expression": `document.getElementById('log').textContent.trim().split('\n').length`,
	})["value"]; got != float64(each) {
		t.Errorf("the provider client's own page counted %v, want %d clicks", got, each)
	}
	count(session.Page, each)
}
