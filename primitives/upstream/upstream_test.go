package upstream_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/outrider-run/outrider/primitives/upstream"
)

// manifest is what is read of the extension's overlay.actions.json.
type manifest struct {
	Dictionary struct {
		Primitives []declared `json:"primitives"`
	} `json:"primitive_dictionary"`
	Tools []declared `json:"tools"`
}

type declared struct {
	Name  string `json:"name"`
	Input struct {
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"input_schema"`
}

// TestVocabularyIsCurrent makes the table from the extension itself, where it is
// at hand: OUTRIDER_PEERS names the folder with it. It writes the table when the
// documentation is generated.
func TestVocabularyIsCurrent(t *testing.T) {
	folder := os.Getenv("OUTRIDER_PEERS")
	if folder == "" {
		t.Skip("OUTRIDER_PEERS names no folder of the upstream extension")
	}
	if _, err := os.Stat(filepath.Join(folder, "extension")); err != nil {
		t.Skipf("OUTRIDER_PEERS has no folder of the upstream extension: %v", err)
	}
	var m manifest
	read(t, filepath.Join(folder, "extension/actions/overlay.actions.json"), &m)
	var about struct {
		Version string `json:"version"`
	}
	read(t, filepath.Join(folder, "extension/manifest.json"), &about)
	want := upstream.Vocabulary{Version: about.Version, Arguments: map[string][]string{}}
	for _, d := range append(m.Dictionary.Primitives, m.Tools...) {
		names := append(slices.Collect(maps.Keys(d.Input.Properties)), want.Arguments[d.Name]...)
		slices.Sort(names)
		want.Arguments[d.Name] = append([]string{}, slices.Compact(names)...)
	}
	made, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	made = append(made, '\n')
	if os.Getenv("OUTRIDER_GENERATE") != "" {
		if err := os.WriteFile("data/vocabulary.json", made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("data/vocabulary.json"); err != nil || string(got) != string(made) {
		t.Errorf("vocabulary.json is stale: run make generate with OUTRIDER_PEERS (%v)", err)
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReads(t *testing.T) {
	for _, c := range []struct {
		primitive, argument string
		has, reads          bool
	}{
		{"pointer.click", "x", true, true},
		{"pointer.click", "locator", true, false},
		{"pointer.click", "effects", true, false},
		{"dom.observe.visible", "max_payload_bytes", true, true},
		{"locator.element_info", "auto_scroll", true, true},
		{"locator.element_info", "timeout_ms", true, false},
		{"locator.wait_for", "timeout_ms", true, true},
		{"page.snapshot", "format", false, false},
	} {
		if has, reads := upstream.Has(c.primitive), upstream.Reads(c.primitive, c.argument); has != c.has ||
			reads != c.reads {
			t.Errorf("%s %s: has %v, reads %v, want %v, %v", c.primitive, c.argument, has, reads, c.has, c.reads)
		}
	}
}
