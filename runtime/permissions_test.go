package runtime_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/sites"
)

// Every primitive has a decision about what a map of somebody else needs for it. One that is
// new has none, and fails here: it is added to the table with what it needs, "" for nothing.
func TestEveryPrimitiveHasItsPermission(t *testing.T) {
	data, err := os.ReadFile("../testdata/maps/permissions.json")
	if err != nil {
		t.Fatal(err)
	}
	var decided map[string]sites.Permission
	if err := json.Unmarshal(data, &decided); err != nil {
		t.Fatal(err)
	}
	names := catalog.Standard().Names()
	for _, name := range names {
		want, ok := decided[name]
		if got := sites.PermissionFor(name); !ok || got != want {
			t.Errorf("%s: needs %q, decided %q (there is a decision: %t)", name, got, want, ok)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(decided)) {
		if !slices.Contains(names, name) {
			t.Errorf("%s: no primitive has this name", name)
		}
	}
}
