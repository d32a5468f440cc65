package runtime_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Each folder of testdata/maps/arguments is a map and what a check of it says
// of the arguments of its steps: errors are what a call is certain to refuse.
// Where the profile mends arguments they are warnings, and a host that is given
// the map says nothing of them.
func TestMapsTellOfArguments(t *testing.T) {
	type problem struct{ Pointer, Code, Says string }
	type expectation struct{ Errors, Warnings []problem }
	dirs, err := filepath.Glob("../testdata/maps/arguments/*")
	if err != nil || len(dirs) < 6 {
		t.Fatalf("found %q, %v", dirs, err)
	}
	engine, err := expr.New(expr.Native, nil)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(t *testing.T, what string, got []manifest.Problem, want []problem) {
		t.Helper()
		same := func(g manifest.Problem, w problem) bool {
			return g.Pointer == w.Pointer && string(g.Code) == w.Code && strings.Contains(g.Message, w.Says)
		}
		if !slices.EqualFunc(got, want, same) {
			t.Errorf("%s:\n got %q\nwant %q", what, got, want)
		}
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "expect.json"))
			var want expectation
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			read := func(check runtime.ArgumentCheck, drafts bool) (errors, warnings []manifest.Problem) {
				_, reports := runtime.LoadMaps(
					[]string{filepath.Join(dir, "actions.json")}, catalog.Standard(),
					engine, runtime.MapOptions{Arguments: check, AcceptDrafts: drafts},
				)
				return reports[0].Errors, reports[0].Warnings
			}
			errors, warnings := read(runtime.ArgumentsRefused, false)
			compare(t, "errors", errors, want.Errors)
			if len(want.Errors) == 0 { // a workflow with errors tells no warnings
				compare(t, "warnings", warnings, want.Warnings)
			}
			all := slices.Concat(want.Errors, want.Warnings)
			slices.SortStableFunc(all, func(a, b problem) int { return strings.Compare(a.Pointer, b.Pointer) })
			for _, mended := range []struct {
				name   string
				check  runtime.ArgumentCheck
				drafts bool
			}{{"mended", runtime.ArgumentsCoerced, false}, {"mended, draft", runtime.ArgumentsCoerced, true}} {
				errors, warnings = read(mended.check, mended.drafts)
				slices.SortStableFunc(warnings, func(a, b manifest.Problem) int {
					return strings.Compare(a.Pointer, b.Pointer)
				})
				compare(t, mended.name+": errors", errors, nil)
				compare(t, mended.name+": warnings", warnings, all)
			}
			errors, warnings = read(runtime.ArgumentsUnchecked, false)
			compare(t, "unchecked: errors", errors, nil)
			compare(t, "unchecked: warnings", warnings, nil)
		})
	}
}
