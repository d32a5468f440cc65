package providerkit

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// fixture is the page that most scenarios use. What happens on it is reported
// to the server at once, so that a claim can be compared with the truth. The change
// that #later makes is reported before it is there.
const fixture = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Conformance fixture</title>
<style>body{margin:0;font:16px sans-serif} #spot{position:absolute;left:300px;top:200px;width:120px;height:40px}</style></head><body>
<h1>Conformance fixture</h1>
<p id="status">idle</p>
<button id="go" type="button">Activate me</button>
<button id="spot" type="button">Spot</button>
<form id="form"><label>Name <input id="name" value="old"></label></form>
<button id="hidden" type="button" style="display:none">Hidden button</button>
<button id="disabled" type="button" disabled>Disabled button</button>
<button id="later" type="button">Change later</button>
<p id="early">Still here</p>
<a id="link" href="/second">To the second page</a>
<label>Pick <select id="pick"><option value="one">One</option><option value="two">Two</option></select></label>
<div id="zone" style="width:200px;height:30px;background:#eee">Hover zone</div>
<div style="height:3000px"></div>
<script>
const did = what => fetch('/did?page=' + encodeURIComponent(location.search) + '&what=' + encodeURIComponent(what), {method: 'POST', keepalive: true});
const say = text => { document.getElementById('status').textContent = text };
const at = (id, type, act) => document.getElementById(id).addEventListener(type, act);
at('go', 'click', event => { say('activated'); did(event.isTrusted ? 'activated' : 'activated by script') });
at('spot', 'click', () => { say('spot'); did('spot') });
at('hidden', 'click', () => did('hidden'));
at('disabled', 'click', () => did('disabled'));
at('name', 'input', event => { say('value ' + event.target.value); did('value ' + event.target.value) });
at('name', 'keydown', event => did('key ' + event.key));
at('form', 'submit', event => { event.preventDefault(); did('submitted ' + document.getElementById('name').value); say('submitted ' + document.getElementById('name').value) });
at('later', 'click', () => setTimeout(async () => { await did('changed'); document.getElementById('early').remove(); const p = document.createElement('p'); p.className = 'late'; p.textContent = 'It has arrived'; document.body.prepend(p) }, 250));
at('pick', 'change', event => did('picked ' + event.target.value));
at('zone', 'mouseover', () => did('hovered'));
addEventListener('scroll', () => did('scrolled'), {once: true});
console.warn('fixture says hello');
localStorage.setItem('fixture', 'kept');
</script></body></html>`

// colour is what the page at /colour shows everywhere.
const (
	colourRed   = 0x0a
	colourGreen = 0x7f
	colourBlue  = 0x3c
)

// site serves the fixture pages and remembers what happened on them.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	did     map[string]int
	changed chan struct{} // closed, and replaced, when something happened
}

// newSite listens on the IPv4 loopback; the provider must have access to it from this
// machine.
func newSite() (*site, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed with the site
	if err != nil {
		return nil, err
	}
	s := &site{did: map[string]int{}, changed: make(chan struct{})}
	mux := http.NewServeMux()
	html := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, body)
		}
	}
	mux.HandleFunc("/fixture", html(fixture))
	mux.HandleFunc(
		"/second", html(`<!doctype html><title>Second page</title><h1>Second page</h1><a href="/fixture">Back</a>`),
	)
	mux.HandleFunc("/colour", html(fmt.Sprintf(
		`<!doctype html><title>Colour</title><style>html{background:#%02x%02x%02x}</style>`,
		colourRed, colourGreen, colourBlue,
	)))
	mux.Handle("/moved", http.RedirectHandler("/second", http.StatusFound))
	mux.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		seen := "nobody"
		if c, err := r.Cookie("who"); err == nil {
			seen = "known"
			_ = c
		}
		if r.URL.Query().Has("set") {
			http.SetCookie(w, &http.Cookie{Name: "who", Value: "me", Path: "/"})
		}
		fmt.Fprintf(w, `<!doctype html><title>Who</title><p>visitor %s</p>`, seen)
	})
	mux.HandleFunc("/did", func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.did[r.URL.Query().Get("page")+"|"+r.URL.Query().Get("what")]++
		close(s.changed)
		s.changed = make(chan struct{})
	})
	s.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	s.Start()
	return s, nil
}

// fixture is the address of the fixture page as one scenario knows it.
func (s *site) fixture(visit string) string { return s.URL + "/fixture?" + visit }

// happened waits until the page of a visit has reported something, and returns
// how often it did; 0 when it did not in time.
func (s *site) happened(visit, what string, limit time.Duration) int {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		s.mu.Lock()
		n, changed := s.did["?"+visit+"|"+what], s.changed
		s.mu.Unlock()
		if n > 0 {
			return n
		}
		select {
		case <-changed:
		case <-timer.C:
			return 0
		}
	}
}

// reported lists what a visit has reported, for the reason of a failure.
func (s *site) reported(visit string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for key := range s.did {
		if what, ok := strings.CutPrefix(key, "?"+visit+"|"); ok {
			out = append(out, what)
		}
	}
	return out
}
