package primitives

import (
	"context"
	"encoding/json"
)

type domFocusIn struct {
	Locator locator `json:"locator"`
}

// domFocus re-seats the focus, for instance after a transient surface closed
// without returning it. An element that cannot take the focus is no error: the
// answer says focused false.
var domFocus = Define("dom.focus", func(ctx context.Context, p Page, in domFocusIn) (json.RawMessage, error) {
	var out json.RawMessage
	err := in.Locator.ask(ctx, p, "focus", nil, &out)
	return out, err
})
