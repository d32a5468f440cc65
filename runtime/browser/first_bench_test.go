package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
)

// BenchmarkFirst has the first call in a new document beside the first page call of its floor in one: the document has
// not been called, and its frames have no worlds. Each side begins when the page has been drawn, as a caller does that
// reads the answer of the navigation: until then all that is asked of the page waits for that.
func BenchmarkFirst(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/frames":
			fmt.Fprint(w, framesPage)
		case "/in":
			fmt.Fprint(w, framePage)
		case "/form":
			fmt.Fprint(w, formPage)
		default:
			fmt.Fprint(w, snapshotPage)
		}
	}))
	defer server.Close()
	const snapshot = `{"max_nodes":20000,"max_bytes":4000000}`
	for _, c := range []struct{ name, path, call, args, floor string }{
		{"snapshot of a form", "/form", "page.snapshot", snapshot, snapshotFloor},
		{"snapshot of 20 frames", "/frames", "page.snapshot", snapshot, snapshotFloor},
		{"snapshot of 5,000 elements", "/", "page.snapshot", snapshot, snapshotFloor},
		{"geometry", "/form", "locator.element_info", `{"locator":{"selector":"#go"}}`, peerGeometry},
		{"evaluate 1+1", "/form", "page.evaluate", `{"body":"return 1+1"}`, `String(1+1)`},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := &benchTab{b: b, ctx: b.Context(), reg: catalog.Standard(), base: server.URL, tab: browsertest.Tab(b)}
			var times [2][]time.Duration
			var spent [2]time.Duration
			meter := newSpentMeter()
			round := 0
			for b.Loop() {
				order := []int{0, 1}
				if round++; round%2 == 0 {
					order = []int{1, 0}
				}
				for _, side := range order {
					p.at(c.path)
					p.promised(drawn)
					before := meter.read()
					start := time.Now()
					if side == 0 {
						p.invoke(c.call, c.args)
					} else {
						p.ask(c.floor)
					}
					times[side] = append(times[side], time.Since(start))
					spent[side] += meter.read() - before
				}
			}
			reportSides(b, times)
			reportSpent(b, spent)
		})
	}
}

// drawn is kept when the page has been drawn twice: until then everything waits for that.
const drawn = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0, ''))))`

const formPage = `<!doctype html><title>Form</title><h1>Order</h1><form><label>Name <input id="name"></label>` +
	`<label>Mail <input type="email" required></label><label><input type="checkbox"> Send me news</label>` +
	`<select aria-label="Size"><option>S<option>M<option>L</select><button id="go">Order</button></form>`

var framesPage = `<!doctype html><title>Frames</title><h1>Twenty</h1>` +
	strings.Repeat(`<iframe src="/in" width="100" height="60"></iframe>`, 20)

const framePage = `<!doctype html><p>Inside</p><button>Press</button><a href="/x">Follow</a>`
