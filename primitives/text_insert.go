package primitives

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type textInsertIn struct {
	Text   coercedText   `json:"text"`
	Target *insertTarget `json:"target"`
	// Mode is "replace", or anything else to append.
	Mode string `json:"mode"`
}

// insertTarget is a selector, a locator, or a locator below a member of that
// name.
type insertTarget struct {
	raw     json.RawMessage // as given, for evidence
	locator locator
}

func (t *insertTarget) UnmarshalJSON(b []byte) error {
	t.raw = bytes.Clone(b)
	if len(b) > 0 && b[0] == '"' {
		wrapped := append(append([]byte(`{"selector":`), b...), '}')
		return json.Unmarshal(wrapped, &t.locator)
	}
	var nested struct {
		Selector *string         `json:"selector"`
		Locator  json.RawMessage `json:"locator"`
	}
	if err := json.Unmarshal(b, &nested); err != nil {
		return err
	}
	// An own selector wins over a nested locator.
	if nested.Selector == nil && len(nested.Locator) > 0 && nested.Locator[0] == '{' {
		b = nested.Locator
	}
	return json.Unmarshal(b, &t.locator)
}

// textInsert puts text into an editable by script, because frameworks depend on
// the events of that path; text.type sends keys.
var textInsert = Define("text.insert", func(ctx context.Context, p Page, in textInsertIn) (json.RawMessage, error) {
	return insertText(ctx, p, in.Target, string(in.Text), in.Mode)
})

// insertText puts text into what target finds first, or, without a target, into
// what has the focus, following it into frames.
func insertText(ctx context.Context, p Page, target *insertTarget, text, mode string) (json.RawMessage, error) {
	args := map[string]any{"text": text, "replace": mode == "replace"}
	var out json.RawMessage
	if target == nil {
		if err := callFocused(ctx, p, "text_insert", args, &out); err != nil {
			return nil, err
		}
		return out, nil
	}
	if err := target.locator.ask(ctx, p, "text_insert", args, &out); err != nil {
		if f := fault.From(err); f.Code == fault.TargetNotEditable {
			return nil, f.With("target", target.raw)
		}
		return nil, err
	}
	return out, nil
}
