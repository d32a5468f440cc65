package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/primitives/plain"
	"github.com/outrider-run/outrider/runtime"
)

// The resources of a server:
//
//	outrider://pages              pages of the runtime
//	outrider://pages/{page}/site  what the site's map offers on a page, its context included
//	outrider://session/log        what was called lately
//	outrider://primitives/{name}  the full record of a primitive
//	outrider://screenshots/{id}   a picture that was taken lately
//
// Pages of sessions are accessible only with their handle, so none of them is
// listed.

func (s *Server) addResources() {
	resource := func(uri, name, description string, read func(ctx context.Context, uri string) (any, error)) {
		s.server.AddResource(
			&sdk.Resource{URI: uri, Name: name, Description: description, MIMEType: "application/json"}, asJSON(read),
		)
	}
	template := func(uri, name, description, kind string, h sdk.ResourceHandler) {
		s.server.AddResourceTemplate(
			&sdk.ResourceTemplate{URITemplate: uri, Name: name, Description: description, MIMEType: kind}, h,
		)
	}
	resource("outrider://pages", "pages", "Pages of the runtime", func(context.Context, string) (any, error) {
		return s.tools.Pages(), nil
	})
	resource("outrider://session/log", "session-log", "What was called lately, without typed text", func(
		ctx context.Context, _ string,
	) (any, error) {
		return s.tools.Log(ctx)
	})
	template(
		"outrider://pages/{+page}/site", "site", "What the site's map offers on a page: actions, states, context",
		"application/json",
		asJSON(func(ctx context.Context, uri string) (any, error) {
			page := strings.TrimSuffix(strings.TrimPrefix(uri, "outrider://pages/"), "/site")
			return s.tools.Site(ctx, page, runtime.Site{Mode: runtime.SiteList})
		}),
	)
	template("outrider://primitives/{name}", "primitive", "Arguments and result of a primitive", "application/json",
		asJSON(func(_ context.Context, uri string) (any, error) {
			name := strings.TrimPrefix(uri, "outrider://primitives/")
			for _, e := range s.opts.Host.Dictionary() {
				if e.Name == name {
					return map[string]any{
						"name":             e.Name,
						"summary":          e.Summary,
						"capability_class": e.Class,
						"input_schema":     e.InputSchema,
						"output_schema":    e.OutputSchema,
					}, nil
				}
			}
			return nil, sdk.ResourceNotFoundError(uri)
		}))
	template("outrider://screenshots/{id}", "screenshot", "A picture that was taken lately", "", func(
		_ context.Context, req *sdk.ReadResourceRequest,
	) (*sdk.ReadResourceResult, error) {
		uri := req.Params.URI
		data, kind, ok := s.tools.Picture(uri)
		if !ok {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Blob: data}},
		}, nil
	})
}

// asJSON answers a resource with a value as JSON.
func asJSON(read func(ctx context.Context, uri string) (any, error)) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		value, err := read(ctx, req.Params.URI)
		if err != nil {
			return nil, err
		}
		encoded, err := json.MarshalIndent(value, "", " ")
		if err != nil {
			return nil, fmt.Errorf("encoding a resource: %w", err)
		}
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{{
				URI:      req.Params.URI,
				MIMEType: "application/json",
				Text:     plain.Text(string(encoded)),
			}},
		}, nil
	}
}
