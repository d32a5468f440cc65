package browser_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// vectors are the ways in which a page connects to another host. B stands for that
// host, NAME for the vector; the page is served from the allowed one.
var vectors = map[string]string{
	"redirected navigation": `<script>location.href = "/redirect/NAME"</script>`,
	"meta refresh":          `<meta http-equiv="refresh" content="0;url=B/hit/NAME">`,
	"script navigation":     `<script>location.href = "B/hit/NAME"</script>`,
	"form post": `<form method="post" action="B/hit/NAME"></form>` +
		`<script>document.forms[0].submit()</script>`,
	"popup":            `<script>open("B/hit/NAME")</script>`,
	"redirected image": `<img src="/redirect/NAME">`,
	"image":            `<img src="B/hit/NAME">`,
	"script":           `<script src="B/hit/NAME"></script>`,
	"style sheet":      `<link rel="stylesheet" href="B/hit/NAME">`,
	"object":           `<object data="B/hit/NAME"></object>`,
	"preload":          `<link rel="preload" as="image" href="B/hit/NAME">`,
	"prefetch":         `<link rel="prefetch" href="B/hit/NAME">`,
	"fetch":            `<script>fetch("B/hit/NAME", {mode: "no-cors"})</script>`,
	"beacon":           `<script>document.title = navigator.sendBeacon("B/hit/NAME", "x")</script>`,
	"keepalive":        `<script>fetch("B/hit/NAME", {mode: "no-cors", keepalive: true})</script>`,
	"event source":     `<script>new EventSource("B/hit/NAME")</script>`,
	"socket":           `<script>new WebSocket("B/hit/NAME".replace("http", "ws"))</script>`,
	"iframe":           `<iframe src="B/hit/NAME"></iframe>`,
	"srcdoc iframe":    `<iframe srcdoc="<img src='B/hit/NAME'>"></iframe>`,
	"data iframe":      `<iframe src="data:text/html,<img src='B/hit/NAME'>"></iframe>`,
	"worker":           `<script>new Worker("/worker/NAME")</script>`,
	"worker socket":    `<script>new Worker("/socket-worker/NAME")</script>`,
	"shared worker":    `<script>new SharedWorker("/worker/NAME")</script>`,
	"service worker":   `<script>navigator.serviceWorker.register("/worker/NAME")</script>`,
	"download":         `<a href="B/hit/NAME" download></a><script>document.querySelector("a").click()</script>`,
	"speculation rules": `<script type="speculationrules">{"prefetch": [{"source": "list", ` +
		`"urls": ["B/hit/NAME"], "eagerness": "immediate"}]}</script>`,
	"stun": `<script>(async () => { const c = new RTCPeerConnection({iceServers: [{urls: ` +
		`"stun:STUN"}]}); c.createDataChannel("x"); await c.setLocalDescription() })()</script>`,
}

// world is an allowed and a forbidden host.
type hosts struct {
	allowed, forbidden *httptest.Server
	mu                 sync.Mutex
	hits               map[string]bool
	change             chan struct{}
}

func newHosts(t *testing.T) *hosts {
	h := &hosts{hits: map[string]bool{}, change: make(chan struct{}, 1000)}
	h.forbidden = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/hit/"); ok {
			h.hit(name)
		}
		w.WriteHeader(http.StatusOK)
	}))
	stun, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		buf := make([]byte, 2000)
		for {
			if _, _, err := stun.ReadFrom(buf); err != nil {
				return
			}
			h.hit("stun")
		}
	}()
	h.allowed = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		target := h.forbidden.URL + "/hit/" + url.PathEscape(name)
		switch {
		case strings.HasPrefix(r.URL.Path, "/v/"):
			w.Header().Set("Content-Type", "text/html")
			page := strings.NewReplacer(
				"B/hit/NAME", target, "NAME", url.PathEscape(name), "STUN", stun.LocalAddr().String(),
			).Replace(vectors[name])
			fmt.Fprint(w, "<!doctype html><title>vector</title><body>"+page)
		case strings.HasPrefix(r.URL.Path, "/redirect/"):
			http.Redirect(w, r, target, http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/worker/"):
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Service-Worker-Allowed", "/")
			fmt.Fprintf(w, `fetch(%q, {mode: "no-cors"})`, target)
		case strings.HasPrefix(r.URL.Path, "/socket-worker/"):
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, `new WebSocket(%q)`, strings.Replace(target, "http", "ws", 1))
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>allowed</title>")
		}
	}))
	t.Cleanup(func() {
		h.allowed.CloseClientConnections()
		h.allowed.Close()
		h.forbidden.CloseClientConnections()
		h.forbidden.Close()
		stun.Close()
		<-listening
	})
	return h
}

func (h *hosts) hit(name string) {
	h.mu.Lock()
	h.hits[name] = true
	h.mu.Unlock()
	select {
	case h.change <- struct{}{}:
	default:
	}
}

func (h *hosts) seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for name := range h.hits {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// visit opens every vector in a tab of its own.
func (h *hosts) visit(t *testing.T, tab *browser.Tab) {
	t.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	for name := range vectors {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			v, err := tab.Browser().NewTab(ctx, "", browser.TabOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			// Where the vector is a navigation itself, this one may fail.
			// One that takes too long is stopped, and a page that was stopped proves nothing.
			_, _ = v.Navigate(ctx, primitives.NavigateOptions{
				URL:         h.allowed.URL + "/v/" + url.PathEscape(name),
				LoadTimeout: patience / 2,
			})
		})
	}
	all.Wait()
}

// Each way out is alive without a policy, and closed with one.
func TestEgressVectors(t *testing.T) {
	t.Run("control", func(t *testing.T) {
		browsertest.OnlyLong(t) // that each vector is alive is seen below too: it is refused
		h := newHosts(t)
		tab := launchWith(t, browser.Options{DownloadDir: t.TempDir()})
		h.visit(t, tab)
		end := time.After(patience)
		for len(h.seen()) < len(vectors) {
			select {
			case <-h.change:
				continue
			case <-end:
			}
			break
		}
		for name := range vectors {
			if !slices.Contains(h.seen(), name) {
				t.Errorf("%s is not alive, so that nothing is proved by its silence", name)
			}
		}
	})
	t.Run("fenced", func(t *testing.T) {
		h := newHosts(t)
		tab := launchWith(t, browser.Options{DownloadDir: t.TempDir(), AllowOrigins: []string{h.allowed.URL}})
		h.visit(t, tab)
		// All vectors but WebRTC show as refused.
		end := time.Now().Add(patience)
		want := len(vectors) - 1
		refused := map[string]bool{}
		for len(refused) < want && time.Now().Before(end) {
			log, err := tab.Network(within(t, 10*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			sockets := 0
			for _, b := range log.Blocked {
				if b.Method == http.MethodConnect {
					sockets++
					refused[fmt.Sprint("socket ", min(sockets, 2))] = true
				} else if u, err := url.Parse(b.URL); err == nil {
					refused[strings.TrimPrefix(u.Path, "/hit/")] = true
				}
			}
			select {
			case <-h.change:
			case <-time.After(50 * time.Millisecond):
			}
		}
		if len(refused) < want {
			t.Errorf("%d of %d vectors were seen to be refused: %v", len(refused), want, refused)
		}
		if leaked := h.seen(); len(leaked) > 0 {
			t.Errorf("reached the forbidden host: %v", leaked)
		}
	})
}

func TestEgressNavigation(t *testing.T) {
	h := newHosts(t)
	tab := launchWith(t, browser.Options{AllowOrigins: []string{h.allowed.URL}})
	for _, c := range []struct {
		name, url string
		code      fault.Code
	}{
		{"allowed", h.allowed.URL + "/", ""},
		{"forbidden", h.forbidden.URL + "/", fault.OriginBlocked},
		{"redirected", h.allowed.URL + "/redirect/x", fault.OriginBlocked},
		{
			"another name of the address",
			strings.Replace(h.allowed.URL, "127.0.0.1", "localhost", 1) + "/", fault.OriginBlocked,
		},
		{"a file", "file:///etc/hostname", fault.OriginBlocked},
		{"a page of the browser", "chrome://version", fault.OriginBlocked},
		{"no host", "data:text/html,x", ""},
		{"allowed again", h.allowed.URL + "/again", ""},
	} {
		_, err := tab.Navigate(within(t, 20*time.Second), primitives.NavigateOptions{URL: c.url})
		if (c.code == "") != (err == nil) || err != nil && fault.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %q", c.name, err, c.code)
		}
	}
	if hits := h.seen(); len(hits) > 0 {
		t.Errorf("reached the forbidden host: %v", hits)
	}
}

func TestBlockedOriginsAlone(t *testing.T) {
	h := newHosts(t)
	tab := launchWith(t, browser.Options{BlockOrigins: []string{h.forbidden.URL}})
	if _, err := tab.Navigate(
		within(t, 20*time.Second), primitives.NavigateOptions{URL: h.allowed.URL + "/"},
	); err != nil {
		t.Errorf("what is not blocked: %v", err)
	}
	if _, err := tab.Navigate(
		within(t, 20*time.Second), primitives.NavigateOptions{URL: h.forbidden.URL + "/"},
	); fault.CodeOf(err) != fault.OriginBlocked {
		t.Errorf("what is blocked: %v", err)
	}
}

func TestFenceNeedsABrowserOfItsOwn(t *testing.T) {
	for _, o := range []browser.Options{
		{AllowOrigins: []string{"http://a.test"}, Attach: "http://127.0.0.1:1"},
		{AllowOrigins: []string{"not a pattern/"}},
		{AllowOrigins: []string{"http://a.test"}, Proxy: "socks5://127.0.0.1:1"},
	} {
		if _, err := browser.Launch(within(t, 5*time.Second), o); err == nil {
			t.Errorf("%+v: launched", o)
		}
	}
}

// A proxy that nobody uses would be worse than none.
func TestProxyNeedsABrowserOfItsOwn(t *testing.T) {
	_, err := browser.Launch(within(t, 5*time.Second), browser.Options{
		Proxy:  "http://127.0.0.1:1",
		Attach: "http://127.0.0.1:1",
	})
	if fault.CodeOf(err) != fault.BrowserFailed || !strings.Contains(err.Error(), "a proxy") {
		t.Errorf("a proxy for a browser that runs already: got %v, want browser_failed that tells of the proxy", err)
	}
}

// The credentials of a proxy reach the proxy, and stand on no command line.
func TestCredentialsOfAProxyStandOnNoCommandLine(t *testing.T) {
	var seen sync.Map
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.URL.Host, r.Header.Get("Proxy-Authorization"))
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>through</title>")
	}))
	defer upstream.Close()
	o := browsertest.Options()
	o.Proxy = strings.Replace(upstream.URL, "http://", "http://somebody:opensesame@", 1)
	b, err := browser.Launch(within(t, time.Minute), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	tab, err := b.NewTab(within(t, time.Minute), "about:blank", browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Navigate(
		within(t, time.Minute), primitives.NavigateOptions{URL: "http://shop.example/"},
	); err != nil {
		t.Fatal(err)
	}
	got, ok := seen.Load("shop.example")
	if !ok || got != "Basic "+base64.StdEncoding.EncodeToString([]byte("somebody:opensesame")) {
		t.Errorf("the proxy received %v", got)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Skip("command lines cannot be read here")
	}
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte("opensesame")) {
			t.Errorf("%s has the credentials", path)
		}
	}
}
