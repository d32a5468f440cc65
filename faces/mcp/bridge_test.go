package mcp_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// oneAnswer is a bridge that answers every call with the same output.
type oneAnswer string

func (a oneAnswer) Call(context.Context, string, json.RawMessage, mcp.Route, time.Duration) (mcp.Routed, *fault.Error) {
	return mcp.Routed{Output: json.RawMessage(a), RuntimeID: "rt-1"}, nil
}

func (oneAnswer) Runtimes() any { return []string{} }

// A model reads a screenshot of a bridge's runtime as a picture, not as base64
// text, also one that the upstream extension says twice. Issue 16.
func TestScreenshotThroughABridgeIsAPicture(t *testing.T) {
	const url = "data:image/png;base64,cGljdHVyZQ=="
	for name, output := range map[string]oneAnswer{
		"in the envelope": `{"ok":true,"primitive":"browser.screenshot","adapter":"extension","value":{"data_url":"` +
			url + `","mime_type":"image/png","screenshot_compaction":{"dataUrl":"` + url + `","encoded":true}}}`,
		"bare": `{"ok":true,"data_url":"` + url + `","mime_type":"image/png"}`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.WithoutCancel(t.Context())
			server, err := mcp.NewBridge(ctx, output, mcp.Options{NewID: newID, Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			front := httptest.NewServer(server.Handler(mcp.HTTPOptions{}))
			cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
				Connect(ctx, &sdk.StreamableClientTransport{Endpoint: front.URL}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cs.Close()
				front.CloseClientConnections()
				front.Close()
				if err := server.Close(ctx); err != nil {
					t.Error(err)
				}
			}()
			_, err = cs.CallTool(ctx, &sdk.CallToolParams{Name: "pointer.click", Arguments: map[string]any{}})
			if err == nil || !strings.Contains(err.Error(), "by the tool primitive") {
				t.Errorf("a primitive that is called as a tool: %v, want how it is called", err)
			}
			r := attempt(t, cs, "primitive", `{"name":"browser.screenshot"}`)
			if r.IsError || len(r.Content) != 2 {
				t.Fatalf("isError %v, %d parts of content, want text and picture", r.IsError, len(r.Content))
			}
			picture, ok := r.Content[1].(*sdk.ImageContent)
			if !ok || picture.MIMEType != "image/png" || string(picture.Data) != "picture" {
				t.Errorf("the second part is %#v, want the picture", r.Content[1])
			}
			text := r.Content[0].(*sdk.TextContent).Text
			if strings.Contains(text, "base64") || !strings.Contains(text, `"mime_type":"image/png"`) {
				t.Errorf("the text is %s", text)
			}
		})
	}
}
