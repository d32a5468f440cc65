package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// siteInput leaves some types to the runtime, which checks them: each costs every agent some tokens.
const siteInput = `{"type":"object","required":["mode"],"properties":{` +
	`"mode":{"enum":["list","call","check","signals","attachments","state_read","state_summary","state_diff","state_watch","learn","record"]},` +
	`"action":{"type":"string"},"arguments":{"type":"object"},"task":{"type":"string"},"wait_ms":{},` +
	`"name":{"type":"string","description":"signal, attachment, learned action"},` +
	`"calls":{},"start":{},"save":{},` +
	`"projection_name":{"type":"string"},"summary_name":{"type":"string"},"max_bytes":{},` +
	`"rows":{},"offset":{},"limit":{},"state_hash":{},"limits":{},"baseline":{},"enabled":{},"debounce_ms":{},` +
	pageProperty + `,` + sessionProperty + `,` + timeoutProperty + `},"additionalProperties":false}`

// siteTool is actions.site, the one stable tool of every runtime.
func (s *Server) siteTool() tool {
	return newTool(runtime.SiteTool, runtime.SiteToolDescription+" Start with mode list.", siteInput, pageResult, sdk.ToolAnnotations{Title: "Site actions"},
		func(ctx context.Context, c *call) (*answer, *fault.Error) {
			var w where
			if err := c.decode(&w); err != nil {
				return nil, err
			}
			args := map[string]json.RawMessage{}
			if err := c.decode(&args); err != nil {
				return nil, err
			}
			delete(args, "page")
			delete(args, "session")
			delete(args, "timeout_ms")
			return c.on(w, func(p page) (*answer, *fault.Error) {
				value, r, err := c.do(ctx, p, runtime.SiteTool, args, w)
				if err != nil {
					return nil, err
				}
				out := about(p, r, value)
				encoded, _ := json.Marshal(out)
				return &answer{Result: out, Text: labelled(p, r.URL, s.mark(), string(encoded))}, nil
			})
		})
}

// mark is an unguessable word that ends a labelled text.
func (s *Server) mark() string { return "end-" + s.opts.NewID()[:8] }
