package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

const eventfulPage = `<button onclick="document.getElementById('said').textContent = 'Saved at noon'">Save</button>
<button onclick="window.open('/other')">Open</button><button onclick="alert('Ship sunk')">Sink</button><button onclick="location.href = '/other'">Leave</button>
<button>Idle</button><button onclick="fetch('/missing')">Fetch</button><form action="/other"><label>Mail <input type="email" required></label><button>Send</button></form><p id="said"></p>`

// The effects of an action are in its result, in few words: texts, pages, dialogs, new
// documents, fields that are not valid, and that there was nothing.
func TestAnActionSaysWhatFollowed(t *testing.T) {
	site := serve(t, eventfulPage)
	cs := client(t, open(t, site), nil, nil)
	click := func(name string) string {
		return fmt.Sprintf(`{"action":"click","locator":{"role":"button","name":%q}}`, name)
	}
	for _, c := range []struct {
		name, args string
		did        string
		want       []string
	}{
		{"text", click("Save"), `clicked button "Save"`, []string{`shows "Saved at noon"`}},
		{"nothing", click("Idle"), `clicked button "Idle"`, nil},
		{
			"field", `{"action":"fill","locator":{"label":"Mail"},"text":"nobody"}`,
			`filled textbox "Mail"`, nil,
		},
		{"invalid", click("Send"), `clicked button "Send"`, []string{`textbox "Mail" is not valid: "`}},
		{"page", click("Open"), `clicked button "Open"`, []string{"opened p"}},
		{"document", click("Leave"), `clicked button "Leave"`, []string{"document"}},
	} {
		out, text := use(t, cs, "act", strings.Replace(c.args, `{"action"`, `{"page":"p1","action"`, 1))
		if !strings.HasPrefix(fmt.Sprint(out["did"]), c.did) {
			t.Errorf("%s: did %q, want %q", c.name, out["did"], c.did)
		}
		for _, want := range append(c.want, c.did) {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the answer lacks %q:\n%s", c.name, want, text)
			}
		}
		for _, noise := range []string{"null", "bounding_box", "viewport", "fidelity", "[]"} {
			if strings.Contains(text, noise) {
				t.Errorf("%s: the answer has %s:\n%s", c.name, noise, text)
			}
		}
		if n := tokens(t, text); n > 60 {
			t.Errorf("%s: the answer takes %d tokens:\n%s", c.name, n, text)
		}
	}
	use(t, cs, "tabs", fmt.Sprintf(`{"action":"navigate","page":"p1","url":%q}`, site))
	if _, text := use(
		t, cs, "act", `{"page":"p1","action":"click","locator":{"role":"button","name":"Sink"}}`,
	); !strings.Contains(text, `alert "Ship sunk"; it blocks the page`) {
		t.Errorf("the answer lacks the dialog and its message:\n%s", text)
	}
	if out, _ := use(
		t, cs, "act", `{"page":"p1","action":"dialog","accept":true}`,
	); out["did"] != "answered the dialog with OK" {
		t.Errorf("did %q", out["did"])
	}
}

// What read leaves out is had with the offset that it names.
func TestReadGoesOnAtAnOffset(t *testing.T) {
	prose := ""
	for i := range 200 {
		prose += fmt.Sprintf("<p>Paragraph number %d tells what happened at the berth on that day.</p>", i)
	}
	cs := client(t, open(t, serve(t, "<main>"+prose+"</main>")), nil, nil)
	seen := ""
	offset := 0
	for range 60 {
		out, text := use(t, cs, "read", fmt.Sprintf(`{"offset":%d,"max_tokens":600}`, offset))
		seen += text
		left, more := out["left"].(map[string]any)
		if !more {
			break
		}
		offset = int(left["offset"].(float64))
	}
	for i := range 200 {
		if !strings.Contains(seen, fmt.Sprintf("Paragraph number %d ", i)) {
			t.Fatalf("paragraph %d was never read", i)
		}
	}
}

// A snapshot right after a click that leads elsewhere is of the new document, also when its
// server takes its time over what stands in it.
func TestASnapshotWaitsForADocumentThatLoads(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/slow" {
			fmt.Fprint(w, `<a href="/slow">Go</a>`)
			return
		}
		fmt.Fprint(w, "<!doctype html><title>slow</title>", strings.Repeat(" ", 2000))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(700 * time.Millisecond):
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "<h1>Arrived</h1>")
	}))
	t.Cleanup(srv.Close)
	cs := client(t, open(t, srv.URL), nil, nil)
	first, _ := use(t, cs, "snapshot", `{}`)
	use(t, cs, "act", `{"action":"click","locator":{"role":"link","name":"Go"}}`)
	for deadline := time.Now().Add(20 * time.Second); ; { // until the new document is there, empty still
		list, _ := use(t, cs, "tabs", `{"action":"list"}`)
		if strings.HasSuffix(list["pages"].([]any)[0].(map[string]any)["url"].(string), "/slow") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the click leads nowhere")
		}
	}
	_, text := use(t, cs, "snapshot", fmt.Sprintf(`{"since":%q}`, first["snapshot_id"]))
	if !strings.Contains(text, `heading "Arrived"`) {
		t.Errorf("the snapshot is not of the new document:\n%s", text)
	}
}

const yardPage = `<style>.grip{cursor:grab}</style><div class="grip" id="crate">Crate</div><div id="hold" style="width:200px;height:100px">Hold</div><input type="file" aria-label="Papers"><p id="said"></p>
<script>let held = false; document.getElementById('crate').onpointerdown = (e) => { held = true; e.preventDefault(); };
addEventListener('pointerup', (e) => { if (held && e.target.id === 'hold') document.getElementById('said').textContent = 'Stowed'; held = false; });</script>`

// What can be dragged has a row, and is dropped on a ref, a locator or a point.
func TestAnAgentDragsAndUploads(t *testing.T) {
	site := serve(t, yardPage)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "papers.txt"), []byte("clear"), 0o600); err != nil {
		t.Fatal(err)
	}
	cs := client(t, runtimetest.Open(t, runtime.Options{
		Open:    []string{site},
		Browser: browser.Options{UploadDirs: []string{dir}},
	}), nil, nil)
	_, outline := use(t, cs, "snapshot", `{}`)
	crate := regexp.MustCompile(`generic \[ref=(e\d+)\] \[draggable\]: Crate`).FindStringSubmatch(outline)
	if crate == nil {
		t.Fatalf("no row for the crate in\n%s", outline)
	}
	for _, to := range []string{`{"selector":"#hold"}`, `{"text":"Hold"}`, `{"x":60,"y":80}`} {
		use(t, cs, "tabs", `{"action":"reload","page":"p1"}`)
		_, text := use(
			t, cs, "act", fmt.Sprintf(`{"page":"p1","action":"drag","locator":{"selector":"#crate"},"to":%s}`, to),
		)
		if !strings.Contains(text, "Stowed") || strings.Contains(text, "diagnostics") {
			t.Errorf("drag to %s: %s", to, text)
		}
	}
	r := attempt(t, cs, "act", `{"page":"p1","action":"drag","locator":{"selector":"#crate"}}`)
	if code(r) != "invalid_input" {
		t.Errorf("a drag to nowhere: got %q", code(r))
	}
	papers := `"page":"p1","locator":{"selector":"input"}`
	if _, text := use(t, cs, "act", `{"action":"click",`+papers+`}`); !strings.Contains(text, "action upload") {
		t.Errorf("a click on a file input leads nowhere: %s", text)
	}
	if out, text := use(
		t, cs, "act", `{"action":"upload",`+papers+`,"files":["papers.txt"]}`,
	); !strings.HasPrefix(fmt.Sprint(out["did"]), "chose files for") {
		t.Errorf("upload: %s", text)
	}
}

// A navigation reports where the page is and nothing of the runtime's own.
func TestANavigationIsTerse(t *testing.T) {
	site := serve(t, "<h1>Quay</h1>")
	cs := client(t, open(t, site), nil, nil)
	out, text := use(t, cs, "tabs", fmt.Sprintf(`{"action":"navigate","page":"p1","url":%q}`, site+"/berth"))
	if out["url"] != site+"/berth" || out["title"] != "/berth" {
		t.Errorf("navigated to %v", out)
	}
	if n := tokens(t, text); n > 70 || strings.Contains(text, "null") || strings.Contains(text, "authorization_id") {
		t.Errorf("%d tokens: %s", n, text)
	}
	r := attempt(t, cs, "act", `{"page":"p1","action":"clik"}`)
	if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, `the nearest is "click"`) ||
		!strings.Contains(text, `double_click`) {
		t.Errorf("a wrong action: %s", text)
	}
}
