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
	routed := mcp.Routed{Output: r.Output, RuntimeID: r.RuntimeID, Announcements: r.Announcements}
	if r.OK {
		return routed, nil
	}
	var e struct {
		Message  string         `json:"message"`
		Evidence map[string]any `json:"evidence"`
		Next     string         `json:"next_step"`
	}
	if json.Unmarshal(r.Error, &e) != nil {
		e.Message = string(r.Error)
	}
	code := r.Code()
	if _, known := fault.Lookup(code); !known {
		code = fault.HandlerFailed
	}
	return routed, &fault.Error{Code: code, Message: e.Message, Evidence: e.Evidence, NextStep: e.Next}
}

// Runtimes implements mcp.Bridge.
func (b hubBridge) Runtimes() any { return b.hub.Runtimes() }
