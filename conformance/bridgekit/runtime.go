package bridgekit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/outrider-run/outrider/primitives/fault"
)

// RuntimeOptions say where a runtime connects.
type RuntimeOptions struct {
	// Accept waits for the next connection of the runtime.
	Accept func(ctx context.Context) (Link, error)
	// TextOnly: the connections carry JSON alone.
	TextOnly func() bool
	// Only says which checks are run; nil means all. OnResult is called with each result.
	Only     func(id string) bool
	OnResult func(Result)
}

// subject is the runtime under test, on its newest connection.
type subject struct {
	*wire
	ready *item // its newest announcement
}

// Runtime tests the runtime that connects first. It must show a page whose address
// is http or https for the checks of site actions.
func Runtime(ctx context.Context, opts RuntimeOptions) (Report, error) {
	if opts.Only == nil {
		opts.Only = func(string) bool { return true }
	}
	if opts.TextOnly == nil {
		opts.TextOnly = func() bool { return false }
	}
	k := &kit{runtime: &opts, subject: &subject{}}
	defer k.close()
	link, err := opts.Accept(ctx)
	if err != nil {
		return Report{Kind: "runtime"}, err
	}
	start := time.Now()
	k.subject.wire = k.wire(link)
	ready, err := k.subject.await(ctx, 2*within, ofType("runtime_ready"))
	if err != nil {
		return Report{Kind: "runtime"}, fault.Wrap(fault.TransportFailed, err, "waiting for runtime_ready")
	}
	k.subject.ready = ready
	peer := strings.TrimSpace(ready.Runtime.Name + " " + ready.Runtime.Version)
	if peer == "" {
		peer = strings.TrimSpace("extension " + ready.ExtensionVersion)
	}
	results := k.all(ctx, RuntimeChecks(), opts.Only, opts.OnResult)
	return newReport("runtime", peer, start, results), ctx.Err()
}

// RuntimeChecks are the checks of a runtime, in the order of reports. Those that
// cut the connection are the last.
func RuntimeChecks() []Check {
	return []Check{
		{
			ID:    "announced",
			Level: Required,
			Title: "runtime_ready has a runtime_id and the url of the page",
			run:   announced,
		},
		{
			ID:    "announced-tab",
			Level: Recommended,
			Title: "runtime_ready has a runtime_key and the title of the tab",
			run:   announcedTab,
		},
		{
			ID:    "poll",
			Level: Required,
			Title: "a bare runtime_status is answered within 2 s with one that has the runtime_id",
			run:   pollAnswered,
		},
		{
			ID:    "probe",
			Level: Required,
			Title: "runtime_probe is answered within 1.5 s with its probe_id and alive true",
			run:   probeAnswered,
		},
		{
			ID:    "probe-unknown",
			Level: Recommended,
			Title: "a probe of an unknown runtime is answered with alive false",
			run:   probeUnknown,
		},
		{
			ID:    "unasked-status",
			Level: Recommended,
			Title: "a runtime_status comes unasked within 5 s, so that no bridge has to probe",
			run:   unaskedStatus,
		},

		{
			ID:    "call",
			Level: Required,
			Title: "page.info is answered with the call_id and the runtime_id of the item, and the url of the page",
			run:   pageInfo,
		},
		{
			ID:    "null-arguments",
			Level: Required,
			Title: "arguments null and absent count as an empty object",
			run:   nullArguments,
		},
		{
			ID:    "foreign-keys",
			Level: Required,
			Title: "policy_exception_report, target_runtime_id and target_url_contains in arguments are ignored",
			run:   foreignKeys,
		},
		{
			ID:    "unknown-action",
			Level: Required,
			Title: "an unknown name is answered with a failure",
			run:   unknownAction,
		},
		{
			ID:    "bad-arguments",
			Level: Required,
			Title: "arguments of the wrong kind are answered with a failure",
			run:   badArguments,
		},
		{
			ID:    "many-calls",
			Level: Required,
			Title: "20 calls sent at once are answered exactly once each",
			run:   manyCalls,
		},
		{
			ID:    "order",
			Level: Recommended,
			Title: "calls on one tab are run in the order in which they came",
			run:   callOrder,
		},
		{
			ID:    "probe-while-busy",
			Level: Required,
			Title: "a probe is answered within 1.5 s while a call runs",
			run:   probeWhileBusy,
		},
		{
			ID:    "progress",
			Level: Recommended,
			Title: "a call that takes a second is reported by action_progress",
			run:   progress,
		},
		{ID: "deadline", Level: Recommended, Title: "a call with timeout_ms ends in that time", run: deadline},
		{
			ID:    "repeated-call",
			Level: Recommended,
			Title: "a runtime that says repeats_calls answers a repeated call with the stored answer",
			run:   repeatedCall,
		},
		{
			ID:    "cancel",
			Level: Recommended,
			Title: "a runtime that says cancels_calls ends a call on action_cancel, with an answer",
			run:   cancelCall,
		},

		{
			ID:    "hydration",
			Level: Required,
			Title: "storage.import_bundle with 2 MiB and the mark of a hydration is answered with ok true",
			run:   hydration,
		},
		{
			ID:    "credential",
			Level: Required,
			Title: "a credential ends nothing, and its key is in nothing that follows",
			run:   credential,
		},
		{
			ID:    "unknown-items",
			Level: Required,
			Title: "text that is no JSON and unknown items leave the connection as it is",
			run:   unknownToRuntime,
		},

		{
			ID:    "site-action",
			Level: Required,
			Title: "site_action_call runs the workflow of the map that it carries",
			run:   siteAction,
		},
		{
			ID:    "site-action-unknown",
			Level: Required,
			Title: "an action that the map does not have is unknown_action",
			run:   siteActionUnknown,
		},
		{ID: "site-action-host", Level: Required, Title: "a map of another host is refused", run: siteActionHost},
		{
			ID:    "site-action-fails",
			Level: Required,
			Title: "an invalid workflow is refused with a code",
			run:   siteActionFails,
		},
		{
			ID:    "state-read",
			Level: Required,
			Title: "state_read gives the state, its djb2 hash and diagnostics",
			run:   stateRead,
		},
		{
			ID:    "state-summary",
			Level: Required,
			Title: "state_summary gives the summary and no state",
			run:   stateSummary,
		},
		{ID: "state-diff", Level: Required, Title: "state_diff begins with the baseline initialized or " +
			"previous_snapshot, and has no patches when nothing changed", run: stateDiff},
		{
			ID:    "state-refused",
			Level: Required,
			Title: "a projection with a forbidden function is refused with a code",
			run:   stateRefused,
		},

		{
			ID:    "reconnect",
			Level: Required,
			Title: "after a lost connection it connects again within 15 s and announces itself",
			run:   runtimeReconnects,
		},
		{ID: "same-key", Level: Recommended, Title: "it has the runtime_key of before", run: sameKey},
		{
			ID:    "output-kept",
			Level: Required,
			Title: "the answer to a call that was running when the connection was lost comes over the next one",
			run:   outputKept,
		},
	}
}

// call sends an action_call to the runtime under test and returns its call_id.
func (r *run) callRuntime(name, arguments, more string) string {
	id := r.callID()
	r.send(r.subject.wire, `{"type":"action_call","call_id":%s,"runtime_id":%s,"name":%s,"arguments":%s%s}`,
		quoted(id), quoted(r.subject.ready.RuntimeID), quoted(name), arguments, more)
	return id
}

func (r *run) callID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	return "conformance-" + r.id + "-" + string(rune('a'+r.next/26%26)) + string(rune('a'+r.next%26))
}

func answers(id string) func(*item) bool {
	return func(it *item) bool {
		return it.CallID == id && (it.Type == "action_call_output" || it.Type == "action_error")
	}
}

// answered waits for the one answer to a call, with the runtime_id of the item.
func (r *run) answered(id string, bound time.Duration) *item {
	it, err := r.subject.await(r.ctx, bound, answers(id))
	r.check(err, "waiting for the answer to "+id)
	if it.RuntimeID != r.subject.ready.RuntimeID {
		r.fail(
			"the answer has the runtime_id %q, expected that of the item, %q", it.RuntimeID, r.subject.ready.RuntimeID,
		)
	}
	return it
}

// outcome is what the kit reads of an answer.
type outcome struct {
	OK    *bool           `json:"ok"`
	Value json.RawMessage `json:"value"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

// read returns an answer that both ways of failing have in common.
func (it *item) read() (out outcome, ok bool) {
	if it.Type == "action_error" {
		_ = json.Unmarshal(it.Error, &out.Error)
		return out, false
	}
	_ = json.Unmarshal(it.Output, &out)
	return out, out.OK == nil || *out.OK
}

func (r *run) succeeded(it *item) outcome {
	out, ok := it.read()
	if !ok {
		r.fail("the answer is %s, expected success", clip(string(it.raw)))
	}
	return out
}

func (r *run) failed(it *item) string {
	out, ok := it.read()
	if ok {
		r.fail("the answer is %s, expected a failure", clip(string(it.raw)))
	}
	if out.Error.Code == "" {
		r.fail("the failure has no code: %s", clip(string(it.raw)))
	}
	return out.Error.Code
}

// alive makes a call, to see that the connection is as it was.
func (r *run) alive() { r.succeeded(r.answered(r.callRuntime("page.info", `{}`, ""), 2*within)) }

func announced(r *run) {
	if t := r.subject.ready; t.RuntimeID == "" || t.URL == "" {
		r.fail("runtime_ready has runtime_id %q and url %q", t.RuntimeID, t.URL)
	}
}

func announcedTab(r *run) {
	if t := r.subject.ready; t.RuntimeKey == "" || t.Tab.Title == nil {
		r.fail("runtime_ready has runtime_key %q, and the title is there: %v", t.RuntimeKey, t.Tab.Title != nil)
	}
}

// statusOf matches a status of the runtime from a mark on.
func (r *run) statusOf(mark int) func(*item) bool {
	return func(it *item) bool {
		return it.Type == "runtime_status" && it.RuntimeID == r.subject.ready.RuntimeID && it.seq >= mark
	}
}

func pollAnswered(r *run) {
	mark := r.subject.mark()
	r.send(r.subject.wire, `{"type":"runtime_status"}`)
	_, err := r.subject.await(r.ctx, 2*time.Second, r.statusOf(mark))
	r.check(err, "waiting for runtime_status")
}

// probed sends a probe and returns its answer.
func (r *run) probed(runtimeID string) *item {
	id := r.callID()
	r.send(r.subject.wire, `{"type":"runtime_probe","probe_id":%s,"runtime_id":%s}`, quoted(id), quoted(runtimeID))
	it, err := r.subject.await(r.ctx, 1500*time.Millisecond, func(it *item) bool {
		return it.Type == "runtime_probe_result" && it.ProbeID == id
	})
	r.check(err, "waiting for runtime_probe_result")
	return it
}

func probeAnswered(r *run) {
	if it := r.probed(r.subject.ready.RuntimeID); !it.Alive {
		r.fail("the answer is %s", clip(string(it.raw)))
	}
}

func probeUnknown(r *run) {
	if it := r.probed("conformance-unknown"); it.Alive {
		r.fail("the answer is %s", clip(string(it.raw)))
	}
}

func unaskedStatus(r *run) {
	r.pause(100 * time.Millisecond) // what still answers an earlier poll
	_, err := r.subject.await(r.ctx, within, r.statusOf(r.subject.mark()))
	r.check(err, "waiting for a runtime_status")
}

func pageInfo(r *run) {
	out := r.succeeded(r.answered(r.callRuntime("page.info", `{}`, ""), 2*within))
	var page struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(out.Value, &page)
	if page.URL == "" {
		r.fail("output.value.url is missing")
	}
}

func nullArguments(r *run) {
	r.succeeded(r.answered(r.callRuntime("page.info", `null`, ""), 2*within))
	id := r.callID()
	r.send(
		r.subject.wire, `{"type":"action_call","call_id":%s,"runtime_id":%s,"name":"page.info"}`,
		quoted(id), quoted(r.subject.ready.RuntimeID),
	)
	r.succeeded(r.answered(id, 2*within))
}

func foreignKeys(r *run) {
	r.succeeded(r.answered(r.callRuntime("page.info", `{"policy_exception_report":{"kind":"generic",`+
		`"intended_tool":"page.info","actions_json_path":"none","reason":"conformance"},"target_runtime_id":`+
		quoted(r.subject.ready.RuntimeID)+`,"target_url_contains":"x"}`, ""), 2*within))
}

func unknownAction(r *run) {
	r.failed(r.answered(r.callRuntime("conformance.unknown", `{}`, ""), 2*within))
}

func badArguments(r *run) {
	r.failed(r.answered(r.callRuntime("locator.text_content", `{"locator":7}`, ""), 2*within))
}

func manyCalls(r *run) {
	var ids []string
	for range 20 {
		ids = append(ids, r.callRuntime("page.info", `{}`, ""))
	}
	for _, id := range ids {
		r.succeeded(r.answered(id, 6*within))
	}
	r.alive()
	for _, id := range ids {
		if n := r.subject.count(answers(id)); n != 1 {
			r.fail("%s has %d answers", id, n)
		}
	}
}

// missing is a wait that ends without what it waits for.
func missing(ms string) string {
	return `{"locator":{"selector":"#conformance-missing"},"timeout_ms":` + ms + `}`
}

func callOrder(r *run) {
	slow, quick := r.callRuntime("locator.wait_for", missing("600"), ""), r.callRuntime("page.info", `{}`, "")
	first, second := r.answered(slow, 2*within), r.answered(quick, 2*within)
	if second.seq < first.seq {
		r.fail("the second call was answered first")
	}
}

func probeWhileBusy(r *run) {
	id := r.callRuntime("locator.wait_for", missing("2000"), "")
	it := r.probed(r.subject.ready.RuntimeID)
	if !it.Alive {
		r.fail("the answer is %s", clip(string(it.raw)))
	}
	if r.subject.has(answers(id)) {
		r.fail("the call was answered before the probe")
	}
	r.failed(r.answered(id, 2*within))
}

func progress(r *run) {
	id := r.callRuntime("locator.wait_for", missing("1000"), "")
	r.failed(r.answered(id, 2*within))
	if !r.subject.has(func(it *item) bool { return it.Type == "action_progress" && it.CallID == id }) {
		r.fail("no action_progress came")
	}
}

func deadline(r *run) {
	start := time.Now()
	r.failed(r.answered(r.callRuntime("locator.wait_for", missing("6000"), `,"timeout_ms":500`), 2*within))
	if took := time.Since(start); took > 2*time.Second {
		r.fail("the answer came after %s, expected 500 ms", took.Round(time.Millisecond))
	}
}

func repeatedCall(r *run) {
	if !r.subject.ready.Runtime.RepeatsCalls {
		r.skip("the runtime does not say repeats_calls")
	}
	id := r.callRuntime("page.info", `{}`, "")
	first := r.answered(id, 2*within)
	r.send(
		r.subject.wire, `{"type":"action_call","call_id":%s,"runtime_id":%s,"name":"page.info","arguments":{}}`,
		quoted(id), quoted(r.subject.ready.RuntimeID),
	)
	if again := r.answered(id, 2*within); string(again.raw) != string(first.raw) {
		r.fail("the second answer is %s, the first %s", clip(string(again.raw)), clip(string(first.raw)))
	}
}

func cancelCall(r *run) {
	if !r.subject.ready.Runtime.CancelsCalls {
		r.skip("the runtime does not say cancels_calls")
	}
	start := time.Now()
	id := r.callRuntime("locator.wait_for", missing("6000"), "")
	r.send(
		r.subject.wire, `{"type":"action_cancel","call_id":%s,"runtime_id":%s}`,
		quoted(id), quoted(r.subject.ready.RuntimeID),
	)
	r.failed(r.answered(id, 2*within))
	if took := time.Since(start); took > 2*time.Second {
		r.fail("the answer came after %s", took.Round(time.Millisecond))
	}
}

func hydration(r *run) {
	text := strings.Repeat("x", 2<<20)
	bundle := `{"bundle":{"protocol":"actions.json.storage.bundle","version":1,"synced_at_ms":1,` +
		`"x_actions_json_bridge_hydration":true,"x_actions_json_hydration_reason":"runtime_ready","entries":[` +
		`{"path":"scopes/private/sites/conformance.invalid/kit/notes.txt","content":"` + text +
		`","content_type":"text/plain","bytes":2097152,"modified_at_ms":1}]}}`
	r.succeeded(r.answered(r.callRuntime("storage.import_bundle", bundle, ""), 4*within))
}

// secret is the key of the credential that is offered.
const secret = "sk-conformance-0123456789abcdef"

func credential(r *run) {
	r.send(r.subject.wire, `{"type":"credential_hydration","provider":"openai","source":"mcp_bridge_local",`+
		`"credential":{"api_key":%s},"redacted":"sk...cdef"}`, quoted(secret))
	r.alive()
	if r.subject.has(func(it *item) bool { return strings.Contains(string(it.raw), secret) }) {
		r.fail("the key was sent back")
	}
}

func unknownToRuntime(r *run) {
	if !r.runtime.TextOnly() {
		r.send(r.subject.wire, "no json")
	}
	for _, text := range []string{
		`[]`, `{}`, `{"type":7}`, `{"type":"conformance_unknown"}`,
		`{"type":"action_call"}`, `{"type":"runtime_probe"}`,
	} {
		r.send(r.subject.wire, "%s", text)
	}
	r.alive()
}

// page is where the runtime is, as a map has to say it.
func (r *run) page() (host, path string) {
	u, err := url.Parse(r.subject.ready.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		r.skip("the page %q has no host", clip(r.subject.ready.URL))
	}
	host = strings.ToLower(u.Hostname())
	return host, "scopes/private/sites/" + host + "/conformance/actions.json"
}

const (
	kitMap = `{"protocol":"actions.json","version":1,"tools":[` +
		`{"name":"conformance.read","description":"Read the page.","input_schema":{"type":"object",` +
		`"properties":{"text":{"type":"string"}}},"workflow":{"version":1,"expression_language":"jsonata",` +
		`"steps":[{"id":"info","primitive":"page.info","args":{}},{"id":"never","primitive":"page.info",` +
		`"when":"{% false %}"}],` +
		`"output":{"url":"{% steps.info.output.url %}","text":"{% input.text %}","skipped":"{% steps.never.skipped ` +
		`%}"}}}],` +
		`"state_projections":[` + kitProjection + `]}`
	brokenMap = `{"protocol":"actions.json","version":1,"tools":[` +
		`{"name":"conformance.broken","description":"No workflow.","input_schema":{"type":"object"},` +
		`"workflow":{"version":1,"expression_language":"jsonata","steps":[],"surprise":true}}]}`
	kitProjection = `{"name":"conformance.state","description":"The page.","snapshot":{"version":1,"source":"dom",` +
		`"extract":[],` +
		`"projection":{"language":"jsonata","expression":"{\"url\": url, \"name\": projection.name}"}},` +
		`"summaries":[{"name":"agent_context","description":"Short.","expression":"{\"short\": state.name}"}]}`
)

func (r *run) siteCall(action, path, actions string) *item {
	id := r.callID()
	r.send(r.subject.wire, `{"type":"site_action_call","call_id":%s,"runtime_id":%s,"action":%s,`+
		`"arguments":{"text":"hello"},"map_path":%s,"map":%s}`,
		quoted(id), quoted(r.subject.ready.RuntimeID), quoted(action), quoted(path), actions)
	return r.answered(id, 4*within)
}

func siteAction(r *run) {
	_, path := r.page()
	it := r.siteCall("conformance.read", path, kitMap)
	out := r.succeeded(it)
	var value struct {
		URL     string `json:"url"`
		Text    string `json:"text"`
		Skipped bool   `json:"skipped"`
	}
	_ = json.Unmarshal(out.Value, &value)
	if value.URL == "" || value.Text != "hello" || !value.Skipped {
		r.fail("the value of the workflow is wrong: %s", clip(string(it.raw)))
	}
}

func siteActionUnknown(r *run) {
	_, path := r.page()
	if code := r.failed(r.siteCall("conformance.nothing", path, kitMap)); code != "unknown_action" {
		r.fail("the code is %s", code)
	}
}

func siteActionHost(r *run) {
	r.page()
	r.failed(r.siteCall("conformance.read", "scopes/private/sites/conformance.invalid/kit/actions.json", kitMap))
}

func siteActionFails(r *run) {
	_, path := r.page()
	r.failed(r.siteCall("conformance.broken", path, brokenMap))
}

func (r *run) stateCall(mode, projection string) *item {
	_, path := r.page()
	id := r.callID()
	r.send(r.subject.wire, `{"type":"state_projection_call","call_id":%s,"runtime_id":%s,"mode":%s,`+
		`"projection_name":"conformance.state","summary_name":null,"max_bytes":null,"map_path":%s,"projection":%s}`,
		quoted(id), quoted(r.subject.ready.RuntimeID), quoted(mode), quoted(path), projection)
	return r.answered(id, 4*within)
}

// state is the output of a state mode.
type state struct {
	Hash        string          `json:"state_hash"`
	Diagnostics json.RawMessage `json:"diagnostics"`
	State       json.RawMessage `json:"state"`
	Summary     struct {
		Short string `json:"short"`
	} `json:"summary"`
	SummaryName string            `json:"summary_name"`
	Baseline    string            `json:"baseline"`
	Patches     []json.RawMessage `json:"patches"`
}

func (r *run) readState(it *item) state {
	r.succeeded(it)
	var s state
	if json.Unmarshal(it.Output, &s) != nil || !strings.HasPrefix(s.Hash, "djb2:") {
		r.fail("the output has no djb2 hash: %s", clip(string(it.raw)))
	}
	return s
}

func stateRead(r *run) {
	it := r.stateCall("state_read", kitProjection)
	s := r.readState(it)
	var state struct {
		URL, Name string
	}
	_ = json.Unmarshal(s.State, &state)
	if state.URL == "" || state.Name != "conformance.state" || len(s.Diagnostics) == 0 {
		r.fail("the output is %s", clip(string(it.raw)))
	}
	if want := djb2(s.State); s.Hash != want {
		r.fail("state_hash is %s, expected %s for %s", s.Hash, want, clip(string(s.State)))
	}
}

// djb2 is the hash of a state: of its JSON without spaces, in UTF-16 code units.
func djb2(state []byte) string {
	h := uint32(5381)
	for _, unit := range utf16.Encode([]rune(string(state))) {
		h = h*33 + uint32(unit)
	}
	return fmt.Sprintf("djb2:%x", h)
}

func stateSummary(r *run) {
	it := r.stateCall("state_summary", kitProjection)
	s := r.readState(it)
	if s.Summary.Short != "conformance.state" || s.SummaryName != "agent_context" || len(s.State) > 0 {
		r.fail("the output is %s", clip(string(it.raw)))
	}
}

func stateDiff(r *run) {
	for range 2 {
		it := r.stateCall("state_diff", kitProjection)
		s := r.readState(it)
		if !slices.Contains([]string{"initialized", "previous_snapshot"}, s.Baseline) || len(s.Patches) > 0 {
			r.fail("the output is %s", clip(string(it.raw)))
		}
	}
}

func stateRefused(r *run) {
	r.failed(r.stateCall("state_read", strings.Replace(kitProjection, `{\"url\": url`, `{\"url\": $eval(\"1\")`, 1)))
}

// again cuts the connection and waits for the next announcement.
func (r *run) again() (before *item) {
	before = r.subject.ready
	r.subject.link.Cut()
	ctx, cancel := context.WithTimeout(r.ctx, 3*within)
	defer cancel()
	link, err := r.runtime.Accept(ctx)
	r.check(err, "waiting for the runtime to connect again")
	r.subject.wire = r.wire(link)
	ready, err := r.subject.await(r.ctx, 3*within, ofType("runtime_ready"))
	r.check(err, "waiting for runtime_ready")
	r.subject.ready = ready
	return before
}

func runtimeReconnects(r *run) {
	r.again()
	r.alive()
}

func sameKey(r *run) {
	before := r.again()
	if r.subject.ready.RuntimeKey != before.RuntimeKey {
		r.fail("the runtime_key is %q, it was %q", r.subject.ready.RuntimeKey, before.RuntimeKey)
	}
}

func outputKept(r *run) {
	// It ends after the connection is cut, also where that takes a moment.
	id := r.callRuntime("locator.wait_for", missing("3000"), "")
	// A later item is answered, so the call has arrived.
	pollAnswered(r)
	before := r.again()
	it, err := r.subject.await(r.ctx, 3*within, answers(id))
	r.check(err, "waiting for the answer on the new connection")
	if it.RuntimeID != before.RuntimeID {
		r.fail("the answer has the runtime_id %q, expected %q", it.RuntimeID, before.RuntimeID)
	}
}
