package browser_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime/browser"
)

// snapshotChange is a script for the page's own world that changes something, the same in two tabs that show the same
// page. What it changes shows in mutations, or in none: styles, states and the focus.
const snapshotChange = `
const all = [...document.querySelectorAll('body, body *')].filter(e => !/^(SCRIPT|STYLE)$/.test(e.tagName));
document.activeElement?.blur(); // the browser takes the focus from what is disabled in its own time
let seed = SEED;
const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) >> 8 & 0xffff, pick = list => list[random() % list.length];
const rules = window.rules ??= (() => { const s = document.createElement('style'); document.head.append(s); return s.sheet })();
const e = pick(all), other = pick(all), path = e => { let s = ''; for (; e && e !== document.body; e = e.parentElement) s = '>:nth-child(' + ([...e.parentElement.children].indexOf(e) + 1) + ')' + s; return 'body' + s };
const within = (a, b) => a.contains(b) || b.contains(a);
const done = [
  () => { const t = [...e.childNodes].find(n => n.nodeType === 3 && n.data.trim()); if (t) t.data += ' more'; else e.append('words') },
  () => rules.insertRule(path(e) + '{' + pick(['display:none', 'visibility:hidden', 'display:inline', 'display:block', 'cursor:pointer', 'content-visibility:hidden', 'display:contents', 'visibility:visible']) + '}'),
  () => rules.cssRules.length && rules.deleteRule(0),
  () => e.toggleAttribute('hidden'),
  () => e.setAttribute(pick(['aria-label', 'title', 'role', 'aria-hidden', 'aria-expanded', 'aria-labelledby', 'class', 'tabindex', 'draggable', 'aria-owns']), pick(['true', 'region', 'button', 'list', 'Some words', other.id || 'x', '0'])),
  () => { const c = pick([...document.querySelectorAll('input, textarea, select')]); if (c) { if (/checkbox|radio/.test(c.type)) c.checked = !c.checked; else if (c.type !== 'file') try { c.value = 'typed' } catch {} } },
  () => { const c = pick([...document.querySelectorAll('button, input, select, textarea, fieldset')]); if (c) c.disabled = !c.disabled },
  () => { const c = pick([...document.querySelectorAll('button, input, a[href], textarea')]); if (c) c.focus() },
  () => e !== document.body && e.replaceWith(e.cloneNode(true)),
  () => e !== document.body && e.parentElement.insertBefore(e.cloneNode(true), e),
  () => e !== document.body && e.remove(),
  () => !within(e, other) && e.before(other),
  () => { const a = [...e.children]; if (a.length > 1) e.append(a[0]) },
  () => { if (/^(DIV|SPAN|P|SECTION|ARTICLE)$/.test(e.tagName) && !e.shadowRoot) try { e.attachShadow({mode: 'open'}).innerHTML = '<b>shade</b><slot></slot>' } catch {} },
  () => { const l = pick([...document.querySelectorAll('label, legend, caption, [id]')]); if (l && l !== document.body) l.append(' label') },
  () => rules.insertRule(path(e) + pick(['::before', '::after']) + '{content: "sign"}'),
  () => e.scrollBy(0, 20),
];
const what = pick(done);
what();
return String(what);`

// snapshotSteps are changes that chance hardly meets, for the page of mixed contents.
var snapshotSteps = []string{
	`part.setAttribute('role', 'region')`, // what is around a block
	// Elements change places that say the same.
	`const [a, b] = document.querySelectorAll('.same'), at = document.createElement('i'); a.replaceWith(at); ` +
		`b.replaceWith(a); at.replaceWith(b)`,
	// What is beside a block, and then the block is rendered again: it is known by its neighbours.
	`document.querySelector('main > p').append(' end')`, `list.replaceWith(list.cloneNode(true))`,
	`document.querySelector('legend').textContent = 'Someone'`, `list.replaceWith(list.cloneNode(true))`,
	`part.querySelector('p').attachShadow({mode: 'open'}).innerHTML = '<b>shade</b>'`,
}

// A snapshot that takes parts over from an earlier one says what a walk of the whole page says, refs included. Two tabs
// show the same page and meet the same changes; one walks all of it each time.
func TestSnapshotBlocksSayWhatAWholeWalkSays(t *testing.T) {
	base := servePages(t)
	reg := catalog.Standard()
	tabs := [2]*browser.Tab{browsertest.Tab(t), browsertest.Tab(t)}
	ctx := browsertest.Within(t, time.Minute)
	kinds := []map[string]any{
		{"since": true},
		{"interactive_only": true},
		{"since": true, "places": true},
		{"since": true, "interactive_only": true, "urls": true},
	}
	random := rand.New(rand.NewPCG(18, 1))
	const mixed = "snapshot/parts/mixed.html"
	taken := 0
	for _, c := range []struct {
		page   string
		rounds int
		steps  []string
	}{
		{mixed, 2 + len(snapshotSteps), snapshotSteps},
		{mixed, 12, nil},
		{mixed, 12, nil},
		{mixed, 12, nil},
		{"snapshot/recycled_rows.html", 4, nil},
		{"accname/controls.html", 4, nil},
		{"accname/structure.html", 4, nil},
	} {
		for _, tab := range tabs {
			if _, err := tab.Navigate(ctx, primitives.NavigateOptions{
				URL:         base + "/" + c.page,
				LoadTimeout: 10 * time.Second,
			}); err != nil {
				t.Fatal(c.page, err)
			}
		}
		var changes []string
		kind := kinds[0]
		for round := range c.rounds {
			if c.steps == nil && random.IntN(4) == 0 {
				kind = kinds[random.IntN(len(kinds))]
			}
			var said [2]snapshotLines
			for i, tab := range tabs {
				args := map[string]any{
					"format":      "text",
					"time_ms":     10000,
					"max_nesting": 8,
					"max_nodes":   3000,
					"max_bytes":   200000,
					"afresh":      i == 1,
				}
				maps.Copy(args, kind)
				if err := tab.Call(ctx, "", "page_snapshot", args, &said[i]); err != nil {
					t.Fatalf("%s %v: %v", c.page, changes, err)
				}
			}
			taken += said[0].Taken
			if said[0].text != said[1].text {
				t.Fatalf(
					"%s after %q, %v: blocks say\n%s\nthe whole walk says\n%s",
					c.page, changes, kind, said[0].text, said[1].text,
				)
			}
			script := strings.Replace(snapshotChange, "SEED", fmt.Sprint(random.IntN(1<<30)), 1)
			if c.steps != nil {
				script = "document.body"
				if at := round - 1; at >= 0 && at < len(c.steps) {
					script = c.steps[at]
				}
			}
			body, err := json.Marshal(map[string]string{"body": script})
			if err != nil {
				t.Fatal(err)
			}
			change := ""
			for _, tab := range tabs {
				r := reg.Invoke(ctx, tab, "page.evaluate", body)
				if r.Err != nil {
					t.Fatalf("%s %v: %v", c.page, changes, r.Err)
				}
				change = string(r.Payload)
			}
			changes = append(changes, change)
		}
	}
	if taken < 500 {
		t.Errorf("%d blocks were taken over: the test compares nothing", taken)
	}
}

// snapshotLines takes the text of a snapshot as it is.
type snapshotLines struct {
	Count int `json:"count"`
	Taken int `json:"taken"`
	text  string
}

// TakeText implements primitives.TextTaker.
func (s *snapshotLines) TakeText(text []byte) { s.text = string(text) }
