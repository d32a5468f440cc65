package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// cutter is a TCP relay whose connections can be cut.
type cutter struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
}

func newCutter(t *testing.T, target string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: l, target: target, open: map[net.Conn]bool{}}
	c.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			c.open[in], c.open[out] = true, true
			c.mu.Unlock()
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				c.wg.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					pair[0].Close()
					pair[1].Close()
				})
			}
		}
	})
	return c
}

func (c *cutter) cut() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = len(c.open)
	for conn := range c.open {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset: what was written may be lost
		}
		conn.Close()
	}
	clear(c.open)
	return n
}

func (c *cutter) close() {
	c.listener.Close()
	c.cut()
	c.wg.Wait()
}

// countingHost counts what the client hands to the host and gets back.
type countingHost struct {
	*runtime.Host
	mu                sync.Mutex
	accepted, replied map[string]int
}

func (h *countingHost) Accept(call runtime.Call, done func(runtime.Reply)) func() {
	h.mu.Lock()
	h.accepted[call.ID]++
	h.mu.Unlock()
	return h.Host.Accept(call, func(r runtime.Reply) {
		h.mu.Lock()
		h.replied[call.ID]++
		h.mu.Unlock()
		done(r)
	})
}

// TestEveryCallIsAnsweredOnce sends 1,000 calls over a connection that is cut at
// random 20 times, to a browser that is killed twice. Every call gets exactly
// one answer and runs at most once: a connection that breaks may carry a call or
// an answer twice, but then it is the same call and the same answer. Nothing is
// left over.
func TestEveryCallIsAnsweredOnce(t *testing.T) {
	requireBrowser(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	const (
		calls = 1000
		cuts  = 20
		kills = 2
	)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Soak</title><input id="a"><button>b</button>`)
	}))
	defer page.Close()

	var mu sync.Mutex
	answers := map[string]string{} // by call id: the answer on the wire
	bridge, err := hub.New(hub.Options{Listen: "127.0.0.1:0", Observe: func(o hub.Observation) {
		var item struct {
			Type   string
			CallID string `json:"call_id"`
		}
		if json.Unmarshal(o.Item, &item) != nil || item.CallID == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if item.Type == "action_call_output" || item.Type == "action_error" {
			if first, again := answers[item.CallID]; again && first != string(o.Item) {
				t.Errorf("call %s has two different answers:\n%s\n%s", item.CallID, first, o.Item)
			}
			answers[item.CallID] = string(o.Item)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := bridge.Listen(); err != nil {
		t.Fatal(err)
	}
	relay := newCutter(t, bridge.Addr())
	engine, err := expr.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	host, err := runtime.Open(t.Context(), runtime.Options{
		Registry: catalog.Standard(), Engine: engine, NewID: uuid.NewString,
		Browser: browser.Options{NoSandbox: os.Geteuid() == 0}, Open: []string{page.URL + "/one", page.URL + "/two"},
	})
	if err != nil {
		t.Fatal(err)
	}
	counting := &countingHost{Host: host, accepted: map[string]int{}, replied: map[string]int{}}
	client, err := bridgeclient.New(&bridgeclient.Options{
		URL: "ws://" + relay.listener.Addr().String() + "/extension", Dialect: actionsbridge.New(nil), Host: counting,
		BackoffMin: 10 * time.Millisecond, BackoffMax: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = bridge.Run(ctx) })
	serving.Go(func() { _ = client.Run(ctx) })
	tabs := host.Tabs()
	waitFor(t, time.Minute, "both runtimes are registered", func() bool { return len(bridge.Runtimes()) == 2 })

	// What is done to the connection and the browser happens between calls, at
	// numbers drawn from a fixed seed.
	r := rand.New(rand.NewPCG(1, 2))
	harm := map[int]func(){}
	for len(harm) < cuts {
		harm[1+r.IntN(calls-2)] = func() { relay.cut() }
	}
	for n := range kills {
		harm[calls/3*(n+1)] = func() { killBrowser(t, tmp) }
	}
	bodies := []struct{ name, args string }{
		{"page.info", `{}`},
		{"locator.element_info", `{"locator":{"selector":"button"}}`},
		{"text.insert", `{"text":"x","target":{"selector":"#a"},"mode":"replace"}`},
		{"locator.value", `{"locator":{"selector":"#a"}}`},
		{"locator.element_info", `{"locator":{"selector":"#none"}}`},
	}
	results := make([]hub.ToolResult, calls)
	next := make(chan int)
	var agents sync.WaitGroup
	for range 8 {
		agents.Go(func() {
			for i := range next {
				b := bodies[i%len(bodies)]
				results[i] = bridge.Call(ctx, hub.ToolCall{
					Name:            b.name,
					Arguments:       json.RawMessage(b.args),
					TargetRuntimeID: tabs[i%2].RuntimeID,
					TimeoutMS:       45_000,
				})
			}
		})
	}
	for i := range calls {
		if do := harm[i]; do != nil {
			do()
		}
		next <- i
	}
	close(next)
	agents.Wait()

	outcomes := map[string]int{}
	for i, res := range results {
		var e struct{ Code fault.Code }
		_ = json.Unmarshal(res.Error, &e)
		key := string(e.Code)
		if res.OK {
			key = "ok"
		}
		outcomes[key]++
		if res.OK == (len(res.Error) > 0 && string(res.Error) != "null") || (!res.OK && e.Code == "") {
			t.Errorf("call %d has no clear outcome: %+v", i, res)
		}
		switch e.Code {
		case "", fault.TargetNotFound, fault.BrowserLost, fault.PageNavigated, fault.TabCrashed, fault.SessionLost:
		default:
			t.Errorf("call %d (%s) failed with %s: %s", i, bodies[i%len(bodies)].name, e.Code, res.Error)
		}
	}
	t.Logf("outcomes: %v", outcomes)
	if outcomes["ok"] < calls*3/5 {
		t.Errorf("only %d of %d calls succeeded: %v", outcomes["ok"], calls, outcomes)
	}
	mu.Lock()
	if len(answers) != calls {
		t.Errorf("%d calls were answered on the wire, want %d", len(answers), calls)
	}
	mu.Unlock()
	counting.mu.Lock()
	for id, n := range counting.accepted {
		if n != 1 || counting.replied[id] != 1 {
			t.Errorf("call %s ran %d times and was answered %d times", id, n, counting.replied[id])
		}
	}
	if len(counting.accepted) != calls {
		t.Errorf("the runtime accepted %d calls, want %d", len(counting.accepted), calls)
	}
	counting.mu.Unlock()

	stop()
	serving.Wait()
	if err := host.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("closing the host: %v", err)
	}
	engine.Close()
	relay.close()
	page.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(
		goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop"),
	); err != nil {
		t.Errorf("goroutines left: %v", err)
	}
	if left := browsersOf(tmp); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if entries, _ := os.ReadDir(tmp); len(entries) > 0 {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "outrider-profile") {
				t.Errorf("left behind: %s", e.Name())
			}
		}
	}
}

func waitFor(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// browsersOf lists the processes that name dir in their command line.
func browsersOf(dir string) []string {
	out, _ := exec.Command("pgrep", "-f", dir).Output()
	return strings.Fields(string(out))
}

// killBrowser ends every process that uses a profile in dir, at once.
func killBrowser(t *testing.T, dir string) {
	t.Helper()
	for _, pid := range browsersOf(dir) {
		var n int
		if _, err := fmt.Sscan(pid, &n); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}
