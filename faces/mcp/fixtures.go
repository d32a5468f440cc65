package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The public conformance scenarios for servers need tools and resources of
// certain names, to see features at work that this server claims. They are
// there only behind a hidden flag.

var (
	fixtureImage = []byte{ // one red pixel, PNG
		0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D',
		'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 'w', 'S', 0xde,
		0, 0, 0, 12, 'I', 'D', 'A', 'T', 'x', 0x9c, 'c', 0xf8, 0xcf, 0xc0, 0, 0, 3, 1, 1, 0,
		0xc9, 0xfe, 0x92, 0xef, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 'B', '`', 0x82,
	}
	fixtureSound = []byte("RIFF\x24\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")
)

func (s *Server) addFixtures() {
	text := func(t string) *sdk.TextContent { return &sdk.TextContent{Text: t} }
	embedded := func(uri string) *sdk.EmbeddedResource {
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
			URI:      uri,
			MIMEType: "text/plain",
			Text:     "This is an embedded resource content.",
		}}
	}
	static := func(name, description string, content ...sdk.Content) {
		s.server.AddTool(
			&sdk.Tool{Name: name, Description: description, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: content}, nil
			},
		)
	}
	static("test_simple_text", "Answers with text", text("This is a simple text response for testing."))
	static(
		"test_image_content", "Answers with a picture", &sdk.ImageContent{Data: fixtureImage, MIMEType: "image/png"},
	)
	static("test_audio_content", "Answers with a sound", &sdk.AudioContent{Data: fixtureSound, MIMEType: "audio/wav"})
	static("test_embedded_resource", "Answers with a resource", embedded("test://embedded-resource"))
	static("test_multiple_content_types", "Answers with all of them", text("Multiple content types test:"),
		&sdk.ImageContent{Data: fixtureImage, MIMEType: "image/png"}, embedded("test://mixed-content-resource"))
	tool := func(name, description, input string, run sdk.ToolHandler) {
		s.server.AddTool(&sdk.Tool{Name: name, Description: description, InputSchema: json.RawMessage(input)}, run)
	}
	tool("test_error_handling", "Fails", `{"type":"object"}`, func(
		context.Context, *sdk.CallToolRequest,
	) (*sdk.CallToolResult, error) {
		result := &sdk.CallToolResult{}
		result.SetError(errors.New("This tool intentionally returns an error for testing")) //nolint:staticcheck // the scenario's own words
		return result, nil
	})
	tool("test_tool_with_progress", "Reports progress", `{"type":"object"}`, func(
		ctx context.Context, req *sdk.CallToolRequest,
	) (*sdk.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, done := range []float64{0, 50, 100} {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token,
				Progress:      done,
				Total:         100,
				Message:       fmt.Sprintf("Completed step %.0f of 100", done),
			}); err != nil {
				return nil, err
			}
		}
		return &sdk.CallToolResult{Content: []sdk.Content{text(fmt.Sprint(token))}}, nil
	})
	tool("test_reconnection", "Ends its stream and answers on the next one", `{"type":"object"}`, func(
		ctx context.Context, req *sdk.CallToolRequest,
	) (*sdk.CallToolResult, error) {
		if req.Extra != nil && req.Extra.CloseSSEStream != nil {
			req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 50 * time.Millisecond})
		}
		select { // the client has to come back for the answer
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		return &sdk.CallToolResult{Content: []sdk.Content{text("Reconnection test completed successfully. " +
			"If you received this, the client properly reconnected after stream closure.")}}, nil
	})
	tool(
		"json_schema_2020_12_tool", "Has a schema with the keywords of 2020-12",
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`,
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{text("ok")}}, nil
		},
	)
	resource := func(uri, kind string, contents *sdk.ResourceContents) {
		contents.URI, contents.MIMEType = uri, kind
		s.server.AddResource(&sdk.Resource{URI: uri, Name: strings.TrimPrefix(uri, "test://"), MIMEType: kind}, func(
			context.Context, *sdk.ReadResourceRequest,
		) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
		})
	}
	resource("test://static-text", "text/plain", &sdk.ResourceContents{
		Text: "This is the content of the static text resource.",
	})
	resource("test://static-binary", "image/png", &sdk.ResourceContents{Blob: fixtureImage})
	s.server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "test://template/{id}/data",
		Name:        "template",
		MIMEType:    "application/json",
	},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			if err != nil {
				return nil, err
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
				{URI: req.Params.URI, MIMEType: "application/json", Text: string(body)},
			}}, nil
		})
}
