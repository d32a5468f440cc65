package expr_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

const differencesFile = "testdata/engine-differences.txt"

const differencesHead = `# Where the engines native (the default) and blues (--expr-engine blues) differ.
# Every expression of jsonata/testdata/subset.json whose context is an object runs
# on both; native answers as jsonata-js 2.2.1 does. Written by
# OUTRIDER_GENERATE=1 go test -run TestEngineDifferences ./projection/expr
`

// TestEngineDifferences pins, in a file made for reading, on which documented
// cases the two engines give different answers.
func TestEngineDifferences(t *testing.T) {
	if testing.Short() {
		t.Skip("evaluates a thousand expressions in a worker")
	}
	raw, err := os.ReadFile(filepath.Join("jsonata", "testdata", "subset.json"))
	if err != nil {
		t.Fatal(err)
	}
	var subset struct {
		Contexts []string
		Cases    []struct {
			Expr    string
			Context int
		}
	}
	if err := json.Unmarshal(raw, &subset); err != nil {
		t.Fatal(err)
	}
	native, err := expr.New(expr.Native, nil)
	if err != nil {
		t.Fatal(err)
	}
	blues := newBlues(t, 1)

	const (
		otherValue = "Another value"
		noAnswer   = "Blues fails, native answers"
		noError    = "Blues answers, native fails"
		refused    = "Refused when compiling for blues, because it is known to answer wrong"
		otherError = "Another error"
	)
	kinds := []string{otherValue, noAnswer, noError, refused, otherError}
	found := map[string][]string{}
	total := 0
	for _, c := range subset.Cases {
		in := subset.Contexts[c.Context]
		if !strings.HasPrefix(in, "{") {
			continue
		}
		total++
		n, nErr := answer(t, native, c.Expr, in)
		b, bErr := answer(t, blues, c.Expr, in)
		if n == b && nErr == bErr {
			continue
		}
		kind := otherValue
		switch {
		case strings.HasPrefix(bErr, "refused") && nErr == "":
			kind = refused
		case nErr != "" && bErr != "":
			kind = otherError
		case bErr != "":
			kind = noAnswer
		case nErr != "":
			kind = noError
		}
		found[kind] = append(found[kind], fmt.Sprintf(
			"%s\n  context %d\n  native  %s\n  blues   %s\n",
			c.Expr, c.Context, excerpt(n+nErr, b+bErr), excerpt(b+bErr, n+nErr),
		))
	}
	var out strings.Builder
	out.WriteString(differencesHead)
	differ := 0
	for _, k := range kinds {
		differ += len(found[k])
	}
	fmt.Fprintf(&out, "#\n# %d cases, %d the same, %d different:\n", total, total-differ, differ)
	for _, k := range kinds {
		fmt.Fprintf(&out, "# %5d  %s\n", len(found[k]), k)
	}
	for i, c := range subset.Contexts {
		if strings.HasPrefix(c, "{") {
			fmt.Fprintf(&out, "#\n# context %d: %s\n", i, c)
		}
	}
	for _, k := range kinds {
		fmt.Fprintf(&out, "\n## %s\n\n", k)
		slices.SortStableFunc(found[k], func(a, b string) int { return cmp.Compare(a, b) })
		out.WriteString(strings.Join(found[k], "\n"))
	}
	if os.Getenv("OUTRIDER_GENERATE") != "" {
		if err := os.MkdirAll(filepath.Dir(differencesFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(differencesFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf(
					"%s is out of date from line %d on:\ngot  %s\nwant %s",
					differencesFile, i+1, a[i], b[min(i, len(b)-1)],
				)
			}
		}
		t.Fatalf("%s has more than was found", differencesFile)
	}
}

// answer is a value's text, or what kind of error came instead.
func answer(t *testing.T, e expr.Engine, src, in string) (val, failure string) {
	t.Helper()
	p, err := e.Compile(src)
	if err != nil {
		if c := fault.From(err).Evidence["construct"]; c != nil {
			return "", fmt.Sprintf("refused: %v", c)
		}
		return "", "error " + code(err)
	}
	v, err := p.Eval(t.Context(), input(in), expr.Limits{})
	switch {
	case err != nil:
		return "", "error " + code(err)
	case v.Undefined:
		return "undefined", ""
	}
	return string(v.JSON), ""
}

func code(err error) string {
	f := fault.From(err)
	if c, ok := f.Evidence["jsonata_code"].(string); ok && c != "" {
		return c
	}
	return string(f.Code)
}

// excerpt shows a long text from shortly before the place where the other one
// begins to differ.
func excerpt(text, other string) string {
	r, o := []rune(text), []rune(other)
	from := 0
	for from < len(r) && from < len(o) && r[from] == o[from] {
		from++
	}
	from = max(0, from-40)
	if len(r) <= 120 {
		from = 0
	}
	s := string(r[from:min(len(r), from+120)])
	if from > 0 {
		s = "..." + s
	}
	if len(r) > from+120 {
		s += "..."
	}
	return s
}
