package sitetool

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/siteaction"
)

// pageToolPrefix marks the tools that a page declares for agents (WebMCP) among the actions of maps. A map's action of
// the same name is the one that is called.
const pageToolPrefix = "webmcp."

// pageTools are the tools of the page's own origin, as webmcp.list has them, under the names of actions.
func pageTools(ctx context.Context, c siteaction.Caller, page primitives.Page) []json.RawMessage {
	if known, _, err := page.PageTools(ctx); err != nil || len(known) == 0 {
		return nil
	}
	r := c.InvokeFor(ctx, nil, "webmcp.list", json.RawMessage("{}"))
	var list struct {
		Tools []map[string]any `json:"tools"`
	}
	if r.Err != nil || json.Unmarshal(r.Payload, &list) != nil {
		return nil
	}
	out := make([]json.RawMessage, 0, len(list.Tools))
	for _, tool := range list.Tools {
		name, _ := tool["name"].(string)
		tool["name"], tool["declared_by"] = pageToolPrefix+name, "page"
		out = append(out, call.JSON(tool))
	}
	return out
}

// callPageTool calls a tool that the page declares.
func callPageTool(ctx context.Context, c siteaction.Caller, name string, input json.RawMessage) call.Reply {
	args := call.JSON(map[string]any{"name": name, "input": input, "effects": true})
	r := c.InvokeFor(ctx, nil, "webmcp.call", args)
	if r.Err != nil {
		return call.Reply{Err: r.Err}
	}
	return call.Reply{Output: r.Envelope()}
}

// declared reports whether a map that applies to the page declares an action.
func (x *Tool) declared(ctx context.Context, c siteaction.Caller, action string) bool {
	o, url, err := x.actions.OfferFor(ctx, c.Message().Map)
	if err != nil {
		return false
	}
	_, missing := o.Library.Find(url, action)
	return missing == nil
}
