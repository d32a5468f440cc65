package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const eventfulPage = `<button onclick="document.getElementById('said').textContent = 'Saved at noon'">Save</button>
<button onclick="window.open('/other')">Open</button><button onclick="alert('Ship sunk')">Sink</button><button onclick="location.href = '/other'">Leave</button>
<button>Idle</button><button onclick="fetch('/missing')">Fetch</button><form action="/other"><label>Mail <input type="email" required></label><button>Send</button></form><p id="said"></p>`

// What followed an action is told with it, in few words: texts, pages, dialogs, new
// documents, fields that are not valid, and that there was nothing.
func TestAnActionSaysWhatFollowed(t *testing.T) {
	site := serve(t, eventfulPage)
	cs := client(t, open(t, site), nil, nil)
	press := func(name string) string {
		return fmt.Sprintf(`{"action":"click","locator":{"role":"button","name":%q}}`, name)
	}
	for _, c := range []struct {
		name, args string
		did        string
		want       []string
	}{
		{"text", press("Save"), `clicked button "Save"`, []string{`shows "Saved at noon"`}},
		{"nothing", press("Idle"), `clicked button "Idle"`, nil},
		{"field", `{"action":"fill","locator":{"label":"Mail"},"text":"nobody"}`, `filled textbox "Mail"`, []string{`textbox "Mail" holds 6 characters`}},
		{"invalid", press("Send"), `clicked button "Send"`, []string{`textbox "Mail" is not valid: "`}},
		{"page", press("Open"), `clicked button "Open"`, []string{"opened p"}},
		{"document", press("Leave"), `clicked button "Leave"`, []string{"document"}},
	} {
		out, text := use(t, cs, "act", strings.Replace(c.args, `{"action"`, `{"page":"p1","action"`, 1))
		if out["did"] != c.did {
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
		if n := tokens(t, text); n > 110 { // with the marks around it
			t.Errorf("%s: the answer takes %d tokens:\n%s", c.name, n, text)
		}
	}
	use(t, cs, "tabs", fmt.Sprintf(`{"action":"navigate","page":"p1","url":%q}`, site))
	if _, text := use(t, cs, "act", `{"page":"p1","action":"click","locator":{"role":"button","name":"Sink"}}`); !strings.Contains(text, `alert "Ship sunk"; it blocks the page`) {
		t.Errorf("the answer lacks the dialog and its message:\n%s", text)
	}
	if out, _ := use(t, cs, "act", `{"page":"p1","action":"dialog","accept":true}`); out["did"] != "answered the dialog with OK" {
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
		truncated, _ := out["truncated"].(map[string]any)
		left, more := truncated["markdown"].(map[string]any)
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
	if _, text := use(t, cs, "snapshot", fmt.Sprintf(`{"since":%q}`, first["snapshot_id"])); !strings.Contains(text, `heading "Arrived"`) {
		t.Errorf("the snapshot is not of the new document:\n%s", text)
	}
}
