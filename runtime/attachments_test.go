package runtime_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

const attachmentMap = `{"protocol":"actions.json","version":1,
 "tools":[{"name":"count.up","description":"Counts.","input_schema":{"type":"object","properties":{"by":{"type":"integer"}}},"x_actions":{"handler":"app.up"}},
	{"name":"count.fail","description":"Fails.","input_schema":{"type":"object"},"x_actions":{"handler":"app.fail"}}],
 "states":[{"name":"list","diagnostics":[{"target":{"selector":"#list"}}]}],
 "signals":[{"name":"launcher.used","event":"x:used","ingestion":"enabled","payload":{"type":"object","required":["launcher_id"],"properties":{"launcher_id":{"type":"string"},"how":{"type":"string"}},"additionalProperties":false}}],
 "attachments":[
  {"id":"launcher","kind":"overlay_launcher","target":{"selector":"h2","text_contains":"Results"},
   "affordance":{"label":"Count","placement":"afterend","max_instances":1,"opens":{"tool":"count.up","arguments":{"by":3}}},
   "lifecycle":{"install":"when_target_matches","remove":"when_context_mismatch","reattach":"on_url_or_dom_change"},"signals":{"activated":"launcher.used"}},
  {"id":"notes","kind":"annotation","target":{"selector":"#list li"},"affordance":{"label":"seen","placement":"beforeend","max_instances":2},"lifecycle":{"install":"when_target_matches"}},
  {"id":"badge","kind":"status_badge","target":{"selector":"#gone","fallback_selectors":["#list"],"state":"list"},
   "affordance":{"label":"none","opens":{"tool":"count.fail"}},"lifecycle":{"install":"when_target_matches","remove":"when_context_mismatch"}},
  {"id":"keys","kind":"shortcut","target":{"selector":"#list"},"affordance":{"title":"Ctrl+Shift+U","opens":{"tool":"count.up","arguments":{"by":10}}},"lifecycle":{"install":"when_target_matches"}},
  {"id":"elsewhere","kind":"overlay_launcher","target":{"selector":"h2","url_contains":"#other"},"affordance":{"label":"Other"},"lifecycle":{"install":"when_target_matches","remove":"when_context_mismatch"}}]}`

const attachmentPage = `<h2>Results</h2><p>text</p><ul id=list><li>a<li>b<li>c</ul><script>
	let n = 0;
	window.app = {up: ({by}) => n += by, fail: () => { throw new Error('no') }, get n() { return n }};
	window.before = document.documentElement.outerHTML;
	window.heading = () => { const h = document.querySelector('h2'); const c = h.cloneNode(true); document.querySelectorAll('[data-actions-json-attachment=launcher]').forEach((e) => e.remove()); h.replaceWith(c); };
	window.box = (id) => { const e = document.querySelector('[data-actions-json-attachment="' + id + '"]'); if (!e) return null; const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2, n: document.querySelectorAll('[data-actions-json-attachment="' + id + '"]').length, open: e.shadowRoot !== null}; };
</script>`

// attachmentStates waits until runtime_status reports what is wanted of a page's
// attachments.
func attachmentStates(t *testing.T, h *runtime.Host, want string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		var got []string
		for _, a := range h.Tabs()[0].Attachments {
			got = append(got, a.ID+"="+a.State)
		}
		if strings.Join(got, " ") == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("attachments: got %s, want %s", strings.Join(got, " "), want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// clickAttachment clicks an attachment as a person would.
func clickAttachment(t *testing.T, h *runtime.Host, id string) {
	t.Helper()
	box := script(t, h, fmt.Sprintf(`return box(%q)`, id))
	if box == nil {
		t.Fatalf("the attachment %s is not on the page", id)
	}
	value(t, do(t, h, "pointer.click", fmt.Sprintf(`{"x":%v,"y":%v}`, box["x"], box["y"]), 10*time.Second))
}

type attachmentCall struct {
	Attachment string          `json:"attachment_id"`
	Tool       string          `json:"tool"`
	How        string          `json:"how"`
	OK         bool            `json:"ok"`
	Output     json.RawMessage `json:"output"`
	Error      struct{ Code string }
}

func (e events) called(t *testing.T) attachmentCall {
	t.Helper()
	ev := e.signal(t, runtime.AttachmentCalledEvent)
	var c attachmentCall
	if err := json.Unmarshal(ev.Payload, &c); err != nil {
		t.Fatalf("%s: %v", ev.Payload, err)
	}
	return c
}

func TestAttachments(t *testing.T) {
	url := serve(t, map[string]string{"/": attachmentPage, "/plain": "<h1>Nothing</h1>"})
	h := openMap(t, []string{url + "/"}, attachmentMap)
	ev := subscribe(t, h)
	all := "launcher=attached notes=attached badge=drifted keys=attached elsewhere=wrong_context"
	attachmentStates(t, h, all)

	if n := script(t, h, `return {n: box('notes').n, open: box('launcher').open}`); n["n"] != 2.0 ||
		n["open"] != false {
		t.Errorf("two places, closed roots: %v", n)
	}
	clickAttachment(t, h, "launcher")
	if e := ev.signal(t, "launcher.used"); string(e.Payload) != `{"how":"click","launcher_id":"launcher"}` {
		t.Errorf("activation signal: %s", e.Payload)
	}
	if c := ev.called(t); !c.OK || c.Attachment != "launcher" || c.How != "click" || c.Tool != "count.up" ||
		!strings.Contains(string(c.Output), `"value":3`) {
		t.Errorf("a click: %+v %s", c, c.Output)
	}
	clickAttachment(t, h, "badge")
	if c := ev.called(t); c.OK || c.Error.Code != "handler_failed" {
		t.Errorf("a tool that fails: %+v", c)
	}
	value(t, do(t, h, "keyboard.press", `{"key":"u","modifiers":["Control","Shift"]}`, 10*time.Second))
	if c := ev.called(t); !c.OK || c.Attachment != "keys" || c.How != "keys" {
		t.Errorf("a shortcut: %+v", c)
	}
	// Clicks by scripts of the page do nothing.
	script(t, h, `document.querySelectorAll('[data-actions-json-attachment]').forEach((e) => e.click());
		dispatchEvent(new KeyboardEvent('keydown', {key: 'U', ctrlKey: true, shiftKey: true}))`)
	if n := script(t, h, `return {n: app.n}`); n["n"] != 13.0 {
		t.Errorf("clicks: got %v, want 13", n)
	}

	// Reads of the page do not find them.
	for _, call := range [][2]string{
		{"page.snapshot", `{}`}, {"dom.snapshot_text", `{}`}, {"page.extract", `{}`},
		{"browser.extract_elements", `{"selector":"span","fields":[{"name":"text"}]}`},
	} {
		r := do(t, h, call[0], call[1], 10*time.Second)
		for _, word := range []string{"Count", "seen"} {
			if strings.Contains(string(r.Output), word) {
				t.Errorf("%s shows %q of an attachment: %s", call[0], word, r.Output)
			}
		}
	}

	// The page renders again.
	script(t, h, `heading()`)
	attachmentStates(t, h, strings.Replace(all, "launcher=attached", "launcher=reattached", 1))
	clickAttachment(t, h, "launcher")
	if c := ev.called(t); !c.OK || !strings.Contains(string(c.Output), `"value":16`) {
		t.Errorf("a click after rendering: %+v %s", c, c.Output)
	}
	script(t, h, `window.list = document.getElementById('list'); list.remove()`)
	attachmentStates(t, h, "launcher=reattached notes=stale badge=wrong_context keys=stale elsewhere=wrong_context")
	script(t, h, `document.body.append(list)`)
	attachmentStates(t, h, "launcher=reattached notes=reattached badge=drifted keys=reattached elsewhere=wrong_context")

	// The address changes without a document.
	script(t, h, `location.hash = 'other'; `)
	attachmentStates(t, h, "launcher=reattached notes=reattached badge=drifted keys=reattached elsewhere=attached")
	list := value(t, do(t, h, runtime.SiteTool, `{"mode":"list"}`, 10*time.Second))
	if rows := list["attachments"].([]any); len(rows) != 5 || rows[0].(map[string]any)["opens"] != "count.up" ||
		rows[2].(map[string]any)["candidate"] != "fallback_selectors/0" {
		t.Errorf("mode list: %v", rows)
	}
	value(t, do(t, h, "browser.navigate", `{"url":"`+url+`/plain"}`, 10*time.Second))
	attachmentStates(
		t, h, "launcher=unattached notes=unattached badge=wrong_context keys=unattached elsewhere=wrong_context",
	)
}

// TestAttachmentsLeaveNothing: a map that is removed takes its attachments along.
func TestAttachmentsLeaveNothing(t *testing.T) {
	url := serve(t, map[string]string{"/": attachmentPage})
	bundle := func(manifest string) json.RawMessage {
		host := "127.0.0.1"
		b, _ := json.Marshal(map[string]any{
			"protocol": "actions.json.storage.bundle", "version": 1,
			"entries": []map[string]string{
				{"path": "scopes/private/sites/" + host + "/actions.json", "content": manifest},
			},
		})
		return b
	}
	h := open(t, runtime.Options{Open: []string{url + "/"}})
	before := script(t, h, `return {html: document.documentElement.outerHTML}`)["html"]
	if _, err := h.ImportBundle(t.Context(), bundle(attachmentMap)); err != nil {
		t.Fatalf("importing: %v %v", err, err.Evidence)
	}
	attachmentStates(t, h, "launcher=attached notes=attached badge=drifted keys=attached elsewhere=wrong_context")
	during := script(t, h, `return {html: document.documentElement.outerHTML}`)["html"]
	if _, err := h.ImportBundle(t.Context(), bundle(`{"protocol":"actions.json","version":1,"tools":[]}`)); err != nil {
		t.Fatalf("importing: %v", err)
	}
	attachmentStates(t, h, "")
	deadline := time.Now().Add(patience)
	for {
		after := script(t, h, `return {html: document.documentElement.outerHTML}`)["html"]
		if after == before && during != before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left in the page:\n%v\nbefore:\n%v", after, before)
		}
	}
	if !slices.ContainsFunc([]string{during.(string)}, func(s string) bool {
		return strings.Contains(s, "data-actions-json-attachment")
	}) {
		t.Error("nothing was ever attached")
	}
}
