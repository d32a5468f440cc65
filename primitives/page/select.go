package page

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type pageSelectIn struct {
	Locator   locator.Locator             `json:"locator"`
	Ref       string                      `json:"ref"`
	Value     arguments.OneOrMore[string] `json:"value"`
	Label     arguments.OneOrMore[string] `json:"label"`
	Index     arguments.OneOrMore[int]    `json:"index"`
	Mode      string                      `json:"mode"`
	TimeoutMS *int                        `json:"timeout_ms"`
}

// pageSelect chooses options of a native list, whose menu is drawn outside of
// the page. It waits for the list, and for options that are still to come.
var pageSelect = primitives.Define("page.select", func(
	ctx context.Context, p primitives.Page, in pageSelectIn,
) (json.RawMessage, error) {
	l, ok, err := actionability.OneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.InvalidInput, "a ref or a locator is needed").
			With("missing_required", []string{"ref"})
	}
	if in.Value == nil && in.Label == nil && in.Index == nil {
		return nil, fault.New(fault.InvalidInput, "value, label or index is needed").
			With("missing_required", []string{"value"})
	}
	timeout := actionability.Timeout(ctx, in.TimeoutMS)
	start := time.Now()
	h, err := actionability.Resolve(
		ctx, p, l, actionability.Requirements{Until: "attached", Enabled: true}, timeout, false,
	)
	if err != nil {
		return nil, err
	}
	args := map[string]any{
		"handle":     h.Handle,
		"mode":       in.Mode,
		"timeout_ms": max(0, timeout-time.Since(start)).Milliseconds(),
	}
	if h.At.View != nil {
		args["view"] = h.At.View
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
	err = primitives.CallWithin(ctx, p, h.At.Frame, "page_select", args, &out, timeout-time.Since(start))
	return out, err
})
