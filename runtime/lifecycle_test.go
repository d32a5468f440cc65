package runtime_test

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func anyTab(runtime.TabStatus) bool { return true }

// pending starts a call that waits on the page and returns once it runs there.
func pending(t *testing.T, h *runtime.Host, target runtime.Target) <-chan runtime.Reply {
	t.Helper()
	replies := make(chan runtime.Reply, 2)
	started := make(chan struct{}, 10)
	h.Accept(runtime.Call{
		ID:        "pending",
		Target:    target,
		Name:      "locator.wait_for",
		Timeout:   patience,
		Arguments: json.RawMessage(`{"locator":{"selector":"#never"},"timeout_ms":30000}`),
		Progress:  func(runtime.Progress) { started <- struct{}{} },
	}, func(r runtime.Reply) { replies <- r })
	select {
	case <-started:
	case <-time.After(patience):
		t.Fatal("the call did not start")
	}
	return replies
}

func within(t *testing.T, replies <-chan runtime.Reply, d time.Duration) runtime.Reply {
	t.Helper()
	select {
	case r := <-replies:
		return r
	case <-time.After(d):
		t.Fatalf("the call in flight was not answered within %s", d)
		return runtime.Reply{}
	}
}

func TestADeadBrowserIsReplacedAndItsTabsComeBack(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<p>a</p>`, "/b": `<p>b</p>`})
	h := launched(t, runtime.Options{Open: []string{url + "/a", url + "/b"}})
	before := h.Tabs()
	target := runtime.Target{RuntimeID: before[1].RuntimeID}
	events := subscribe(t, h)
	inFlight := pending(t, h, target)
	if err := syscall.Kill(h.BrowserPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := within(t, inFlight, slack); fault.CodeOf(r.Err) != fault.BrowserLost {
		t.Errorf("the call in flight ended with %v, want browser_lost", r.Err)
	}
	// Accepted while there is no browser: it waits for the next one.
	if got := value(
		t, h.Do(t.Context(), runtime.Call{ID: "next", Target: target, Name: "page.info", Timeout: 20 * time.Second}),
	); got["url"] != url+"/b" {
		t.Errorf("the tab came back at %v, want %s/b", got["url"], url)
	}
	for range 2 {
		events.wait(t, runtime.TabReady, anyTab)
	}
	after := h.Tabs()
	for i := range before {
		if before[i].RuntimeID != after[i].RuntimeID || before[i].RuntimeKey != after[i].RuntimeKey ||
			before[i].URL != after[i].URL {
			t.Errorf("tab %d was %+v and is %+v", i, before[i], after[i])
		}
	}
}

// A bridge takes the older of two runtimes with one key away. Issue 16.
func TestHostsShareNoRuntimeKey(t *testing.T) {
	a, b := launched(t, runtime.Options{}).Tabs()[0], launched(t, runtime.Options{}).Tabs()[0]
	if a.RuntimeKey == b.RuntimeKey {
		t.Errorf("two hosts announce the runtime_key %q", a.RuntimeKey)
	}
}

func TestACrashedTabComesBack(t *testing.T) {
	url := serve(t, map[string]string{"/": `<p>x</p>`})
	h := launched(t, runtime.Options{Open: []string{url}})
	events := subscribe(t, h)
	inFlight := pending(t, h, first(t, h))
	if err := h.CrashTab(h.Tabs()[0].RuntimeID); err != nil {
		t.Fatal(err)
	}
	if r := within(t, inFlight, slack); fault.CodeOf(r.Err) != fault.TabCrashed {
		t.Errorf("the call in flight ended with %v, want tab_crashed", r.Err)
	}
	events.wait(t, runtime.TabReady, anyTab)
	if got := value(t, do(t, h, "page.info", `{}`, 0)); got["url"] != url+"/" {
		t.Errorf("the tab came back at %v", got["url"])
	}
}

func TestPopupsBecomeTabsAndClosingEndsTheirCalls(t *testing.T) {
	url := serve(t, map[string]string{
		"/": `<button style="width:200px;height:50px" onclick="window.pop = window.open('/popup')">open</button>` +
			`<button id=close style="width:200px;height:50px" onclick="pop.close()">close</button>`,
		"/popup": `<p>popup</p>`,
	})
	h := open(t, runtime.Options{Open: []string{url}})
	events := subscribe(t, h)
	click := func(selector string) {
		t.Helper()
		info := value(t, do(t, h, "locator.element_info", `{"locator":{"selector":"`+selector+`"}}`, 0))
		c, err := json.Marshal(info["clickable_center"])
		if err != nil {
			t.Fatal(err)
		}
		value(t, do(t, h, "pointer.click", string(c), 0))
	}
	click("button")
	popup := events.wait(t, runtime.TabReady, anyTab)
	if popup.URL != url+"/popup" { // its document may be there when it is ready
		events.wait(t, runtime.TabChanged, func(s runtime.TabStatus) bool { return s.URL == url+"/popup" })
	}
	target := runtime.Target{RuntimeID: popup.RuntimeID}
	if got := value(t, h.Do(t.Context(), runtime.Call{
		ID:        "p",
		Target:    target,
		Name:      "locator.text_content",
		Arguments: json.RawMessage(`{"locator":{"selector":"p"}}`),
	})); got["text"] != "popup" {
		t.Errorf("the popup shows %v", got)
	}
	inFlight := pending(t, h, target)
	queued := make(chan runtime.Reply, 1)
	h.Accept(runtime.Call{ID: "q", Target: target, Name: "page.info"}, func(r runtime.Reply) { queued <- r })
	click("#close")
	for what, replies := range map[string]<-chan runtime.Reply{"in flight": inFlight, "queued": queued} {
		if r := within(t, replies, slack); fault.CodeOf(r.Err) != fault.TabClosed {
			t.Errorf("the call %s ended with %v, want tab_closed", what, r.Err)
		}
	}
	if removed := events.wait(t, runtime.TabRemoved, anyTab); removed.RuntimeID != popup.RuntimeID {
		t.Errorf("removed %s, want %s", removed.RuntimeID, popup.RuntimeID)
	}
	if r := h.Do(
		t.Context(), runtime.Call{ID: "r", Target: target, Name: "page.info"},
	); fault.CodeOf(r.Err) != fault.RuntimeNotFound {
		t.Errorf("a call for the closed tab: %v, want runtime_not_found", r.Err)
	}
}

func TestADialogEndsCallsAndCanBeAnswered(t *testing.T) {
	url := serve(t, map[string]string{
		"/": `<p>x</p><script>setTimeout(() => { document.title = prompt("name?", "Ada") }, 400)</script>`,
	})
	h := open(t, runtime.Options{Open: []string{url}})
	r := do(t, h, "locator.wait_for", `{"locator":{"selector":"#never"},"timeout_ms":10000}`, 15*time.Second)
	if fault.CodeOf(r.Err) != fault.DialogOpen || r.Err.Evidence["type"] != "prompt" {
		t.Fatalf("the call during the dialog: %v %v, want dialog_open", r.Err, r.Err.Evidence)
	}
	if r := do(t, h, "page.info", `{}`, slack); fault.CodeOf(r.Err) != fault.DialogOpen {
		t.Errorf("the next call: %v, want dialog_open", r.Err)
	}
	value(t, do(t, h, "browser.dismiss_dialog", `{"accept":true,"prompt_text":"Grace"}`, 0))
	if got := value(t, do(t, h, "page.info", `{}`, 0)); got["title"] != "Grace" {
		t.Errorf("the page got %v", got["title"])
	}
	if r := do(t, h, "browser.dismiss_dialog", `{}`, 0); fault.CodeOf(r.Err) != fault.NoDialog {
		t.Errorf("answering no dialog: %v, want no_dialog", r.Err)
	}
}

func TestTheProfileIsGone(t *testing.T) {
	h := launched(t, runtime.Options{})
	pid := h.BrowserPID()
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("the browser %d is still running", pid)
	}
}

// Who has the reply to a call finds in the list of tabs what the call did, however far
// the events are behind. Issue 15.
func TestTheListOfTabsIsNoOlderThanAReply(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<p>a</p>`})
	h := open(t, runtime.Options{})
	release := make(chan struct{})
	t.Cleanup(h.Subscribe(func(ev runtime.Event) {
		if ev.Kind == runtime.TabChanged {
			<-release
		}
	}))
	t.Cleanup(func() { close(release) })
	value(t, h.Do(t.Context(), runtime.Call{
		ID:        "go",
		Name:      "browser.navigate",
		Arguments: json.RawMessage(`{"url":"` + url + `/a"}`),
	}))
	if got := h.Tabs()[0]; got.URL != url+"/a" || got.Title != "a" {
		t.Errorf("after the reply the tab is %q at %s, want a at %s/a", got.Title, got.URL, url)
	}
}

// The title that the reply to a navigation has is reported to those who follow the events
// too. Issue 15.
func TestATitleIsTold(t *testing.T) {
	url := serve(t, map[string]string{"/a": `<p>a</p>`, "/b": `<p>b</p>`})
	h := open(t, runtime.Options{})
	events := subscribe(t, h)
	for range 5 {
		for _, page := range []string{"a", "b"} {
			value(t, h.Do(t.Context(), runtime.Call{
				ID:        page,
				Name:      "browser.navigate",
				Arguments: json.RawMessage(`{"url":"` + url + "/" + page + `"}`),
			}))
			events.wait(t, runtime.TabChanged, func(s runtime.TabStatus) bool {
				return s.URL == url+"/"+page && s.Title == page
			})
		}
	}
}
