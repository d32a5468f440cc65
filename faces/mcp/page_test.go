package mcp_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

const formPage = `<nav><a href="/other">Elsewhere</a></nav><main><h1>Harbour</h1><p>Berths are assigned at noon.</p>
<form onsubmit="event.preventDefault(); document.getElementById('said').textContent = 'Moored ' + this.ship.value + ' at ' + this.berth.value">
<label>Ship <input name="ship"></label><label>Berth <select name="berth"><option value="1">North</option><option value="2">South</option></select></label>
<button>Moor</button></form><p id="said"></p></main>`

// ref finds the ref of an element in a snapshot by a part of its line.
func ref(t *testing.T, snapshot, line string) string {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(line) + `[^\n]*?\[ref=([a-z0-9]+)`).FindStringSubmatch(snapshot)
	if m == nil {
		t.Fatalf("no element %q in\n%s", line, snapshot)
	}
	return m[1]
}

func TestAnAgentFillsAForm(t *testing.T) {
	cs := client(t, open(t, serve(t, formPage)), nil, nil)
	first, outline := use(t, cs, "snapshot", `{}`)
	use(t, cs, "act", fmt.Sprintf(`{"action":"fill","ref":%q,"text":"Heron"}`, ref(t, outline, `textbox "Ship"`)))
	use(
		t, cs, "act",
		fmt.Sprintf(`{"action":"select","ref":%q,"options":["South"]}`, ref(t, outline, `combobox "Berth"`)),
	)
	use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Moor"}}`)
	use(t, cs, "wait", `{"text":"Moored Heron at 2","timeout_ms":10000}`)
	_, changed := use(t, cs, "snapshot", fmt.Sprintf(`{"since":%q}`, first["snapshot_id"]))
	if !strings.Contains(changed, "Moored Heron at 2") || strings.Contains(changed, "Berths are assigned") {
		t.Errorf("the difference is not only what changed:\n%s", changed)
	}
	_, said := use(t, cs, "read", `{}`)
	if !strings.Contains(said, "# Harbour") || !strings.Contains(said, "Moored Heron at 2") ||
		strings.Contains(said, "Elsewhere") {
		t.Errorf("the Markdown lacks the content or has the navigation:\n%s", said)
	}
	_, elements := use(t, cs, "read", `{"format":"elements"}`)
	if !strings.Contains(elements, `"Moor"`) {
		t.Errorf("the elements lack the button: %s", elements)
	}
	use(t, cs, "act", fmt.Sprintf(`{"action":"press","ref":%q,"key":"Enter"}`, ref(t, outline, `textbox "Ship"`)))
	use(t, cs, "act", `{"action":"scroll","delta_y":50}`)
	if r := attempt(t, cs, "act", `{"action":"click","ref":"e9999"}`); code(r) != "element_stale" {
		t.Errorf("a ref that nobody gave: got %q, want element_stale", code(r))
	}
}

// A dialog blocks every tool but the one that answers it, which errors name.
func TestAnAgentAnswersADialog(t *testing.T) {
	cs := client(
		t, open(t, serve(t, `<button onclick="this.textContent = confirm('Sink it?') ? 'Sunk' : 'Afloat'">Sink</button>
<button onclick="document.title = prompt('Name?', 'none')">Name</button>`)), nil, nil,
	)
	use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Sink"}}`)
	blocked := attempt(t, cs, "snapshot", `{}`)
	if text := blocked.Content[0].(*sdk.TextContent).Text; code(blocked) != "dialog_open" ||
		!strings.Contains(text, "action dialog") || !strings.Contains(text, "Sink it?") {
		t.Errorf("a snapshot behind a dialog: %s", text)
	}
	if r := attempt(t, cs, "act", `{"action":"dialog"}`); code(r) != "invalid_input" {
		t.Errorf("a dialog without an answer: got %q", code(r))
	}
	use(t, cs, "act", `{"action":"dialog","accept":false}`)
	if _, outline := use(t, cs, "snapshot", `{}`); !strings.Contains(outline, `button "Afloat"`) {
		t.Errorf("after Cancel:\n%s", outline)
	}
	use(t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Name"}}`)
	use(t, cs, "act", `{"action":"dialog","accept":true,"text":"Heron"}`)
	list, _ := use(t, cs, "tabs", `{"action":"list"}`)
	for deadline := time.Now().
		Add(time.Minute); list["pages"].([]any)[0].(map[string]any)["title"] != "Heron"; list, _ = use(
		t, cs, "tabs", `{"action":"list"}`,
	) {
		if time.Now().After(deadline) {
			t.Fatalf("after the prompt: %v", list)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// What a snapshot leaves out is had with the offset that it names.
func TestSnapshotGoesOnAtAnOffset(t *testing.T) {
	list := ""
	for i := range 300 {
		list += fmt.Sprintf("<li><a href=#%d>Berth %d</a></li>", i, i)
	}
	cs := client(t, open(t, serve(t, "<ul>"+list+"</ul>")), nil, nil)
	seen := map[string]bool{}
	offset := 0
	for range 100 {
		out, outline := use(t, cs, "snapshot", fmt.Sprintf(`{"offset":%d,"max_tokens":1500}`, offset))
		for _, m := range regexp.MustCompile(`"Berth \d+"`).FindAllString(outline, -1) {
			seen[m] = true
		}
		left, more := out["left_out"].(map[string]any)
		if !more {
			break
		}
		offset = int(left["offset"].(float64))
	}
	if len(seen) != 300 {
		t.Errorf("saw %d of 300 links", len(seen))
	}
}

func TestNavigation(t *testing.T) {
	site := serve(t, `<h1>page</h1>`)
	cs := client(t, open(t, site+"/one"), nil, nil)
	for _, c := range []struct{ args, path string }{
		{fmt.Sprintf(`{"action":"navigate","url":%q}`, site+"/two"), "/two"},
		{`{"action":"back"}`, "/one"},
		{`{"action":"forward"}`, "/two"},
		{`{"action":"reload"}`, "/two"},
	} {
		if out, _ := use(t, cs, "tabs", c.args); out["url"] != site+c.path {
			t.Errorf("tabs %s: at %v, want %s", c.args, out["url"], site+c.path)
		}
	}
	opened, _ := use(t, cs, "tabs", fmt.Sprintf(`{"action":"open","url":%q}`, site+"/three"))
	list, _ := use(t, cs, "tabs", `{"action":"list"}`)
	if pages := list["pages"].([]any); len(pages) != 2 || pages[1].(map[string]any)["page"] != opened["page"] {
		t.Errorf("pages are %v, want the opened one as the second", list)
	}
	use(t, cs, "tabs", `{"action":"activate","page":"p1"}`)
	use(t, cs, "tabs", fmt.Sprintf(`{"action":"close","page":%q}`, opened["page"]))
	list, _ = use(t, cs, "tabs", `{"action":"list"}`)
	if len(list["pages"].([]any)) != 1 {
		t.Errorf("after closing the pages are %v", list)
	}
	cs = client(t, runtimetest.Open(t, runtime.Options{}), nil, nil) // no page is there to open another from
	opened, _ = use(t, cs, "tabs", fmt.Sprintf(`{"action":"open","url":%q}`, site+"/four"))
	if opened["url"] != site+"/four" {
		t.Errorf("opening the first page answers %v", opened)
	}
}

// The time of a call begins with it. Calls that the client has made before, and that the
// page has not answered yet, are no time of its own.
func TestCallsInARowHaveTheirWholeTime(t *testing.T) {
	site := serve(t, `<button>Go</button>`)
	cs := client(t, open(t, site), func(o *mcp.Options) { o.Tools = "all" }, nil)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if r := attempt(
				t, cs, "primitives.page",
				`{"name":"wait","timeout_ms":2000,"arguments":{"conditions":[{"text":"never"}],"timeout_ms":300}}`,
			); i > 0 && !strings.Contains(r.Content[0].(*sdk.TextContent).Text, `"code":"timeout"`) {
				t.Errorf("a wait behind another: %v", r.Content[0])
			}
		})
	}
	all.Wait()
	began := time.Now()
	r := attempt(t, cs, "primitives.page", `{"name":"evaluate","timeout_ms":300,"arguments":{"body":"const end = `+
		`performance.now() + 20000; while (performance.now() < end);"}}`)
	if took := time.Since(began); took > 10*time.Second || !r.IsError ||
		!strings.Contains(r.Content[0].(*sdk.TextContent).Text, `"handler_timeout"`) {
		t.Errorf("timeout_ms beside the name: after %v %v", took, r.Content[0])
	}
}

// A table of 500 rows fits whatever an agent wants to pay for it.
func TestSnapshotFitsMaxTokens(t *testing.T) {
	rows := ""
	for i := range 500 {
		rows += fmt.Sprintf(
			`<tr><td>%d</td><td>Ship number %d</td><td><a href="/ship/%d">Details</a></td><td>%d.%02d m</td></tr>`,
			i, i, i, i%40, i%100,
		)
	}
	cs := client(t, open(
		t,
		serve(t, `<table><thead><tr><th>No.</th><th>Name</th><th>Link</th><th>Length</th></tr></thead><tbody>`+rows+
			`</tbody></table>`),
	), nil, nil)
	for _, most := range []int{200, 1000, 4000, 20000} {
		for _, tool := range []string{"snapshot", "read"} {
			out, text := use(t, cs, tool, fmt.Sprintf(`{"max_tokens":%d}`, most))
			structured, _ := out["text"].(string)
			// 200 tokens have no room for a row of the table.
			if most >= 1000 && !strings.Contains(structured, "Ship number 0") ||
				!strings.Contains(structured, "127.0.0.1") {
				t.Errorf("%s with max_tokens %d: the structured content lacks the text: %.300s", tool, most, structured)
			}
			// A client shows its model the one or the other.
			for form, n := range map[string]int{"text": tokens(t, text), "structured": tokens(t, out)} {
				if n > most*105/100 {
					t.Errorf("%s with max_tokens %d took %d tokens as %s", tool, most, n, form)
				} else {
					t.Logf("%s with max_tokens %d took %d tokens as %s", tool, most, n, form)
				}
			}
		}
	}
}
