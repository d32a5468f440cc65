// Package hosttest is a runtime host without a browser, and a proxy that cuts
// connections. It runs no page: its answers are those that a test gives it. The tests
// of the faces call it.
package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Host runs calls by name, in order per tab and in parallel across tabs:
//
//	echo    output {"ok":true,"value":<arguments>,"runtime_id":…}
//	sleep   the same after arguments.ms milliseconds; obeys cancel and timeout
//	block   never ends by itself
//	fail    error target_not_found, no output
//	soft    output with a failure envelope beside the error
//	big     output of arguments.bytes bytes
//	steps   reports progress of arguments.steps, with arguments.ms between
//	goto    changes the tab's address to arguments.url and emits TabChanged afterwards
//
// actions.site is an echo that names the map it was given. Any other name is
// unknown_action.
type Host struct {
	// InfoValue and ManifestValue are what Info and Manifest return.
	InfoValue     runtime.Info
	ManifestValue json.RawMessage
	// Import replaces ImportBundle.
	Import func(ctx context.Context, bundle json.RawMessage) (json.RawMessage, *fault.Error)

	mu      sync.Mutex
	tabs    []runtime.TabStatus
	queues  map[string]*queue
	subs    map[int]func(runtime.Event)
	nextSub int
	runs    map[string]int
	order   []string
	wg      sync.WaitGroup
}

type queue struct{ last chan struct{} }

// Manifest that New gives a host.
const Manifest = `{"protocol":"actions.json","version":1,"primitive_dictionary":{"version":1,"stage":1,"primitives":[` +
	`{"name":"sleep","summary":"wait","input_schema":{"type":"object","properties":{"ms":{"type":"integer"}}}},` +
	`{"name":"echo","summary":"say it again","input_schema":{"type":"object"}},` +
	`{"name":"locator.wait_for","summary":"wait for an element","input_schema":{"type":"object",` +
	`"properties":{"timeout_ms":{"type":"integer"}}}}` +
	`]},"tools":[{"name":"actions.site","description":"the site","input_schema":{"type":"object","required":["mode"],` +
	`"properties":{"mode":{"type":"string"}}}}]}`

// New returns a host with the given tabs; the first one is active.
func New(tabs ...runtime.TabStatus) *Host {
	h := &Host{
		InfoValue: runtime.Info{
			Version:      "0.0.1",
			Host:         "chromium-cdp",
			Browser:      "Chrome/1.2.3",
			Device:       "test · 0001",
			Capabilities: []string{"browser.screenshot"},
		},
		ManifestValue: json.RawMessage(Manifest),
		queues:        map[string]*queue{},
		subs:          map[int]func(runtime.Event){},
		runs:          map[string]int{},
	}
	for i := range tabs {
		tabs[i].Active = tabs[i].Active || i == 0
	}
	h.tabs = tabs
	return h
}

// Tab makes a tab status.
func Tab(n int, url, title string) runtime.TabStatus {
	return runtime.TabStatus{
		RuntimeID:       fmt.Sprintf("rt-%d", n),
		RuntimeKey:      fmt.Sprintf("tab:%d", n),
		AuthorizationID: fmt.Sprintf("auth-%d", n),
		TabID:           n,
		WindowID:        1,
		URL:             url,
		Title:           title,
	}
}

// Info implements bridgeclient.Host.
func (h *Host) Info() runtime.Info { return h.InfoValue }

// Manifest implements bridgeclient.Host.
func (h *Host) Manifest() json.RawMessage { return h.ManifestValue }

// Tabs implements bridgeclient.Host.
func (h *Host) Tabs() []runtime.TabStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tabs)
}

// Subscribe implements bridgeclient.Host.
func (h *Host) Subscribe(fn func(runtime.Event)) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nextSub++
	id := h.nextSub
	h.subs[id] = fn
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, id)
	}
}

// Emit sends an event to the subscribers.
func (h *Host) Emit(ev runtime.Event) {
	h.mu.Lock()
	var fns []func(runtime.Event)
	for _, fn := range h.subs {
		fns = append(fns, fn)
	}
	h.mu.Unlock()
	for _, fn := range fns {
		fn(ev)
	}
}

// Set adds or changes a tab and emits the event.
func (h *Host) Set(t runtime.TabStatus) {
	kind := runtime.TabReady
	h.mu.Lock()
	if i := slices.IndexFunc(h.tabs, func(o runtime.TabStatus) bool { return o.RuntimeID == t.RuntimeID }); i >= 0 {
		h.tabs[i], kind = t, runtime.TabChanged
	} else {
		h.tabs = append(h.tabs, t)
	}
	h.mu.Unlock()
	h.Emit(runtime.Event{Kind: kind, Tab: t})
}

// Remove takes a tab away and emits the event.
func (h *Host) Remove(runtimeID string) {
	h.mu.Lock()
	var gone runtime.TabStatus
	h.tabs = slices.DeleteFunc(h.tabs, func(t runtime.TabStatus) bool {
		if t.RuntimeID == runtimeID {
			gone = t
			return true
		}
		return false
	})
	h.mu.Unlock()
	h.Emit(runtime.Event{Kind: runtime.TabRemoved, Tab: gone})
}

// Runs says how often the call was executed.
func (h *Host) Runs(callID string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[callID]
}

// Order returns what was executed, in order: call ids, and "import" for
// bundles.
func (h *Host) Order() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.order)
}

// Wait waits until every accepted call has ended.
func (h *Host) Wait() { h.wg.Wait() }

// ImportBundle implements bridgeclient.Host.
func (h *Host) ImportBundle(ctx context.Context, bundle json.RawMessage) (json.RawMessage, *fault.Error) {
	if h.Import != nil {
		out, err := h.Import(ctx, bundle)
		h.mu.Lock()
		h.order = append(h.order, "import")
		h.mu.Unlock()
		return out, err
	}
	var b struct {
		Entries []json.RawMessage `json:"entries"`
	}
	_ = json.Unmarshal(bundle, &b)
	h.mu.Lock()
	h.order = append(h.order, "import")
	h.mu.Unlock()
	return json.RawMessage(fmt.Sprintf(`{"ok":true,"entry_count":%d}`, len(b.Entries))), nil
}

// Do implements bridgeclient.Host.
func (h *Host) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	done := make(chan runtime.Reply, 1)
	cancel := h.Accept(call, func(r runtime.Reply) { done <- r })
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return <-done
}

// Accept implements bridgeclient.Host.
func (h *Host) Accept(call runtime.Call, done func(runtime.Reply)) func() {
	ctx, cancel := context.WithTimeout(context.Background(), max(call.Timeout, time.Millisecond))
	start := time.Now()
	h.mu.Lock()
	t, err := h.pick(call.Target)
	prev, mine := (chan struct{})(nil), make(chan struct{})
	if err == nil {
		q := h.queues[t.RuntimeID]
		if q == nil {
			q = &queue{}
			h.queues[t.RuntimeID] = q
		}
		prev, q.last = q.last, mine
	}
	h.wg.Add(1)
	h.mu.Unlock()
	go func() {
		defer h.wg.Done()
		defer cancel()
		defer close(mine)
		reply := runtime.Reply{Err: err}
		if err == nil {
			if prev != nil {
				<-prev
			}
			h.mu.Lock()
			h.runs[call.ID]++
			h.order = append(h.order, call.ID)
			h.mu.Unlock()
			reply = h.run(ctx, t, call)
		}
		reply.URL = h.url(t.RuntimeID)
		reply.ID = call.ID
		reply.RuntimeID = t.RuntimeID
		reply.Duration = time.Since(start)
		done(reply)
	}()
	return cancel
}

func (h *Host) url(runtimeID string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tabs {
		if t.RuntimeID == runtimeID {
			return t.URL
		}
	}
	return ""
}

func (h *Host) pick(to runtime.Target) (runtime.TabStatus, *fault.Error) {
	var fit []runtime.TabStatus
	for _, t := range h.tabs {
		if to.RuntimeID != "" && to.RuntimeID != t.RuntimeID || to.RuntimeKey != "" && to.RuntimeKey != t.RuntimeKey {
			continue
		}
		if (to.TabID == 0 || to.TabID == t.TabID) &&
			strings.Contains(strings.ToLower(t.URL), strings.ToLower(to.URLContains)) &&
			strings.Contains(strings.ToLower(t.Title), strings.ToLower(to.TitleContains)) {
			fit = append(fit, t)
		}
	}
	switch {
	case len(fit) == 0:
		return runtime.TabStatus{}, fault.New(fault.RuntimeNotFound, "no tab matches the target")
	case len(fit) > 1 && to != (runtime.Target{}):
		return runtime.TabStatus{}, fault.New(fault.AmbiguousRuntime, "%d tabs match the target", len(fit))
	}
	for _, t := range fit {
		if t.Active {
			return t, nil
		}
	}
	return fit[0], nil
}

func (h *Host) run(ctx context.Context, t runtime.TabStatus, call runtime.Call) runtime.Reply {
	var in struct {
		MS    int64    `json:"ms"`
		Bytes int      `json:"bytes"`
		Steps []string `json:"steps"`
		URL   string   `json:"url"`
	}
	_ = json.Unmarshal(call.Arguments, &in)
	args := call.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	echo := runtime.Reply{
		Output: json.RawMessage(fmt.Sprintf(`{"ok":true,"runtime_id":%q,"value":%s}`, t.RuntimeID, args)),
	}
	wait := func(d time.Duration) *fault.Error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			if ctx.Err() == context.DeadlineExceeded {
				return fault.New(fault.HandlerTimeout, "the call did not finish in time").
					With("elapsed_ms", call.Timeout.Milliseconds())
			}
			return fault.New(fault.Cancelled, "the call was cancelled")
		}
	}
	switch call.Name {
	case "echo":
		return echo
	case "actions.site":
		if m := call.Map; m != nil {
			return runtime.Reply{Output: json.RawMessage(
				fmt.Sprintf(`{"ok":true,"value":%s,"map_path":%q,"map":%s}`, args, m.Path, m.JSON),
			)}
		}
		return echo
	case "sleep":
		if err := wait(time.Duration(in.MS) * time.Millisecond); err != nil {
			return runtime.Reply{Err: err}
		}
		return echo
	case "block":
		return runtime.Reply{Err: wait(24 * time.Hour)}
	case "fail":
		return runtime.Reply{Err: fault.New(fault.TargetNotFound, "no element matches").With("selector", "#x")}
	case "soft":
		return runtime.Reply{
			Answer: json.RawMessage(`{"ok":false,"primitive":"soft","adapter":"cdp",` +
				`"error":{"code":"target_not_found","message":"no element matches"}}`),
			Err: fault.New(fault.TargetNotFound, "no element matches"),
		}
	case "big":
		return runtime.Reply{Output: json.RawMessage(`{"ok":true,"data":"` + strings.Repeat("x", in.Bytes) + `"}`)}
	case "goto":
		h.mu.Lock()
		for i := range h.tabs {
			if h.tabs[i].RuntimeID == t.RuntimeID {
				h.tabs[i].URL = in.URL
				t = h.tabs[i]
			}
		}
		h.mu.Unlock()
		defer func() {
			h.wg.Go(func() { h.Emit(runtime.Event{Kind: runtime.TabChanged, Tab: t}) })
		}()
		return echo
	case "browser.open_tab":
		t := Tab(100+len(h.Tabs()), in.URL, "New")
		h.mu.Lock()
		h.tabs = append(h.tabs, t)
		h.mu.Unlock()
		defer func() {
			h.wg.Go(func() { h.Emit(runtime.Event{Kind: runtime.TabReady, Tab: t}) })
		}()
		return echo
	case "steps":
		for _, s := range in.Steps {
			if call.Progress != nil {
				call.Progress(runtime.Progress{Step: s, Primitive: "sleep", Phase: "running"})
			}
			if err := wait(time.Duration(in.MS) * time.Millisecond); err != nil {
				return runtime.Reply{Err: err}
			}
		}
		return echo
	}
	return runtime.Reply{
		Err: fault.New(fault.UnknownAction, "no declared action or primitive has the name %q", call.Name),
	}
}
