package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
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

// ofTop gives an answer the address and the scroll position of the main document,
// which the extension reports of a frame too.
func ofTop(ctx context.Context, p primitives.Page, answer json.RawMessage) (json.RawMessage, error) {
	var top struct {
		URL      string `json:"url"`
		Viewport struct {
			Height  json.RawMessage `json:"height"`
			ScrollY json.RawMessage `json:"scroll_y"`
		} `json:"viewport"`
	}
	members := map[string]json.RawMessage{}
	if err := p.Call(ctx, "", "viewport_info", nil, &top); err != nil {
		return nil, err
	}
	url, err := json.Marshal(top.URL)
	if err == nil {
		err = json.Unmarshal(answer, &members)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading the sections")
	}
	members["url"] = url
	members["viewport_height"] = top.Viewport.Height
	members["scroll_y"] = top.Viewport.ScrollY
	return json.Marshal(members)
}

// domListSections gives what measured scrolling needs: the scroll_y of a
// section is an offset in its document, so the distance to it is that minus
// the payload's own scroll_y.
var domListSections = primitives.Define("dom.list_sections", func(
	ctx context.Context, p primitives.Page, in domListSectionsIn,
) (json.RawMessage, error) {
	var out json.RawMessage
	args := optional(map[string]any{}, "selector", in.Selector)
	optional(args, "heading_selector", in.HeadingSelector)
	optional(args, "item_selector", in.ItemSelector)
	optional(args, "text_contains", in.TextContains)
	optional(args, "max_sections", in.MaxSections)
	optional(args, "max_heading_length", in.MaxHeadingLength)
	err := locator.CallIn(ctx, p, in.Frame, args, "list_sections", &out)
	if err == nil && len(in.Frame) > 0 && primitives.QuirksOf(p).Has(quirks.FramesUnseen) {
		return ofTop(ctx, p, out)
	}
	return out, err
})
