package bridgekit

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// BridgeChecks are the checks of a bridge, in the order of reports.
func BridgeChecks() []Check {
	return []Check{
		{ID: "poll-at-once", Level: Required, Title: "a runtime_status without other members comes within 2 s of the " +
			"connection, before anything is announced", run: pollAtOnce},
		{ID: "listed", Level: Required, Title: "an announced runtime is listed with its url and title", run: listed},
		{
			ID:    "announced-again",
			Level: Required,
			Title: "another runtime_ready of the same id replaces url and title",
			run:   announcedAgain,
		},
		{ID: "status-keeps-url", Level: Required, Title: "url in runtime_status changes nothing", run: statusKeepsURL},
		{
			ID:    "removed",
			Level: Required,
			Title: "runtime_removed takes the runtime out of the list, and calls on it are refused",
			run:   removed,
		},
		{ID: "cut", Level: Required, Title: "a lost connection takes its runtimes out of the list", run: cut},
		{
			ID:    "key-supersedes",
			Level: Required,
			Title: "a runtime_ready with the runtime_key of another id on the same connection takes that one out",
			run:   keySupersedes,
		},
		{
			ID:    "key-keeps-connection",
			Level: Recommended,
			Title: "a connection whose runtime was superseded by itself stays usable",
			run:   keyKeepsConnection,
		},
		{
			ID:    "many-runtimes",
			Level: Required,
			Title: "20 runtimes on one connection are listed, and each gets its own calls",
			run:   manyRuntimes,
		},

		{ID: "call-item", Level: Required, Title: "action_call has a string call_id, the runtime_id, the name and an " +
			"object of arguments; call_ids differ", run: callItem},
		{
			ID:    "call-output",
			Level: Required,
			Title: "the output of action_call_output is the result, member by member",
			run:   callOutput,
		},
		{
			ID:    "call-error",
			Level: Required,
			Title: "action_error makes the call fail, and every member of its error arrives",
			run:   callError,
		},
		{
			ID:    "failed-output",
			Level: Required,
			Title: "an output whose ok is false is an output and not a failure of the bridge",
			run:   failedOutput,
		},
		{
			ID:    "wrong-runtime",
			Level: Required,
			Title: "an answer with another runtime_id does not count, the right one after it does",
			run:   wrongRuntime,
		},
		{ID: "no-runtime", Level: Required, Title: "an answer without runtime_id does not count", run: noRuntime},
		{ID: "first-wins", Level: Required, Title: "of two answers the first counts", run: firstWins},
		{
			ID:    "out-of-order",
			Level: Required,
			Title: "two calls on one runtime may be answered in the other order",
			run:   outOfOrder,
		},
		{
			ID:    "timeout",
			Level: Required,
			Title: "a call that nobody answers fails in its time, with a code",
			run:   timeout,
		},
		{
			ID:    "timeout-progress",
			Level: Recommended,
			Title: "that failure names the phase of the last action_progress",
			run:   timeoutProgress,
		},
		{ID: "late-answer", Level: Required, Title: "an answer after that disturbs nothing", run: lateAnswer},
		{ID: "large-output", Level: Required, Title: "an output of 6 MiB arrives whole", run: largeOutput},
		{ID: "large-arguments", Level: Required, Title: "arguments of 1 MiB arrive whole", run: largeArguments},
		{
			ID:    "reconnect",
			Level: Required,
			Title: "an answer that comes over the next connection of the runtime completes the call",
			run:   reconnect,
		},
		{
			ID:    "removed-in-flight",
			Level: Recommended,
			Title: "a call in flight fails within 2 s when its runtime is removed, as transport_failed",
			run:   removedInFlight,
		},

		{ID: "route-id", Level: Required, Title: "target_runtime_id routes to exactly that runtime", run: routeID},
		{
			ID:    "route-unknown-id",
			Level: Required,
			Title: "an unknown target_runtime_id is refused, and no runtime gets the call",
			run:   routeUnknownID,
		},
		{
			ID:    "route-url",
			Level: Required,
			Title: "target_url_contains routes by a part of the url, whatever its case",
			run:   routeURL,
		},
		{ID: "route-title", Level: Required, Title: "a call can be routed by a part of the title", run: routeTitle},
		{ID: "route-key", Level: Recommended, Title: "target_runtime_key routes by the key", run: routeKey},
		{
			ID:    "route-ambiguous",
			Level: Required,
			Title: "a selector that matches two runtimes is refused, and neither gets the call",
			run:   routeAmbiguous,
		},
		{
			ID:    "route-ambiguous-code",
			Level: Recommended,
			Title: "that refusal has the code ambiguous_runtime",
			run:   routeAmbiguousCode,
		},
		{
			ID:    "route-not-found-code",
			Level: Recommended,
			Title: "an unknown id is refused with the code runtime_not_found",
			run:   routeNotFoundCode,
		},

		{
			ID:    "unknown-items",
			Level: Required,
			Title: "text that is no JSON, items without a type and unknown items leave the connection as it is",
			run:   unknownItems,
		},
		{ID: "other-items", Level: Required, Title: "dom_event, agent_event, a11y_announcement, the replay summary " +
			"and the result of a credential are taken", run: otherItems},

		{
			ID:    "no-takeover",
			Level: Recommended,
			Title: "without a secret a connection cannot take over a live runtime of another",
			run:   noTakeover,
		},
		{
			ID:    "no-foreign-removal",
			Level: Recommended,
			Title: "without a secret a connection cannot remove a live runtime of another",
			run:   noForeignRemoval,
		},

		{
			ID:    "poll-regularly",
			Level: Required,
			slow:  true,
			Title: "a second runtime_status comes within 15 s",
			run:   pollRegularly,
		},
		{
			ID:    "probe",
			Level: Required,
			slow:  true,
			Title: "a runtime that was silent for 6 s and answers the probe, if there is one, gets the call",
			run:   probe,
		},
		{
			ID:    "evicted",
			Level: Required,
			slow:  true,
			Title: "one that answers nothing is given up within 5 s, and callable after it announces itself again",
			run:   evicted,
		},
	}
}

func isPoll(it *item) bool { return it.Type == "runtime_status" && it.RuntimeID == "" }

func pollAtOnce(r *run) {
	w := r.connect()
	it, err := w.await(r.ctx, 2*time.Second, ofType("runtime_status"))
	r.check(err, "waiting for runtime_status")
	var members map[string]json.RawMessage
	if json.Unmarshal(it.raw, &members) != nil || len(members) != 1 {
		r.fail("the first runtime_status is %s", clip(string(it.raw)))
	}
}

func pollRegularly(r *run) {
	w := r.connect()
	for range 2 {
		_, err := w.await(r.ctx, 15*time.Second, isPoll)
		r.check(err, "waiting for a runtime_status")
	}
}

func listed(r *run) {
	t := r.tab("a")
	row := r.listed(t.id, true)
	if row.URL != t.url || row.Title != t.title {
		r.fail("the row has url %q and title %q, expected %q and %q", row.URL, row.Title, t.url, t.title)
	}
}

func announcedAgain(r *run) {
	t := r.tab("a")
	t.url, t.title = "https://moved."+t.id+".example/x", "Moved"
	r.ready(t)
	r.shown(t)
	r.works(t)
}

// shown waits until the row of a runtime has its url and title.
func (r *run) shown(t tab) {
	var row Row
	for deadline := time.Now().Add(within); time.Now().Before(deadline); r.pause(20 * time.Millisecond) {
		row = r.listed(t.id, true)
		if row.URL == t.url && row.Title == t.title {
			return
		}
	}
	r.fail("the row has url %q and title %q, expected %q and %q", row.URL, row.Title, t.url, t.title)
}

func statusKeepsURL(r *run) {
	t := r.tab("a")
	r.send(t.wire, `{"type":"runtime_status","runtime_id":%s,"url":"https://other.example/"}`, quoted(t.id))
	r.works(t) // the bridge has read it
	if row := r.listed(t.id, true); row.URL != t.url {
		r.fail("the url is %q after a runtime_status, expected %q", row.URL, t.url)
	}
}

func removed(r *run) {
	t := r.tab("a")
	r.works(t)
	r.send(t.wire, `{"type":"runtime_removed","runtime_id":%s}`, quoted(t.id))
	r.listed(t.id, false)
	r.isRefused(r.answer(r.callTab(t), 2*within))
}

func cut(r *run) {
	t := r.tab("a")
	t.link.Cut()
	r.listed(t.id, false)
}

func keySupersedes(r *run) {
	old := r.tab("a")
	next := old
	next.id += "-next"
	r.ready(next)
	r.listed(old.id, false)
}

func keyKeepsConnection(r *run) {
	old := r.tab("a")
	next := old
	next.id += "-next"
	r.ready(next)
	r.listed(old.id, false)
	r.listed(next.id, true)
	r.works(next)
}

func manyRuntimes(r *run) {
	w := r.connect()
	var tabs []tab
	for range 20 {
		tabs = append(tabs, r.tabOn(w, "m"))
	}
	for _, t := range tabs {
		c := r.callTab(t)
		it := r.received(t)
		if it.RuntimeID != t.id {
			r.fail("the call on %s came with the runtime_id %s", t.id, it.RuntimeID)
		}
		r.output(w, it.CallID, it.RuntimeID, quoted(t.id))
		r.isOutput(r.answer(c, within), quoted(t.id))
	}
}

func callItem(r *run) {
	t := r.tab("a")
	var ids []string
	for range 2 {
		c := r.callTab(t)
		it := r.received(t)
		if it.CallID == "" || it.RuntimeID != t.id || !strings.HasPrefix(strings.TrimSpace(string(it.Arguments)), "{") {
			r.fail("the item is %s", clip(string(it.raw)))
		}
		ids = append(ids, it.CallID)
		r.output(t.wire, it.CallID, t.id, `{"ok":true}`)
		r.answer(c, within)
	}
	if ids[0] == ids[1] {
		r.fail("two calls have the call_id %s", ids[0])
	}
}

func callOutput(r *run) {
	t := r.tab("a")
	for _, output := range []string{
		`{"ok":true,"n":1.5,"list":[null,true,"x < y"],"text":"ÄÖ 😀"}`, `"text"`, `[1,2]`, `null`,
	} {
		c := r.callTab(t)
		r.output(t.wire, r.received(t).CallID, t.id, output)
		r.isOutput(r.answer(c, within), output)
	}
}

func callError(r *run) {
	t := r.tab("a")
	c := r.callTab(t)
	failure := `{"code":"target_not_found","message":"no element","recoverable":true,"evidence":{"selector":"#x"},` +
		`"more":[1]}`
	r.send(
		t.wire, `{"type":"action_error","call_id":%s,"runtime_id":%s,"error":%s}`,
		quoted(r.received(t).CallID), quoted(t.id), failure,
	)
	if a := r.answer(c, within); a.OK || !sameJSON(a.Error, []byte(failure)) {
		r.fail("the result is %s, expected the error %s", describe(a), failure)
	}
}

func failedOutput(r *run) {
	t := r.tab("a")
	c := r.callTab(t)
	output := `{"ok":false,"error":{"code":"target_not_found","message":"no element"}}`
	r.output(t.wire, r.received(t).CallID, t.id, output)
	r.isOutput(r.answer(c, within), output)
}

func wrongRuntime(r *run) {
	t, other := r.tab("a"), r.tab("b")
	c := r.callTab(t)
	id := r.received(t).CallID
	r.output(other.wire, id, other.id, `"wrong"`)
	r.works(other) // the bridge has read it
	r.output(t.wire, id, t.id, `"right"`)
	r.isOutput(r.answer(c, within), `"right"`)
}

func noRuntime(r *run) {
	t := r.tab("a")
	c := r.callTab(t)
	id := r.received(t).CallID
	r.send(t.wire, `{"type":"action_call_output","call_id":%s,"output":"wrong"}`, quoted(id))
	r.output(t.wire, id, t.id, `"right"`)
	r.isOutput(r.answer(c, within), `"right"`)
}

func firstWins(r *run) {
	t := r.tab("a")
	c := r.callTab(t)
	id := r.received(t).CallID
	r.output(t.wire, id, t.id, `"first"`)
	r.output(t.wire, id, t.id, `"second"`)
	r.isOutput(r.answer(c, within), `"first"`)
	r.works(t)
}

func outOfOrder(r *run) {
	t := r.tab("a")
	one := r.callTab(t)
	first := r.received(t)
	two := r.callTab(t)
	second := r.received(t)
	r.output(t.wire, second.CallID, t.id, `"two"`)
	r.isOutput(r.answer(two, within), `"two"`)
	r.output(t.wire, first.CallID, t.id, `"one"`)
	r.isOutput(r.answer(one, within), `"one"`)
}

// expire lets a call run out of time and returns its result and its call_id.
func (r *run) expire(t tab) (Answer, string) {
	c := r.call(ToolCall{TargetRuntimeID: t.id, TimeoutMS: 500})
	it := r.received(t)
	r.send(t.wire, `{"type":"action_progress","call_id":%s,"runtime_id":%s,"action":"x",`+
		`"last_entered_content_phase":"conformance_phase","last_completed_content_phase":null,`+
		`"observed_at":"2026-01-01T00:00:00Z"}`,
		quoted(it.CallID), quoted(t.id))
	return r.answer(c, within), it.CallID
}

func timeout(r *run) {
	a, _ := r.expire(r.tab("a"))
	r.isRefused(a)
	if !slices.Contains([]string{"dispatch_timeout", "handler_timeout", "timeout"}, a.code()) {
		r.fail("the result is %s, expected a code of a timeout", describe(a))
	}
}

func timeoutProgress(r *run) {
	a, _ := r.expire(r.tab("a"))
	if !strings.Contains(string(a.Error), "conformance_phase") {
		r.fail("the failure does not name the last phase: %s", clip(string(a.Error)))
	}
}

func lateAnswer(r *run) {
	t := r.tab("a")
	_, id := r.expire(t)
	r.output(t.wire, id, t.id, `"late"`)
	r.works(t)
}

func largeOutput(r *run) {
	t := r.tab("a")
	c := r.callTab(t)
	output := quoted(strings.Repeat("x", 6<<20))
	r.output(t.wire, r.received(t).CallID, t.id, output)
	if a := r.answer(c, 4*within); !a.OK || string(a.Output) != output {
		r.fail("%d bytes arrived, expected %d; error %s", len(a.Output), len(output), clip(string(a.Error)))
	}
}

func largeArguments(r *run) {
	t := r.tab("a")
	reason := strings.Repeat("x", 1<<20)
	arguments := strings.Replace(string(r.bridge.Arguments), `"conformance"`, `"`+reason+`"`, 1)
	c := r.call(ToolCall{TargetRuntimeID: t.id, Arguments: json.RawMessage(arguments)})
	it := r.received(t)
	r.output(t.wire, it.CallID, t.id, `{"ok":true}`)
	r.isOutput(r.answer(c, within), `{"ok":true}`)
}

func reconnect(r *run) {
	t := r.tab("a")
	c := r.callTab(t)
	id := r.received(t).CallID
	t.link.Cut()
	r.listed(t.id, false)
	t.wire = r.connect()
	r.ready(t)
	r.listed(t.id, true)
	r.output(t.wire, id, t.id, `"after"`)
	r.isOutput(r.answer(c, within), `"after"`)
}

func removedInFlight(r *run) {
	t := r.tab("a")
	c := r.call(ToolCall{TargetRuntimeID: t.id, TimeoutMS: 4000})
	r.received(t)
	r.send(t.wire, `{"type":"runtime_removed","runtime_id":%s}`, quoted(t.id))
	a := r.answer(c, 2*within)
	r.isRefused(a)
	if c.took > 2*time.Second || a.code() != "transport_failed" {
		r.fail(
			"the caller waited for %s and has the code %q, expected transport_failed within 2 s",
			c.took.Round(time.Millisecond), a.code(),
		)
	}
}

func routeID(r *run) {
	a, b := r.tab("a"), r.tab("b")
	r.works(b)
	r.untouched(a)
}

func routeUnknownID(r *run) {
	t := r.tab("a")
	r.isRefused(r.answer(r.call(ToolCall{TargetRuntimeID: t.id + "-unknown"}), 2*within))
	r.untouched(t)
}

// routed calls by a selector that means a, and not b.
func (r *run) routed(a, b tab, c ToolCall) {
	call := r.call(c)
	it, err := a.await(r.ctx, within, func(it *item) bool {
		return it.Type == "action_call" && it.Name == r.bridge.Tool
	})
	if err != nil {
		select {
		case <-call.done:
			r.fail("the call was not routed: %s", describe(call.Answer))
		default:
			r.check(err, "waiting for the action_call")
		}
	}
	r.output(a.wire, it.CallID, a.id, `{"ok":true}`)
	r.isOutput(r.answer(call, within), `{"ok":true}`)
	r.untouched(b)
}

func routeURL(r *run) {
	a, b := r.tab("a"), r.tab("b")
	r.routed(a, b, ToolCall{TargetURLContains: strings.ToUpper(strings.TrimPrefix(a.url, "https://"))})
}

// routeTitle takes either way there is: upstream's bridge looks for the part of the
// url in the title too.
func routeTitle(r *run) {
	a, b := r.tab("a"), r.tab("b")
	call := r.call(ToolCall{TargetTitleContains: a.title, TargetURLContains: ""})
	it, err := a.await(r.ctx, time.Second, func(it *item) bool {
		return it.Type == "action_call" && it.Name == r.bridge.Tool
	})
	if err == nil {
		r.output(a.wire, it.CallID, a.id, `{"ok":true}`)
		r.isOutput(r.answer(call, within), `{"ok":true}`)
		r.untouched(b)
		return
	}
	r.routed(a, b, ToolCall{TargetURLContains: a.title})
}

func routeKey(r *run) {
	a, b := r.tab("a"), r.tab("b")
	r.routed(a, b, ToolCall{TargetRuntimeKey: a.key})
}

func (r *run) ambiguous() Answer {
	a, b := r.tab("a"), r.tab("b")
	answer := r.answer(r.call(ToolCall{TargetURLContains: "conformance-" + r.id}), 2*within)
	r.untouched(a, b)
	return answer
}

func routeAmbiguous(r *run) { r.isRefused(r.ambiguous()) }

func routeAmbiguousCode(r *run) {
	if a := r.ambiguous(); a.code() != "ambiguous_runtime" {
		r.fail("the result is %s", describe(a))
	}
}

func routeNotFoundCode(r *run) {
	t := r.tab("a")
	if a := r.answer(r.call(ToolCall{TargetRuntimeID: t.id + "-unknown"}), 2*within); a.code() != "runtime_not_found" {
		r.fail("the result is %s", describe(a))
	}
}

func unknownItems(r *run) {
	t := r.tab("a")
	if !r.bridge.TextOnly {
		r.send(t.wire, "no json")
		r.send(t.wire, `{"type":`)
	}
	for _, text := range []string{
		`[]`, `{}`, `7`, `{"type":7}`, `{"type":"conformance_unknown","runtime_id":%s}`,
		`{"type":"action_call_output"}`, `{"type":"runtime_probe_result"}`,
	} {
		r.send(t.wire, "%s", strings.ReplaceAll(text, "%s", quoted(t.id)))
	}
	r.works(t)
}

func otherItems(r *run) {
	t := r.tab("a")
	id := quoted(t.id)
	for _, text := range []string{
		`{"type":"dom_event","event_id":"e-1","runtime_id":` + id + `,"event":"actions-json:overlay-opened",` +
			`"name":"actions-json:overlay-opened","url":"https://a.example/","observed_at":"2026-01-01T00:00:00Z",` +
			`"payload":{}}`,
		`{"type":"agent_event","runtime_id":` + id +
			`,"ts":"2026-01-01T00:00:00Z","kind":"lifecycle","payload":{"state":"idle"}}`,
		`{"type":"a11y_announcement","record":{"text":"saved","politeness":"polite","region":"r"}}`,
		`{"type":"bridge_runtime_replay_summary","bridge_session_id":"s","reason":"bridge_open","started_at_ms":1,` +
			`"finished_at_ms":2,"claimed_count":1,"registered_count":1,"removed_count":0,"failed_count":0,` +
			`"failures":[]}`,
		`{"type":"credential_hydration_result","provider":"openai","ok":false,"configured":false}`,
	} {
		r.send(t.wire, "%s", text)
	}
	r.works(t)
}

// quietTime is longer than a bridge calls without a probe.
const quietTime = 6 * time.Second

func probe(r *run) {
	t := r.tab("a")
	r.pause(quietTime)
	c := r.callTab(t)
	for {
		it, err := t.await(r.ctx, within, func(it *item) bool {
			return it.Type == "runtime_probe" || it.Type == "action_call" && it.Name == r.bridge.Tool
		})
		r.check(err, "waiting for a probe or the call")
		if it.Type == "runtime_probe" {
			r.send(t.wire, `{"type":"runtime_probe_result","probe_id":%s,"alive":true}`, quoted(it.ProbeID))
			continue
		}
		r.output(t.wire, it.CallID, t.id, `{"ok":true}`)
		r.isOutput(r.answer(c, within), `{"ok":true}`)
		return
	}
}

func evicted(r *run) {
	t := r.tab("a")
	r.pause(quietTime)
	c := r.call(ToolCall{TargetRuntimeID: t.id, TimeoutMS: 3000})
	r.isRefused(r.answer(c, within))
	r.ready(t)
	r.listed(t.id, true)
	t.drain()
	r.works(t)
}

// drain forgets what has come.
func (w *wire) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.items = nil
}

func noTakeover(r *run) {
	if r.bridge.Trusted {
		r.skip("the connections show a secret")
	}
	t := r.tab("a")
	thief := t
	thief.wire = r.connect()
	r.ready(thief)
	_, err := thief.await(r.ctx, 2*time.Second, ofType("action_error"))
	_ = err // a bridge need not answer; it has had the time to decide
	c := r.callTab(t)
	it, err := t.await(r.ctx, 2*time.Second, func(it *item) bool {
		return it.Type == "action_call" && it.Name == r.bridge.Tool
	})
	if err != nil {
		if thief.has(func(it *item) bool { return it.Type == "action_call" && it.Name == r.bridge.Tool }) {
			r.fail("the second connection got the call on %s", t.id)
		}
		r.check(err, "waiting for the call on the first connection")
	}
	r.output(t.wire, it.CallID, t.id, `{"ok":true}`)
	r.isOutput(r.answer(c, within), `{"ok":true}`)
}

func noForeignRemoval(r *run) {
	if r.bridge.Trusted {
		r.skip("the connections show a secret")
	}
	t, other := r.tab("a"), r.tab("b")
	r.send(other.wire, `{"type":"runtime_removed","runtime_id":%s}`, quoted(t.id))
	r.works(other) // the bridge has read it
	rows, err := r.bridge.Agent.Runtimes(r.ctx)
	r.check(err, "asking for the runtimes")
	if !slices.ContainsFunc(rows, func(row Row) bool { return row.RuntimeID == t.id }) {
		r.fail("%s was removed by another connection", t.id)
	}
}
