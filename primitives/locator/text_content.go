package locator

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorTextContentIn struct {
	Locator Locator `json:"locator"`
}

// locatorTextContent reads the whole text, uncut: a map that compares it must
// see all of it.
var locatorTextContent = primitives.Define("locator.text_content", func(
	ctx context.Context, p primitives.Page, in locatorTextContentIn,
) (json.RawMessage, error) {
	var out json.RawMessage
	err := in.Locator.Evaluate(ctx, p, "text_content", nil, &out)
	return out, MaskFrameFault(p, err, fault.TargetNotFound)
})
