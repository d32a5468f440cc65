package bridgekit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/primitives/fault"
)

// BridgeOptions say how to reach a bridge.
type BridgeOptions struct {
	// Connect opens a connection of a runtime.
	Connect func(ctx context.Context) (Link, error)
	// Agent is the other side of the bridge.
	Agent Agent
	// Peer is what the bridge is called in the report.
	Peer string
	// Tool is forwarded to runtimes with these arguments. Default page.info.
	Tool      string
	Arguments json.RawMessage
	// Trusted: the connections show a secret of the bridge, which may let them take
	// runtimes over.
	Trusted bool
	// TextOnly: the connections carry JSON alone.
	TextOnly bool
	// Only says which checks are run; nil means all. OnResult is called with each result.
	Only     func(id string) bool
	OnResult func(Result)
}

// Agent calls tools through the bridge.
type Agent interface {
	Call(ctx context.Context, call ToolCall) (Answer, error)
	Runtimes(ctx context.Context) ([]Row, error)
}

// ToolCall is a call as POST /mcp/tools/call takes it.
type ToolCall struct {
	Name                string          `json:"name"`
	Arguments           json.RawMessage `json:"arguments"`
	TargetRuntimeID     string          `json:"target_runtime_id,omitempty"`
	TargetRuntimeKey    string          `json:"target_runtime_key,omitempty"`
	TargetURLContains   string          `json:"target_url_contains,omitempty"`
	TargetTitleContains string          `json:"target_title_contains,omitempty"`
	TimeoutMS           int64           `json:"timeout_ms,omitempty"`
}

// Answer is the result of a ToolCall.
type Answer struct {
	Status int             `json:"-"`
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output"`
	Error  json.RawMessage `json:"error"`
}

// Row is a runtime as GET /runtimes shows it.
type Row struct {
	RuntimeID string `json:"runtime_id"`
	URL       string `json:"url"`
	Title     string `json:"title"`
}

// Bridge tests a bridge.
func Bridge(ctx context.Context, opts BridgeOptions) (Report, error) {
	if opts.Tool == "" {
		opts.Tool = "page.info"
	}
	if len(opts.Arguments) == 0 {
		opts.Arguments = json.RawMessage(`{"policy_exception_report":{"kind":"generic","intended_tool":` +
			quoted(opts.Tool) + `,"actions_json_path":"none","reason":"conformance"}}`)
	}
	if opts.Only == nil {
		opts.Only = func(string) bool { return true }
	}
	start := time.Now()
	if _, err := opts.Agent.Runtimes(ctx); err != nil {
		return Report{
			Kind: "bridge",
			Peer: opts.Peer,
		}, fault.Wrap(fault.TransportFailed, err, "asking the bridge for its runtimes")
	}
	k := &kit{bridge: &opts}
	defer k.close()
	link, err := opts.Connect(ctx)
	if err != nil {
		return Report{Kind: "bridge", Peer: opts.Peer}, err
	}
	link.Cut()
	results := k.all(ctx, BridgeChecks(), opts.Only, opts.OnResult)
	return newReport("bridge", opts.Peer, start, results), ctx.Err()
}

// HTTPAgent calls tools over the HTTP side of a bridge.
type HTTPAgent struct {
	Base  string // http://host:port
	Token string
}

// maxAnswer bounds an answer of the bridge in bytes.
const maxAnswer = 128 << 20

// Call implements Agent.
func (a HTTPAgent) Call(ctx context.Context, call ToolCall) (Answer, error) {
	body, err := json.Marshal(call)
	if err != nil {
		return Answer{}, err
	}
	var out Answer
	status, err := a.do(ctx, http.MethodPost, "/mcp/tools/call", body, &out)
	out.Status = status
	if status == http.StatusNotFound && len(out.Error) == 0 {
		return out, fault.New(fault.CapabilityUnavailable, "the bridge has no POST /mcp/tools/call").
			Next("start it in a mode that has one: the upstream bridge with serve")
	}
	return out, err
}

// Runtimes implements Agent.
func (a HTTPAgent) Runtimes(ctx context.Context) ([]Row, error) {
	var out struct {
		Runtimes []Row `json:"runtimes"`
	}
	status, err := a.do(ctx, http.MethodGet, "/runtimes", nil, &out)
	if err == nil && status != http.StatusOK {
		err = fault.New(fault.TransportFailed, "GET /runtimes has status %d", status)
	}
	return out.Runtimes, err
}

func (a HTTPAgent) do(ctx context.Context, method, path string, body []byte, into any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(a.Base, "/")+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if a.Token != "" {
		r.Header.Set("Authorization", "Bearer "+a.Token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return resp.StatusCode, err
	}
	if err := json.Unmarshal(text, into); err != nil && resp.StatusCode == http.StatusOK {
		return resp.StatusCode, fmt.Errorf("%s %s is no JSON: %w", method, path, err)
	}
	return resp.StatusCode, nil
}

// tab is a runtime that a check plays.
type tab struct {
	*wire
	id, key, url, title string
}

// within bounds what must happen at once.
const within = 5 * time.Second

// connect opens a connection.
func (r *run) connect() *wire {
	link, err := r.bridge.Connect(r.ctx)
	r.check(err, "connecting")
	return r.wire(link)
}

// tab announces a runtime on a connection of its own and waits until it is listed.
func (r *run) tab(name string) tab { return r.tabOn(r.connect(), name) }

func (r *run) tabOn(w *wire, name string) tab {
	r.mu.Lock()
	r.next++
	n := r.next
	r.mu.Unlock()
	id := fmt.Sprintf("conformance-%s-%s-%d", r.id, name, n)
	t := tab{wire: w, id: id, key: "key:" + id, url: "https://" + id + ".example/", title: "Title of " + id}
	r.ready(t)
	r.listed(t.id, true)
	return t
}

func (r *run) ready(t tab) {
	r.send(t.wire, `{"type":"runtime_ready","runtime_id":%s,"runtime_key":%s,"authorization_id":"conformance",`+
		`"extension_version":"conformance","url":%s,"tab":{"tab_id":1,"window_id":1,"title":%s,"active":true}}`,
		quoted(t.id), quoted(t.key), quoted(t.url), quoted(t.title))
}

// listed waits until a runtime is, or is not, in the bridge's view.
func (r *run) listed(id string, want bool) Row {
	for deadline := time.Now().Add(within); ; r.pause(20 * time.Millisecond) {
		rows, err := r.bridge.Agent.Runtimes(r.ctx)
		r.check(err, "asking for the runtimes")
		i := slices.IndexFunc(rows, func(row Row) bool { return row.RuntimeID == id })
		switch {
		case i >= 0 && want:
			return rows[i]
		case i < 0 && !want:
			return Row{}
		case time.Now().Before(deadline):
		case want:
			r.fail("%s is not in the list of runtimes after %s", id, within)
		default:
			r.fail("%s is still in the list of runtimes after %s", id, within)
		}
	}
}

func (r *run) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.ctx.Done():
		r.skip("the run was ended")
	}
}

// calling is a call of the agent under way.
type calling struct {
	done  chan struct{}
	start time.Time
	took  time.Duration
	Answer
	err error
}

func (r *run) call(c ToolCall) *calling {
	c.Name = r.bridge.Tool
	if len(c.Arguments) == 0 {
		c.Arguments = r.bridge.Arguments
	}
	out := &calling{done: make(chan struct{}), start: time.Now()}
	r.calls.Go(func() {
		defer close(out.done)
		out.Answer, out.err = r.bridge.Agent.Call(r.ctx, c)
		out.took = time.Since(out.start)
	})
	return out
}

// callTab calls a runtime by its id.
func (r *run) callTab(t tab) *calling { return r.call(ToolCall{TargetRuntimeID: t.id}) }

// answer waits for the result of a call.
func (r *run) answer(c *calling, bound time.Duration) Answer {
	t := time.NewTimer(bound)
	defer t.Stop()
	select {
	case <-c.done:
		r.check(c.err, "calling")
	case <-t.C:
		r.fail("the caller has no result after %s", bound)
	case <-r.ctx.Done():
		r.skip("the run was ended")
	}
	return c.Answer
}

// received waits for the action_call of a call on a runtime.
func (r *run) received(t tab) *item {
	it, err := t.await(r.ctx, within, func(it *item) bool {
		return it.Type == "action_call" && it.Name == r.bridge.Tool
	})
	r.check(err, "waiting for the action_call")
	return it
}

func (r *run) output(w *wire, callID, runtimeID, output string) {
	r.send(
		w, `{"type":"action_call_output","call_id":%s,"runtime_id":%s,"output":%s}`,
		quoted(callID), quoted(runtimeID), output,
	)
}

// works makes one call on a runtime and answers it.
func (r *run) works(t tab) {
	c := r.callTab(t)
	it := r.received(t)
	r.output(t.wire, it.CallID, t.id, `{"ok":true,"n":1}`)
	r.isOutput(r.answer(c, within), `{"ok":true,"n":1}`)
}

func (r *run) isOutput(a Answer, want string) {
	if !a.OK || !sameJSON(a.Output, []byte(want)) {
		r.fail("the result is %s, expected ok with the output %s", describe(a), clip(want))
	}
}

func (r *run) isRefused(a Answer) {
	if a.OK || len(a.Error) == 0 || string(a.Error) == "null" {
		r.fail("the result is %s, expected a failure", describe(a))
	}
}

// untouched fails when a call reached a runtime.
func (r *run) untouched(tabs ...tab) {
	for _, t := range tabs {
		if t.has(func(it *item) bool { return it.Type == "action_call" && it.Name == r.bridge.Tool }) {
			r.fail("%s got the call", t.id)
		}
	}
}

func describe(a Answer) string {
	return fmt.Sprintf(
		"status %d, ok %v, output %s, error %s", a.Status, a.OK, clip(string(a.Output)), clip(string(a.Error)),
	)
}

func clip(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	if bytes.Equal(x.Bytes(), y.Bytes()) {
		return true
	}
	// The order of members does not count.
	var v, w any
	_ = json.Unmarshal(a, &v)
	_ = json.Unmarshal(b, &w)
	p, _ := json.Marshal(v)
	q, _ := json.Marshal(w)
	return bytes.Equal(p, q)
}

// code is that of a structured failure, "" for one without.
func (a Answer) code() string {
	var e struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(a.Error, &e)
	return e.Code
}

// BridgeAt are the options for a bridge at an address: ws, wss, http or https. agent
// is the address of its HTTP side, by default that of the same host.
func BridgeAt(address, agent, token string) (BridgeOptions, error) {
	u, err := url.Parse(address)
	schemes := map[string]string{"ws": "http", "wss": "https", "http": "http", "https": "https"}
	if err != nil || schemes[u.Scheme] == "" || u.Host == "" {
		return BridgeOptions{}, fault.New(
			fault.InvalidInput, "the address is %q: expected ws://host/path, wss://, http:// or https://",
			clip(address),
		)
	}
	if agent == "" {
		agent = schemes[u.Scheme] + "://" + u.Host
	}
	return BridgeOptions{
		Agent: HTTPAgent{Base: agent, Token: token}, Peer: u.Host,
		Trusted: token != "" || u.Query().Has("token"), TextOnly: strings.HasPrefix(u.Scheme, "http"),
		Connect: func(ctx context.Context) (Link, error) {
			c, err := bridgeclient.Dial(ctx, &bridgeclient.Options{URL: address, Token: token})
			if err != nil {
				return nil, err
			}
			return LinkOf(c), nil
		},
	}, nil
}
