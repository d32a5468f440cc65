package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/inject"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// callAll makes calls in the world of the page library and answers those that failed as the library
// itself does. $handle and $ref stand for each element in turn. With broken, the style of elements with
// data-broken cannot be read.
const callAll = `async function(token, text, broken) {
  if (globalThis.outriderWorld !== token) return '` + world.StaleAnswer + `';
  const most = 40;
  const elements = [];
  const found = Document.prototype.querySelectorAll;
  const shadowOf = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get;
  const walk = (list) => {
    for (const node of list) {
      if (elements.length >= most) return;
      elements.push(node);
      const shadow = shadowOf.call(node);
      if (shadow) walk(shadow.querySelectorAll('*'));
    }
  };
  walk(found.call(document, '*'));
  if (broken) {
    const styles = globalThis.getComputedStyle;
    globalThis.getComputedStyle = (node, pseudo) => {
      if (Element.prototype.hasAttribute.call(node, 'data-broken')) throw new TypeError('no style');
      return styles(node, pseudo);
    };
  }
  const failed = new Map(); // by function and place
  const saying = new Set(); // functions that named an element they could not read
  let made = 0;
  const call = async (name, json) => {
    made++;
    const answer = await outrider(name, json);
    if (answer.includes('(this element cannot be read)')) saying.add(name);
    if (answer.startsWith('{"ok":true')) return;
    const { code, evidence } = JSON.parse(answer);
    if (code !== 'internal') return;
    const place = name + ' ' + evidence.detail.split('\n').slice(0, 3).join(' ');
    if (!failed.has(place)) failed.set(place, name + ' ' + json + ': ' + evidence.detail);
  };
  for (const [name, list] of Object.entries(JSON.parse(text))) {
    for (const args of list) {
      const json = JSON.stringify(args);
      if (!json.includes('"$')) {
        await call(name, json);
        continue;
      }
      for (const node of elements) {
        if (!node.isConnected) continue;
        const handle = outrider.keep(node);
        const { ok, value } = JSON.parse(outrider('ref_of', JSON.stringify({ handle })));
        await call(name, json.replaceAll('$handle', handle).replaceAll('$ref', ok ? value.ref : 'e999999'));
      }
    }
  }
  return JSON.stringify({ ok: true, value: { made, failed: [...failed.values()], saying: [...saying] } });
}`

// oddCalls are the calls of testdata/pages/odd/calls.json, by the name of the page function.
func oddCalls(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(pagesRoot, "odd", "calls.json"))
	if err != nil {
		t.Fatal(err)
	}
	var calls map[string]json.RawMessage
	if err := json.Unmarshal(text, &calls); err != nil {
		t.Fatal(err)
	}
	return calls
}

var queryDefined = regexp.MustCompile(`(?m)^queries\.(\w+) = `)

// Every page function has calls in testdata/pages/odd/calls.json.
func TestOddCallsNameEveryPageFunction(t *testing.T) {
	calls := oddCalls(t)
	known := map[string]bool{}
	for _, file := range inject.Files() {
		for _, m := range queryDefined.FindAllStringSubmatch(inject.Source(file), -1) {
			known[m[1]] = true
			if _, ok := calls[m[1]]; !ok {
				t.Errorf("%s: %s has no calls", file, m[1])
			}
		}
	}
	for name := range calls {
		if !known[name] {
			t.Errorf("there is no page function %s", name)
		}
	}
}

// makeOddCalls makes calls and returns the page functions that named an element they could not read.
func makeOddCalls(t *testing.T, tab *browser.Tab, calls []byte, broken string) []string {
	t.Helper()
	answer, err := tab.Run(within(t, 5*time.Minute), "", func(token string) world.Invocation {
		return world.Invocation{Function: callAll, Args: []string{token, string(calls), broken}, ByValue: true}
	})
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Made   int
		Failed []string
		Saying []string
	}
	if err := world.Decode("callAll", answer, &out); err != nil {
		t.Fatal(err)
	}
	if out.Made == 0 {
		t.Error("no call was made")
	}
	t.Logf("%d calls", out.Made)
	const shown = 20
	for i, failure := range out.Failed {
		if i == shown {
			t.Errorf("and %d more", len(out.Failed)-shown)
			break
		}
		t.Error(failure)
	}
	return out.Saying
}

// Whatever a document is made of, no page function fails.
func TestPageFunctionsOnOddDocuments(t *testing.T) {
	browsertest.Browser(t)
	calls, err := os.ReadFile(filepath.Join(pagesRoot, "odd", "calls.json"))
	if err != nil {
		t.Fatal(err)
	}
	origin := servePages(t)
	files, err := filepath.Glob(filepath.Join(pagesRoot, "odd", "documents", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := browsertest.Tab(t)
			open(t, tab, origin+"/odd/documents/"+name)
			makeOddCalls(t, tab, calls, "")
		})
	}
}

// readsMany are the page functions that answer about many elements.
var readsMany = []string{
	"appearances", "extract", "extract_plan", "list_sections", "observe_attributes", "observe_visible", "page_snapshot",
	"page_text", "page_wait", "private_boxes", "record_boxes", "record_snapshot", "resolve_descriptors", "role_name",
	"snapshot_text", "inspect_page", "inspect_states", "text_content", "wait_for",
}

// saysSo are those of them that have a row or a text of an element that cannot be read.
var saysSo = []string{
	"appearances", "observe_visible", "page_snapshot", "page_text", "snapshot_text", "inspect_page", "inspect_states",
}

// One element that cannot be read does not cost an answer about the others.
func TestPageFunctionsReadAroundABrokenElement(t *testing.T) {
	tab := browsertest.Tab(t)
	all := oddCalls(t)
	some := map[string]json.RawMessage{}
	for name, list := range all {
		if slices.Contains(readsMany, name) {
			some[name] = list
		}
	}
	calls, err := json.Marshal(some)
	if err != nil {
		t.Fatal(err)
	}
	open(t, tab, servePages(t)+"/odd/documents/controls.html")
	if _, err := tab.Eval(t.Context(), "", `void document.querySelectorAll('button, input, p, select, [role]')
		.forEach((node, i) => i % 3 || node.setAttribute('data-broken', ''))`); err != nil {
		t.Fatal(err)
	}
	said := makeOddCalls(t, tab, calls, "broken")
	for _, name := range saysSo {
		if !slices.Contains(said, name) {
			t.Errorf("%s has no row that says that an element cannot be read", name)
		}
	}
}
