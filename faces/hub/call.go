package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
)

// ToolCall is one call of an agent, as POST /mcp/tools/call takes it. Routing
// fields and timeout_ms may also stand in Arguments.
type ToolCall struct {
	Name                string          `json:"name"`
	Arguments           json.RawMessage `json:"arguments,omitempty"`
	TargetRuntimeID     string          `json:"target_runtime_id,omitempty"`
	TargetRuntimeKey    string          `json:"target_runtime_key,omitempty"`
	TargetURLContains   string          `json:"target_url_contains,omitempty"`
	TargetTitleContains string          `json:"target_title_contains,omitempty"`
	TimeoutMS           int64           `json:"timeout_ms,omitempty"`
	// RuntimeID and Target select a runtime as the messages of the protocol do.
	RuntimeID string     `json:"runtime_id,omitempty"`
	Target    CallTarget `json:"target,omitzero"`
	// IdempotencyKey says which act of its agent the call is: one that comes again with it acts no second time.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// CallID and Meta are taken and not read.
	CallID string          `json:"call_id,omitempty"`
	Meta   json.RawMessage `json:"_meta,omitempty"`
}

// CallTarget selects a runtime.
type CallTarget struct {
	RuntimeID     string `json:"runtime_id,omitempty"`
	RuntimeKey    string `json:"runtime_key,omitempty"`
	URLContains   string `json:"url_contains,omitempty"`
	TitleContains string `json:"title_contains,omitempty"`
}

// selector reads the members of a call that select a runtime. Two that say the same differently are refused.
func (c *ToolCall) selector() (Selector, *fault.Error) {
	sel := Selector{c.TargetRuntimeID, c.TargetRuntimeKey, c.TargetURLContains, c.TargetTitleContains}
	for _, also := range []struct {
		to          *string
		name, value string
	}{
		{&sel.RuntimeID, "target/runtime_id", c.Target.RuntimeID}, {&sel.RuntimeID, "runtime_id", c.RuntimeID},
		{
			&sel.RuntimeKey, "target/runtime_key", c.Target.RuntimeKey,
		}, {&sel.URLContains, "target/url_contains", c.Target.URLContains},
		{&sel.TitleContains, "target/title_contains", c.Target.TitleContains},
	} {
		switch {
		case also.value == "" || also.value == *also.to:
		case *also.to == "":
			*also.to = also.value
		default:
			return sel, fault.New(fault.InvalidInput, "the call names two runtimes").With("path", "/"+also.name)
		}
	}
	return sel, nil
}

// ToolResult is the one answer to a ToolCall. OK means that the runtime
// answered with an output; the output may report a failure of its own.
type ToolResult struct {
	OK        bool            `json:"ok"`
	CallID    *string         `json:"call_id"`
	RuntimeID string          `json:"runtime_id,omitempty"`
	Output    json.RawMessage `json:"output"`
	Error     json.RawMessage `json:"error"`
	// Announcements are the texts of live regions since the last result and what
	// must not wait for a11y.events.read.
	Announcements []json.RawMessage `json:"announcements,omitempty"`
	// Status is the HTTP status: 200 whenever a runtime answered.
	Status int `json:"-"`
}

// Code returns the error code of a failed call, "" if there is none.
func (r ToolResult) Code() fault.Code {
	var e struct {
		Code fault.Code `json:"code"`
	}
	_ = json.Unmarshal(r.Error, &e)
	return e.Code
}

// failedOutput is a runtime's answer when a primitive ran and failed: an
// output, not an action_error (wire reference, "Two failure channels").
type failedOutput struct {
	OK    *bool           `json:"ok"`
	Error json.RawMessage `json:"error"`
}

// Err is why the call failed, nil when it did not: a refusal of the hub, an
// action_error, or an output whose ok is false. It has every member of the
// runtime's own error; the other members of a failed output are its field
// output.
func (r ToolResult) Err() *fault.Error {
	if !r.OK {
		return failureOf(r.Error)
	}
	var out failedOutput
	if json.Unmarshal(r.Output, &out) != nil || out.OK == nil || *out.OK {
		return nil
	}
	err := failureOf(out.Error)
	rest := map[string]json.RawMessage{}
	_ = json.Unmarshal(r.Output, &rest) // it was an object a moment ago
	for _, envelope := range []string{"ok", "error", "primitive", "adapter", "rate_limit_wait_ms"} {
		delete(rest, envelope)
	}
	if len(rest) > 0 {
		err.Field("output", rest)
	}
	return err
}

// failureOf reads the error of a runtime, which may have codes of its own.
func failureOf(raw json.RawMessage) *fault.Error {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &members) != nil {
		err := fault.New(fault.HandlerFailed, "the runtime gave no reason")
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			err.Message = text
		}
		return err
	}
	err := &fault.Error{Code: fault.HandlerFailed}
	var code string
	if json.Unmarshal(members["code"], &code) == nil && code != "" && len(code) <= 100 {
		err.Code = fault.Code(code)
	}
	// A member of another kind than it should have stays out.
	_ = json.Unmarshal(members["message"], &err.Message)
	_ = json.Unmarshal(members["recoverable"], &err.Recoverable)
	_ = json.Unmarshal(members["evidence"], &err.Evidence)
	_ = json.Unmarshal(members["next_step"], &err.NextStep)
	for name, value := range members {
		switch name {
		case "code", "message", "severity", "recoverable", "evidence", "next_step":
		default:
			err.Field(name, value)
		}
	}
	return err
}

// maxTimeout bounds the time a call may ask for.
const maxTimeout = time.Hour

// pending is a call that was sent and not answered.
type pending struct {
	id, runtimeID string
	name          string
	order         int64
	frame         []byte
	done          chan ToolResult // capacity 1
	progress      json.RawMessage // the last action_progress; protected by Hub.mu
	lostAt        time.Time       // when the connection of its runtime was lost last; protected by Hub.mu
}

// Call routes one call to one runtime and waits for its answer. It always
// returns within the time of the call, the wait for a runtime that is coming
// back, one probe and the grace included.
func (h *Hub) Call(ctx context.Context, call ToolCall) ToolResult {
	if h.opts.OnCall == nil {
		return h.call(ctx, call)
	}
	answered := h.opts.OnCall(call.Name)
	r := h.call(ctx, call)
	answered(r)
	return r
}

func (h *Hub) call(ctx context.Context, call ToolCall) ToolResult {
	if call.Name == "" {
		return refused(fault.New(fault.InvalidInput, "name is required").With("missing_required", []string{"name"}))
	}
	args, err := arguments(call.Arguments)
	if err != nil {
		return refused(err)
	}
	timed := call.TimeoutMS != 0 || args["timeout_ms"] != nil
	sel, timeout, err := h.lift(&call, args)
	if err != nil {
		return refused(err)
	}
	if call.Name == awaitEvent.Name {
		if !timed {
			timeout = awaitDefault
		}
		return h.awaitAgent(ctx, args, sel, timeout)
	}
	if answer := h.own(call.Name); answer != nil {
		out, err := answer(args, sel)
		if err != nil {
			return refused(err)
		}
		return ToolResult{OK: true, Output: marshal(out), Announcements: h.piggybacked.Take(""), Status: http.StatusOK}
	}
	if h.answersAnnouncements(call.Name, sel) {
		out, err := h.announced(call.Name, args)
		if err != nil {
			return refused(err)
		}
		return ToolResult{OK: true, Output: marshal(out), Status: http.StatusOK}
	}
	if err := h.ownerNamed(call.Name, args, sel); err != nil {
		return refused(err)
	}
	if len(call.IdempotencyKey) > idempotency.LongestKey {
		return refused(fault.New(fault.InvalidInput, "an idempotency key has at most %d bytes", idempotency.LongestKey).
			With("path", "/idempotency_key"))
	}
	start := time.Now()
	ctx = context.WithValue(ctx, keyOfCall{}, call.IdempotencyKey)
	ctx, cancel := context.WithTimeout(ctx, timeout+h.opts.ExtraWait)
	defer cancel()
	if call.Name == syncStorage.Name {
		return h.sync(ctx, args, sel, timeout)
	}
	e, err := h.find(ctx, sel)
	if err != nil {
		return refused(err)
	}
	left := max(timeout-time.Since(start), time.Millisecond)
	var r ToolResult
	switch sites := h.servesSites(e); {
	case sites && call.Name == siteTool:
		r = h.site(ctx, e, marshal(args), left)
	case sites && call.Name == readFileTool:
		r = h.readFile(e, marshal(args))
	default:
		r = h.dispatch(ctx, e, call.Name, marshal(args), left)
	}
	// Not with the hub's own refusals, nor with the history they are in.
	if r.Status == http.StatusOK && call.Name != "a11y.events.read" {
		r.Announcements = h.piggybacked.Take("")
	}
	return r
}

// arguments decodes the top level; absent and null are an empty object.
func arguments(raw json.RawMessage) (map[string]json.RawMessage, *fault.Error) {
	args := map[string]json.RawMessage{}
	if len(raw) == 0 || string(raw) == "null" {
		return args, nil
	}
	if json.Unmarshal(raw, &args) != nil {
		return nil, fault.New(fault.InvalidInput, "arguments is not an object").With("path", "/arguments")
	}
	return args, nil
}

// lift takes routing and time out of the arguments; fields of the call itself
// win.
func (h *Hub) lift(call *ToolCall, args map[string]json.RawMessage) (Selector, time.Duration, *fault.Error) {
	sel, err := call.selector()
	if err != nil {
		return sel, 0, err
	}
	for name, to := range map[string]*string{
		"target_runtime_id": &sel.RuntimeID, "target_runtime_key": &sel.RuntimeKey,
		"target_url_contains": &sel.URLContains, "target_title_contains": &sel.TitleContains,
	} {
		raw, ok := args[name]
		if !ok {
			continue
		}
		var s *string
		if json.Unmarshal(raw, &s) != nil {
			return sel, 0, fault.New(fault.InvalidInput, "%s is not a string", name).With("path", "/arguments/"+name)
		}
		if *to == "" && s != nil {
			*to = *s
		}
		delete(args, name)
	}
	// It speaks to the upstream bridge, which asks for a reason before it lets
	// a primitive through.
	delete(args, "policy_exception_report")

	timeout := h.opts.DispatchTimeout
	ms := call.TimeoutMS
	if raw, ok := args["timeout_ms"]; ok {
		var inner float64
		if json.Unmarshal(raw, &inner) != nil || inner < 0 {
			return sel, 0, fault.New(fault.InvalidInput, "timeout_ms is not a number of milliseconds").
				With("path", "/arguments/timeout_ms")
		}
		if h.declares(call.Name, "timeout_ms") {
			// The tool's own time, for instance how long locator.wait_for waits.
			// The call gets that and its usual time on top.
			timeout += time.Duration(inner * float64(time.Millisecond))
		} else {
			delete(args, "timeout_ms")
			if ms == 0 {
				ms = int64(inner)
			}
		}
	}
	if ms < 0 {
		return sel, 0, fault.New(fault.InvalidInput, "timeout_ms is negative").With("path", "/timeout_ms")
	}
	if ms > 0 {
		timeout = time.Duration(min(ms, maxTimeout.Milliseconds())) * time.Millisecond
	}
	return sel, min(timeout, maxTimeout), nil
}

// ownerNamed refuses a tab number without a runtime: numbers of two browsers
// may be equal.
func (h *Hub) ownerNamed(name string, args map[string]json.RawMessage, sel Selector) *fault.Error {
	switch name {
	case "browser.claimed_tabs.activate", "browser.navigate", "browser.close_tab", "browser.dismiss_dialog":
	default:
		return nil
	}
	id, ok := args["tab_id"]
	if !ok || string(id) == "null" || !sel.zero() {
		return nil
	}
	h.mu.Lock()
	several := len(h.runtimes) > 1
	h.mu.Unlock()
	if !several {
		return nil
	}
	return fault.New(fault.OwnerRuntimeRequired, "a call with tab_id must name the runtime that owns the tab").
		With("tool", name).With("tab_id", id).With("required", "target_runtime_id").Next(
		"list the tabs with browser.claimed_tabs.list",
	)
}

// find returns the runtime of sel, alive. It waits a moment for one whose
// connection was just lost, and probes one that has been quiet.
func (h *Hub) find(ctx context.Context, sel Selector) (*entry, *fault.Error) {
	wait := time.NewTimer(max(h.opts.ReturnWithin, 0))
	defer wait.Stop()
	for {
		h.mu.Lock()
		e, err := h.choose(sel)
		changed, returning := h.changed, err != nil && err.Code != fault.AmbiguousRuntime && h.returning(sel)
		var quiet time.Duration
		if e != nil {
			quiet = time.Since(e.seen)
		}
		h.mu.Unlock()
		switch {
		case e != nil && quiet > h.opts.Fresh:
			if err := h.probe(ctx, e); err != nil {
				return nil, err
			}
			return e, nil
		case e != nil:
			return e, nil
		case !returning:
			return nil, err
		}
		select {
		case <-changed:
		case <-wait.C:
			return nil, err
		case <-h.closing:
			return nil, closingError()
		case <-ctx.Done():
			return nil, err
		}
	}
}

// returning reports whether sel meant a runtime that was connected a moment
// ago. mu is held.
func (h *Hub) returning(sel Selector) bool {
	for _, l := range h.lost {
		if time.Since(l.at) < h.opts.ReturnWithin && sel.matches(l.entry) {
			return true
		}
	}
	return false
}

// probe checks whether e is connected, and evicts it if it denies that or does not answer.
func (h *Hub) probe(ctx context.Context, e *entry) *fault.Error {
	id := h.opts.NewID()
	alive := make(chan bool, 1)
	h.mu.Lock()
	h.probes[id] = probe{e.RuntimeID, alive}
	c := e.conn
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.probes, id)
		h.mu.Unlock()
	}()
	// The upstream extension's content script answers no probe, but polls.
	c.send(poll)
	c.send(marshal(probeItem{Type: "runtime_probe", ProbeID: id, RuntimeID: e.RuntimeID}))
	t := time.NewTimer(h.opts.ProbeTimeout)
	defer t.Stop()
	select {
	case ok := <-alive:
		if ok {
			return nil
		}
	case <-t.C:
	case <-h.closing:
		return closingError()
	case <-ctx.Done():
		return fault.Wrap(fault.Cancelled, ctx.Err(), "probing the runtime")
	}
	// Not when it has come back over another connection meanwhile.
	h.removeNow(e.RuntimeID, "probe_failed", func(now *entry) bool {
		return now.conn == c && time.Since(now.seen) > h.opts.Fresh
	})
	return fault.New(fault.TabClosed, "the runtime did not answer a probe and was removed").
		With("runtime_id", e.RuntimeID).Next("list the connected runtimes with browser.claimed_tabs.list")
}

func (h *Hub) probed(id string, alive bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probes[id].resolve(alive)
}

// probe waits for a sign of life of a runtime.
type probe struct {
	runtimeID string
	alive     chan bool // capacity 1; nil for none
}

func (p probe) resolve(alive bool) {
	select {
	case p.alive <- alive:
	default:
	}
}

// dispatch sends one call and waits for its answer.
func (h *Hub) dispatch(ctx context.Context, e *entry, name string, args []byte, timeout time.Duration) ToolResult {
	return h.await(ctx, h.submit(e, name, timeout, func(id string, timeoutMS int64) []byte {
		return marshal(callItem{
			Type:      "action_call",
			CallID:    id,
			RuntimeID: e.RuntimeID,
			Name:      name,
			Arguments: args,
			TimeoutMS: timeoutMS,

			IdempotencyKey: keyOf(ctx),
		})
	}), timeout)
}

type keyOfCall struct{}

// keyOf is the idempotency key of the call that ctx is of, "" without one.
func keyOf(ctx context.Context) string {
	key, _ := ctx.Value(keyOfCall{}).(string)
	return key
}

// dispatchItem is dispatch for an item that carries a map.
func (h *Hub) dispatchItem(
	ctx context.Context, e *entry, name string, item siteItem, timeout time.Duration,
) ToolResult {
	return h.await(ctx, h.submit(e, name, timeout, func(id string, timeoutMS int64) []byte {
		item.CallID = id
		item.RuntimeID = e.RuntimeID
		item.TimeoutMS = timeoutMS
		item.IdempotencyKey = keyOf(ctx)
		return marshal(item)
	}), timeout)
}

// await waits for the answer to a call.
func (h *Hub) await(ctx context.Context, p *pending, timeout time.Duration) ToolResult {
	start := time.Now()
	defer func() {
		h.mu.Lock()
		delete(h.pending, p.id)
		h.mu.Unlock()
	}()
	t := time.NewTimer(timeout + h.opts.ExtraWait)
	defer t.Stop()
	var err *fault.Error
	select {
	case r := <-p.done:
		return r
	case <-h.closing:
		err = closingError()
	case <-t.C:
		err = h.timedOut(p, start)
		h.cancel(p)
	case <-ctx.Done():
		h.cancel(p)
		err = fault.Wrap(fault.Cancelled, ctx.Err(), "waiting for the runtime")
		if err.Code == fault.Timeout {
			err = h.timedOut(p, start)
		}
	}
	r := refused(err)
	r.CallID, r.RuntimeID = &p.id, p.runtimeID
	return r
}

// cancel tells the runtime that nobody waits for a call any more. Upstream's
// protocol has no word for that.
func (h *Hub) cancel(p *pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.runtimes[p.runtimeID]; e != nil && e.cancels {
		e.conn.send(marshal(cancelItem{"action_cancel", p.id, p.runtimeID}))
	}
}

// submit enters a call and sends it. The caller takes it out of pending.
func (h *Hub) submit(
	e *entry, name string, timeout time.Duration, frame func(id string, timeoutMS int64) []byte,
) *pending {
	p := &pending{id: h.opts.NewID(), runtimeID: e.RuntimeID, name: name, done: make(chan ToolResult, 1)}
	p.frame = frame(p.id, max(timeout.Milliseconds(), 1))
	h.mu.Lock()
	h.orders++
	p.order = h.orders
	h.pending[p.id] = p
	c := e.conn
	// Another connection may have taken the runtime over; the call goes there.
	if now := h.runtimes[e.RuntimeID]; now != nil {
		c = now.conn
	}
	// Sent under the lock, so that a runtime that reconnects meanwhile gets the
	// call once and not after a later one.
	c.send(p.frame)
	h.mu.Unlock()
	return p
}

func (h *Hub) timedOut(p *pending, start time.Time) *fault.Error {
	h.mu.Lock()
	progress := p.progress
	connected := h.runtimes[p.runtimeID] != nil
	h.mu.Unlock()
	err := fault.New(fault.DispatchTimeout, "the runtime did not answer in time; the action may still run").
		With("call_id", p.id).With("runtime_id", p.runtimeID).With("elapsed_ms", time.Since(start).Milliseconds()).
		With("runtime_connected", connected)
	if progress != nil {
		err.With("last_progress", progress)
	}
	return err.Next("read the page before calling again")
}

// complete ends the call that in answers: the id and the runtime must be those
// it was sent with. Later answers find nothing.
func (h *Hub) complete(in *item) {
	if in.CallID == "" {
		if in.Type == "action_error" {
			h.log.Warn("a runtime reports an error", "runtime", in.RuntimeID)
		}
		return
	}
	h.mu.Lock()
	p := h.pending[in.CallID]
	if p == nil || p.runtimeID != in.RuntimeID {
		h.mu.Unlock()
		h.log.Debug("answer to no call", "call", in.CallID, "runtime", in.RuntimeID, "known", p != nil)
		return
	}
	delete(h.pending, in.CallID)
	h.mu.Unlock()
	r := ToolResult{
		OK:        in.Type == "action_call_output",
		CallID:    &p.id,
		RuntimeID: p.runtimeID,
		Output:    in.Output,
		Error:     in.Error,
		Status:    http.StatusOK,
	}
	if !r.OK && len(r.Error) == 0 {
		r.Error = marshal(fault.New(fault.HandlerFailed, "the runtime gave no reason"))
	}
	p.done <- r
}

func (h *Hub) progressed(in *item, frame []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.pending[in.CallID]; p != nil && p.runtimeID == in.RuntimeID {
		p.progress = frame
	}
}

// refused is the result of a call that no runtime has answered.
func refused(err *fault.Error) ToolResult {
	return ToolResult{Error: marshal(err), Status: status(err.Code)}
}

func status(code fault.Code) int {
	switch code {
	case fault.PermissionDenied:
		return http.StatusForbidden
	case fault.RuntimeNotFound, fault.TabClosed:
		return http.StatusNotFound
	case fault.AmbiguousRuntime, fault.RuntimeNotReady:
		return http.StatusConflict
	case fault.TransportFailed:
		return http.StatusBadGateway
	case fault.DispatchTimeout, fault.Timeout:
		return http.StatusGatewayTimeout
	case fault.Cancelled:
		return http.StatusServiceUnavailable
	case fault.Internal:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func closingError() *fault.Error {
	return fault.New(fault.Cancelled, "the bridge is shutting down")
}

// hydrate hands the storage bundle to a runtime that announced itself.
func (h *Hub) hydrate(e *entry) {
	if h.opts.Bundle == nil {
		return
	}
	bundle, err := h.opts.Bundle()
	if err != nil {
		h.log.Warn("no storage bundle", "error", err)
		h.setHydration(map[string]any{
			"status":     "failed",
			"runtime_id": e.RuntimeID,
			"at_ms":      time.Now().UnixMilli(),
			"reason":     "bundle_build_failed",
		})
		return
	}
	var b map[string]json.RawMessage
	if json.Unmarshal(bundle, &b) != nil || b == nil {
		h.log.Error("the storage bundle is not an object")
		return
	}
	b["x_actions_json_bridge_hydration"] = json.RawMessage("true")
	b["x_actions_json_hydration_reason"] = json.RawMessage(`"runtime_ready"`)
	args := marshal(map[string]any{"bundle": b})
	h.background(func(ctx context.Context) {
		h.setHydration(map[string]any{"status": "sent", "runtime_id": e.RuntimeID, "at_ms": time.Now().UnixMilli()})
		r := h.dispatch(ctx, e, importTool, args, h.opts.DispatchTimeout)
		var out struct {
			OK    bool            `json:"ok"`
			Value json.RawMessage `json:"value"`
		}
		_ = json.Unmarshal(r.Output, &out)
		state := map[string]any{
			"status":     "imported",
			"runtime_id": e.RuntimeID,
			"at_ms":      time.Now().UnixMilli(),
			"call_id":    r.CallID,
			"result":     out.Value,
		}
		if !r.OK || !out.OK {
			state["status"], state["error"] = "import_failed", r.Error
			h.log.Warn("a runtime did not take the storage bundle", "runtime", e.RuntimeID, "code", r.Code())
		}
		h.setHydration(state)
	})
}

func (h *Hub) setHydration(state map[string]any) {
	h.mu.Lock()
	h.hydration = marshal(state)
	h.mu.Unlock()
}
