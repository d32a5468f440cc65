package mapschema

import (
	"encoding/json"
	"testing"
)

// A validator in a strict mode reads the schema: each keyword stands beside the type that it
// is of, so to say so once more changes nothing.
func TestKeywordsStandBesideTheirTypes(t *testing.T) {
	text, err := Editor()
	if err != nil {
		t.Fatal(err)
	}
	root, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	strict(root, nil)
	if after, err := json.Marshal(root); err != nil || string(after) != string(before) {
		t.Errorf("some keywords have no type beside them: %v", err)
	}
	composition := root["if"].(object)["properties"].(object)["composition"].(object)
	if composition["type"] != "object" {
		t.Errorf("the type of composition is %v, want object", composition["type"])
	}
}
