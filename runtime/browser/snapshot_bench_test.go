package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

// snapshotPage has about 5,000 elements: headings, links, text, boxes to tick
// and buttons, as a list of goods has them.
const snapshotPage = `<!doctype html><title>Rows</title><body><main><h1>Goods</h1><ul id="list"></ul></main><script>
const row = i => '<li class="row"><h3>Item ' + i + '</h3><a href="/items/' + i + '">open item ' + i + '</a><span class="price">' + (i * 7 % 1000) + ' EUR</span>' +
  '<p>Text that describes <b>item</b> ' + i + '</p><input type="checkbox" aria-label="Take item ' + i + '"><button aria-expanded="false">More</button></li>';
list.innerHTML = Array.from({length: 620}, (_, i) => row(i)).join('');
</script>`

// snapshotFloor is the least that walks the same page and tells roles, names
// and states: no shadow roots, no frames, no refs, no name computation but the
// text or the label.
const snapshotFloor = `(() => {
const roles = {A: 'link', BUTTON: 'button', H1: 'heading', H3: 'heading', INPUT: 'checkbox', LI: 'listitem', UL: 'list', MAIN: 'main', P: 'paragraph'};
const lines = [];
const walk = (node, depth) => {
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === 3) {
      const text = child.nodeValue.replace(/\s+/g, ' ').trim();
      if (text) lines.push('  '.repeat(depth) + 'text: ' + text);
    } else if (child.nodeType === 1 && child.tagName !== 'SCRIPT') {
      const style = getComputedStyle(child);
      if (style.display === 'none' || style.visibility !== 'visible') continue;
      const role = child.getAttribute('role') || roles[child.tagName];
      if (role) {
        const name = child.getAttribute('aria-label') || (/link|button|heading/.test(role) ? child.textContent.trim() : '');
        const states = (child.checked ? ' [checked]' : '') + (child.disabled ? ' [disabled]' : '') + (child.hasAttribute('aria-expanded') ? ' [expanded=' + child.getAttribute('aria-expanded') + ']' : '');
        lines.push('  '.repeat(depth) + role + ' ' + JSON.stringify(name) + states);
      }
      walk(child, role ? depth + 1 : depth);
    }
  }
};
walk(document.body, 0);
return lines.join('\n');
})()`

// framesFloor walks documents of the page's own origin from one script, as no
// driver can that gives refs in frames of other origins too.
const framesFloor = `(() => {
let out = '';
const walk = (d, depth) => {
  for (const e of d.querySelectorAll('h1, p, button, a, iframe')) {
    out += '  '.repeat(depth) + e.tagName + ' ' + e.textContent + '\n';
    if (e.contentDocument) walk(e.contentDocument, depth + 1);
  }
};
walk(document, 0);
return out;
})()`

// BenchmarkSnapshot compares page.snapshot with such a walk, both from the call
// to the text in this process.
func BenchmarkSnapshot(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/frames":
			fmt.Fprint(w, `<!doctype html><title>Frames</title><h1>Twenty</h1>`+strings.Repeat(`<iframe src="/in" width="100" height="60"></iframe>`, 20))
		case "/in":
			fmt.Fprint(w, `<!doctype html><p>Inside</p><button>Press</button><a href="/x">Follow</a>`)
		default:
			fmt.Fprint(w, snapshotPage)
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		name, path, floor string
		rows              int
	}{
		{"5,000 elements", "/", snapshotFloor, 4000},
		{"20 frames", "/frames", framesFloor, 60},
	} {
		b.Run(c.name, func(b *testing.B) {
			tab := browsertest.Tab(b)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
			defer cancel()
			if _, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: server.URL + c.path, LoadTimeout: time.Minute}); err != nil {
				b.Fatal(err)
			}
			registry := primitives.Standard()
			var ours, base time.Duration
			fastest := [2]time.Duration{time.Hour, time.Hour}
			size := 0
			for b.Loop() {
				start := time.Now()
				r := registry.Invoke(ctx, tab, "page.snapshot", []byte(`{"max_nodes":20000,"max_bytes":4000000}`))
				mid := time.Now()
				raw, err := tab.Floor(ctx, browser.EvaluateString(c.floor))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := browser.StringResult(raw); err != nil {
					b.Fatal(err)
				}
				end := time.Now()
				var out struct {
					NodeCount int `json:"node_count"`
					Truncated bool
				}
				if r.Err != nil || json.Unmarshal(r.Payload, &out) != nil || out.Truncated || out.NodeCount < c.rows {
					b.Fatalf("%v: %d rows, truncated %t", r.Err, out.NodeCount, out.Truncated)
				}
				ours, base, size = ours+mid.Sub(start), base+end.Sub(mid), len(r.Payload)
				fastest = [2]time.Duration{min(fastest[0], mid.Sub(start)), min(fastest[1], end.Sub(mid))}
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/ours")
			b.ReportMetric(float64(base.Microseconds())/float64(b.N), "µs/floor")
			b.ReportMetric(float64(ours)/float64(base), "ratio")
			b.ReportMetric(float64(fastest[0])/float64(fastest[1]), "ratio-of-fastest")
			b.ReportMetric(float64(size)/1e3, "kB")
			b.ReportMetric(0, "ns/op")
		})
	}
}
