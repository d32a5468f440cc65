package browser_test

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
)

// oddText has what a string literal, the JSON around it and the JSON in it escape.
const oddText = "plain 'single' \"double\" \\back\\ `tick` ${x} </script> \\' \\\" \\u0041 äöü \u2028\u2029 " +
	"\U0001f600 \x7f\ttab"

// Arguments of a page call pass through a string literal: whatever is in it arrives.
func TestOddTextReachesThePage(t *testing.T) {
	tab := browsertest.Tab(t)
	registry := catalog.Standard()
	invoke := func(name string, args any) json.RawMessage {
		t.Helper()
		encoded, err := json.MarshalIndent(args, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		r := registry.Invoke(t.Context(), tab, name, encoded)
		if r.Err != nil {
			t.Fatalf("%s: %v", name, r.Err)
		}
		return r.Payload
	}
	tab.PostEval("document.body.innerHTML = '<textarea></textarea>'")
	text := oddText + "\nline"
	invoke("text.insert", map[string]any{
		"target": map[string]string{"selector": "textarea"},
		"text":   text,
		"mode":   "replace",
	})
	var got struct{ Value string }
	if err := json.Unmarshal(invoke("locator.value", map[string]any{
		"locator": map[string]string{"selector": `textarea:not([name='it\'s "'])`},
	}), &got); err != nil {
		t.Fatal(err)
	}
	if got.Value != text {
		t.Errorf("the page has %q, want %q", got.Value, text)
	}
}
