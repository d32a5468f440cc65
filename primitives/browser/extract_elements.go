package browser

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type browserExtractElementsIn struct {
	Scope        *extractScope  `json:"scope,omitempty"`
	ItemSelector string         `json:"item_selector"`
	TextEquals   string         `json:"text_equals,omitempty"`
	TextContains string         `json:"text_contains,omitempty"`
	Include      string         `json:"include,omitempty"`
	Fields       []extractField `json:"fields"`
}

// extractScope is passed on as it came; only the frame is ours to resolve.
type extractScope = locator.Locator

type extractField struct {
	Name       string   `json:"name"`
	Selector   *string  `json:"selector,omitempty"`
	Attribute  *string  `json:"attribute,omitempty"`
	Attributes []string `json:"attributes,omitempty"`
}

// browserExtractElements reads rows. It sees what is visible unless include says
// otherwise, so an empty answer may mean that the page must be scrolled first. The scope's text is
// cut at 4,000 UTF-16 units: with the default scope it is the whole page.
var browserExtractElements = primitives.Define("browser.extract_elements", func(ctx context.Context, p primitives.Page, in browserExtractElementsIn) (json.RawMessage, error) {
	var out json.RawMessage
	args := map[string]any{
		"item_selector": in.ItemSelector, "fields": in.Fields, "text_equals": in.TextEquals, "text_contains": in.TextContains, "include": in.Include,
	}
	var frame locator.FrameSelectors
	if in.Scope != nil {
		args["scope"], frame = in.Scope, in.Scope.Frame
	}
	err := locator.CallIn(ctx, p, frame, args, "extract", &out)
	return out, locator.MaskFrameFault(p, err, fault.TargetNotFound)
})
