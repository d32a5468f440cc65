package primitives

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

type pageSelectIn struct {
	Locator   locator           `json:"locator"`
	Ref       string            `json:"ref"`
	Value     oneOrMore[string] `json:"value"`
	Label     oneOrMore[string] `json:"label"`
	Index     oneOrMore[int]    `json:"index"`
	Mode      string            `json:"mode"`
	TimeoutMS *int              `json:"timeout_ms"`
}

// pageSelect chooses options of a native list, whose menu is drawn outside of
// the page. It waits for the list, and for options that are still to come.
var pageSelect = Define("page.select", func(ctx context.Context, p Page, in pageSelectIn) (json.RawMessage, error) {
	l, ok, err := oneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.InvalidInput, "a ref or a locator is needed").With("missing_required", []string{"ref"})
	}
	if in.Value == nil && in.Label == nil && in.Index == nil {
		return nil, fault.New(fault.InvalidInput, "value, label or index is needed").With("missing_required", []string{"value"})
	}
	timeout := actTimeout(ctx, in.TimeoutMS)
	start := time.Now()
	h, err := reach(ctx, p, l, actAim{until: "attached", enabled: true}, timeout, false)
	if err != nil {
		return nil, err
	}
	args := map[string]any{"handle": h.handle, "mode": in.Mode, "timeout_ms": max(0, timeout-time.Since(start)).Milliseconds()}
	if h.at.view != nil {
		args["view"] = h.at.view
	}
	if in.Value != nil {
		args["value"] = in.Value
	}
	if in.Label != nil {
		args["label"] = in.Label
	}
	if in.Index != nil {
		args["index"] = in.Index
	}
	var out json.RawMessage
	err = callWithin(ctx, p, h.at.frame, "page_select", args, &out, timeout-time.Since(start))
	return out, err
})
