package workflow

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFieldsAreDocumented holds docs/reference/workflows.md to the fields that
// a workflow may have.
func TestFieldsAreDocumented(t *testing.T) {
	source, err := os.ReadFile("../docs/reference/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range slices.Concat(rootFields, stepFields, settleFields) {
		page := string(source)
		if !strings.Contains(page, "| `"+field+"` |") && !strings.Contains(page, "| **`"+field+"`** |") {
			t.Errorf("docs/reference/workflows.md has no row for %s", field)
		}
	}
	for _, name := range waitPrimitives {
		if !strings.Contains(string(source), "`"+name+"`") {
			t.Errorf("docs/reference/workflows.md does not say that after_each may run %s", name)
		}
	}
}
