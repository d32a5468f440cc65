package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func TestCallsOnOneTabRunInTheOrderOfAccept(t *testing.T) {
	url := serve(t, map[string]string{"/": `<textarea autofocus></textarea>`})
	h := open(t, runtime.Options{Open: []string{url}})
	var mu sync.Mutex
	var order []int
	var all sync.WaitGroup
	for i := range 20 {
		all.Add(1)
		args := fmt.Sprintf(`{"text":"%d,","target":{"selector":"textarea"}}`, i)
		h.Accept(runtime.Call{
			ID:        fmt.Sprint(i),
			Target:    first(t, h),
			Name:      "text.insert",
			Arguments: json.RawMessage(args),
		}, func(r runtime.Reply) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, len(order))
			if r.Err != nil || r.ID != fmt.Sprint(i) {
				t.Errorf("call %d: reply %q, error %v", i, r.ID, r.Err)
			}
			all.Done()
		})
	}
	all.Wait()
	want := ""
	for i := range 20 {
		want += fmt.Sprintf("%d,", i)
	}
	got := value(t, do(t, h, "locator.value", `{"locator":{"selector":"textarea"}}`, 0))["value"]
	if got != want {
		t.Errorf("the page saw %q, want %q", got, want)
	}
}

// A call whose time is over when it comes is answered once, like any other.
func TestCallsWithoutTimeAreAnswered(t *testing.T) {
	h := open(t, runtime.Options{Open: []string{serve(t, map[string]string{"/": `<p>hello</p>`})}})
	target, answers := first(t, h), make(chan runtime.Reply, 4000)
	for range cap(answers) / 2 {
		h.Accept(runtime.Call{Target: target, Name: "page.info", Timeout: 1}, func(r runtime.Reply) { answers <- r })
	}
	for range cap(answers) / 2 {
		if r := <-answers; fault.CodeOf(r.Err) != fault.HandlerTimeout {
			t.Fatalf("expected %s: %v", fault.HandlerTimeout, r.Err)
		}
	}
	if len(answers) > 0 {
		t.Errorf("%d calls were answered twice", len(answers))
	}
}

// slack is how late an answer may be on a machine under load; alone it is a few
// milliseconds. What these tests distinguish, a call that is blocked by another or
// never ends, is as far away from it.
const slack = 12 * time.Second

// patience is what a step of a test may take on a machine under load. A wait that ends
// with what it waits for costs nothing when it is long.
const patience = time.Minute

// A call that waits out its time, one behind it in the queue, and one that is
// cancelled there: each ends by itself, in time, and exactly once.
func TestDeadlinesAndCancelsOvertakeTheQueue(t *testing.T) {
	url := serve(t, map[string]string{"/": `<p>hello</p>`})
	h := open(t, runtime.Options{Open: []string{url}})
	type answer struct {
		id    string
		reply runtime.Reply
		after time.Duration
	}
	answers := make(chan answer, 10)
	began := time.Now()
	accept := func(id string, timeout time.Duration) func() {
		return h.Accept(runtime.Call{ID: id, Target: first(t, h), Name: "locator.wait_for", Timeout: timeout,
			Arguments: json.RawMessage(`{"locator":{"selector":"#never"},"timeout_ms":30000}`)},
			func(r runtime.Reply) { answers <- answer{id, r, time.Since(began)} })
	}
	stop := accept("running", patience)
	accept("queued", 300*time.Millisecond)
	cancel := accept("cancelled", patience)
	cancel()
	want := map[string]struct {
		code     fault.Code
		min, max time.Duration
	}{
		"cancelled": {fault.Cancelled, 0, slack},
		"queued":    {fault.HandlerTimeout, 300 * time.Millisecond, 300*time.Millisecond + slack},
	}
	for range want {
		a := <-answers
		w := want[a.id]
		if fault.CodeOf(a.reply.Err) != w.code || a.after < w.min || a.after > w.max {
			t.Errorf("%s: %v after %s, want %s between %s and %s", a.id, a.reply.Err, a.after, w.code, w.min, w.max)
		}
		if w.code == fault.HandlerTimeout {
			if _, ok := a.reply.Err.Evidence["elapsed_ms"]; !ok {
				t.Errorf("%s: the evidence %v does not say the elapsed time", a.id, a.reply.Err.Evidence)
			}
		}
	}
	stop()
	if a := <-answers; a.id != "running" || fault.CodeOf(a.reply.Err) != fault.Cancelled || a.after > 2*slack {
		t.Errorf("%s: %v after %s, want the running call to be cancelled", a.id, a.reply.Err, a.after)
	}
	r := do(t, h, "locator.wait_for", `{"locator":{"selector":"#never"},"timeout_ms":20000}`, 500*time.Millisecond)
	if fault.CodeOf(r.Err) != fault.HandlerTimeout || r.Duration < 500*time.Millisecond ||
		r.Duration > 500*time.Millisecond+slack {
		t.Errorf("a running call out of time: %v after %s", r.Err, r.Duration)
	}
	if got := value(t, do(t, h, "page.info", `{}`, 0)); got["url"] != url+"/" {
		t.Errorf("after that the tab answers %v", got)
	}
	select {
	case a := <-answers:
		t.Errorf("%s was answered twice", a.id)
	default:
	}
}

func TestAWedgedTabDoesNotHoldUpTheOthers(t *testing.T) {
	url := serve(t, map[string]string{"/wedged": `<button onclick="for(;;);">x</button>`, "/fine": `<p>fine</p>`})
	h := open(t, runtime.Options{Open: []string{url + "/fine", url + "/wedged"}})
	tabs := h.Tabs()
	fine, wedged := runtime.Target{RuntimeID: tabs[0].RuntimeID}, runtime.Target{RuntimeID: tabs[1].RuntimeID}
	info := h.Do(t.Context(), runtime.Call{
		ID:        "i",
		Target:    wedged,
		Name:      "locator.element_info",
		Arguments: json.RawMessage(`{"locator":{"selector":"button"}}`),
	})
	center := value(t, info)["clickable_center"].(map[string]any)
	click := fmt.Sprintf(`{"x":%v,"y":%v}`, center["x"], center["y"])
	began := time.Now()
	r := h.Do(t.Context(), runtime.Call{
		ID:        "c",
		Target:    wedged,
		Name:      "pointer.click",
		Arguments: json.RawMessage(click),
		Timeout:   500 * time.Millisecond,
	})
	if took := time.Since(began); took > 500*time.Millisecond+slack {
		t.Errorf("the click on the wedged page ended after %s", took)
	}
	if r.Err != nil && r.Err.Code != fault.HandlerTimeout {
		t.Errorf("the click on the wedged page: %v", r.Err)
	}
	began = time.Now()
	r = h.Do(t.Context(), runtime.Call{ID: "p", Target: wedged, Name: "page.info", Timeout: 400 * time.Millisecond})
	if fault.CodeOf(r.Err) != fault.HandlerTimeout {
		t.Errorf("a read of the wedged page: %v, want handler_timeout", r.Err)
	}
	if took := time.Since(began); took > 400*time.Millisecond+slack {
		t.Errorf("a read of the wedged page ended after %s", took)
	}
	began = time.Now()
	value(t, h.Do(t.Context(), runtime.Call{ID: "f", Target: fine, Name: "page.info"}))
	if took := time.Since(began); took > slack {
		t.Errorf("the other tab answered after %s", took)
	}
}

func TestRoutingNeverGuesses(t *testing.T) {
	url := serve(t, map[string]string{"/one": `1`, "/two": `2`})
	h := open(t, runtime.Options{Open: []string{url + "/one", url + "/two"}})
	tabs := h.Tabs()
	for _, c := range []struct {
		name   string
		target runtime.Target
		code   fault.Code
		tab    int
	}{
		{"nothing named", runtime.Target{}, fault.AmbiguousRuntime, 0},
		{"both match", runtime.Target{URLContains: "127.0.0.1"}, fault.AmbiguousRuntime, 0},
		{"none matches", runtime.Target{URLContains: "example"}, fault.RuntimeNotFound, 0},
		{"unknown id", runtime.Target{RuntimeID: "x"}, fault.RuntimeNotFound, 0},
		{
			"id of one, url of the other",
			runtime.Target{RuntimeID: tabs[0].RuntimeID, URLContains: "/two"}, fault.RuntimeNotFound, 0,
		},
		{"by id", runtime.Target{RuntimeID: tabs[1].RuntimeID}, "", 1},
		{"by key", runtime.Target{RuntimeKey: tabs[0].RuntimeKey}, "", 0},
		{"by url, any case", runtime.Target{URLContains: "/TWO"}, "", 1},
		{"by title", runtime.Target{TitleContains: "one"}, "", 0},
	} {
		r := h.Do(t.Context(), runtime.Call{ID: c.name, Target: c.target, Name: "page.info"})
		if fault.CodeOf(r.Err) != c.code || (c.code == "" && r.RuntimeID != tabs[c.tab].RuntimeID) {
			t.Errorf("%s: got %v from %s, want %q", c.name, r.Err, r.RuntimeID, c.code)
		}
		if c.code == fault.AmbiguousRuntime && r.Err.Evidence["candidates"] == nil {
			t.Errorf("%s: the error names no candidates", c.name)
		}
	}
}

func TestCloseAnswersEveryCall(t *testing.T) {
	url := serve(t, map[string]string{"/": `<p>x</p>`})
	h := open(t, runtime.Options{Open: []string{url}})
	codes := make(chan fault.Code, 50)
	target := first(t, h)
	for i := range cap(codes) {
		h.Accept(runtime.Call{ID: fmt.Sprint(i), Target: target, Name: "locator.wait_for",
			Arguments: json.RawMessage(`{"locator":{"selector":"#never"},"timeout_ms":20000}`)},
			func(r runtime.Reply) { codes <- fault.CodeOf(r.Err) })
	}
	began := time.Now()
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second+slack {
		t.Errorf("closing took %s", took)
	}
	var got []fault.Code
	for range cap(codes) {
		select {
		case c := <-codes:
			got = append(got, c)
		case <-time.After(slack):
			t.Fatalf("%d of %d calls were answered", len(got), cap(codes))
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if len(got) != 1 || got[0] != fault.Cancelled {
		t.Errorf("codes %v, want cancelled only", got)
	}
}

// Calls about tabs do not wait for the page of the tab that they came to.
func TestCallsAboutTabsDoNotWaitBehindAPage(t *testing.T) {
	url := serve(t, map[string]string{"/": `<p>waiting`, "/other": `<p>other`})
	h := open(t, runtime.Options{Open: []string{url + "/", url + "/other"}})
	tabs := h.Tabs()
	target := runtime.Target{RuntimeID: tabs[0].RuntimeID}
	ended := make(chan runtime.Reply, 1)
	cancel := h.Accept(runtime.Call{ID: "waits", Target: target, Name: "locator.wait_for", Timeout: time.Minute,
		Arguments: json.RawMessage(`{"locator":{"selector":"#never"},"timeout_ms":50000}`)},
		func(r runtime.Reply) { ended <- r })
	defer func() { cancel(); <-ended }()
	listed := value(t, h.Do(t.Context(), runtime.Call{ID: "lists", Target: target, Name: "browser.claimed_tabs.list"}))
	rows := listed["tabs"].([]any)
	other := rows[1].(map[string]any)["tab_id"]
	value(t, h.Do(t.Context(), runtime.Call{
		ID:        "activates",
		Target:    target,
		Name:      "browser.claimed_tabs.activate",
		Arguments: json.RawMessage(fmt.Sprintf(`{"tab_id":%v}`, other)),
	}))
	value(t, h.Do(t.Context(), runtime.Call{
		ID:        "closes",
		Target:    target,
		Name:      "browser.close_tab",
		Arguments: json.RawMessage(fmt.Sprintf(`{"tab_id":%v}`, other)),
	}))
	value(t, h.Do(t.Context(), runtime.Call{
		ID:        "opens",
		Target:    target,
		Name:      "browser.open_tab",
		Arguments: json.RawMessage(`{"url":"` + url + `/other"}`),
	}))
	select {
	case r := <-ended:
		t.Errorf("the waiting call ended first: %v", r.Err)
		ended <- r
	default:
	}
	if len(rows) != 2 {
		t.Errorf("listed %d tabs, want 2", len(rows))
	}
}
