package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorTextContentIn struct {
	Locator locator `json:"locator"`
}

// locatorTextContent reads the whole text, uncut: a map that compares it must
// see all of it.
var locatorTextContent = Define("locator.text_content", func(ctx context.Context, p Page, in locatorTextContentIn) (json.RawMessage, error) {
	var out json.RawMessage
	err := in.Locator.ask(ctx, p, "text_content", nil, &out)
	return out, frameUnsaid(p, err, fault.TargetNotFound)
})
