package runtime_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// state returns the payload of the next event of a projection; nil when none
// comes within d.
func (e events) state(t *testing.T, projection string, d time.Duration) map[string]any {
	t.Helper()
	timeout := time.After(d)
	for {
		select {
		case ev := <-e:
			if ev.Kind != runtime.DOMEvent {
				continue
			}
			if ev.Name != "state."+projection || ev.PageEvent != ev.Name || ev.ID == "" || ev.Tab.RuntimeID == "" ||
				ev.ObservedAt.IsZero() {
				t.Errorf("event %+v", ev)
			}
			var payload map[string]any
			if err := json.Unmarshal(ev.Payload, &payload); err != nil {
				t.Fatalf("%v in %s", err, ev.Payload)
			}
			return payload
		case <-timeout:
			return nil
		}
	}
}

const eventually = patience

func TestStateWatch(t *testing.T) {
	h := shelf(t)
	ev := subscribe(t, h)
	begun := output(t, site(t, h, `{"mode":"state_watch","projection_name":"shelf.items","debounce_ms":50}`))
	if begun["watching"] != true || begun["event"] != "state.shelf.items" || begun["debounce_ms"] != 50.0 {
		t.Fatalf("got %v", begun)
	}
	output(t, site(t, h, shelfAdd))
	got := ev.state(t, "shelf.items", eventually)
	if got == nil {
		t.Fatal("no event after an addition")
	}
	if encode(t, got["patches"]) != `[{"op":"add","path":"/shelf/items/2","value":{"id":"c","name":"Cat"}}]` ||
		got["projection"] != "shelf.items" || got["previous_state_hash"] != begun["state_hash"] ||
		got["state_hash"] == begun["state_hash"] ||
		!strings.Contains(encode(t, got["semantic_deltas"]), "entity_added") {
		t.Errorf("payload %v", got)
	}

	// What the projection does not read is no change; the next one has all
	// the same, once.
	output(t, site(t, h, `{"mode":"call","action":"shelf.noise"}`))
	output(t, site(t, h, `{"mode":"call","action":"shelf.noise"}`))
	if got := ev.state(t, "shelf.items", 400*time.Millisecond); got != nil {
		t.Errorf("an event without a change: %v", got)
	}
	output(t, site(t, h, shelfAdd))
	next := ev.state(t, "shelf.items", eventually)
	if next == nil || next["previous_state_hash"] != got["state_hash"] {
		t.Errorf("after the next change: %v", next)
	}

	// A document that is replaced is a change like any other.
	value(t, do(t, h, "browser.navigate", `{"reload":true}`, 0))
	for seen := false; !seen; {
		got := ev.state(t, "shelf.items", eventually)
		if got == nil {
			t.Fatal("no event after a reload")
		}
		seen = got["state_hash"] == begun["state_hash"]
	}

	// The snapshots of the callers are not those of the watch.
	if got := output(
		t, site(t, h, `{"mode":"state_diff","projection_name":"shelf.items"}`),
	); got["baseline"] != "initialized" {
		t.Errorf("state_diff after a watch: %v", got)
	}
	if got := output(
		t, site(t, h, `{"mode":"state_watch","projection_name":"shelf.items","enabled":false}`),
	); got["watching"] != false {
		t.Errorf("ending it: %v", got)
	}
	output(t, site(t, h, shelfAdd))
	if got := ev.state(t, "shelf.items", 500*time.Millisecond); got != nil {
		t.Errorf("an event after the end: %v", got)
	}
	r := site(t, h, `{"mode":"state_watch","projection_name":"shelf.none"}`)
	if fault.CodeOf(r.Err) != fault.StateProjectionNotFound {
		t.Errorf("watching what nobody declared: %v", r.Err)
	}
}

// A watch reads beside the queue: a call that occupies the tab does not delay an
// event back, and a page that never is quiet neither.
func TestStateWatchDoesNotWaitForTheQueue(t *testing.T) {
	h := shelf(t)
	ev := subscribe(t, h)
	output(t, site(t, h, `{"mode":"state_watch","projection_name":"shelf.items","debounce_ms":50}`))
	output(t, site(t, h, `{"mode":"call","action":"shelf.noise"}`))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	busy := make(chan runtime.Reply, 1)
	began := time.Now()
	h.Accept(
		runtime.Call{ID: "add", Target: first(t, h), Name: runtime.SiteTool, Arguments: json.RawMessage(shelfAdd)},
		func(runtime.Reply) {},
	)
	go func() {
		busy <- h.Do(ctx, runtime.Call{ID: "busy", Target: first(t, h), Name: "locator.wait_for", Timeout: time.Minute,
			Arguments: json.RawMessage(`{"locator":{"selector":"#never"},"timeout_ms":25000}`)})
	}()
	if got := ev.state(t, "shelf.items", eventually); got == nil {
		t.Errorf("no event while a call runs, %s after the change", time.Since(began))
	}
	select {
	case r := <-busy:
		t.Errorf("the call was over before: %v", r.Err)
	default:
	}
	cancel()
	<-busy
}

// However often the page changes, a watch reads it only so often.
func TestStateWatchIsBounded(t *testing.T) {
	url := serve(t, map[string]string{"/": shelfPage +
		`<script>setInterval(() => { document.querySelector('#clock').textContent = Math.random(); }, 5)</script>`})
	h := openMap(
		t, []string{url},
		mapOf([]string{tool("shelf.add", click("a", "#add"), "")}, []string{shelfProjection("shelf.items", "")}),
	)
	ev := subscribe(t, h)
	before := h.WatchReads()
	output(t, site(t, h, `{"mode":"state_watch","projection_name":"shelf.items","debounce_ms":20}`))
	if got := ev.state(t, "shelf.items", 2*time.Second); got != nil {
		t.Errorf("an event without a change: %v", got)
	}
	if reads := h.WatchReads() - before; reads > 12 {
		t.Errorf("%d reads of a page that changes all the time, in 2 s", reads)
	}
	for deadline := time.Now().Add(eventually); h.WatchReads()-before < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a page that changes all the time was read once")
		}
	}
	output(t, site(t, h, shelfAdd))
	if ev.state(t, "shelf.items", eventually) == nil {
		t.Error("no event of a page that never is quiet")
	}
}

func TestWatchesEndWithTheirTab(t *testing.T) {
	h := shelf(t)
	output(t, site(t, h, `{"mode":"state_watch","projection_name":"shelf.items"}`))
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	// What is left over is found by the leak check of the test binary.
}
