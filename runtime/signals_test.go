package runtime_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// signalMap declares two signals and one that is disabled.
const signalMap = `{"protocol":"actions.json","version":1,"tools":[
	{"name":"say","description":"Says something.","input_schema":{"type":"object"},"x_actions":{"handler":"app.say"}}],
 "states":[{"name":"open","diagnostics":[{"target":{"selector":"#open"}}]},{"name":"shut","diagnostics":[{"target":{"selector":"#never"}}]}],
 "transitions":[{"name":"somebody_speaks","from":"open","to":"shut","signal":"quiet.said","method":"signal"}],
 "signals":[
	{"name":"page.said","event":"app:said","ingestion":"enabled","payload":{"type":"object","required":["word"],"properties":{"word":{"type":"string"}},"additionalProperties":false}},
	{"name":"page.pressed","event":"app:pressed","ingestion":"enabled","target":{"selector":"button.real"}},
	{"name":"quiet.said","event":"app:quiet","ingestion":"disabled_by_default"},
	{"name":"page.busy","event":"app:busy","ingestion":"enabled"}]}`

// signal returns the next event of a name, and fails when another one comes
// that ok refuses.
func (e events) signal(t *testing.T, name string) runtime.Event {
	t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case ev := <-e:
			if ev.Kind == runtime.DOMEvent && ev.Name == name {
				return ev
			}
		case <-timeout:
			t.Fatalf("no event %s within %s", name, patience)
		}
	}
}

// script runs statements in the page's own world.
func script(t *testing.T, h *runtime.Host, source string) map[string]any {
	t.Helper()
	args, _ := json.Marshal(map[string]string{"source": source})
	out := value(t, do(t, h, "debug.run_javascript", string(args), patience))
	result, _ := out["result"].(map[string]any)
	return result
}

// TestSignalsOfEveryFrame: signals are observed from the first script of every
// document on, whatever the page does to its own world.
func TestSignalsOfEveryFrame(t *testing.T) {
	said := func(word string) string {
		return `dispatchEvent(new CustomEvent('app:said', {detail: {word: '` + word + `'}}))`
	}
	hostile := `<script>
		window.leaks = Object.getOwnPropertyNames(window).filter((n) => /outrider/i.test(n));
		addEventListener('app:said', (e) => e.stopImmediatePropagation(), true);
		EventTarget.prototype.addEventListener = () => {};
		Object.defineProperty(CustomEvent.prototype, 'detail', {get: () => ({word: 'forged'})});
		Event.prototype.composedPath = () => { throw new Error('no') };
		JSON.stringify = () => '"forged"';
		window.outriderReport = (x) => { window.caught = x };
	</script>`
	var other string
	mux := http.NewServeMux()
	page := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>x</title>", strings.ReplaceAll(body, "OTHER", other))
		})
	}
	page("/{$}", `<script>`+said("first")+`</script>`+hostile+`<script>`+said("hostile")+`</script><p id=open>open</p>
		<iframe src="/inner"></iframe><iframe src="OTHER/foreign"></iframe><iframe srcdoc="<script>`+said("srcdoc")+
		`</script>"></iframe>
		<iframe id=written></iframe><script>
			const d = document.getElementById('written').contentDocument;
			d.open(); d.write("<!doctype html><p>w<script>setTimeout(() => `+said("written")+`)<\/script>"); d.close();
		</script>`)
	page("/inner", `<script>`+said("inner")+`</script>`)
	page("/foreign", `<script>`+said("foreign")+`</script>`)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	other = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	h := openMap(t, []string{"about:blank"}, signalMap)
	ev := subscribe(t, h)
	value(t, do(t, h, "browser.navigate", `{"url":"`+server.URL+`/"}`, 15*time.Second))
	got := map[string]runtime.Event{}
	want := []string{"first", "hostile", "inner", "foreign", "srcdoc", "written"}
	for len(got) < len(want) {
		e := ev.signal(t, "page.said")
		var p struct{ Word string }
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatalf("payload %s: %v", e.Payload, err)
		}
		got[p.Word] = e
		if p.Word == "forged" {
			t.Fatalf("the page forged a payload: %s", e.Payload)
		}
		t.Logf("received %s of %s", p.Word, e.URL)
	}
	for _, w := range want {
		if _, ok := got[w]; !ok {
			t.Errorf("%q was not received", w)
		}
	}
	if e := got["foreign"]; e.URL != other+"/foreign" || e.PageEvent != "app:said" || e.ID == "" ||
		e.ObservedAt.IsZero() {
		t.Errorf("event of another origin: %+v", e)
	}
	found := script(t, h, `return {leaks: window.leaks, caught: window.caught ?? null}`)
	if found["caught"] != nil || fmt.Sprint(found["leaks"]) != "[]" {
		t.Errorf("the page saw %v", found)
	}
}

// TestSignalsOfTheFirstDocument: also those of a tab that is just being opened.
func TestSignalsOfTheFirstDocument(t *testing.T) {
	url := serve(t, map[string]string{
		"/": `<script>dispatchEvent(new CustomEvent('app:said', {detail: {word: 'early'}}))</script>`,
	})
	h := openMap(t, []string{url + "/"}, signalMap)
	deadline := time.Now().Add(patience)
	for {
		out := value(t, do(t, h, runtime.SiteTool, `{"mode":"signals","name":"page.said"}`, 10*time.Second))
		row := out["signals"].([]any)[0].(map[string]any)
		if row["forwarded"] == 1.0 && row["enabled"] == true {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the signal of the first document: %v", row)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestSignalsAreValidated: what is not as declared is counted, not forwarded.
func TestSignalsAreValidated(t *testing.T) {
	url := serve(t, map[string]string{
		"/": `<p id=open>open</p><button class=real>a</button><button class=other>b</button><script>
		window.app = {say: ({word}) => { dispatchEvent(new CustomEvent('app:said', {detail: {word}})); return {said: word} }};
		window.tell = (name, detail, on = window) => on.dispatchEvent(new CustomEvent(name, {detail, bubbles: true}));
	</script>`,
	})
	h := openMap(t, []string{url + "/"}, signalMap)
	ev := subscribe(t, h)
	dropped := func(reason string, count int) {
		t.Helper()
		var p struct {
			Dropped []struct {
				Signal, Reason string
				Count          int
			}
		}
		e := ev.signal(t, runtime.SignalsDroppedEvent)
		if err := json.Unmarshal(e.Payload, &p); err != nil || len(p.Dropped) != 1 || p.Dropped[0].Reason != reason ||
			p.Dropped[0].Count != count || p.Dropped[0].Signal != "page.said" {
			t.Errorf("dropped: got %s, want %d %s of page.said", e.Payload, count, reason)
		}
	}
	script(t, h, `tell('app:said', {word: 1}); tell('app:said', {}); tell('app:said', {word: 'x', more: true}); `+
		`tell('app:said', 'text'); tell('app:said')`)
	dropped("invalid_payload", 5)
	script(t, h, `tell('app:said', {word: 'x'.repeat(70000)})`)
	dropped("payload_too_large", 1)
	script(t, h, `tell('app:said', {word: 1n})`)
	dropped("payload_not_json", 1)
	script(t, h, `tell('app:pressed', {from: 'other'}, document.querySelector('.other')); tell('app:pressed', `+
		`{from: 'window'}); tell('app:pressed', {from: 'real'}, document.querySelector('.real'))`)
	if e := ev.signal(t, "page.pressed"); string(e.Payload) != `{"from":"real"}` {
		t.Errorf("signal with a target: got %s", e.Payload)
	}
	r := h.Do(t.Context(), runtime.Call{
		ID:        "call-that-says",
		Target:    first(t, h),
		Name:      "say",
		Arguments: json.RawMessage(`{"word":"because"}`),
	})
	value(t, r)
	if e := ev.signal(t, "page.said"); e.PreviousCallID != "call-that-says" ||
		e.Tab.RuntimeID != first(t, h).RuntimeID {
		t.Errorf("signal of a call: %+v", e)
	}
}

// TestSignalsOnDemand: a disabled signal is not observed until it is enabled, and
// a transition enables its own.
func TestSignalsOnDemand(t *testing.T) {
	url := serve(t, map[string]string{"/": `<p id=open>open</p><script>window.quiet = (n) => dispatchEvent(new ` +
		`CustomEvent('app:quiet', {detail: {n}}))</script>`})
	h := openMap(t, []string{url + "/"}, signalMap)
	ev := subscribe(t, h)
	script(t, h, `quiet(1)`)
	out := value(t, do(t, h, runtime.SiteTool, `{"mode":"signals","name":"quiet.said","enabled":true}`, 10*time.Second))
	row := out["signals"].([]any)[0].(map[string]any)
	if row["enabled"] != true || row["ingestion"] != "disabled_by_default" || row["forwarded"] != 0.0 {
		t.Errorf("after enabling: %v", row)
	}
	script(t, h, `quiet(2)`)
	if e := ev.signal(t, "quiet.said"); string(e.Payload) != `{"n":2}` {
		t.Errorf("got %s, want the event after it was enabled", e.Payload)
	}
	value(t, do(t, h, runtime.SiteTool, `{"mode":"signals","name":"quiet.said","enabled":false}`, 10*time.Second))
	script(t, h, `quiet(3); setInterval(() => quiet(4), 100)`)
	r := do(t, h, runtime.SiteTool, `{"mode":"call","action":"somebody_speaks"}`, 10*time.Second)
	if r.Err != nil {
		t.Fatalf("waiting for the signal: %v", r.Err)
	}
	var moved struct {
		Transition struct {
			StoppedBy string          `json:"stopped_by"`
			Signal    json.RawMessage `json:"signal"`
		} `json:"transition"`
	}
	err := json.Unmarshal(r.Output, &moved)
	if err != nil || moved.Transition.StoppedBy != "signal" || string(moved.Transition.Signal) != `{"n":4}` {
		t.Errorf("transition: %s %v", r.Output, err)
	}
	if r := do(
		t, h, runtime.SiteTool, `{"mode":"signals","name":"no.such","enabled":true}`, 10*time.Second,
	); r.Err == nil || r.Err.Code != "unknown_reference" {
		t.Errorf("an unknown signal: %v", r.Err)
	}
}

// TestSignalsFlood: a page that floods is not blocked, the rest is counted, and
// other signals still come.
func TestSignalsFlood(t *testing.T) {
	url := serve(t, map[string]string{"/": `<p id=open>open</p><script>window.flood = (n) => {
		const began = performance.now();
		for (let i = 0; i < n; i++) dispatchEvent(new CustomEvent('app:busy', {detail: {i}}));
		dispatchEvent(new CustomEvent('app:said', {detail: {word: 'after'}}));
		return performance.now() - began;
	}</script>`})
	h := openMap(t, []string{url + "/"}, signalMap)
	ev := subscribe(t, h)
	const total = 20000
	out := script(t, h, fmt.Sprintf(`return {ms: flood(%d)}`, total))
	t.Logf("%d events took the page %v ms", total, out["ms"])
	ev.signal(t, "page.said")
	deadline := time.Now().Add(patience)
	for {
		out := value(t, do(t, h, runtime.SiteTool, `{"mode":"signals","name":"page.busy"}`, 10*time.Second))
		row := out["signals"].([]any)[0].(map[string]any)
		forwarded, _ := row["forwarded"].(float64)
		counts, _ := row["dropped"].(map[string]any)
		lost, _ := counts["rate_limited"].(float64)
		if forwarded+lost == total && forwarded > 0 && forwarded <= 60 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("forwarded %v and dropped %v of %d", forwarded, counts, total)
		}
		time.Sleep(50 * time.Millisecond)
	}
	ev.signal(t, runtime.SignalsDroppedEvent)
}
