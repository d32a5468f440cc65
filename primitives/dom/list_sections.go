package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type domListSectionsIn struct {
	Selector         *string                `json:"selector,omitempty"`
	HeadingSelector  *string                `json:"heading_selector,omitempty"`
	ItemSelector     *string                `json:"item_selector,omitempty"`
	TextContains     *string                `json:"text_contains,omitempty"`
	MaxSections      *float64               `json:"max_sections,omitempty"`
	MaxHeadingLength *float64               `json:"max_heading_length,omitempty"`
	Frame            locator.FrameSelectors `json:"frame,omitempty"`
}

// domListSections gives what measured scrolling needs: the scroll_y of a
// section is an offset in its document, so the distance to it is that minus
// the payload's own scroll_y.
var domListSections = primitives.Define("dom.list_sections", func(ctx context.Context, p primitives.Page, in domListSectionsIn) (json.RawMessage, error) {
	var out json.RawMessage
	args := optional(map[string]any{}, "selector", in.Selector)
	optional(args, "heading_selector", in.HeadingSelector)
	optional(args, "item_selector", in.ItemSelector)
	optional(args, "text_contains", in.TextContains)
	optional(args, "max_sections", in.MaxSections)
	optional(args, "max_heading_length", in.MaxHeadingLength)
	err := locator.CallIn(ctx, p, in.Frame, args, "list_sections", &out)
	return out, err
})
