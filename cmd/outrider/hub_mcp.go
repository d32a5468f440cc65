package main

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// hubBridge gives the hub's runtimes to its MCP side.
type hubBridge struct{ hub *hub.Hub }

// Call implements mcp.Bridge.
func (b hubBridge) Call(
	ctx context.Context, name string, args json.RawMessage, route mcp.Route, timeout time.Duration,
) (mcp.Routed, *fault.Error) {
	r := b.hub.Call(ctx, hub.ToolCall{
		Name:                name,
		Arguments:           args,
		TargetRuntimeID:     route.RuntimeID,
		TargetRuntimeKey:    route.RuntimeKey,
		TargetURLContains:   route.URLContains,
		TargetTitleContains: route.TitleContains,
		TimeoutMS:           timeout.Milliseconds(),
		IdempotencyKey:      route.IdempotencyKey,
	})
	failed := r.Err()
	r = b.hub.Spill(name, r)
	return mcp.Routed{Output: r.Output, RuntimeID: r.RuntimeID, Announcements: r.Announcements}, failed
}

// payloadFolder is where long results go, "" for nowhere.
func payloadFolder(given string, limit int) string {
	cache, err := os.UserCacheDir()
	if limit <= 0 || given == "" && err != nil {
		return ""
	}
	return cmp.Or(given, filepath.Join(cache, "outrider", "payloads"))
}

// Runtimes implements mcp.Bridge.
func (b hubBridge) Runtimes() any { return b.hub.Runtimes() }
