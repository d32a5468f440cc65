package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/faces/tools"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// oddSite is a host with one page, whose site offers what authors of maps write.
type oddSite struct{ dictionary }

const oddActions = `{"ok":true,"actions":[
{"name":"order.add","description":"Add.","input_schema":{"type":"object","properties":{"ids":{"type":"array"},"size":{"enum":["S"]},"n":{"enum":[1,2]},"any":{}}}},
{"name":"order_add","input_schema":{"oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"object"}]}}}},
{"name":"a name that is longer than the sixty-four characters which clients take"},
{"name":"grüße/öffnen","input_schema":{"type":"object","properties":{"deep":{"items":{"properties":{"x":{}}}}}}}]}`

func (oddSite) Tabs() []runtime.TabStatus {
	return []runtime.TabStatus{{TabID: 1, URL: "https://odd.example/", Active: true}}
}

func (oddSite) Do(_ context.Context, call runtime.Call) runtime.Reply {
	if strings.Contains(string(call.Arguments), `"list"`) {
		return runtime.Reply{ID: call.ID, URL: "https://odd.example/", Output: json.RawMessage(oddActions)}
	}
	return runtime.Reply{
		ID:     call.ID,
		Output: json.RawMessage(fmt.Sprintf(`{"called":%q,"with":%s}`, call.Name, call.Arguments)),
	}
}

type emptyBridge struct{}

func (emptyBridge) Call(
	_ context.Context, name string, _ json.RawMessage, _ mcp.Route, _ time.Duration,
) (mcp.Routed, *fault.Error) {
	return mcp.Routed{Output: json.RawMessage(`{"called":"` + name + `"}`)}, nil
}

func (emptyBridge) Runtimes() any { return []any{} }

// overBridge is a client of the tools of a hub.
func overBridge(t *testing.T, bridge mcp.Bridge) *sdk.ClientSession {
	t.Helper()
	server, err := mcp.NewBridge(t.Context(), bridge, mcp.Options{NewID: newID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return connect(t, server)
}

var takenName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,48}$`)

// What the strictest of the common clients refuses in a list, and with it the whole list.
func refusedIn(schema map[string]any, at string, property bool) (out []string) {
	kind, typed := schema["type"].(string)
	if property && !typed {
		out = append(out, at+" has no type")
	}
	if enum, ok := schema["enum"].([]any); ok {
		if !typed {
			out = append(out, at+" is an enumeration without a type")
		}
		for _, v := range enum {
			if _, text := v.(string); !text {
				out = append(out, fmt.Sprintf("%s lists %v, which is no text", at, v))
			}
		}
	}
	items, hasItems := schema["items"].(map[string]any)
	if kind == "array" && !hasItems {
		out = append(out, at+" has no items")
	}
	if hasItems {
		out = append(out, refusedIn(items, at+"/items", true)...)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, one := range properties {
		inner, ok := one.(map[string]any)
		if !ok {
			out = append(out, at+"/"+name+" is no schema")
			continue
		}
		out = append(out, refusedIn(inner, at+"/"+name, true)...)
	}
	return out
}

func TestEveryListIsTakenByEveryClient(t *testing.T) {
	of := func(tools string, site bool) *sdk.ClientSession {
		return client(t, oddSite{}, func(o *mcp.Options) { o.Tools, o.SiteTools = tools, site }, nil)
	}
	for name, cs := range map[string]*sdk.ClientSession{
		"core":            of("core", false),
		"all":             of("all", false),
		"every primitive": of("*", false),
		"the site's":      of("core", true),
		"hub":             overBridge(t, emptyBridge{}),
	} {
		t.Run(name, func(t *testing.T) {
			list := listOf(t, cs)
			if name == "the site's" {
				list = grownList(t, cs, 7+4)
			}
			seen := map[string]bool{}
			for _, tool := range list {
				if !takenName.MatchString(tool.Name) || seen[tool.Name] {
					t.Errorf("the name %q is refused, or there twice", tool.Name)
				}
				seen[tool.Name] = true
				for what, schema := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
					top, _ := schema.(map[string]any)
					if top["type"] != "object" || top["anyOf"] != nil || top["oneOf"] != nil || top["allOf"] != nil {
						t.Errorf("%s %s: %v is not an object without alternatives", tool.Name, what, schema)
					}
					for _, problem := range refusedIn(top, tool.Name+" "+what, false) {
						t.Error(problem)
					}
				}
			}
		})
	}
}

func listOf(t *testing.T, cs *sdk.ClientSession) []*sdk.Tool {
	t.Helper()
	list, err := cs.ListTools(t.Context(), &sdk.ListToolsParams{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// grownList is the list once it has as many tools as with the actions of the site.
func grownList(t *testing.T, cs *sdk.ClientSession, tools int) []*sdk.Tool {
	t.Helper()
	var list []*sdk.Tool
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		list = listOf(t, cs)
		if len(list) == tools {
			return list
		}
	}
	t.Fatalf("%d tools are listed, want %d", len(list), tools)
	return nil
}

// Names of the protocol go on to work in calls, beside those of the list.
func TestToolsAreCalledByBothNames(t *testing.T) {
	cs := client(t, oddSite{}, func(o *mcp.Options) { o.Tools, o.SiteTools = "page.info,cookie.*", true }, nil)
	named := map[string]bool{}
	for _, tool := range grownList(t, cs, 12+4) {
		named[tool.Name] = true
	}
	for _, name := range []string{
		"actions.site", "actions_site", "page.info",
		"page_info", "site.order.add", "site.order_add", "site.grüße/öffnen",
		"site.a name that is longer than the sixty-four characters which clients take",
	} {
		args := `{}`
		switch {
		case strings.HasPrefix(name, "actions"):
			args = `{"mode":"call","action":"x"}`
		case name == "site.order_add":
			args = `{"a":"1"}`
		}
		if r := attempt(t, cs, name, args); r.IsError {
			t.Errorf("%s is not called: %s", name, r.Content[0].(*sdk.TextContent).Text)
		}
	}
	if named["site_order_add"] || named["actions.site"] {
		t.Errorf("listed: %v", named)
	}
	bridge := overBridge(t, emptyBridge{})
	for _, name := range []string{"actions.site", "actions_site"} {
		if r := attempt(t, bridge, name, `{"mode":"list"}`); r.IsError {
			t.Errorf("hub: %s is not called: %+v", name, r)
		}
	}
}

func TestNamesAndSchemasAreAsTheTablesSay(t *testing.T) {
	var names struct {
		Lists []struct{ Own map[string]string }
	}
	readTable(t, "names.json", &names)
	for _, l := range names.Lists {
		if got := mcp.ListedNames(l.Own); !reflect.DeepEqual(got, l.Own) {
			t.Errorf("listed %v, want %v", got, l.Own)
		}
	}
	var schemas struct {
		Schemas []struct {
			Of      string
			Written json.RawMessage
			Told    map[string]any
		}
	}
	readTable(t, "schemas.json", &schemas)
	for _, s := range schemas.Schemas {
		var got map[string]any
		if err := json.Unmarshal(tools.Portable(s.Written), &got); err != nil || !reflect.DeepEqual(got, s.Told) {
			t.Errorf("%s: told %v (%v), want %v", s.Of, got, err, s.Told)
		}
	}
}

func readTable(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/bridge/mcp/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
