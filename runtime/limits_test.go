package runtime_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
	"github.com/outrider-run/outrider/runtime"
)

// A tab beyond the limit is refused to a caller, and closed when a page opens it.
func TestTabsAreLimited(t *testing.T) {
	url := serve(t, map[string]string{"/": `<button>Open</button><script>
		document.querySelector("button").onclick = () => {
			const w = open("/popup");
			const look = () => !w || w.closed ? document.body.append("it is closed") : setTimeout(look, 20);
			look();
		}</script>`, "/popup": "popup"})
	h := open(t, runtime.Options{Open: []string{url + "/"}, Limits: runtime.Limits{Tabs: 2}})
	if r := do(t, h, "browser.open_tab", `{"url":"`+url+`/popup","active":false}`, 10*time.Second); r.Err != nil {
		t.Fatal(r.Err)
	}
	r := do(t, h, "browser.open_tab", `{"url":"`+url+`/popup"}`, 10*time.Second)
	if r.Err == nil || r.Err.Code != fault.PermissionDenied || r.Err.Evidence["limit"] != 2 || r.Err.NextStep == "" {
		t.Errorf("the third tab: %v", r.Err)
	}
	// The page's own window is gone again: its opener sees it closed.
	first := runtime.Target{RuntimeID: h.Tabs()[0].RuntimeID}
	click := runtime.Call{
		ID:        newID(),
		Target:    first,
		Name:      "pointer.click",
		Arguments: json.RawMessage(`{"locator":{"selector":"button"},"effects":true}`),
		Timeout:   patience,
	}
	clicked := h.Do(t.Context(), click)
	if clicked.Err != nil {
		t.Fatal(clicked.Err)
	}
	var out struct {
		Effects struct {
			Tabs    []struct{ URL string }     `json:"tabs"`
			Refused struct{ Count, Limit int } `json:"tabs_refused"`
		} `json:"effects"`
	}
	if err := json.Unmarshal(clicked.Output, &out); err != nil {
		t.Fatalf("the result is %s: %v", clicked.Output, err)
	}
	if e := out.Effects; e.Refused.Count != 1 || e.Refused.Limit != 2 || len(e.Tabs) > 0 {
		t.Errorf("the result does not tell of the popup: %s", clicked.Output)
	}
	wait := runtime.Call{
		ID:        newID(),
		Target:    first,
		Name:      "page.wait",
		Arguments: json.RawMessage(`{"conditions":[{"text":"it is closed"}],"timeout_ms":60000}`),
		Timeout:   patience,
	}
	if r := h.Do(t.Context(), wait); r.Err != nil {
		t.Errorf("the popup is not closed: %v", r.Err)
	}
	if tabs := h.Tabs(); len(tabs) != 2 {
		t.Errorf("there are %d tabs, want 2", len(tabs))
	}
	// One that is closed makes room.
	second := h.Tabs()[1]
	if r := do(t, h, "browser.close_tab", `{"tab_id":`+jsonOf(t, second.TabID)+`}`, 10*time.Second); r.Err != nil {
		t.Fatal(r.Err)
	}
	if r := do(t, h, "browser.open_tab", `{"url":"`+url+`/popup","active":false}`, 10*time.Second); r.Err != nil {
		t.Errorf("after one was closed: %v", r.Err)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A page that holds more than a tab may is ended. Its calls say why, and the tab is there
// again without it.
func TestMemoryOfTabsIsLimited(t *testing.T) {
	url := serve(t, map[string]string{
		"/light": "light",
		"/heavy": `<script>window.held = new Uint8Array(96 << 20).fill(7)</script>`,
	})
	h := open(t, runtime.Options{Open: []string{url + "/light"}, Limits: runtime.Limits{TabMemory: 64 << 20}})
	seen := subscribe(t, h)
	if r := do(t, h, "page.info", `{}`, 10*time.Second); r.Err != nil {
		t.Fatal(r.Err)
	}
	// The memory is measured while the document comes, while it is waited for, or between the two: then the tab is
	// there again, empty, before a call meets its end.
	var r runtime.Reply
	for range 5 {
		r = do(t, h, "browser.navigate", `{"url":"`+url+`/heavy"}`, 10*time.Second)
		if r.Err == nil {
			r = do(t, h, "page.wait", `{"conditions":[{"text":"never"}],"timeout_ms":20000}`, 60*time.Second)
		}
		if r.Err != nil && r.Err.Code == fault.TabCrashed {
			break
		}
	}
	if r.Err == nil || r.Err.Code != fault.TabCrashed || !strings.Contains(r.Err.Message, "MB that a tab may hold") ||
		r.Err.Evidence["limit"] != int64(64<<20) {
		t.Fatalf("the call on the heavy page: %v %v", r.Err, r.Err.Evidence)
	}
	seen.wait(t, runtime.TabReady, func(s runtime.TabStatus) bool { return s.URL == "about:blank" })
	if r := do(t, h, "browser.navigate", `{"url":"`+url+`/light"}`, 10*time.Second); r.Err != nil {
		t.Errorf("the tab afterwards: %v", r.Err)
	}
}

// A host that refuses calls answers those that it accepted before.
func TestCallsAreRefusedAtTheEnd(t *testing.T) {
	url := serve(t, map[string]string{"/": `<button onclick="document.body.append('done')">Go</button>`})
	h := open(t, runtime.Options{Open: []string{url + "/"}})
	answered := make(chan runtime.Reply, 1)
	h.Accept(runtime.Call{
		ID:        newID(),
		Target:    first(t, h),
		Name:      "page.wait",
		Arguments: json.RawMessage(`{"conditions":[{"text":"done"}],"timeout_ms":60000}`),
		Timeout:   2 * time.Minute,
	},
		func(r runtime.Reply) { answered <- r })
	second := open(t, runtime.Options{}) // what is refused there is not refused here
	h.RefuseCalls()
	r := do(t, h, "page.info", `{}`, 10*time.Second)
	if r.Err == nil || r.Err.Code != fault.RuntimeNotReady {
		t.Errorf("a call afterwards: %v", r.Err)
	}
	if r := do(t, second, "page.info", `{}`, 10*time.Second); r.Err != nil {
		t.Errorf("a call of another host: %v", r.Err)
	}
	select {
	case r := <-answered:
		t.Fatalf("the call that was accepted ended with %v", r.Err)
	default:
	}
}

// recorder keeps the spans that it hears of, as paths.
type recorder struct {
	mu    sync.Mutex
	paths []string
}

type pathKey struct{}

func (r *recorder) Begin(ctx context.Context, kind span.Kind, name string) (context.Context, func(fault.Code)) {
	path, _ := ctx.Value(pathKey{}).(string)
	path += "/" + string(kind) + ":" + name
	return context.WithValue(ctx, pathKey{}, path), func(code fault.Code) {
		if code != "" {
			path += "=" + string(code)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.paths = append(r.paths, path)
	}
}

// What a call does is heard of as spans within each other.
func TestSpansOfCalls(t *testing.T) {
	url := serve(t, map[string]string{"/": `<h1>Title</h1><button>Go</button>`})
	heard := &recorder{}
	h := open(t, runtime.Options{Open: []string{url +
		"/"}, Spans: heard, Maps: mapsOf(t, `{"protocol":"actions.json","version":1,"tools":[
		{"name":"page.steps","description":"d","input_schema":{"type":"object"},"x_actions":{"execution":{"mode":"steps_only","steps":[
			{"id":"look","type":"inspect","target":{"selector":"h1"}},{"id":"press","type":"click","target":{"selector":"button"}}]}}},
		{"name":"page.flow","description":"d","input_schema":{"type":"object"},"workflow":{"version":1,"expression_language":"jsonata","steps":[
			{"id":"info","primitive":"page.info"},{"id":"gone","primitive":"locator.value","args":{"locator":{"selector":"#none"}}}]}}]}`)})
	if r := do(t, h, runtime.SiteTool, `{"mode":"call","action":"page.steps"}`, 10*time.Second); r.Err != nil {
		t.Fatal(r.Err)
	}
	if r := do(t, h, "page.flow", `{}`, 10*time.Second); r.Err == nil {
		t.Fatal("the workflow did not fail")
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	for _, want := range []string{
		"/call:actions.site/site_action:page.steps/step:look",
		"/call:actions.site/site_action:page.steps/step:press/primitive:pointer.click",
		"/call:actions.site/site_action:page.steps",
		"/call:actions.site",
		"/call:page.flow/site_action:page.flow/step:info/primitive:page.info",
		"/call:page.flow/site_action:page.flow/step:gone/primitive:locator.value=target_not_found",
		"/call:page.flow/site_action:page.flow/step:gone=workflow_step_failed",
		"/call:page.flow=workflow_step_failed",
	} {
		if !slices.Contains(heard.paths, want) {
			t.Errorf("no span %s; heard of %s", want, strings.Join(heard.paths, "\n"))
		}
	}
}
