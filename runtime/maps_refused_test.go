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

// Each folder of testdata/maps/refused is a map, or a folder of maps, that can be read
// and declares what is certain to be refused when it is used. Who checks it is told;
// a host offers the rest of it. The first map has the errors.
func TestMapsTellWhatIsCertainToBeRefused(t *testing.T) {
	type problem struct{ Pointer, Code, Says string }
	dirs, err := filepath.Glob("../testdata/maps/refused/*")
	if err != nil || len(dirs) < 9 {
		t.Fatalf("found %q, %v", dirs, err)
	}
	engine, err := expr.New(expr.Native, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want struct{ Errors []problem }
			text, err := os.ReadFile(filepath.Join(dir, "expect.json"))
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			paths, err := filepath.Glob(filepath.Join(dir, "*actions.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, how := range []struct {
				check            runtime.ArgumentCheck
				errors, warnings []problem
			}{
				{runtime.ArgumentsRefused, want.Errors, nil},
				{runtime.ArgumentsCoerced, nil, want.Errors},
				{runtime.ArgumentsUnchecked, nil, nil},
			} {
				_, reports := runtime.LoadMaps(
					paths, catalog.Standard(), engine, runtime.MapOptions{Arguments: how.check},
				)
				r := reports[0]
				if r.OK != (len(how.errors) == 0) {
					t.Errorf("check %d: ok is %v", how.check, r.OK)
				}
				same := func(g manifest.Problem, w problem) bool {
					return g.Pointer == w.Pointer && string(g.Code) == w.Code && strings.Contains(g.Message, w.Says)
				}
				if !slices.EqualFunc(r.Errors, how.errors, same) {
					t.Errorf("check %d: errors\n got %q\nwant %q", how.check, r.Errors, how.errors)
				}
				if !slices.EqualFunc(r.Warnings, how.warnings, same) {
					t.Errorf("check %d: warnings\n got %q\nwant %q", how.check, r.Warnings, how.warnings)
				}
			}
		})
	}
}
