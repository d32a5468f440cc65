package hub

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	importTool   = "storage.import_bundle"
	readFileTool = "storage.read_file"
)

var syncStorage = Tool{
	"storage.sync", "Read the storage folder again and replace the storage of a runtime with it.",
	json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
}

var readStored = Tool{
	readFileTool, "Read a text file that a map of the page declares, by exactly one of its id and its path.",
	json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"id":{"type":"string"},` +
		`"max_bytes":{"type":"integer","minimum":1,"maximum":256000}},"additionalProperties":false}`),
}

// sync answers storage.sync: unlike hydration the bundle replaces what the runtime
// has, and its answer is the caller's. The maps count again even when no runtime
// is connected.
func (h *Hub) sync(
	ctx context.Context, args map[string]json.RawMessage, sel Selector, timeout time.Duration,
) ToolResult {
	if err := only(args); err != nil {
		return refused(err)
	}
	if h.opts.StorageRoot == "" {
		return refused(
			fault.New(fault.InvalidInput, "the hub has no storage folder").Next("start it with --storage-root"),
		)
	}
	h.storage.forget()
	bundle, failed := h.opts.Bundle()
	if failed != nil {
		return refused(fault.Wrap(fault.StorageFileReadFailed, failed, "reading the storage folder"))
	}
	e, err := h.find(ctx, sel)
	if err != nil {
		return refused(err)
	}
	return h.dispatch(ctx, e, importTool, marshal(map[string]any{"bundle": bundle}), timeout)
}

// readFile answers storage.read_file for a runtime that cannot.
func (h *Hub) readFile(e *entry, raw []byte) ToolResult {
	var in struct {
		Path     string `json:"path"`
		ID       string `json:"id"`
		MaxBytes int    `json:"max_bytes"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return refused(
			fault.New(fault.InvalidInput, "the arguments of storage.read_file have a member of the wrong kind"),
		)
	}
	out := map[string]any{"ok": true, "primitive": readFileTool, "adapter": "bridge"}
	content, err := h.storage.maps().ReadFile(e.URL, in.ID, in.Path, in.MaxBytes)
	if err != nil {
		out["ok"], out["error"] = false, err
	} else {
		out["value"] = content
	}
	return output(e, marshal(out))
}
