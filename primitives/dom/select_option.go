package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type domSelectOptionIn struct {
	Locator locator.Locator `json:"locator"`
	Option  json.RawMessage `json:"option,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Label   json.RawMessage `json:"label,omitempty"`
	Index   *int            `json:"index,omitempty"`
}

// domSelectOption chooses in a native list. Its menu is drawn by the browser,
// outside of the page, where our pointer cannot click.
var domSelectOption = primitives.Define("dom.select_option", func(
	ctx context.Context, p primitives.Page, in domSelectOptionIn,
) (json.RawMessage, error) {
	args := map[string]any{}
	for name, text := range map[string]json.RawMessage{"option": in.Option, "value": in.Value, "label": in.Label} {
		if text != nil {
			args[name] = text
		}
	}
	optional(args, "index", in.Index)
	var out json.RawMessage
	err := in.Locator.Evaluate(ctx, p, "select_option", args, &out)
	return out, err
})
