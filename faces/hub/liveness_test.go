package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/primitives/fault"
)

// These tests play a runtime by hand, on the clock of synctest.

type bubble struct {
	t    *testing.T
	hub  *hub.Hub
	stop func()
}

func inBubble(t *testing.T, opts hub.Options, f func(*bubble)) {
	synctest.Test(t, func(t *testing.T) {
		opts.Listen = hub.Nowhere
		var n atomic.Int64
		opts.NewID = func() string { return fmt.Sprintf("id-%d", n.Add(1)) }
		h, err := hub.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		b := &bubble{t: t, hub: h}
		stopped := false
		b.stop = func() {
			if !stopped {
				stopped = true
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("Run = %v", err)
				}
			}
		}
		defer b.stop()
		f(b)
	})
}

// runtimeConn is a connection of a runtime that is played by hand.
type runtimeConn struct {
	*bridgeclient.Pipe
	t *testing.T
}

func (b *bubble) connect() *runtimeConn {
	b.t.Helper()
	p := bridgeclient.NewPipe(bridgeclient.Traits{Confirms: true, Heartbeat: true})
	if !b.hub.Attach(p) {
		b.t.Fatal("the hub is closing")
	}
	c := &runtimeConn{p, b.t}
	synctest.Wait()
	return c
}

func (c *runtimeConn) say(format string, args ...any) {
	c.t.Helper()
	if err := c.Send(c.t.Context(), fmt.Appendf(nil, format, args...)); err != nil {
		c.t.Fatalf("saying %s: %v", format, err)
	}
	synctest.Wait()
}

func (c *runtimeConn) ready(id, key string) {
	c.t.Helper()
	c.say(`{"type":"runtime_ready","runtime_id":%q,"runtime_key":%q,"url":"https://%s.example/","tab":{"tab_id":1,`+
		`"title":"T"}}`, id, key, id)
}

type reportedItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	ProbeID   string `json:"probe_id"`
	RuntimeID string `json:"runtime_id"`
	Name      string `json:"name"`
	TimeoutMS int    `json:"timeout_ms"`
	Arguments struct {
		Bundle map[string]any `json:"bundle"`
	} `json:"arguments"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

// told returns what the hub has said, polls apart.
func (c *runtimeConn) reported() (out []reportedItem) {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		synctest.Wait()
		raw, err := c.Receive(ctx)
		if err != nil {
			return out
		}
		var it reportedItem
		if err := json.Unmarshal(raw, &it); err != nil {
			c.t.Fatalf("the hub sent %q: %v", raw, err)
		}
		if it.Type != "runtime_status" {
			out = append(out, it)
		}
	}
}

func (c *runtimeConn) one(kind string) reportedItem {
	c.t.Helper()
	got := c.reported()
	if len(got) != 1 || got[0].Type != kind {
		c.t.Fatalf("the hub sent %+v, want one %s", got, kind)
	}
	return got[0]
}

func (b *bubble) call(c hub.ToolCall) <-chan hub.ToolResult {
	out := make(chan hub.ToolResult, 1)
	go func() { out <- b.hub.Call(context.Background(), c) }()
	synctest.Wait()
	return out
}

func evidence(r hub.ToolResult) map[string]any {
	var e struct {
		Evidence map[string]any `json:"evidence"`
	}
	_ = json.Unmarshal(r.Error, &e)
	return e.Evidence
}

func TestPollsAtOnceAndRegularly(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		for range 4 {
			raw, err := c.Receive(t.Context())
			if err != nil || string(raw) != `{"type":"runtime_status"}` {
				t.Fatalf("got %s, %v", raw, err)
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
		}
	})
}

func TestProbeBeforeAQuietRuntimeIsCalled(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		r := b.call(hub.ToolCall{Name: "x"})
		it := c.one("action_call")
		c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{}}`, it.CallID)
		if got := <-r; !got.OK {
			t.Fatalf("fresh runtime: %s", got.Error)
		}

		time.Sleep(6 * time.Second)
		r = b.call(hub.ToolCall{Name: "x"})
		probe := c.one("runtime_probe")
		c.say(`{"type":"runtime_probe_result","probe_id":%q,"alive":true}`, probe.ProbeID)
		it = c.one("action_call")
		c.say(`{"type":"action_error","call_id":%q,"runtime_id":"rt-1","error":{"code":"target_not_found",`+
			`"message":"m","extra":1}}`, it.CallID)
		if got := <-r; got.OK || got.Status != 200 || got.Code() != fault.TargetNotFound ||
			!strings.Contains(string(got.Error), `"extra":1`) {
			t.Fatalf("probed runtime: %+v", got)
		}

		time.Sleep(6 * time.Second)
		begin := time.Now()
		r = b.call(hub.ToolCall{Name: "x"})
		c.one("runtime_probe")
		got := <-r
		if got.Code() != fault.TabClosed || time.Since(begin) != 1500*time.Millisecond {
			t.Fatalf("silent runtime: %s after %s, want tab_closed after 1.5 s", got.Error, time.Since(begin))
		}
		if n := len(b.hub.Runtimes()); n != 0 {
			t.Fatalf("%d runtimes after the eviction", n)
		}
		c.say(`{"type":"runtime_status","runtime_id":"rt-1"}`)
		if n := len(b.hub.Runtimes()); n != 0 {
			t.Fatal("a status brought an evicted runtime back")
		}
		c.ready("rt-1", "tab:1")
		if n := len(b.hub.Runtimes()); n != 1 {
			t.Fatal("a new announcement did not bring the runtime back")
		}
	})
}

func TestSilentRuntimeIsHiddenAndSwept(t *testing.T) {
	var removed []string
	opts := hub.Options{OnRuntime: func(c hub.RuntimeChange) {
		if c.Kind == "removed" {
			removed = append(removed, c.Reason)
		}
	}}
	inBubble(t, opts, func(b *bubble) {
		c := b.connect()
		go func() {
			for { // reads, and says nothing
				if _, err := c.Receive(context.Background()); err != nil {
					return
				}
			}
		}()
		c.ready("rt-1", "tab:1")
		time.Sleep(29 * time.Second)
		c.say(`{"type":"runtime_status","runtime_id":"rt-1"}`)
		time.Sleep(29 * time.Second)
		if len(b.hub.Runtimes()) != 1 {
			t.Fatal("removed although it sent an item 29 s ago")
		}
		time.Sleep(2 * time.Second)
		if len(b.hub.Runtimes()) != 0 {
			t.Fatal("still shown after 31 s of silence")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if fmt.Sprint(removed) != "[liveness_sweep]" {
			t.Fatalf("removed: %v", removed)
		}
	})
}

func TestDispatchTimeoutSaysWhatIsKnown(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		begin := time.Now()
		r := b.call(hub.ToolCall{Name: "x", TimeoutMS: 2000})
		it := c.one("action_call")
		if it.TimeoutMS != 2000 {
			t.Errorf("the runtime was given %d ms, want 2000", it.TimeoutMS)
		}
		c.say(`{"type":"action_progress","call_id":%q,"runtime_id":"rt-1","step":"fill"}`, it.CallID)
		got := <-r
		if got.Code() != fault.DispatchTimeout || got.Status != 504 || time.Since(begin) != 2500*time.Millisecond {
			t.Fatalf(
				"%s, status %d after %s; want dispatch_timeout, 504 after 2.5 s",
				got.Error, got.Status, time.Since(begin),
			)
		}
		ev := evidence(got)
		p, _ := ev["last_progress"].(map[string]any)
		if p["step"] != "fill" || ev["elapsed_ms"] != 2500.0 || ev["runtime_connected"] != true {
			t.Errorf("evidence %v", ev)
		}
		// A late answer is dropped.
		c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{}}`, it.CallID)
		if extra := c.reported(); len(extra) != 0 {
			t.Errorf("the hub answered an answer: %+v", extra)
		}
	})
}

func TestOnlyTheRightAnswerCounts(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c, other := b.connect(), b.connect()
		c.ready("rt-1", "tab:1")
		other.ready("rt-2", "tab:2")
		r := b.call(hub.ToolCall{Name: "x", TargetRuntimeID: "rt-1"})
		id := c.one("action_call").CallID
		other.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-2","output":{"from":"wrong"}}`, id)
		other.say(`{"type":"action_call_output","call_id":%q,"output":{"from":"nobody"}}`, id)
		other.say(`{"type":"action_call_output","call_id":"id-99","runtime_id":"rt-1","output":{"from":"elsewhere"}}`)
		// Over another connection is as good.
		other.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{"from":"right"}}`, id)
		c.say(`{"type":"action_error","call_id":%q,"runtime_id":"rt-1","error":{"code":"x","message":"late"}}`, id)
		if got := <-r; !got.OK || string(got.Output) != `{"from":"right"}` {
			t.Fatalf("got %s %s", got.Output, got.Error)
		}
	})
}

func TestCallSurvivesALostConnection(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		r := b.call(hub.ToolCall{Name: "x"})
		id := c.one("action_call").CallID
		c.Cut()
		time.Sleep(5 * time.Second)
		c = b.connect()
		c.ready("rt-1", "tab:1")
		// This runtime did not promise to ignore repetitions.
		if got := c.reported(); len(got) != 0 {
			t.Fatalf("the call was sent again: %+v", got)
		}
		c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{}}`, id)
		if got := <-r; !got.OK {
			t.Fatalf("got %s", got.Error)
		}
	})
}

// A connection that is lost again has its whole time to come back, whenever it was lost before.
func TestCallSurvivesAConnectionThatIsLostTwice(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		r := b.call(hub.ToolCall{Name: "x"})
		id := c.one("action_call").CallID
		c.Cut()
		time.Sleep(time.Second)
		c = b.connect()
		c.ready("rt-1", "tab:1")
		time.Sleep(8500 * time.Millisecond)
		c.Cut() // half a second before the time of the first loss is over
		time.Sleep(time.Second)
		c = b.connect()
		c.ready("rt-1", "tab:1")
		c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{}}`, id)
		if got := <-r; !got.OK {
			t.Fatalf("got %s", got.Error)
		}
	})
}

func TestCallIsSentAgainToARuntimeThatPromises(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		announce := func(c *runtimeConn) {
			c.say(`{"type":"runtime_ready","runtime_id":"rt-1","url":"u","runtime":{"repeats_calls":true}}`)
		}
		c := b.connect()
		announce(c)
		r1 := b.call(hub.ToolCall{Name: "first"})
		r2 := b.call(hub.ToolCall{Name: "second"})
		before := c.reported()
		c.Cut()
		synctest.Wait()
		c = b.connect()
		announce(c)
		announce(c) // the same connection: not once more
		again := c.reported()
		if fmt.Sprint(before) != fmt.Sprint(again) || len(again) != 2 {
			t.Fatalf("sent again %+v, want %+v", again, before)
		}
		for _, it := range again {
			c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{}}`, it.CallID)
		}
		if a, b := <-r1, <-r2; !a.OK || !b.OK {
			t.Fatalf("got %s, %s", a.Error, b.Error)
		}
	})
}

func TestSupersededKey(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		ids := func() string {
			var out []string
			for _, r := range b.hub.Runtimes() {
				out = append(out, r.RuntimeID)
			}
			return strings.Join(out, " ")
		}
		c := b.connect()
		c.ready("rt-1", "tab:1")
		c.ready("rt-2", "tab:2")
		c.ready("rt-3", "tab:1") // the tab was reloaded
		if got := ids(); got != "rt-2 rt-3" {
			t.Fatalf("runtimes %s, want rt-2 rt-3", got)
		}
		select {
		case <-c.Closed():
			t.Fatal("the hub closed the connection that had just spoken")
		default:
		}
		// Another connection takes one of two tabs: the first one stays.
		d := b.connect()
		d.ready("rt-4", "tab:2")
		select {
		case <-c.Closed():
			t.Fatal("the hub closed a connection that still serves a tab")
		default:
		}
		// It takes the last one: the first has nothing left to do.
		d.ready("rt-5", "tab:1")
		<-c.Closed()
		synctest.Wait()
		if got := ids(); got != "rt-4 rt-5" {
			t.Fatalf("runtimes %s, want rt-4 rt-5", got)
		}
	})
}

func TestRemovedRuntimeMayStillAnswer(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		r := b.call(hub.ToolCall{Name: "browser.close_tab"})
		id := c.one("action_call").CallID
		c.say(`{"type":"runtime_removed","runtime_id":"rt-1"}`)
		if len(b.hub.Runtimes()) != 0 {
			t.Fatal("still there")
		}
		c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{"closed":true}}`, id)
		if got := <-r; !got.OK {
			t.Fatalf("got %s", got.Error)
		}
		if got := <-b.call(hub.ToolCall{Name: "x", TargetRuntimeID: "rt-1"}); got.Code() != fault.RuntimeNotFound {
			t.Fatalf("a closed tab: %s, want runtime_not_found at once", got.Error)
		}
	})
}

func TestFramesThatAreNotUnderstood(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		for _, tc := range []struct{ frame, code string }{
			{`not json`, "invalid_frame"},
			{`[]`, "invalid_frame"},
			{`{}`, "invalid_frame"},
			{`{"type":7}`, "invalid_frame"},
			{`{"type":"runtime_ready"}`, "invalid_frame"},
			{`{"type":"runtime_ready","runtime_id":7}`, "invalid_frame"},
			{`{"type":"no_such_item","runtime_id":"rt-1"}`, "unknown_item_type"},
			{`{"type":"action_call","call_id":"x","name":"y"}`, "unknown_item_type"},
			{`{"type":"dom_event","runtime_id":"rt-1"}`, "invalid_frame"},
			{`{"type":"action_error","error":7}`, ""},
			{`{"type":"action_error","call_id":7}`, ""},
			{`{"type":"action_error","error":{"code":"x","message":"y"}}`, ""},
			{`{"type":"runtime_status"}`, ""},
			{`{"type":"runtime_removed","runtime_id":"rt-9"}`, ""},
			{`{"type":"runtime_probe_result","probe_id":"id-0","alive":true}`, ""},
			{`{"type":"agent_event","runtime_id":"rt-1"}`, ""},
		} {
			c.say("%s", tc.frame)
			got := c.reported()
			switch {
			case tc.code == "" && len(got) != 0:
				t.Errorf("%s was answered with %+v", tc.frame, got)
			case tc.code != "" && (len(got) != 1 || got[0].Type != "action_error" || got[0].Error.Code != tc.code):
				t.Errorf("%s was answered with %+v, want %s", tc.frame, got, tc.code)
			}
		}
		if len(b.hub.Runtimes()) != 1 {
			t.Error("the runtime did not survive")
		}
	})
}

func TestShutdownEndsCalls(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		r := b.call(hub.ToolCall{Name: "x"})
		b.stop()
		if got := <-r; got.Code() != fault.Cancelled || got.Status != 503 {
			t.Fatalf("got %s, status %d", got.Error, got.Status)
		}
		<-c.Closed()
		if b.hub.Attach(bridgeclient.NewPipe(bridgeclient.Traits{})) {
			t.Error("a closed hub took a connection")
		}
	})
}

func TestBundleIsHandedOver(t *testing.T) {
	opts := hub.Options{Bundle: func() (json.RawMessage, error) {
		return json.RawMessage(`{"protocol":"actions.json.storage.bundle","version":1,"entries":[]}`), nil
	}}
	inBubble(t, opts, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		it := c.one("action_call")
		if it.Name != "storage.import_bundle" || it.Arguments.Bundle["x_actions_json_bridge_hydration"] != true ||
			it.Arguments.Bundle["version"] != 1.0 {
			t.Fatalf("got %+v", it)
		}
		c.say(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{"ok":true}}`, it.CallID)
	})
}

// A runtime that reads nothing cannot make the hub buffer everything for it.
func TestRuntimeThatDoesNotRead(t *testing.T) {
	inBubble(t, hub.Options{MaxQueued: 100_000}, func(b *bubble) {
		c := b.connect()
		c.ready("rt-1", "tab:1")
		args := json.RawMessage(`{"text":"` + strings.Repeat("x", 10_000) + `"}`)
		for range 40 {
			b.call(hub.ToolCall{Name: "x", Arguments: args, TimeoutMS: 1000})
		}
		<-c.Closed()
		time.Sleep(10 * time.Second)
		if len(b.hub.Runtimes()) != 0 {
			t.Error("the runtime is still there")
		}
	})
}
