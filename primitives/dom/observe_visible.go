package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type domObserveVisibleIn struct {
	Selector        *string                `json:"selector,omitempty"`
	TextContains    *string                `json:"text_contains,omitempty"`
	MaxMatches      *float64               `json:"max_matches,omitempty"`
	MaxPayloadBytes *float64               `json:"max_payload_bytes,omitempty"`
	Frame           locator.FrameSelectors `json:"frame,omitempty"`
}

// domObserveVisible reports what the viewport shows. It is the one
// primitive that can assert absence: no match is a success with match_count 0.
var domObserveVisible = primitives.Define("dom.observe.visible", func(
	ctx context.Context, p primitives.Page, in domObserveVisibleIn,
) (json.RawMessage, error) {
	var out json.RawMessage
	args := optional(map[string]any{}, "selector", in.Selector)
	optional(args, "text_contains", in.TextContains)
	optional(args, "max_matches", in.MaxMatches)
	optional(args, "max_payload_bytes", in.MaxPayloadBytes)
	err := locator.CallIn(ctx, p, in.Frame, args, "observe_visible", &out)
	return out, err
})

// optional adds an argument that was given. The page library has the defaults.
func optional[T any](args map[string]any, name string, value *T) map[string]any {
	if value != nil {
		args[name] = *value
	}
	return args
}
