package runtime_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

// TestTheDictionaryIsAdvertised: what a runtime announces is what it runs.
func TestTheDictionaryIsAdvertised(t *testing.T) {
	h := open(t, runtime.Options{})
	var m struct {
		Protocol   string `json:"protocol"`
		Dictionary struct {
			Primitives []struct {
				Name        string          `json:"name"`
				Support     string          `json:"support"`
				Summary     string          `json:"summary"`
				InputSchema json.RawMessage `json:"input_schema"`
			} `json:"primitives"`
		} `json:"primitive_dictionary"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(h.Manifest(), &m); err != nil {
		t.Fatal(err)
	}
	if m.Protocol != "actions.json" || len(m.Tools) == 0 || m.Tools[0].Name != runtime.SiteTool {
		t.Errorf("got protocol %q and tools %v", m.Protocol, m.Tools)
	}
	records := catalog.Standard().Records()
	if len(m.Dictionary.Primitives) != len(records) {
		t.Fatalf("%d primitives are announced, %d are there", len(m.Dictionary.Primitives), len(records))
	}
	capabilities := h.Info().Capabilities
	for i, r := range records {
		p := m.Dictionary.Primitives[i]
		if p.Name != r.Name || p.Support != r.Adapters[primitives.Adapter].Support || p.Summary != r.Summary ||
			missing(decoded(t, r.InputSchema), decoded(t, p.InputSchema)) != "" {
			t.Errorf("%s is announced as %+v", r.Name, p)
		}
		for _, c := range r.Capabilities {
			if p.Support != "unsupported" && !slices.Contains(capabilities, c) {
				t.Errorf("capability %s of %s is not announced", c, r.Name)
			}
		}
	}
	for _, absent := range []string{"runtime.agent"} {
		if slices.Contains(capabilities, absent) {
			t.Errorf("capability %s is announced, and every primitive of it is refused", absent)
		}
	}
	if !slices.IsSorted(capabilities) {
		t.Errorf("capabilities are not sorted: %q", capabilities)
	}
}
