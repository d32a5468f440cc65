package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/hub"
	"github.com/outrider-run/outrider/bridgeclient/mcp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// hubBridge gives the hub's runtimes to its MCP side.
type hubBridge struct{ hub *hub.Hub }

// Call implements mcp.Bridge.
func (b hubBridge) Call(ctx context.Context, name string, args json.RawMessage, route mcp.Route, timeout time.Duration) (mcp.Routed, *fault.Error) {
	r := b.hub.Call(ctx, hub.ToolCall{
		Name: name, Arguments: args, TargetRuntimeID: route.RuntimeID, TargetRuntimeKey: route.RuntimeKey,
		TargetURLContains: route.URLContains, TargetTitleContains: route.TitleContains, TimeoutMS: timeout.Milliseconds(),
	})
	return mcp.Routed{Output: r.Output, RuntimeID: r.RuntimeID, Announcements: r.Announcements}, r.Err()
}

// Runtimes implements mcp.Bridge.
func (b hubBridge) Runtimes() any { return b.hub.Runtimes() }
