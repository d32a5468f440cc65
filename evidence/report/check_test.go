package report_test

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/runtime/checks"
)

// A check that could not be judged says its error on the line that all faces have: what was meant, and what is near.
func TestCheckSaysWhatWasMeant(t *testing.T) {
	var c checks.Check
	text := `{"check_id": "draft", "status": "unknown", "error": {"code": "target_not_found", "message": "no match",
		"evidence": {"target": {"role": "button", "name": "Save draft"}, "nearest": ["Keep draft"]}}}`
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	const want = `target_not_found: no match: button "Save draft"; nearest: "Keep draft"`
	if got := c.Detail(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
