package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/primitives/fault"
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

// maxPictures bounds the pictures that are kept.
const maxPictures = 20

// pictures are the last pictures taken.
type pictures struct {
	mu   sync.Mutex
	ids  []string
	byID map[string]picture
}

type picture struct {
	data []byte
	kind string
}

// keepPicture remembers a picture and returns the URI it is read by.
func (s *Server) keepPicture(data []byte, kind string) string {
	id := s.opts.NewID()
	ps := &s.pictures
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.byID == nil {
		ps.byID = map[string]picture{}
	}
	ps.byID[id] = picture{data, kind}
	ps.ids = append(ps.ids, id)
	if len(ps.ids) > maxPictures {
		delete(ps.byID, ps.ids[0])
		ps.ids = ps.ids[1:]
	}
	return "outrider://screenshots/" + id
}

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
		list := []any{}
		for _, p := range s.pagesOf(nil) {
			list = append(list, pageLine(p))
		}
		return list, nil
	})
	resource("outrider://session/log", "session-log", "What was called lately, without typed text", func(
		ctx context.Context, _ string,
	) (any, error) {
		return s.ask(ctx, "", "runtime.session.log", `{}`)
	})
	template(
		"outrider://pages/{+page}/site", "site", "What the site's map offers on a page: actions, states, context",
		"application/json",
		asJSON(func(ctx context.Context, uri string) (any, error) {
			return s.ask(
				ctx, strings.TrimSuffix(strings.TrimPrefix(uri, "outrider://pages/"), "/site"),
				runtime.SiteTool, `{"mode":"list"}`,
			)
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
		s.pictures.mu.Lock()
		p, ok := s.pictures.byID[strings.TrimPrefix(uri, "outrider://screenshots/")]
		s.pictures.mu.Unlock()
		if !ok {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: p.kind, Blob: p.data}},
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

// ask runs a call for a resource.
func (s *Server) ask(ctx context.Context, pageHandle, name, args string) (any, error) {
	p, release, e := s.find(pageHandle, "")
	if e != nil {
		return nil, e
	}
	defer release()
	r := s.opts.Host.Do(ctx, runtime.Call{
		ID:        s.opts.NewID(),
		Target:    p.target(),
		Name:      name,
		Arguments: json.RawMessage(args),
		Timeout:   s.opts.CallTimeout,
		OwnWords:  true,
	})
	if r.Err != nil {
		return nil, fault.From(r.Err)
	}
	return r.Value(), nil
}
