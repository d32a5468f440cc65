package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type domObserveAttributesIn struct {
	Selector        *string                `json:"selector,omitempty"`
	Attributes      []string               `json:"attributes"`
	TextContains    *string                `json:"text_contains,omitempty"`
	MaxMatches      *float64               `json:"max_matches,omitempty"`
	MaxPayloadBytes *float64               `json:"max_payload_bytes,omitempty"`
	Frame           locator.FrameSelectors `json:"frame,omitempty"`
}

// domObserveAttributes enumerates matches wherever they are; each says whether
// it is visible, so the two queries stay apart.
var domObserveAttributes = primitives.Define("dom.observe.attributes", func(
	ctx context.Context, p primitives.Page, in domObserveAttributesIn,
) (json.RawMessage, error) {
	var out json.RawMessage
	args := optional(map[string]any{"attributes": in.Attributes}, "selector", in.Selector)
	if in.Attributes == nil {
		args["attributes"] = []string{}
	}
	optional(args, "text_contains", in.TextContains)
	optional(args, "max_matches", in.MaxMatches)
	optional(args, "max_payload_bytes", in.MaxPayloadBytes)
	err := locator.CallIn(ctx, p, in.Frame, args, "observe_attributes", &out)
	return out, err
})
