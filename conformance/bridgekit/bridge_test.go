package bridgekit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/conformance/bridgekit"
	"github.com/outrider-run/outrider/faces/hub"
)

// ours is a hub of this process, on the clock of synctest.
type ours struct{ hub *hub.Hub }

func (o ours) Call(ctx context.Context, c bridgekit.ToolCall) (bridgekit.Answer, error) {
	r := o.hub.Call(ctx, hub.ToolCall{
		Name:                c.Name,
		Arguments:           c.Arguments,
		TargetRuntimeID:     c.TargetRuntimeID,
		TargetRuntimeKey:    c.TargetRuntimeKey,
		TargetURLContains:   c.TargetURLContains,
		TargetTitleContains: c.TargetTitleContains,
		TimeoutMS:           c.TimeoutMS,
	})
	return bridgekit.Answer{Status: r.Status, OK: r.OK, Output: r.Output, Error: r.Error}, nil
}

func (o ours) Runtimes(context.Context) ([]bridgekit.Row, error) {
	rows := []bridgekit.Row{}
	for _, r := range o.hub.Runtimes() {
		rows = append(rows, bridgekit.Row{RuntimeID: r.RuntimeID, URL: r.URL, Title: r.Title})
	}
	return rows, nil
}

// untrusted is a connection like one that came over the network: the hub trusts
// those of its own process.
func (o ours) connect(context.Context) (bridgekit.Link, error) {
	p := bridgeclient.NewPipe(bridgeclient.Traits{Confirms: true, Heartbeat: true})
	if !o.hub.Attach(p) {
		return nil, fmt.Errorf("the hub is closing")
	}
	return p, nil
}

func withHub(t *testing.T, f func(t *testing.T, o ours)) {
	synctest.Test(t, func(t *testing.T) {
		h, err := hub.New(hub.Options{Listen: hub.Nowhere})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = h.Run(ctx) })
		defer running.Wait()
		defer cancel()
		f(t, ours{h})
	})
}

func TestOurBridgeConforms(t *testing.T) {
	withHub(t, func(t *testing.T, o ours) {
		r, err := bridgekit.Bridge(t.Context(), bridgekit.BridgeOptions{
			Connect: o.connect,
			Agent:   o,
			Peer:    "hub",
			Trusted: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Results {
			if c.Outcome == bridgekit.Failed {
				t.Error(c.Line())
			}
		}
		if !r.OK || len(r.Results) != len(bridgekit.BridgeChecks()) {
			t.Errorf("ok %v, %d checks", r.OK, len(r.Results))
		}
	})
}

// wrong is a bridge with a fault: frames and answers pass through it.
type wrong struct {
	bridgekit.Agent
	toRuntime, toBridge func(frame []byte) [][]byte
	call                func(bridgekit.ToolCall) bridgekit.ToolCall
	answer              func(bridgekit.Answer) bridgekit.Answer
	rows                func([]bridgekit.Row) []bridgekit.Row
}

func (w *wrong) Call(ctx context.Context, c bridgekit.ToolCall) (bridgekit.Answer, error) {
	if w.call != nil {
		c = w.call(c)
	}
	a, err := w.Agent.Call(ctx, c)
	if w.answer != nil {
		a = w.answer(a)
	}
	return a, err
}

func (w *wrong) Runtimes(ctx context.Context) ([]bridgekit.Row, error) {
	rows, err := w.Agent.Runtimes(ctx)
	if w.rows != nil {
		rows = w.rows(rows)
	}
	return rows, err
}

type faultyLink struct {
	bridgekit.Link
	w       *wrong
	waiting [][]byte
}

func (l *faultyLink) Send(ctx context.Context, frame []byte) error {
	frames := [][]byte{frame}
	if l.w.toBridge != nil {
		frames = l.w.toBridge(frame)
	}
	for _, f := range frames {
		if err := l.Link.Send(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (l *faultyLink) Receive(ctx context.Context) ([]byte, error) {
	for len(l.waiting) == 0 {
		frame, err := l.Link.Receive(ctx)
		if err != nil {
			return nil, err
		}
		l.waiting = [][]byte{frame}
		if l.w.toRuntime != nil {
			l.waiting = l.w.toRuntime(frame)
		}
	}
	next := l.waiting[0]
	l.waiting = l.waiting[1:]
	return next, nil
}

func has(frame []byte, text string) bool { return bytes.Contains(frame, []byte(text)) }

func only(keep func([]byte) bool) func([]byte) [][]byte {
	return func(frame []byte) [][]byte {
		if keep(frame) {
			return [][]byte{frame}
		}
		return nil
	}
}

func rewrite(old, now string) func([]byte) [][]byte {
	return func(frame []byte) [][]byte { return [][]byte{bytes.ReplaceAll(frame, []byte(old), []byte(now))} }
}

// wrongs are bridges with one fault each, and the checks that must see it.
var wrongs = map[string]struct {
	make func() *wrong
	seen []string
}{
	"does not poll": {func() *wrong {
		return &wrong{toRuntime: only(func(f []byte) bool { return !has(f, `"runtime_status"`) })}
	}, []string{"poll-at-once", "poll-regularly"}},
	"polls once": {func() *wrong {
		seen := 0
		return &wrong{toRuntime: func(f []byte) [][]byte {
			if has(f, `"runtime_status"`) {
				if seen++; seen > 1 {
					return nil
				}
			}
			return [][]byte{f}
		}}
	}, []string{"poll-regularly"}},
	"lists nothing": {func() *wrong {
		return &wrong{rows: func([]bridgekit.Row) []bridgekit.Row { return nil }}
	}, []string{"listed", "announced-again", "many-runtimes"}},
	"lists without title": {func() *wrong {
		return &wrong{rows: func(rows []bridgekit.Row) []bridgekit.Row {
			for i := range rows {
				rows[i].Title = ""
			}
			return rows
		}}
	}, []string{"listed", "announced-again"}},
	"forgets nobody": {func() *wrong {
		ever := map[string]bridgekit.Row{}
		return &wrong{rows: func(rows []bridgekit.Row) []bridgekit.Row {
			for _, r := range rows {
				ever[r.RuntimeID] = r
			}
			out := []bridgekit.Row{}
			for _, r := range ever {
				out = append(out, r)
			}
			return out
		}}
	}, []string{"removed", "cut", "key-supersedes", "key-keeps-connection", "reconnect"}},
	"takes the url of a status": {func() *wrong {
		return &wrong{toBridge: func(f []byte) [][]byte {
			if !has(f, `"runtime_status"`) {
				return [][]byte{f}
			}
			return [][]byte{bytes.Replace(f, []byte("runtime_status"), []byte("runtime_ready"), 1)}
		}}
	}, []string{"status-keeps-url"}},
	"sends calls without arguments": {func() *wrong {
		return &wrong{toRuntime: rewrite(`"arguments":{}`, `"arguments":null`)}
	}, []string{"call-item"}},
	"calls nobody": {func() *wrong {
		return &wrong{toRuntime: only(func(f []byte) bool { return !has(f, `"action_call"`) })}
	}, []string{
		"call-output", "call-error", "failed-output", "wrong-runtime", "no-runtime", "first-wins",
		"out-of-order", "large-output", "large-arguments", "late-answer",
		"route-id", "route-url", "route-title", "route-key", "unknown-items", "other-items", "probe", "evicted",
	}},
	"says that all went well": {func() *wrong {
		return &wrong{answer: func(bridgekit.Answer) bridgekit.Answer {
			return bridgekit.Answer{Status: http.StatusOK, OK: true, Output: json.RawMessage(`{"ok":true}`)}
		}}
	}, []string{
		"call-error", "timeout", "timeout-progress", "removed-in-flight", "route-unknown-id",
		"route-ambiguous", "route-ambiguous-code", "route-not-found-code",
	}},
	"fails without a code": {func() *wrong {
		return &wrong{answer: func(a bridgekit.Answer) bridgekit.Answer {
			if !a.OK {
				a.Error = json.RawMessage(`"no"`)
			}
			return a
		}}
	}, []string{
		"timeout", "timeout-progress", "removed-in-flight",
		"route-ambiguous-code", "route-not-found-code", "call-error",
	}},
	"answers for anybody": {func() *wrong {
		// It completes a call by its id alone.
		return &wrong{toBridge: func(f []byte) [][]byte {
			var it map[string]any
			if !has(f, `"action_call_output"`) || json.Unmarshal(f, &it) != nil {
				return [][]byte{f}
			}
			out := [][]byte{}
			for n := range 40 {
				for _, name := range []string{"a", "b"} {
					for _, check := range []string{"wrong-runtime", "no-runtime"} {
						it["runtime_id"] = fmt.Sprintf("conformance-%s-%s-%d", check, name, n)
						g, _ := json.Marshal(it)
						out = append(out, g)
					}
				}
			}
			return append(out, f)
		}}
	}, []string{"wrong-runtime", "no-runtime"}},
	"takes the last answer": {func() *wrong {
		var held []byte
		return &wrong{toBridge: func(f []byte) [][]byte {
			if has(f, `"output":"first"`) {
				held = f
				return nil
			}
			if has(f, `"output":"second"`) {
				return [][]byte{f, held}
			}
			return [][]byte{f}
		}}
	}, []string{"first-wins"}},
	"sends one call to all": {func() *wrong {
		return &wrong{call: func(c bridgekit.ToolCall) bridgekit.ToolCall {
			// Without a target the hub may choose a runtime of the check before, which is going.
			known, unknown := strings.CutSuffix(c.TargetRuntimeID, "-unknown")
			c.TargetRuntimeID = ""
			c.TargetRuntimeKey = ""
			c.TargetURLContains = ""
			c.TargetTitleContains = ""
			if unknown {
				c.TargetRuntimeID = known
			}
			return c
		}}
	}, []string{
		"route-id", "route-unknown-id", "route-url", "route-title",
		"route-key", "route-ambiguous-code", "route-not-found-code",
	}},
}

// Every check sees at least one of the faults above: none can only pass.
func TestEveryCheckOfABridgeCanFail(t *testing.T) {
	// of connections without a secret: see below
	found := map[string]bool{"no-takeover": true, "no-foreign-removal": true}
	var mu sync.Mutex
	for name, w := range wrongs {
		t.Run(name, func(t *testing.T) {
			withHub(t, func(t *testing.T, o ours) {
				bad := w.make()
				bad.Agent = o
				opts := bridgekit.BridgeOptions{
					Agent: bad, Trusted: true, Arguments: json.RawMessage(`{}`),
					Connect: func(ctx context.Context) (bridgekit.Link, error) {
						l, err := o.connect(ctx)
						return &faultyLink{Link: l, w: bad}, err
					},
					Only: func(id string) bool { return slices.Contains(w.seen, id) },
				}
				r, err := bridgekit.Bridge(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range r.Results {
					if c.Outcome != bridgekit.Failed {
						t.Errorf("not seen: %s", c.Line())
					}
					if c.Reason == "" {
						t.Errorf("%s says no reason", c.ID)
					}
					mu.Lock()
					found[c.ID] = true
					mu.Unlock()
				}
			})
		})
	}
	for _, c := range bridgekit.BridgeChecks() {
		if !found[c.ID] {
			t.Errorf("no fault makes %s fail", c.ID)
		}
	}
}

// Without a secret a real socket of a hub is not trusted: nobody takes over.
func TestNoTakeoverOverTheNetwork(t *testing.T) {
	for _, scheme := range []string{"ws", "http"} {
		for _, trusted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s trusted=%v", scheme, trusted), func(t *testing.T) {
				t.Parallel()
				opts := hub.Options{Listen: "127.0.0.1:0"}
				token := ""
				if trusted {
					token = "secret"
					opts.Token = token
				}
				h, err := hub.New(opts)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.Listen(); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { _ = h.Run(ctx) })
				defer running.Wait()
				defer cancel()
				kit, err := bridgekit.BridgeAt(scheme+"://"+h.Addr()+"/extension", "", token)
				if err != nil {
					t.Fatal(err)
				}
				takeover := func(id string) bool { return id == "no-takeover" || id == "no-foreign-removal" }
				kit.Only = func(id string) bool { return takeover(id) || id == "listed" || id == "call-output" }
				kit.Trusted = false // to see what they would do
				r, err := bridgekit.Bridge(t.Context(), kit)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range r.Results {
					want := bridgekit.Passed
					if trusted && takeover(c.ID) {
						want = bridgekit.Failed // who shows the token may
					}
					if c.Outcome != want {
						t.Errorf("want %s: %s", want, c.Line())
					}
				}
			})
		}
	}
}

func TestAddressesOfBridges(t *testing.T) {
	for address, agent := range map[string]string{
		"ws://h:1/extension":          "http://h:1",
		"wss://h/x/extension?token=t": "https://h",
		"http://h:1/extension":        "http://h:1",
	} {
		o, err := bridgekit.BridgeAt(address, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Agent.(bridgekit.HTTPAgent).Base; got != agent {
			t.Errorf("%s: %s, want %s", address, got, agent)
		}
		if o.TextOnly != strings.HasPrefix(address, "http") || o.Trusted != strings.Contains(address, "token") {
			t.Errorf("%s: %+v", address, o)
		}
	}
	if _, err := bridgekit.BridgeAt("stdio:", "", ""); err == nil {
		t.Error("stdio: was taken")
	}
}
