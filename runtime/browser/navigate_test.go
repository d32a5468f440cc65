package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/page"
)

func TestNavigate(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":              `<title>home</title><img name=title>home`,
		"/other":         `<title>other</title>`,
		"/refresh":       `<title>refresh</title><meta http-equiv=refresh content="0;url=/other">`,
		"/script":        `<title>script</title><script>location.replace('/other')</script>`,
		"/onload":        `<title>onload</title><script>onload=()=>{location.href='/other'}</script>`,
		"/chain":         `<script>location.href='/refresh'</script>`,
		"/slow-image":    `<title>slow</title><img src="/hang.png">`,
		"/later-refresh": `<title>stays</title><meta http-equiv=refresh content="60;url=/other">`,
		"/named": `<title>named</title><img name=readyState><img name=performance><form name=scheduler>` +
			`</form><iframe name=addEventListener></iframe>`,
		"/title": `<title>early</title><script>addEventListener('load',()=>document.title='at load');` +
			`addEventListener('pageshow',()=>document.title+=' and shown')</script>`,
		"/rewritten": `<title>first</title><script>addEventListener('DOMContentLoaded',()=>{document.open();` +
			`document.write('<title>written</title>');document.close()})</script>`,
		"/to-download": `<title>stays</title><script>onload=()=>{location.href='/download'}</script>`,
	})
	for _, c := range []struct {
		name, from, to string
		reload         bool
		load           time.Duration
		want           primitives.Navigation
		code           fault.Code
		says           string // part of the message or of error_text
	}{
		{
			name: "plain",
			to:   "/",
			want: primitives.Navigation{URL: "/", Title: "home", Replaced: true, Loaded: true, Status: 200},
		},
		{name: "across sites", from: "/", to: "{{OTHER}}/other", want: primitives.Navigation{
			URL:      "{{OTHER}}/other",
			Title:    "other",
			Replaced: true,
			Loaded:   true,
			Status:   200,
		}},
		{
			name: "fragment",
			from: "/",
			to:   "/#a",
			want: primitives.Navigation{URL: "/#a", Title: "home", SameDocument: true, Loaded: true, Status: 200},
		},
		{
			name: "the same address",
			from: "/",
			to:   "/",
			want: primitives.Navigation{URL: "/", Title: "home", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name:   "reload",
			from:   "/#x",
			reload: true,
			want:   primitives.Navigation{URL: "/#x", Title: "home", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name: "not found is a document",
			to:   "/nope",
			want: primitives.Navigation{URL: "/nope", Title: "nothing here", Replaced: true, Loaded: true, Status: 404},
		},
		{
			name: "http redirect",
			to:   "/302",
			want: primitives.Navigation{URL: "/", Title: "home", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name: "meta refresh",
			to:   "/refresh",
			want: primitives.Navigation{URL: "/other", Title: "other", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name: "script redirect",
			to:   "/script",
			want: primitives.Navigation{URL: "/other", Title: "other", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name: "redirect at load",
			to:   "/onload",
			want: primitives.Navigation{URL: "/other", Title: "other", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name: "chain of redirects",
			to:   "/chain",
			want: primitives.Navigation{URL: "/other", Title: "other", Replaced: true, Loaded: true, Status: 200},
		},
		{name: "refresh much later", to: "/later-refresh", want: primitives.Navigation{
			URL:      "/later-refresh",
			Title:    "stays",
			Replaced: true,
			Loaded:   true,
			Status:   200,
		}},
		{
			name: "named elements",
			to:   "/named",
			want: primitives.Navigation{URL: "/named", Title: "named", Replaced: true, Loaded: true, Status: 200},
		},
		{name: "title set by the load event", to: "/title", want: primitives.Navigation{
			URL:      "/title",
			Title:    "at load and shown",
			Replaced: true,
			Loaded:   true,
			Status:   200,
			Blank:    true,
		}},
		{
			name: "document written anew",
			to:   "/rewritten",
			want: primitives.Navigation{URL: "/rewritten", Title: "written", Replaced: true, Loaded: true, Status: 200},
		},
		{
			name: "redirect into a download",
			to:   "/to-download",
			want: primitives.Navigation{
				URL:      "/to-download",
				Title:    "stays",
				Replaced: true,
				Loaded:   true,
				Status:   200,
				Blank:    true,
			},
		},
		{
			name: "load event too late",
			to:   "/slow-image",
			load: 3 * time.Second,
			want: primitives.Navigation{URL: "/slow-image", Title: "slow", Replaced: true, Status: 200},
		},
		{name: "no answer", from: "/", to: "/hang", load: 300 * time.Millisecond, code: fault.Timeout},
		{name: "empty answer", from: "/", to: "/204", code: fault.NavigationFailed, says: "204"},
		{name: "download", from: "/", to: "/download", code: fault.NavigationFailed, says: "download"},
		{name: "refused", from: "/", to: "http://127.0.0.1:1/", code: fault.NavigationFailed, says: "net::ERR_"},
		{
			name: "unknown host",
			from: "/",
			to:   "http://no-such-host.invalid/",
			code: fault.NavigationFailed,
			says: "net::ERR_",
		},
		{name: "not a url", from: "/", to: "nonsense", code: fault.NavigationFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := browsertest.Tab(t)
			full := func(u string) string {
				if strings.HasPrefix(u, "/") {
					u = s.origin + u
				}
				return strings.ReplaceAll(u, "{{OTHER}}", s.other)
			}
			if c.from != "" {
				open(t, tab, full(c.from))
			}
			load := c.load
			if load == 0 {
				load = patience
			}
			opts := primitives.NavigateOptions{URL: full(c.to), LoadTimeout: load}
			if c.reload {
				opts = primitives.NavigateOptions{Reload: true, LoadTimeout: load}
			}
			start := time.Now()
			got, err := tab.Navigate(within(t, 15*time.Second), opts)
			if d := time.Since(start); d > patience/2 {
				t.Errorf("took %v", d)
			}
			if c.code != "" {
				wantCode(t, err, c.code)
				f := fault.From(err)
				text, _ := f.Evidence["error_text"].(string)
				if !strings.Contains(f.Message+" "+text, c.says) {
					t.Errorf("got %q %q, want it to say %q", f.Message, text, c.says)
				}
			} else if c.want.URL = full(c.want.URL); err != nil || got != c.want {
				t.Fatalf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
			// Whatever happened, the tab is usable.
			var out struct{ URL string }
			if err := tab.Call(within(t, 5*time.Second), "", "page_info", nil, &out); err != nil {
				t.Errorf("after it: %v", err)
			}
			if c.code == "" && out.URL != c.want.URL {
				t.Errorf("page_info says %s", out.URL)
			}
		})
	}
}

func TestReloadOfAPageWhoseServerIsGone(t *testing.T) {
	tab := browsertest.Tab(t)
	gone := newSite(t, map[string]string{"/": `<title>a</title>`})
	open(t, tab, gone.origin+"/")
	open(t, tab, gone.origin+"/204x") // a second document
	_, err := tab.Navigate(within(t, 10*time.Second), primitives.NavigateOptions{URL: "http://127.0.0.1:1/"})
	wantCode(t, err, fault.NavigationFailed)
	_, err = tab.Navigate(within(t, 10*time.Second), primitives.NavigateOptions{Reload: true})
	wantCode(t, err, fault.NavigationFailed)
	open(t, tab, gone.origin+"/")
}

func TestCallInterruptedByNavigation(t *testing.T) {
	s := newSite(t, map[string]string{"/": `<title>a</title>`, "/b": `<title>b</title>`})
	for _, c := range []struct{ name, to string }{
		{"same site", s.origin + "/b"},
		{"another site", s.other + "/b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := browsertest.Tab(t)
			open(t, tab, s.origin+"/")
			ctx := within(t, 10*time.Second)
			if err := tab.Call(ctx, "", "page_info", nil, nil); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- tab.Hang(ctx, "") }()
			awaitHang(t, tab)
			open(t, tab, c.to)
			select {
			case err := <-ended:
				wantCode(t, err, fault.PageNavigated)
			case <-time.After(patience):
				t.Fatal("the call is still waiting")
			}
		})
	}
}

func TestCallInAFrameThatIsRemoved(t *testing.T) {
	s := newSite(t, framePages)
	for i, selector := range []string{"#a", "#b"} {
		tab := browsertest.Tab(t)
		open(t, tab, s.origin+"/")
		frame := tab.Frames()[i+1].ID
		ctx := within(t, 20*time.Second)
		ended := make(chan error, 1)
		go func() { ended <- tab.Hang(ctx, frame) }()
		time.Sleep(5 * page.StartProbeDelay)
		if _, err := tab.Eval(ctx, "", "document.querySelector('"+selector+"').remove()"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if c := fault.CodeOf(err); c != fault.PageNavigated && c != fault.FrameNotFound {
				t.Errorf("%s: got %v", selector, err)
			}
		case <-time.After(patience):
			t.Errorf("%s: the call is still waiting", selector)
		}
	}
}

// A page that replaces itself all the time never gives a call a wrong answer.
func TestCallsWhileThePageReplacesItself(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{
		"/a": `<script>globalThis.outrider=()=>'{"ok":true,"value":{"url":"forged"}}';globalThis.outriderWorld='x';` +
			`setTimeout(()=>location.replace('{{OTHER}}/b'),15)</script>`,
	})
	open(t, tab, s.origin+"/a")
	ctx := within(t, 30*time.Second)
	answered := 0
	// At least three seconds, and as long as a busy machine needs for three answers.
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end) || answered < 3; {
		var out struct{ URL string }
		switch err := tab.Call(ctx, "", "page_info", nil, &out); fault.CodeOf(err) {
		case "":
			answered++
			if !strings.HasPrefix(out.URL, "http://") {
				t.Fatalf("got an answer from %q", out.URL)
			}
			if strings.HasSuffix(out.URL, "/b") {
				open(t, tab, s.origin+"/a")
			}
		case fault.PageNavigated:
		default:
			t.Fatal(err)
		}
	}
}

// The script that a navigation brings along is for its document only: it is taken
// back, also where a navigation fails or stays in its document. What is left is the
// script that all documents get.
func TestNavigationsTakeTheirScriptBack(t *testing.T) {
	tab := browsertest.Tab(t)
	s := newSite(t, map[string]string{"/a": `<title>A</title>`})
	ctx := within(t, 30*time.Second)
	for _, address := range []string{s.origin + "/a", s.origin + "/a#part", "http://127.0.0.1:1/", s.origin + "/a"} {
		_, _ = tab.Navigate(ctx, primitives.NavigateOptions{URL: address, LoadTimeout: 10 * time.Second})
	}
	// Commands run in order, and what takes a script back was sent before.
	left := 0
	for n := range 12 {
		_, err := tab.Floor(ctx, browser.RawCommand{
			Method: "Page.removeScriptToEvaluateOnNewDocument",
			Params: fmt.Sprintf(`{"identifier":"%d"}`, n+1),
		})
		if err == nil {
			left++
		} else if !strings.Contains(err.Error(), "Script not found") {
			t.Fatal(err)
		}
	}
	if left != 1 {
		t.Errorf("%d scripts are still there", left)
	}
}

// Twenty documents have one that is the sixteenth. A tab that is opened has left none yet.
func TestDocumentsThatWereLeftAreCollected(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "commands"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b := browsertest.Launch(t, func(o *browser.Options) { o.CDPLog = file })
	ctx := within(t, time.Minute)
	tab, err := b.NewTab(ctx, "about:blank", browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, map[string]string{"/": `<title>Left</title>`})
	for range 20 {
		if _, err := tab.Navigate(ctx, primitives.NavigateOptions{
			URL:         s.origin + "/",
			LoadTimeout: 30 * time.Second,
		}); err != nil {
			t.Fatal(err)
		}
	}
	collected := func() (times int) {
		log, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, `"kind":"command"`) && strings.Contains(line, `"HeapProfiler.collectGarbage"`) {
				times++
			}
		}
		return times
	}
	if n := collected(); n != 1 {
		t.Errorf("after 20 documents garbage was collected %d times, want once", n)
	}
	// So is what calls leave: every 10,000 of them.
	var calls sync.WaitGroup
	for range 10 {
		calls.Go(func() {
			for range 1_005 {
				if err := tab.Call(ctx, "", "page_info", nil, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	calls.Wait()
	if n := collected(); n != 2 {
		t.Errorf("after 10,050 calls garbage was collected %d times, want once more", n-1)
	}
}
