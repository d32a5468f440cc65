package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
)

// snapshotPage has about 5,000 elements: headings, links, text, boxes to tick
// and buttons, as a list of goods has them.
const snapshotPage = `<!doctype html><title>Rows</title><body><main><h1>Goods</h1><ul id="list"></ul></main><script>
const row = i => '<li class="row"><h3>Item ' + i + '</h3><a href="/items/' + i + '">open item ' + i + '</a><span class="price">' + (i * 7 % 1000) + ' EUR</span>' +
  '<p>Text that describes <b>item</b> ' + i + '</p><input type="checkbox" aria-label="Take item ' + i + '"><button aria-expanded="false">More</button></li>';
list.innerHTML = Array.from({length: 620}, (_, i) => row(i)).join('');
</script>`

// snapshotFloor is the least that walks the same page and tells roles, names
// and states: no shadow roots, no frames but of the page's own origin, no refs, no
// name computation but the text or the label.
const snapshotFloor = `(() => {
const roles = {A: 'link', BUTTON: 'button', H1: 'heading', H3: 'heading', INPUT: 'checkbox', IFRAME: 'iframe', LI: 'listitem', UL: 'list', MAIN: 'main', P: 'paragraph'};
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
      if (child.tagName === 'IFRAME' && child.contentDocument) walk(child.contentDocument.body, depth + 1);
    }
  }
};
walk(document.body, 0);
return lines.join('\n');
})()`

// BenchmarkSnapshot compares page.snapshot with such a walk, both from the call
// to the text in this process.
func BenchmarkSnapshot(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/frames":
			fmt.Fprint(w, `<!doctype html><title>Frames</title><h1>Twenty</h1>`+
				strings.Repeat(`<iframe src="/in" width="100" height="60"></iframe>`, 20))
		case "/in":
			fmt.Fprint(w, `<!doctype html><p>Inside</p><button>Press</button><a href="/x">Follow</a>`)
		default:
			fmt.Fprint(w, snapshotPage)
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		name, path string
		rows       int
	}{
		{"5,000 elements", "/", 4000},
		{"20 frames", "/frames", 60},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := &benchTab{b: b, ctx: b.Context(), reg: catalog.Standard(), base: server.URL, tab: browsertest.Tab(b)}
			p.at(c.path)
			size := 0
			ours := func() {
				var out struct {
					NodeCount int `json:"node_count"`
					Truncated bool
				}
				said := p.invoke("page.snapshot", `{"max_nodes":20000,"max_bytes":4000000}`)
				if err := json.Unmarshal(said, &out); err != nil || out.Truncated || out.NodeCount < c.rows {
					b.Fatalf("%v: %d rows, truncated %t", err, out.NodeCount, out.Truncated)
				}
				size = len(said)
			}
			base := func() { p.ask(snapshotFloor) }
			start := time.Now()
			ours()
			first := time.Since(start)
			base()
			beside(b, ours, base)
			b.ReportMetric(float64(first.Microseconds())/1e3, "ms/first")
			b.ReportMetric(float64(size)/1e3, "kB")
		})
	}
}

// BenchmarkSnapshotPart has what is asked for in place of a whole snapshot beside a whole one of the same page: what
// differs from an earlier one, and what can be acted on. Before each side one row changes.
func BenchmarkSnapshotPart(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, snapshotPage)
	}))
	defer server.Close()
	const whole = `"max_nodes":20000,"max_bytes":4000000`
	for _, part := range []string{"since", "interactive_only"} {
		b.Run(part, func(b *testing.B) {
			p := &benchTab{b: b, ctx: b.Context(), reg: catalog.Standard(), base: server.URL, tab: browsertest.Tab(b)}
			p.at("/")
			change := func() { p.ask(`(document.querySelector('h3').textContent += '.', '')`) }
			full := func() json.RawMessage { return p.invoke("page.snapshot", `{`+whole+`}`) }
			ours := func() { p.invoke("page.snapshot", `{`+whole+`,"interactive_only":true}`) }
			if part == "since" {
				var first struct {
					ID string `json:"snapshot_id"`
				}
				if err := json.Unmarshal(full(), &first); err != nil {
					b.Fatal(err)
				}
				id := first.ID
				ours = func() {
					var out struct {
						ID    string `json:"snapshot_id"`
						Delta struct {
							Changed int `json:"changed"`
						} `json:"delta"`
					}
					said := p.invoke("page.snapshot", `{`+whole+`,"since":"`+id+`"}`)
					if err := json.Unmarshal(said, &out); err != nil || len(said) > 20_000 || out.Delta.Changed == 0 {
						b.Fatalf("%v: %d bytes: %.300s", err, len(said), said)
					}
					id = out.ID
				}
			}
			for range 3 { // the first of them keep what the others use
				change()
				ours()
			}
			full()
			besideFrom(b, change, ours, func() { full() })
		})
	}
}
