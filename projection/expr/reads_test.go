package expr_test

import (
	"testing"

	"github.com/outrider-run/outrider/projection/expr"
)

// A member is read where it is named at the root of the input, and nowhere else.
func TestReads(t *testing.T) {
	for _, name := range []string{expr.Native, expr.Blues} {
		engine, err := expr.New(name, &expr.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		for _, c := range []struct {
			src  string
			want bool
		}{
			{"error.code = 'timeout'", true},
			{"ok = false", true},
			{"$not(ok)", true},
			{"$$.error.code = 'timeout'", true},
			{"$exists($.error)", true},
			{"($e := error; $e.code = 'x')", true},
			{"$exists(error) and $exists($)", true},
			{"`error`.code = 'x'", true},
			{"steps[$$.ok = false]", true},
			{"$exists(output)", false},
			{"output.error = 'none' and output.ok", false},
			{"$count(steps[ok = false]) = 0", false},
			{"'error' in output.value.kinds", false},
			{"vars.error = row.ok", false},
			{"$exists($)", false},
			{"duration_ms < 5000", false},
		} {
			p, err := engine.Compile(c.src)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, c.src, err)
			}
			if got := expr.Reads(p, "output.status"); got {
				t.Errorf("%s: %s: reads output.status", name, c.src)
			}
			if got := expr.Reads(p, "error", "ok"); got != c.want {
				t.Errorf("%s: %s: reads error or ok: %v, want %v", name, c.src, got, c.want)
			}
		}
		for src, want := range map[string]bool{
			"output.status = 404": true, "$exists($$.output.status)": true, "output . status in [404, 410]": true,
			"output.title = 'output.status'": false, "steps.output.status = 404": false, "output": false,
		} {
			p, err := engine.Compile(src)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, src, err)
			}
			if got := expr.Reads(p, "output.status"); got != want {
				t.Errorf("%s: %s: reads output.status: %v, want %v", name, src, got, want)
			}
		}
	}
}
