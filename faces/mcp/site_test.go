package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

const harbourMap = `{"protocol":"actions.json","version":1,"tools":[{"name":"harbour.moor","description":"Moor a ship.",
"input_schema":{"type":"object","required":["ship"],"properties":{"ship":{"type":"string"}},"additionalProperties":false},
"workflow":{"version":1,"expression_language":"jsonata","steps":[
{"id":"write","primitive":"text.insert","args":{"target":{"selector":"input[name=ship]"},"text":"{% input.ship %}","mode":"replace"}},
{"id":"send","primitive":"pointer.click","args":{"locator":{"role":"button","name":"Moor"}}},
{"id":"said","primitive":"locator.text_content","args":{"locator":{"selector":"#said"}}}],
"output":"{% {'said': steps.said.output.text} %}"}}]}`

func openMap(t *testing.T, url, manifest string) *runtime.Host {
	t.Helper()
	maps, err := runtime.MapFromBytes("actions.json", []byte(manifest), catalog.Standard(), runtimetest.Engine(t))
	if err != nil {
		t.Fatal(err)
	}
	return runtimetest.Open(t, runtime.Options{Maps: maps, Open: []string{url}})
}

// wire notes what a client reads: "result ID" of responses, and the step of progress.
type wire struct {
	sdk.Transport
	mu   sync.Mutex
	read []string
}

func (w *wire) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	return &wireConnection{c, w}, err
}

type wireConnection struct {
	sdk.Connection
	wire *wire
}

func (c *wireConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Response:
		c.wire.read = append(c.wire.read, "result")
	case *jsonrpc.Request:
		var p sdk.ProgressNotificationParams
		if m.Method == "notifications/progress" && json.Unmarshal(m.Params, &p) == nil {
			c.wire.read = append(c.wire.read, fmt.Sprintf("%v: %s", p.Progress, p.Message))
		}
	}
	return m, err
}

// Progress comes before the result of its call and ends with the last step. What the
// SDK's client makes of that is its own: it hands notifications to a goroutine, which may
// run after the result is there. Issue 15.
func TestSiteActionsAndTheirProgress(t *testing.T) {
	changed := make(chan struct{}, 16)
	w := &wire{}
	cs := clientOver(t, openMap(t, serve(t, formPage), harbourMap), func(o *mcp.Options) {
		o.SiteTools = true
	}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case changed <- struct{}{}:
			default:
			}
		},
	}, func(transport sdk.Transport) sdk.Transport {
		w.Transport = transport
		return w
	})
	names := func() (out []string) {
		list, err := cs.ListTools(t.Context(), &sdk.ListToolsParams{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			out = append(out, tool.Name)
		}
		return out
	}
	await := func(want bool) {
		t.Helper()
		late := time.After(time.Minute)
		for slices.Contains(names(), "site_harbour_moor") != want {
			select {
			case <-changed:
			case <-late:
				t.Fatalf("site_harbour_moor there is not %v within a minute: %v", want, names())
			}
		}
	}
	await(true)

	params := &sdk.CallToolParams{
		Name:      "actions.site",
		Arguments: json.RawMessage(`{"mode":"call","action":"harbour.moor","arguments":{"ship":"Tern"}}`),
	}
	params.SetProgressToken("moor")
	w.mu.Lock()
	w.read = nil
	w.mu.Unlock()
	r, err := cs.CallTool(t.Context(), params)
	if err != nil || r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "Moored Tern") {
		t.Fatalf("actions.site: %v %+v", err, r)
	}
	w.mu.Lock()
	got := slices.Clone(w.read)
	w.mu.Unlock()
	result := slices.Index(got, "result")
	for _, step := range []string{"write", "send", "said"} {
		at := slices.IndexFunc(got, func(s string) bool { return strings.Contains(s, ": "+step+" ") })
		if at < 0 || at > result {
			t.Errorf("the client read %q, want a word on step %s before the result", got, step)
		}
	}
	if _, text := use(t, cs, "site_harbour_moor", `{"ship":"Heron"}`); !strings.Contains(text, "Moored Heron") {
		t.Errorf("the action as a tool: %s", text)
	}
	if r := attempt(t, cs, "site_harbour_moor", `{}`); code(r) != "invalid_input" {
		t.Errorf("the action without its argument: got %q, want invalid_input", code(r))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, late := range w.read[result+1:] {
		if late != "result" { // of the calls without a token
			t.Errorf("the client read %q after the result", late)
		}
	}
}

// Every mode of actions.site is one that an agent may call here too.
func TestEveryModeOfASite(t *testing.T) {
	m := strings.TrimSuffix(harbourMap, "}") +
		`,"signals":[{"name":"ship.seen","event":"harbour:seen","ingestion":"disabled_by_default"}],
"checks":[{"id":"form","assertions":[{"target":{"selector":"input[name=ship]"}}]}],
"attachments":[{"id":"lamp","kind":"annotation","target":{"selector":"input[name=ship]"},"affordance":{"label":"lamp"},"lifecycle":{"install":"manual"}}]}`
	cs := client(t, openMap(t, serve(t, formPage), m), nil, nil)
	for _, tt := range []struct{ name, args, want string }{
		{"what the map checks", `{"mode":"check","wait_ms":5000}`, `"status":"passed"`},
		{"a list for a task", `{"mode":"list","task":"moor a ship"}`, `"harbour.moor"`},
		{"a signal that is off", `{"mode":"signals"}`, `"enabled":false`},
		{"which is asked for", `{"mode":"signals","name":"ship.seen","enabled":true}`, `"enabled":true`},
		{
			"an attachment that is put by hand",
			`{"mode":"attachments","name":"lamp","enabled":true}`, `"state":"attached"`,
		},
	} {
		_, text := use(t, cs, "actions.site", tt.args)
		if !strings.Contains(strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(tt.want, " ", "")) {
			t.Errorf("%s, %s: got %s, want %s in it", tt.name, tt.args, text, tt.want)
		}
	}
	// The schema of the tool names the modes of the runtime.
	var runtimes struct {
		Properties struct {
			Mode struct{ Enum []string }
		}
	}
	if err := json.Unmarshal([]byte(runtime.SiteToolSchema), &runtimes); err != nil {
		t.Fatal(err)
	}
	list, err := cs.ListTools(t.Context(), &sdk.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name != runtime.SiteTool {
			continue
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range runtimes.Properties.Mode.Enum {
			if !strings.Contains(string(schema), `"`+mode+`"`) {
				t.Errorf("mode %s is missing in %s", mode, schema)
			}
		}
	}
}
