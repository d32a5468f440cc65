package primitives

import (
	"context"
	"encoding/json"
)

type locatorTextContentIn struct {
	Locator locator `json:"locator"`
}

// locatorTextContent reads the whole text, uncut: a map that compares it must
// see all of it.
var locatorTextContent = Define("locator.text_content", func(ctx context.Context, p Page, in locatorTextContentIn) (json.RawMessage, error) {
	var out json.RawMessage
	err := callIn(ctx, p, in.Locator.frame, map[string]any{"locator": in.Locator}, "text_content", &out)
	return out, err
})
