package plan_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/plan"
)

// TestFieldsAreDocumented holds docs/reference/plans.md to the members that a
// plan and its steps may have.
func TestFieldsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	ofPlan, ofStep, ok := strings.Cut(string(page), "## A step\n")
	if !ok {
		t.Fatal("docs/reference/plans.md has no section for a step")
	}
	for text, v := range map[string]any{ofPlan: plan.Plan{}, ofStep: plan.Step{}} {
		typ := reflect.TypeOf(v)
		for f := range typ.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" && !strings.Contains(text, "| `"+name+"` |") {
				t.Errorf("docs/reference/plans.md has no row for %s of %s", name, typ.Name())
			}
		}
	}
}
