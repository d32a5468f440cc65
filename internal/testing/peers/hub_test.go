package peers_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/peerstest"
)

// boardMap is what the hub has in its storage folder for the extension.
const boardMap = `{"protocol":"actions.json","version":"0.1.0-working","tools":[
 {"name":"board.add","description":"Add.","input_schema":{"type":"object","required":["title"],"properties":{"title":{"type":"string"}}},
  "workflow":{"version":1,"expression_language":"jsonata","steps":[
   {"id":"fill","primitive":"text.insert","args":{"target":{"selector":"#title"},"text":"{% input.title %}","mode":"replace"}},
   {"id":"read","primitive":"locator.value","args":{"locator":{"selector":"#title"}}}],"output":{"value":"{% steps.read.output.value %}"}}},
 {"name":"board.info","description":"Info.","input_schema":{"type":"object"},"x_actions":{"handler":"page.info"}},
 {"name":"board.fixed","description":"Fixed.","input_schema":{"type":"object"},"x_actions":{"static_output":{"ok":true,"n":7}}}],
 "x_actions":{"files":[{"id":"guide","path":"SKILL.md","kind":"skill","description":"How to."}]},
 "state_projections":[{"name":"board","description":"The board.","snapshot":{"version":1,"source":"dom",
   "extract":[{"id":"head","selector":"h1","many":false,"fields":{"text":{"property":"innerText"}}}],
   "projection":{"language":"jsonata","expression":"{\"head\": records.head.text}"}},
   "summaries":[{"name":"agent_context","description":"Short.","expression":"{\"short\": state.head}"}]}]}`

const boardPage = `<!doctype html><title>Board</title><h1>Board</h1><label>Title <input id="title"></label>` +
	`<button id="go">Go</button>`

// TestPeersHub connects the real extension to the hub by the documented steps, on an
// https and on an http page, and calls what the hub answers for it and every tool of
// its catalog.
func TestPeersHub(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes() {
		t.Run(scheme, func(t *testing.T) { (&extensionOnHub{T: t}).run(scheme) })
	}
}

// schemes are those of the pages; the sample leaves http out.
func schemes() []string {
	if peerstest.All() {
		return []string{"https", "http"}
	}
	return []string{"https"}
}

type extensionOnHub struct {
	*testing.T
	hub *hub.Hub
}

func (x *extensionOnHub) run(scheme string) {
	t := x.T
	extension := peerstest.StartExtension(t)
	site := peerstest.Site(t, scheme, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, boardPage)
	}))
	root := t.TempDir()
	maps := filepath.Join(root, "scopes/private/sites/127.0.0.1/board")
	if err := os.MkdirAll(maps, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"actions.json": boardMap,
		"SKILL.md":     "---\nname: guide\n---\nAdd titles.\n",
	} {
		if err := os.WriteFile(filepath.Join(maps, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	connected := make(chan struct{}, 8)
	h, err := hub.New(hub.Options{
		Listen:        "127.0.0.1:0",
		StorageRoot:   root,
		PayloadFolder: t.TempDir(),
		OnRuntime: func(c hub.RuntimeChange) {
			if c.Kind == "connected" {
				connected <- struct{}{}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Listen(); err != nil {
		t.Fatal(err)
	}
	x.hub = h
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = h.Run(ctx) })
	defer running.Wait()
	defer cancel()

	// What the reader of docs/reference/hub.md pastes into the extension.
	extension.Claim(t, site.URL+"/", h.PairingURL())
	select {
	case <-connected:
	case <-time.After(2 * time.Minute):
		t.Fatal("the extension does not connect")
	}

	x.hydrated()
	x.sites()
	x.others()
	x.catalog(scheme)
}

func (x *extensionOnHub) call(name, args string) hub.ToolResult {
	return x.hub.Call(x.Context(), hub.ToolCall{Name: name, Arguments: json.RawMessage(args), TimeoutMS: 8000})
}

// gives expects a call to succeed with texts in its output.
func (x *extensionOnHub) gives(name, args string, want ...string) {
	x.Helper()
	r := x.call(name, args)
	if err := r.Err(); err != nil {
		x.Errorf("%s %s: %v", name, args, err)
		return
	}
	for _, text := range want {
		if !strings.Contains(string(r.Output), text) {
			x.Errorf("%s %s: no %s in %s", name, args, text, r.Output)
		}
	}
}

func (x *extensionOnHub) fails(name, args string, code string) {
	x.Helper()
	r := x.call(name, args)
	err := r.Err()
	if err == nil || string(err.Code) != code {
		x.Errorf("%s %s: %s %s, want %s", name, args, r.Output, r.Error, code)
	}
}

// hydrated waits until the extension has taken the storage folder.
func (x *extensionOnHub) hydrated() {
	for late := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r := x.call("storage.list", `{}`)
		if strings.Contains(string(r.Output), "scopes/private/sites/127.0.0.1/board/actions.json") {
			return
		}
		if time.Now().After(late) {
			x.Fatalf("the extension has no map: %s %s", r.Output, r.Error)
		}
	}
}

// sites calls actions.site in every mode that the upstream bridge has.
func (x *extensionOnHub) sites() {
	x.gives("actions.site", `{"mode":"list"}`, `"board.add"`, `"board.fixed"`, `"agent_context"`, `"SKILL.md"`)
	x.gives("actions.site", `{"mode":"call","action":"board.fixed"}`, `"n":7`)
	x.gives("actions.site", `{"mode":"call","action":"board.info"}`, `"title":"Board"`)
	x.gives(
		"actions.site", `{"mode":"call","action":"board.add","arguments":{"title":"Milk"}}`,
		`"actions.workflow"`, `"value":"Milk"`,
	)
	x.gives("actions.site", `{"mode":"state_read","projection_name":"board"}`, `"head":"Board"`, `"djb2:`)
	x.gives("actions.site", `{"mode":"state_summary","projection_name":"board"}`, `"short":"Board"`)
	x.gives("actions.site", `{"mode":"state_diff","projection_name":"board"}`, `"patches":[]`)
	x.fails("actions.site", `{"mode":"call","action":"board.add","arguments":{}}`, "invalid_input")
	x.fails("actions.site", `{"mode":"call","action":"board.nothing"}`, "unknown_action")
	x.fails("actions.site", `{"mode":"state_read","projection_name":"nothing"}`, "state_projection_not_found")
	x.fails("actions.site", `{"mode":"check"}`, "invalid_input")
}

// others calls what else the hub answers for it.
func (x *extensionOnHub) others() {
	x.gives("storage.read_file", `{"id":"guide"}`, "Add titles.")
	x.gives("storage.sync", `{}`, `"ok":true`)
	x.gives("runtime.agent.await_event", `{"cursor":-1,"timeout_ms":1000}`, `"idle":true`)
	x.gives("a11y.events.read", `{}`, `"next_cursor"`)
	x.gives("a11y.announcements_configure", `{"polite":"buffer"}`, `"polite":"buffer"`)
	x.gives("browser.claimed_tabs.list", `{}`, `"complete":true`)
	x.gives("bridge.payloads.configure", `{}`, `"inline_limit_bytes":50000`)
}

// catalogArguments are those with which a tool does what it is for on the page;
// others are called with none.
var catalogArguments = map[string]string{
	"locator.element_info": `{"locator":{"selector":"#go"}}`,
	"locator.text_content": `{"locator":{"selector":"h1"}}`,
	"locator.wait_for":     `{"locator":{"selector":"h1"},"timeout_ms":500}`,
	"dom.observe.visible":  `{"selector":"h1"}`,
	"dom.focus":            `{"locator":{"selector":"#title"}}`,
	"pointer.click":        `{"x":5,"y":5}`,
	"pointer.move":         `{"x":5,"y":5}`,
	"pointer.double_click": `{"x":5,"y":5}`,
	"text.insert":          `{"target":{"selector":"#title"},"text":"x"}`,
	"keyboard.press":       `{"key":"Tab"}`,
	"viewport.scroll":      `{"delta_y":1}`,
	"task.add":             `{"text":"x"}`,
}

// away are tools that end or change the page under the others.
var away = []string{
	"browser.navigate", "browser.open_tab", "browser.close_tab",
	"browser.claimed_tabs.activate", "browser.dismiss_dialog", "storage.import_bundle",
}

// catalog calls every tool that the extension describes: each is answered, with a
// result or a failure of its own.
func (x *extensionOnHub) catalog(scheme string) {
	called := 0
	for _, tool := range x.hub.Tools() {
		if tool.Name == "actions.site" || slices.Contains(away, tool.Name) {
			continue
		}
		args := catalogArguments[tool.Name]
		if args == "" {
			args = `{}`
		}
		called++
		r := x.call(tool.Name, args)
		err := r.Err()
		if err == nil {
			continue
		}
		known := catalogArguments[tool.Name] != "" && scheme == "https"
		if known || r.Status != http.StatusOK && err.Code != "invalid_input" {
			x.Errorf("%s %s: status %d, %v", tool.Name, args, r.Status, err)
		}
	}
	x.Logf("%d tools were called", called)
	if called < 60 {
		x.Errorf("%d tools were called", called)
	}
}
