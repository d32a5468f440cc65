package replay

import (
	"encoding/json"
	"testing"
)

// TestNamesOfTheSession: an id that a script makes anew, and the folder of a map, are no difference; what stands
// beside them is.
func TestNamesOfTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		was, is string
		first   string // pointer of the first difference, "" for none
	}{
		"a made id": {
			`{"target":{"id":"select2-s-result-ixge-Turku"}}`, `{"target":{"id":"select2-s-result-k3vq-Turku"}}`, "",
		},
		"a made id and a text": {
			`{"target":{"id":"select2-s-result-ixge-Turku","label":"City"}}`,
			`{"target":{"id":"select2-s-result-k3vq-Turku","label":"Town"}}`, "/target/label"},
		"another element":     {`{"target":{"id":"item-1"}}`, `{"target":{"id":"item-2"}}`, "/target/id"},
		"one id of two":       {`[{"id":"a-ixge"},{"id":"a-ixge"}]`, `[{"id":"a-k3vq"},{"id":"a-p0dd"}]`, "/1/id"},
		"a text like an id":   {`{"text":"a-ixge"}`, `{"text":"a-k3vq"}`, "/text"},
		"the folder of a map": {`{"maps":["site/actions.json"]}`, `{"maps":["0/actions.json"]}`, ""},
		"another map":         {`{"maps":["site/actions.json"]}`, `{"maps":["0/other.json"]}`, "/maps/0"},
	} {
		got := ""
		if list := differences(newIdentities(), true, json.RawMessage(c.was), json.RawMessage(c.is)); len(list) > 0 {
			got = list[0].Pointer
		}
		if got != c.first {
			t.Errorf("%s: the first difference is at %q, expected %q", name, got, c.first)
		}
	}
}
