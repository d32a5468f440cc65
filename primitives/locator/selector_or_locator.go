package locator

import (
	"bytes"
	"encoding/json"
)

// SelectorOrLocator is a selector, a locator, or a locator below a member of that
// name.
type SelectorOrLocator struct {
	Raw     json.RawMessage // as given, for evidence
	Locator Locator
}

func (t *SelectorOrLocator) UnmarshalJSON(b []byte) error {
	t.Raw = bytes.Clone(b)
	if len(b) > 0 && b[0] == '"' {
		wrapped := append(append([]byte(`{"selector":`), b...), '}')
		return json.Unmarshal(wrapped, &t.Locator)
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
	return json.Unmarshal(b, &t.Locator)
}
