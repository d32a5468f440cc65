package tools

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// siteInput leaves limits to the runtime, which checks them: each costs every agent some tokens.
const siteInput = `{"type":"object","required":["mode"],"properties":{` +
	`"mode":{"type":"string","enum":["list","call","check","signals","attachments","state_read","state_summary",` +
	`"state_diff","state_watch","learn","record"]},` +
	`"action":{"type":"string"},"arguments":{"type":"object"},"task":{"type":"string"},"wait_ms":{"type":"integer"},` +
	`"name":{"type":"string","description":"signal, attachment, learned action"},` +
	`"calls":{"type":"integer"},"start":{"type":"string"},"save":{"type":"boolean"},` +
	`"projection_name":{"type":"string"},"summary_name":{"type":"string"},"max_bytes":{"type":"integer"},` +
	`"rows":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"},"state_hash":{"type":"string"},` +
	`"limits":{"type":"object"},` +
	`"baseline":{"type":"object"},"enabled":{"type":"boolean"},"debounce_ms":{"type":"integer"},` +
	pageProperty + `,` + sessionProperty + `,` + timeoutProperty + `},"additionalProperties":false}`

// siteDescription is the runtime's in fewer words.
const siteDescription = "List the actions that the page's site map declares, call one, check whether the page still " +
	"is as the map says, " +
	"read its declared state, or be told when it changes. learn makes an action of the last calls, record saves " +
	"them. Start with mode list."

// siteTool is actions.site, the one stable tool of every runtime.
func (s *Set) siteTool() Tool {
	t := newTool(runtime.SiteTool, "Site actions", siteDescription, siteInput, pageResult, false,
		func(ctx context.Context, c *Call) (*Answer, *fault.Error) {
			var w where
			if err := c.Decode(&w); err != nil {
				return nil, err
			}
			args := map[string]json.RawMessage{}
			if err := c.Decode(&args); err != nil {
				return nil, err
			}
			delete(args, "page")
			delete(args, "session")
			delete(args, "timeout_ms")
			return c.on(ctx, w, func(p page) (*Answer, *fault.Error) {
				c.readLater(ctx, p, 0)
				return c.site(ctx, p, args, w)
			})
		})
	// a list is one too
	t.Arguments = json.RawMessage(strings.Replace(siteInput, `"baseline":{"type":"object"}`, `"baseline":{}`, 1))
	return t
}

// Mark is an unguessable word that ends a labelled text.
func (s *Set) Mark() string { return "end-" + s.opts.NewID()[:8] }
