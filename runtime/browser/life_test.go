package browser_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// recorder collects events.
type recorder struct {
	mu     sync.Mutex
	events []browser.Event
}

func (r *recorder) add(e browser.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) find(match func(browser.Event) bool) (browser.Event, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if match(e) {
			return e, true
		}
	}
	return browser.Event{}, false
}

func newTab(t *testing.T, b *browser.Browser, url string) *browser.Tab {
	t.Helper()
	tab, err := b.NewTab(within(t, 30*time.Second), url, browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// endsWith asserts that a call in flight ends with a code soon after act.
func endsWith(t *testing.T, tab *browser.Tab, code fault.Code, act func()) {
	t.Helper()
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	go func() { ended <- tab.Hang(ctx, "") }()
	awaitHang(t, tab)
	start := time.Now()
	act()
	select {
	case err := <-ended:
		wantCode(t, err, code)
		t.Logf("%s after %v", code, time.Since(start))
	case <-time.After(patience / 2):
		t.Errorf("the call in flight did not end")
		cancel()
		<-ended
	}
}

func TestTabThatIsClosed(t *testing.T) {
	tab := browsertest.Tab(t)
	endsWith(t, tab, fault.TabClosed, func() {
		if err := tab.Close(within(t, 10*time.Second)); err != nil {
			t.Error(err)
		}
	})
	wantCode(t, tab.Call(within(t, time.Second), "", "page_info", nil, nil), fault.TabClosed)
	wantCode(t, tab.Mouse(within(t, time.Second), clickEvents(1, 1)...), fault.TabClosed)
	_, err := tab.Navigate(within(t, time.Second), primitives.NavigateOptions{URL: "about:blank"})
	wantCode(t, err, fault.TabClosed)
	if err := tab.Close(within(t, time.Second)); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestTabThatClosesItself(t *testing.T) {
	tab := browsertest.Tab(t)
	endsWith(t, tab, fault.TabClosed, func() { tab.PostEval("window.close()") })
}

func TestTabThatCrashes(t *testing.T) {
	rec := &recorder{}
	b := browsertest.Launch(t, func(o *browser.Options) { o.OnEvent = rec.add })
	s := newSite(t, map[string]string{"/": `<title>here</title><iframe src="{{OTHER}}/in"></iframe>`, "/in": `in`})
	tab := newTab(t, b, s.origin+"/")
	other := newTab(t, b, s.other+"/in")
	endsWith(t, tab, fault.TabCrashed, func() { tab.Crash(nil) })
	wantCode(t, tab.Call(within(t, time.Second), "", "page_info", nil, nil), fault.TabCrashed)
	wantCode(t, tab.InsertText(within(t, time.Second), "x"), fault.TabCrashed)
	eventually(t, 2*time.Second, "the event", func() bool {
		_, ok := rec.find(func(e browser.Event) bool { return e.Kind == browser.TabCrashed && e.Tab == tab })
		return ok
	})
	if err := other.Call(within(t, 10*time.Second), "", "page_info", nil, nil); err != nil {
		t.Errorf("another tab: %v", err)
	}

	// It restarts with a navigation.
	nav, err := tab.Navigate(
		within(t, 20*time.Second), primitives.NavigateOptions{Reload: true, LoadTimeout: 10 * time.Second},
	)
	if err != nil || nav.Title != "here" {
		t.Fatalf("reloading: %+v, %v", nav, err)
	}
	if err := tab.Call(within(t, 10*time.Second), "", "page_info", nil, nil); err != nil {
		t.Error(err)
	}
	tab.Crash(nil)
	eventually(t, 5*time.Second, "the second crash", func() bool {
		return fault.CodeOf(tab.Call(within(t, time.Second), "", "page_info", nil, nil)) == fault.TabCrashed
	})
	if err := tab.Close(within(t, 10*time.Second)); err != nil {
		t.Errorf("closing a crashed tab: %v", err)
	}
}

func TestFrameThatCrashes(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/": `<title>here</title><iframe src="{{OTHER}}/in"></iframe>`, "/in": `in`})
	open(t, tab, s.origin+"/")
	frame := tab.Frames()[1].ID
	ended := make(chan error, 1)
	go func() { ended <- tab.Hang(within(t, 30*time.Second), frame) }()
	eventually(t, 10*time.Second, "a call in flight", func() bool {
		got, _ := tab.Eval(within(t, 5*time.Second), frame, "document.documentElement.dataset.hanging")
		return got == "yes"
	})
	tab.CrashFrame(frame)
	select {
	case err := <-ended:
		if c := fault.CodeOf(err); c != fault.TabCrashed && c != fault.PageNavigated {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience / 2):
		t.Error("the call in the frame is still waiting")
	}
	if err := tab.Call(within(t, 10*time.Second), "", "page_info", nil, nil); err != nil {
		t.Errorf("the page around it: %v", err)
	}
	if c := fault.CodeOf(tab.Call(within(t, 2*time.Second), frame, "page_info", nil, nil)); c != fault.TabCrashed &&
		c != fault.FrameNotFound {
		t.Errorf("a call in the crashed frame: %v", c)
	}
}

func TestBrowserThatIsKilled(t *testing.T) {
	rec := &recorder{}
	b := browsertest.Launch(t, func(o *browser.Options) { o.OnEvent = rec.add })
	tab := newTab(t, b, "")
	dir := b.ProfileDir()
	endsWith(t, tab, fault.BrowserLost, func() {
		if err := syscall.Kill(b.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	})
	select {
	case <-b.Done():
	case <-time.After(patience / 2):
		t.Fatal("Done is not closed")
	}
	wantCode(t, b.Err(), fault.BrowserLost)
	if !strings.Contains(b.Err().Error(), "killed") {
		t.Errorf("the cause does not say how it ended: %v", b.Err())
	}
	wantCode(t, tab.Call(within(t, time.Second), "", "page_info", nil, nil), fault.BrowserLost)
	_, err := b.NewTab(within(t, time.Second), "", browser.TabOptions{})
	wantCode(t, err, fault.BrowserLost)
	if len(b.Tabs()) != 0 {
		t.Errorf("tabs: %v", b.Tabs())
	}
	if err := b.Close(within(t, 10*time.Second)); err != nil {
		t.Error(err)
	}
	if _, ok := rec.find(func(e browser.Event) bool { return e.Kind == browser.BrowserLost && e.Err != nil }); !ok {
		t.Error("no event")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the profile directory is still there: %v", err)
	}
}

// A page that never gives its thread back harms nobody else.
func TestWedgedPage(t *testing.T) {
	b := browsertest.Browser(t)
	s := newSite(t, map[string]string{"/": `<title>here</title>`, "/next": `<title>next</title>`})
	tab, other := browsertest.Tab(t), browsertest.Tab(t)
	open(t, tab, s.origin+"/")
	open(t, other, s.other+"/")
	wedge := func() {
		tab.PostEval("for(;;);")
		start := time.Now()
		wantCode(t, tab.Call(within(t, 500*time.Millisecond), "", "page_info", nil, nil), fault.Timeout)
		if d := time.Since(start); d > patience/2 {
			t.Errorf("the call took %v", d)
		}
	}
	wedge()
	wantCode(t, tab.Mouse(within(t, 300*time.Millisecond), clickEvents(5, 5)...), fault.Timeout)
	if err := other.Call(within(t, 10*time.Second), "", "page_info", nil, nil); err != nil {
		t.Errorf("another tab: %v", err)
	}
	if _, ok := tab.Dialog(); ok {
		t.Error("no dialog is open")
	}
	open(t, tab, s.origin+"/next")
	wedge()
	open(t, tab, s.other+"/next")
	wedge()
	nav, err := tab.Navigate(within(t, 15*time.Second), primitives.NavigateOptions{Reload: true})
	if err != nil || nav.Title != "next" {
		t.Errorf("reloading: %+v %v", nav, err)
	}
	// Nobody noticed that this one hangs.
	tab.PostEval("for(;;);")
	open(t, tab, s.origin+"/next")
	wedge()
	start := time.Now()
	if err := tab.Close(within(t, 10*time.Second)); err != nil {
		t.Errorf("closing: %v", err)
	}
	t.Logf("closed after %v", time.Since(start))
	_ = b
}

func TestPopupsAndWorkers(t *testing.T) {
	rec := &recorder{}
	b := browsertest.Launch(t, func(o *browser.Options) { o.OnEvent = rec.add })
	s := newSite(t, map[string]string{
		"/": `<title>opener</title><body style="margin:0"><button style="width:100px;height:100px" onclick="w=window.open('/popup')">x</button>
			<a href="{{OTHER}}/popup" target=_blank rel=noopener style="position:absolute;left:0;top:150px;width:100px;height:100px">y</a>
			<script>
			const from=what=>{document.title+=' '+what};
			const k=new Worker('/worker.js');k.onmessage=e=>from(e.data);
			const h=new SharedWorker('/shared.js');h.port.onmessage=e=>from(e.data);
			navigator.serviceWorker.register('/service.js');navigator.serviceWorker.ready.then(()=>from('service'));
			</script>`,
		"/popup":      `<title>popup</title><script>document.title+=' '+!!opener</script>`,
		"/worker.js":  `postMessage('dedicated');new Worker('/nested.js').onmessage=e=>postMessage(e.data)`,
		"/nested.js":  `postMessage('nested')`,
		"/shared.js":  `onconnect=e=>e.ports[0].postMessage('shared')`,
		"/service.js": `oninstall=()=>skipWaiting()`,
	})
	tab := newTab(t, b, s.origin+"/")
	var got string
	t.Cleanup(func() { t.Log("workers that ran:", got) })
	eventually(t, 20*time.Second, "every kind of worker", func() bool {
		got, _ = tab.Eval(within(t, 5*time.Second), "", "document.title")
		for _, kind := range []string{"dedicated", "nested", "shared", "service"} {
			if !strings.Contains(got, kind) {
				return false
			}
		}
		return true
	})
	for _, c := range []struct {
		y     float64
		title string
	}{{50, "popup true"}, {200, "popup false"}} {
		before := b.Tabs()
		click(t, tab, 50, c.y)
		var popup *browser.Tab
		eventually(t, 10*time.Second, "a popup", func() bool {
			e, ok := rec.find(func(e browser.Event) bool {
				return e.Kind == browser.TabOpened && !e.Requested && e.Tab != tab && !contains(before, e.Tab)
			})
			popup = e.Tab
			if ok && c.title == "popup true" && e.Opener != tab {
				t.Errorf("opener: %v", e.Opener)
			}
			return ok
		})
		eventually(t, 10*time.Second, "its title", func() bool { return popup.Tab().Title == c.title })
		var out struct{ Title string }
		if err := popup.Call(within(t, 10*time.Second), "", "page_info", nil, &out); err != nil ||
			out.Title != c.title {
			t.Errorf("calling into the popup: %q %v", out.Title, err)
		}
	}
	if n := len(b.Tabs()); n != 3 {
		t.Errorf("got %d tabs, want 3", n)
	}
	for _, popup := range b.Tabs()[1:] {
		if err := popup.Close(within(t, 10*time.Second)); err != nil {
			t.Error(err)
		}
	}
	eventually(t, 5*time.Second, "the closing events", func() bool {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		n := 0
		for _, e := range rec.events {
			if e.Kind == browser.TabClosed {
				n++
			}
		}
		return n == 2
	})
}

func contains(tabs []*browser.Tab, t *browser.Tab) bool {
	for _, o := range tabs {
		if o == t {
			return true
		}
	}
	return false
}

func TestTabEvents(t *testing.T) {
	rec := &recorder{}
	b := browsertest.Launch(t, func(o *browser.Options) { o.OnEvent = rec.add })
	s := newSite(t, map[string]string{"/": `<title>first</title>`})
	tab := newTab(t, b, s.origin+"/")
	eventually(t, 5*time.Second, "address and title", func() bool {
		got := tab.Tab()
		return got.URL == s.origin+"/" && got.Title == "first"
	})
	tab.SetIdentity(primitives.TabInfo{ID: 7, RuntimeID: "r", URL: "ignored", Title: "ignored"})
	tab.PostEval(`document.title='second';history.pushState(0,'','/pushed')`)
	eventually(t, 5*time.Second, "the new title and address", func() bool {
		got := tab.Tab()
		return got.ID == 7 && got.RuntimeID == "r" && got.URL == s.origin+"/pushed" && got.Title == "second"
	})
	tab.PostEval(`onclick=()=>{document.title='third'}`)
	click(t, tab, 200, 200)
	eventually(t, 5*time.Second, "the title that a click set", func() bool {
		if tab.Tab().Title == "third" {
			return true
		}
		click(t, tab, 200, 200)
		return false
	})
	for _, kind := range []browser.EventKind{browser.TabOpened, browser.TabNavigated, browser.TabChanged} {
		eventually(t, 5*time.Second, string(kind), func() bool {
			e, ok := rec.find(func(e browser.Event) bool { return e.Kind == kind && e.Tab == tab })
			return ok && (kind != browser.TabOpened || e.Requested)
		})
	}
	tab.PostEval(`alert(1)`)
	awaitDialog(t, tab)
	if _, err := tab.AnswerDialog(within(t, 5*time.Second), true, ""); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []browser.EventKind{browser.DialogOpened, browser.DialogClosed} {
		eventually(t, 5*time.Second, string(kind), func() bool {
			_, ok := rec.find(func(e browser.Event) bool { return e.Kind == kind && e.Tab == tab })
			return ok
		})
	}
}

// Two who attach to one browser with a context of their own do not see each other's tabs, and their cookies are apart.
func TestAnOwnContextIsApart(t *testing.T) {
	var both [2]*browser.Browser
	for i := range both {
		both[i] = browsertest.Launch(t, func(o *browser.Options) { browsertest.Attach(t, o) })
	}
	ctx := within(t, 30*time.Second)
	urls := []string{"http://shop.test/"}
	first, second := newTab(t, both[0], ""), newTab(t, both[1], "")
	if err := first.SetCookies(ctx, []primitives.Cookie{
		{Name: "who", Value: "Ada", Domain: "shop.test", Path: "/"},
	}); err != nil {
		t.Fatal(err)
	}
	if own, err := first.Cookies(ctx, urls); err != nil || len(own) != 1 {
		t.Errorf("its own cookies are %v, %v", own, err)
	}
	if other, err := second.Cookies(ctx, urls); err != nil || len(other) != 0 {
		t.Errorf("the other has cookies: %v, %v", other, err)
	}
	for i, b := range both {
		if n := len(b.Tabs()); n != 1 {
			t.Errorf("browser %d has %d tabs: expected 1", i, n)
		}
	}
}
