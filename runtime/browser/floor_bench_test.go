package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime/browser"
)

// benchPage is an ordinary page: a header, a form, a list long enough to scroll.
const benchPage = `<!doctype html><title>Bench</title><style>body{font:16px sans-serif}li{height:30px}</style>
<header><h1>Bench</h1></header><form><input id="name"><button id="go" type="button">Go</button></form>
<output id="out">0</output><script>let n = 0; document.getElementById('go').onclick = () => { document.getElementById('out').textContent = ++n };
document.body.insertAdjacentHTML('beforeend', '<ul>' + Array.from({length: 500}, (_, i) => '<li class="row"><a href="#' + i + '">Row ' + i + '</a></li>').join('') + '</ul>')</script>`

// Each pair does the same work on the same tab: the primitive through the
// registry, and beside it the least CDP messages that any driver needs for it.
// Compare within one run: go test -bench . -count 5 ./runtime/browser.
func BenchmarkPrimitive(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, benchPage)
	}))
	defer server.Close()
	tab := browsertest.Tab(b)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if _, err := tab.Navigate(ctx, primitives.NavigateOptions{
		URL:         server.URL,
		LoadTimeout: 10 * time.Second,
	}); err != nil {
		b.Fatal(err)
	}
	registry := catalog.Standard()
	invoke := func(b *testing.B, name, args string) json.RawMessage {
		r := registry.Invoke(ctx, tab, name, json.RawMessage(args))
		if r.Err != nil {
			b.Fatalf("%s: %v", name, r.Err)
		}
		return r.Payload
	}
	floor := func(b *testing.B, commands ...browser.RawCommand) []byte {
		answer, err := tab.Floor(ctx, commands...)
		if err != nil {
			b.Fatal(err)
		}
		return answer
	}
	ask := func(b *testing.B, expression string) string {
		s, err := browser.StringResult(floor(b, browser.EvaluateString(expression)))
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	const geometry = `(() => { const e = document.querySelector('#go'), r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;
		return JSON.stringify({x, y, text: e.textContent, hit: document.elementFromPoint(x, y) === e}) })()`
	point := func(b *testing.B) (x, y float64) {
		var p struct{ X, Y float64 }
		if err := json.Unmarshal([]byte(ask(b, geometry)), &p); err != nil {
			b.Fatal(err)
		}
		return p.X, p.Y
	}
	x, y := point(b)
	click := fmt.Sprintf(`{"x":%g,"y":%g}`, x, y)
	hit := fmt.Sprintf(
		`(() => { const e = document.elementFromPoint(%g, %g); return e.tagName + e.textContent })()`, x, y,
	)
	const text = "the quick brown fox jump"
	invoke(b, "dom.focus", `{"locator":{"selector":"#name"}}`)

	for _, c := range []struct {
		name       string
		ours, base func(b *testing.B)
	}{
		{"page.info", func(b *testing.B) { invoke(b, "page.info", `{}`) },
			func(b *testing.B) { ask(b, `JSON.stringify({url: location.href, title: document.title})`) }},
		{"locator.element_info", func(b *testing.B) {
			invoke(b, "locator.element_info", `{"locator":{"selector":"#go"}}`)
		},
			func(b *testing.B) { ask(b, geometry) }},
		{"locator.text_content", func(b *testing.B) {
			invoke(b, "locator.text_content", `{"locator":{"selector":"#out"}}`)
		},
			func(b *testing.B) { ask(b, `document.querySelector('#out').textContent`) }},
		{"locator.value", func(b *testing.B) { invoke(b, "locator.value", `{"locator":{"selector":"#name"}}`) },
			func(b *testing.B) { ask(b, `document.querySelector('#name').value`) }},
		{"locator.wait_for (already true)", func(b *testing.B) {
			invoke(b, "locator.wait_for", `{"locator":{"selector":"#go"}}`)
		},
			func(b *testing.B) { ask(b, geometry) }},
		{"dom.observe.attributes (200 rows)", func(b *testing.B) {
			invoke(
				b, "dom.observe.attributes",
				`{"selector":".row a","attributes":["href","text"],"max_matches":200,"max_payload_bytes":64000}`,
			)
		}, func(b *testing.B) {
			ask(b, `JSON.stringify([...document.querySelectorAll('.row a')].slice(0, 200).map(e => ({href: `+
				`e.getAttribute('href'), text: e.textContent, visible: e.getBoundingClientRect().y < innerHeight})))`)
		}},
		{"dom.snapshot_text", func(b *testing.B) { invoke(b, "dom.snapshot_text", `{}`) },
			func(b *testing.B) { ask(b, `document.body.textContent.replace(/\s+/g, ' ').slice(0, 12000)`) }},
		{"pointer.move", func(b *testing.B) { invoke(b, "pointer.move", click) },
			func(b *testing.B) { floor(b, browser.MousePress(x, y)[0]) }},
		{"pointer.click (checked)", func(b *testing.B) { invoke(b, "pointer.click", click) },
			func(b *testing.B) { ask(b, hit); floor(b, browser.MousePress(x, y)...) }},
		{"element_info + pointer.click", func(b *testing.B) {
			var info struct {
				Center json.RawMessage `json:"clickable_center"`
			}
			if err := json.Unmarshal(
				invoke(b, "locator.element_info", `{"locator":{"selector":"#go"}}`), &info,
			); err != nil {
				b.Fatal(err)
			}
			invoke(b, "pointer.click", string(info.Center))
		}, func(b *testing.B) { px, py := point(b); floor(b, browser.MousePress(px, py)...) }},
		{"pointer.click by selector (checked)", func(b *testing.B) {
			invoke(b, "pointer.click", `{"locator":{"selector":"#go"}}`)
		},
			func(b *testing.B) { px, py := point(b); floor(b, browser.MousePress(px, py)...) }},
		{"pointer.click by role and name (checked)", func(b *testing.B) {
			invoke(b, "pointer.click", `{"locator":{"role":"button","name":"Go"}}`)
		},
			func(b *testing.B) { px, py := point(b); floor(b, browser.MousePress(px, py)...) }},
		{"locator.element_info by role and name", func(b *testing.B) {
			invoke(b, "locator.element_info", `{"locator":{"role":"button","name":"Go"}}`)
		},
			func(b *testing.B) { ask(b, geometry) }},
		{"locator.element_info by link name (500 links)", func(b *testing.B) {
			invoke(b, "locator.element_info", `{"locator":{"role":"link","name":"Row 3"}}`)
		},
			func(b *testing.B) { ask(b, geometry) }},
		{"text.insert", func(b *testing.B) {
			invoke(b, "text.insert", `{"target":{"selector":"#name"},"text":"`+text+`","mode":"replace"}`)
		}, func(b *testing.B) {
			ask(
				b,
				`(() => { const e = document.querySelector('#name'); e.focus();
				const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
				e.dispatchEvent(new InputEvent('beforeinput', {bubbles: true, data: '`+text+
					`', inputType: 'insertReplacementText'})); set.call(e, '`+text+`');
				e.dispatchEvent(new InputEvent('input', {bubbles: true, inputType: 'insertText'}));
				e.dispatchEvent(new Event('change', {bubbles: true})); return e.value })()`,
			)
		}},
		{"text.type (24 trusted keys)", func(b *testing.B) {
			invoke(b, "text.type", `{"text":"`+text+`","trusted":true}`)
		},
			func(b *testing.B) { floor(b, browser.TypeText(text)...) }},
		{"keyboard.press", func(b *testing.B) { invoke(b, "keyboard.press", `{"key":"Home"}`) },
			func(b *testing.B) {
				floor(b, browser.RawCommand{
					Method: "Input.dispatchKeyEvent",
					Params: `{"type":"rawKeyDown","key":"Home","code":"Home","windowsVirtualKeyCode":36}`,
				},
					browser.RawCommand{
						Method: "Input.dispatchKeyEvent",
						Params: `{"type":"keyUp","key":"Home","code":"Home","windowsVirtualKeyCode":36}`,
					})
			}},
		{"browser.screenshot (jpeg 80)", func(b *testing.B) {
			invoke(b, "browser.screenshot", `{"format":"jpeg","quality":80}`)
		},
			func(b *testing.B) {
				floor(b, browser.RawCommand{Method: "Page.captureScreenshot", Params: `{"format":"jpeg","quality":80}`})
			}},
		{"browser.extract_elements (visible rows)", func(b *testing.B) {
			invoke(b, "browser.extract_elements", `{"item_selector":".row","fields":[{"name":"title","selector":"a"},`+
				`{"name":"url","selector":"a","attribute":"href"}]}`)
		}, func(b *testing.B) {
			ask(b, `JSON.stringify([...document.querySelectorAll('.row')].filter(e => e.getBoundingClientRect().y < `+
				`innerHeight).map(e => { const a = e.querySelector('a'); return {title: a.textContent, `+
				`url: a.href} }))`)
		}},
	} {
		// One after the other inside each measured round, so that both meet the
		// same machine; the ratio is what counts.
		b.Run(c.name, func(b *testing.B) {
			var ours, base time.Duration
			for b.Loop() {
				at := time.Now()
				c.ours(b)
				mid := time.Now()
				c.base(b)
				ours, base = ours+mid.Sub(at), base+time.Since(mid)
			}
			b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/ours")
			b.ReportMetric(float64(base.Microseconds())/float64(b.N), "µs/floor")
			b.ReportMetric(float64(ours)/float64(base), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
