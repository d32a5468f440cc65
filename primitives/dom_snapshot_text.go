package primitives

import (
	"context"
	"encoding/json"
)

type domSnapshotTextIn struct {
	Selector *string        `json:"selector,omitempty"`
	MaxChars *float64       `json:"max_chars,omitempty"`
	Frame    frameSelectors `json:"frame,omitempty"`
}

// domSnapshotText reads the text of visible containers as one line; text of
// hidden descendants counts, as everywhere in the dictionary.
var domSnapshotText = Define("dom.snapshot_text", func(ctx context.Context, p Page, in domSnapshotTextIn) (json.RawMessage, error) {
	var out json.RawMessage
	args := optional(map[string]any{}, "selector", in.Selector)
	optional(args, "max_chars", in.MaxChars)
	err := callIn(ctx, p, in.Frame, args, "snapshot_text", &out)
	return out, err
})
