package fault_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

func TestLineNamesWhatWasMeantAndWhatIsNear(t *testing.T) {
	missing := func() *fault.Error { return fault.New(fault.TargetNotFound, "no match") }
	locator := map[string]any{"role": "button", "name": "Save draft"}
	for want, e := range map[string]*fault.Error{
		"target_not_found: no match": missing(),
		`target_not_found: no match: button "Save draft"; nearest: "Keep draft", "Send"`: missing().
			With("locator", locator).With("nearest", []any{"Keep draft", "Send"}),
		`target_not_found: no match: #a, .b with a text that contains "Pay"`: missing().
			With("target", map[string]any{"selectors": []string{"#a", ".b"}, "text_contains": "Pay"}),
		"target_not_found: no match: e12": missing().With("target", "e12"),
		`target_not_found: no match; nearest: "One", "Two", "Three"`: missing().With("nearest", []string{
			"One", "Two", "Three", "Four",
		}),
	} {
		if got := e.Line(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
