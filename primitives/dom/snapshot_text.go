package dom

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/locator"
)

type domSnapshotTextIn struct {
	Selector *string                `json:"selector,omitempty"`
	MaxChars *float64               `json:"max_chars,omitempty"`
	Frame    locator.FrameSelectors `json:"frame,omitempty"`
}

// domSnapshotText reads the text of visible containers as one line; text of
// hidden descendants counts, as everywhere in the dictionary.
var domSnapshotText = primitives.Define("dom.snapshot_text", func(
	ctx context.Context, p primitives.Page, in domSnapshotTextIn,
) (json.RawMessage, error) {
	var out json.RawMessage
	args := optional(map[string]any{}, "selector", in.Selector)
	optional(args, "max_chars", in.MaxChars)
	err := locator.CallIn(ctx, p, in.Frame, args, "snapshot_text", &out)
	return out, err
})
