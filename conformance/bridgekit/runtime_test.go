package bridgekit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/conformance/bridgekit"
)

// model is a runtime that does what the kit expects, without a page. mutate
// changes what it sends; nil frames are not sent.
type model struct {
	dial    chan *bridgeclient.Pipe
	mutate  func(frame string) []string
	mute    func(in map[string]any) bool // items that it does not answer
	gone    bool                         // it does not come back
	instant bool                         // it runs nothing in order
	newKeys bool

	mu     sync.Mutex
	conn   *bridgeclient.Pipe
	kept   []string // answers that no connection took
	stored map[string]string
	cancel map[string]func()
	busy   chan struct{} // the end of the newest call
	wg     sync.WaitGroup
}

const page = "https://shop.example/cart"

func (m *model) run(ctx context.Context) {
	m.stored, m.cancel = map[string]string{}, map[string]func(){}
	for n := 0; ctx.Err() == nil; n++ {
		p := bridgeclient.NewPipe(bridgeclient.Traits{Confirms: true, Heartbeat: true})
		select {
		case m.dial <- p:
		case <-ctx.Done():
			return
		}
		key := "tab:1"
		if m.newKeys {
			key = fmt.Sprint("tab:", n)
		}
		m.mu.Lock()
		m.conn = p
		kept := m.kept
		m.kept = nil
		m.mu.Unlock()
		m.say(`{"type":"runtime_ready","runtime_id":"rt-1","runtime_key":"` + key + `","url":"` + page +
			`","tab":{"title":"Cart"},"runtime":{"name":"model","version":"1","repeats_calls":true,` +
			`"cancels_calls":true}}`)
		for _, frame := range kept {
			m.say(frame)
		}
		m.serve(ctx, p)
		m.mu.Lock()
		m.conn = nil
		m.mu.Unlock()
		if m.gone {
			return
		}
	}
}

func (m *model) say(frame string) {
	frames := []string{frame}
	if m.mutate != nil {
		frames = m.mutate(frame)
	}
	m.mu.Lock()
	p := m.conn
	m.mu.Unlock()
	for _, f := range frames {
		if p == nil || p.Write(context.Background(), []byte(f)) != nil {
			m.mu.Lock()
			if strings.Contains(f, "call_id") {
				m.kept = append(m.kept, f)
			}
			m.mu.Unlock()
		}
	}
}

func (m *model) serve(ctx context.Context, p *bridgeclient.Pipe) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beat sync.WaitGroup
	beat.Go(func() {
		t := time.NewTicker(4 * time.Second)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				m.say(`{"type":"runtime_status","runtime_id":"rt-1"}`)
			case <-ctx.Done():
				return
			}
		}
	})
	defer beat.Wait()
	defer cancel()
	for {
		frame, err := p.Read(ctx)
		if err != nil {
			return
		}
		var in map[string]any
		if json.Unmarshal(frame, &in) != nil || m.mute != nil && m.mute(in) {
			continue
		}
		m.take(in)
	}
}

func (m *model) take(in map[string]any) {
	id, _ := in["call_id"].(string)
	switch in["type"] {
	case "runtime_status":
		m.say(`{"type":"runtime_status","runtime_id":"rt-1"}`)
	case "runtime_probe":
		if in["probe_id"] != nil {
			m.say(fmt.Sprintf(
				`{"type":"runtime_probe_result","probe_id":%q,"alive":%v}`, in["probe_id"], in["runtime_id"] == "rt-1",
			))
		}
	case "action_cancel":
		m.mu.Lock()
		stop := m.cancel[id]
		m.mu.Unlock()
		if stop != nil {
			stop()
		}
	case "action_call", "site_action_call", "state_projection_call":
		if id == "" {
			return
		}
		m.mu.Lock()
		if old, again := m.stored[id]; again {
			m.mu.Unlock()
			m.say(old)
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		m.cancel[id] = cancel
		before, done := m.busy, make(chan struct{})
		if in["type"] == "action_call" && !m.instant {
			m.busy = done
		}
		m.mu.Unlock()
		m.wg.Go(func() {
			defer cancel()
			defer close(done)
			if before != nil && !m.instant {
				<-before
			}
			answer := m.answer(ctx, id, in)
			m.mu.Lock()
			m.stored[id] = answer
			m.mu.Unlock()
			m.say(answer)
		})
	}
}

func (m *model) answer(ctx context.Context, id string, in map[string]any) string {
	output := func(out string) string {
		return fmt.Sprintf(`{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":%s}`, id, out)
	}
	failed := func(code string) string {
		return fmt.Sprintf(
			`{"type":"action_error","call_id":%q,"runtime_id":"rt-1","error":{"code":%q,"message":"m"}}`, id, code,
		)
	}
	args, _ := in["arguments"].(map[string]any)
	path, _ := in["map_path"].(string)
	switch name := fmt.Sprintf("%v%v%v", in["name"], in["action"], in["mode"]); name {
	case "page.info<nil><nil>":
		return output(`{"ok":true,"primitive":"page.info","value":{"url":"` + page + `"}}`)
	case "storage.import_bundle<nil><nil>":
		return output(`{"ok":true}`)
	case "locator.text_content<nil><nil>":
		return output(`{"ok":false,"error":{"code":"invalid_input","message":"m"}}`)
	case "locator.wait_for<nil><nil>":
		wait, _ := args["timeout_ms"].(float64)
		if limit, ok := in["timeout_ms"].(float64); ok {
			wait = min(wait, limit)
		}
		if wait > 600 {
			m.say(fmt.Sprintf(`{"type":"action_progress","call_id":%q,"runtime_id":"rt-1"}`, id))
		}
		select {
		case <-time.After(time.Duration(wait) * time.Millisecond):
			return failed("timeout")
		case <-ctx.Done():
			return failed("cancelled")
		}
	case "<nil>conformance.read<nil>":
		if !strings.Contains(path, "/shop.example/") {
			return failed("unknown_action")
		}
		return output(
			`{"ok":true,"primitive":"actions.workflow","value":{"url":"` + page + `","text":"hello","skipped":true}}`,
		)
	case "<nil>conformance.broken<nil>":
		return failed("invalid_workflow")
	case "<nil><nil>state_read", "<nil><nil>state_summary", "<nil><nil>state_diff":
		if declared, _ := json.Marshal(in["projection"]); bytes.Contains(declared, []byte("$eval")) {
			return failed("disallowed_expression_function")
		}
		// The hash of {"url":"https://shop.example/cart","name":"conformance.state"}.
		rest := map[string]string{
			"state_read":    `"diagnostics":{},"state":{"url":"` + page + `","name":"conformance.state"}`,
			"state_summary": `"summary_name":"agent_context","summary":{"short":"conformance.state"}`,
			"state_diff":    `"baseline":"previous_snapshot","patches":[]`,
		}[in["mode"].(string)]
		return output(`{"ok":true,"projection":"conformance.state","state_hash":"djb2:f1fd7e13",` + rest + `}`)
	}
	return failed("unknown_action")
}

func withModel(
	t *testing.T, m *model, only func(string) bool, judge func(t *testing.T, r bridgekit.Report, err error),
) {
	synctest.Test(t, func(t *testing.T) {
		m.dial = make(chan *bridgeclient.Pipe)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); m.run(ctx) }()
		r, err := bridgekit.Runtime(t.Context(), bridgekit.RuntimeOptions{
			Only: only,
			Accept: func(ctx context.Context) (bridgekit.Link, error) {
				select {
				case p := <-m.dial:
					return p, nil
				case <-ctx.Done():
					return nil, errors.New("nobody came")
				}
			},
		})
		cancel()
		<-done
		m.mu.Lock()
		for _, stop := range m.cancel {
			stop()
		}
		m.mu.Unlock()
		m.wg.Wait()
		judge(t, r, err)
	})
}

func TestAModelRuntimeConforms(t *testing.T) {
	withModel(t, &model{}, nil, func(t *testing.T, r bridgekit.Report, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Results {
			if c.Outcome != bridgekit.Passed {
				t.Error(c.Line())
			}
		}
		if !r.OK || r.Peer != "model 1" || len(r.Results) != len(bridgekit.RuntimeChecks()) {
			t.Errorf("%v %q, %d results", r.OK, r.Peer, len(r.Results))
		}
	})
}

func replace(old, now string) func(string) []string {
	return func(f string) []string { return []string{strings.ReplaceAll(f, old, now)} }
}

func without(text string) func(string) []string {
	return func(f string) []string {
		if strings.Contains(f, text) {
			return nil
		}
		return []string{f}
	}
}

func silentOn(key string, value any) func(map[string]any) bool {
	return func(in map[string]any) bool { return in[key] == value }
}

// wrongRuntimes are runtimes with one fault each, and the checks that must see it.
var wrongRuntimes = map[string]struct {
	make func() *model
	seen []string
}{
	"announces no url": {
		func() *model { return &model{mutate: replace(`"url":"`+page+`","tab"`, `"tab"`)} },
		[]string{"announced"},
	},
	"announces no key": {
		func() *model { return &model{mutate: replace(`"runtime_key":"tab:1",`, ``)} },
		[]string{"announced-tab"},
	},
	"sends no status": {
		func() *model { return &model{mutate: without(`"runtime_status"`)} },
		[]string{"poll", "unasked-status"},
	},
	"answers no probe": {
		func() *model { return &model{mutate: without(`probe_result`)} },
		[]string{"probe", "probe-unknown", "probe-while-busy"},
	},
	"is always alive": {
		func() *model { return &model{mutate: replace(`"alive":false`, `"alive":true`)} },
		[]string{"probe-unknown"},
	},
	"is never alive": {
		func() *model { return &model{mutate: replace(`"alive":true`, `"alive":false`)} },
		[]string{"probe", "probe-while-busy"},
	},
	"answers no call": {func() *model { return &model{mutate: without(`"call_id"`)} }, []string{
		"call", "null-arguments", "foreign-keys", "unknown-action", "bad-arguments", "many-calls", "order", "progress",
		"deadline", "repeated-call", "cancel", "hydration", "credential", "unknown-items", "site-action",
		"site-action-unknown", "site-action-host", "site-action-fails", "state-read", "state-summary", "state-diff",
		"state-refused", "reconnect", "output-kept", "probe-while-busy",
	}},
	"answers for another": {func() *model {
		return &model{mutate: replace(`"runtime_id":"rt-1","output"`, `"runtime_id":"rt-2","output"`)}
	}, []string{"call", "site-action", "state-read"}},
	"says that all worked": {
		func() *model { return &model{mutate: replace(`"action_error"`, `"action_call_output"`)} },
		[]string{
			"unknown-action", "site-action-unknown", "site-action-host",
			"site-action-fails", "state-refused", "progress", "deadline", "cancel",
		},
	},
	"answers twice": {func() *model {
		return &model{mutate: func(f string) []string {
			if strings.Contains(f, `"output"`) {
				return []string{f, f}
			}
			return []string{f}
		}}
	}, []string{"many-calls"}},
	"ignores null arguments": {func() *model {
		return &model{mute: func(in map[string]any) bool { return in["name"] == "page.info" && in["arguments"] == nil }}
	}, []string{"null-arguments"}},
	"refuses foreign keys": {func() *model {
		return &model{mute: func(in map[string]any) bool {
			args, _ := in["arguments"].(map[string]any)
			return args["policy_exception_report"] != nil
		}}
	}, []string{"foreign-keys"}},
	"runs calls at once":  {func() *model { return &model{instant: true} }, []string{"order"}},
	"reports no progress": {func() *model { return &model{mutate: without("action_progress")} }, []string{"progress"}},
	"knows no cancel": {
		func() *model { return &model{mute: silentOn("type", "action_cancel")} },
		[]string{"cancel"},
	},
	"answers probes late": {
		func() *model { return &model{mutate: delayed("probe_result", 1600*time.Millisecond)} },
		[]string{"probe", "probe-while-busy"},
	},
	"sends the key back": {func() *model {
		return &model{mutate: replace(`"value":{`, `"value":{"key":"sk-conformance-0123456789abcdef",`)}
	}, []string{"credential"}},
	"ignores the map": {
		func() *model { return &model{mutate: replace(`"hello"`, `""`)} },
		[]string{"site-action"},
	},
	"has another hash": {
		func() *model { return &model{mutate: replace(`djb2:f1fd7e13`, `djb2:f1fd7e14`)} },
		[]string{"state-read"},
	},
	"has no hash": {
		func() *model { return &model{mutate: replace(`"state_hash":"djb2:f1fd7e13",`, ``)} },
		[]string{"state-read", "state-summary", "state-diff"},
	},
	"sends the state, too": {
		func() *model { return &model{mutate: replace(`"summary":{`, `"state":{},"summary":{`)} },
		[]string{"state-summary"},
	},
	"differs from itself": {
		func() *model { return &model{mutate: replace(`"patches":[]`, `"patches":[{"op":"replace"}]`)} },
		[]string{"state-diff"},
	},
	"does not come back":   {func() *model { return &model{gone: true} }, []string{"reconnect"}},
	"does not come back 2": {func() *model { return &model{gone: true} }, []string{"same-key"}},
	"does not come back 3": {func() *model { return &model{gone: true} }, []string{"output-kept"}},
	"has a new key":        {func() *model { return &model{newKeys: true} }, []string{"same-key"}},
	"forgets its answers":  {func() *model { return &model{mutate: without(`"timeout"`)} }, []string{"output-kept"}},
	"forgets what it did": {func() *model {
		n := 0
		return &model{mutate: func(f string) []string {
			n++
			return replace(`"value":{`, fmt.Sprintf(`"value":{"n":%d,`, n))(f)
		}}
	}, []string{"repeated-call"}},
	"has no code of failure": {
		func() *model { return &model{mutate: replace(`"code":`, `"kind":`)} },
		[]string{"unknown-action", "bad-arguments"},
	},
}

func delayed(text string, d time.Duration) func(string) []string {
	return func(f string) []string {
		if strings.Contains(f, text) {
			time.Sleep(d)
		}
		return []string{f}
	}
}

func TestEveryCheckOfARuntimeCanFail(t *testing.T) {
	found := map[string]bool{}
	for name, w := range wrongRuntimes {
		t.Run(name, func(t *testing.T) {
			withModel(t, w.make(), func(id string) bool { return slices.Contains(w.seen, id) }, func(
				t *testing.T, r bridgekit.Report, err error,
			) {
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range r.Results {
					if c.Outcome != bridgekit.Failed || c.Reason == "" {
						t.Errorf("not seen: %s", c.Line())
					}
					found[c.ID] = true
				}
			})
		})
	}
	for _, c := range bridgekit.RuntimeChecks() {
		if !found[c.ID] {
			t.Errorf("no fault makes %s fail", c.ID)
		}
	}
}
