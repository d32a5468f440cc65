package outrider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/quirks"
)

// TestEveryKnownCaseIsShown holds testdata/pages/PITFALLS.md to what is there.
func TestEveryKnownCaseIsShown(t *testing.T) {
	b, err := os.ReadFile("testdata/pages/PITFALLS.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, list := range []struct {
		letter string
		last   int
	}{{"A", 39}, {"P", 58}} {
		for n := 1; n <= list.last; n++ {
			want = append(want, fmt.Sprint(list.letter, n))
		}
	}
	known := map[string]bool{}
	for _, q := range quirks.All() {
		known[string(q.Name)] = true
	}
	row := regexp.MustCompile(`^\| ([AP]\d+) \| ([^|]+) \| ([^|]+) \|([^|]*)\|$`)
	name := regexp.MustCompile("`([^`]+)`")
	at := 0
	for line := range strings.Lines(string(b)) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if at >= len(want) || m[1] != want[at] {
			t.Fatalf("row %d is %s", at+1, m[1])
		}
		at++
		shown := name.FindAllStringSubmatch(m[3], -1)
		if len(shown) == 0 {
			t.Errorf("%s is shown by nothing", m[1])
		}
		both := false
		for _, s := range shown {
			two, err := showsBoth(s[1])
			if err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
			both = both || two
		}
		for _, q := range name.FindAllStringSubmatch(m[4], -1) {
			if !known[q[1]] {
				t.Errorf("%s: there is no quirk %s", m[1], q[1])
			}
			if !both {
				t.Errorf("%s: nothing shows both sides of %s", m[1], q[1])
			}
		}
	}
	if at != len(want) {
		t.Errorf("the table has %d rows, want %d: the next is %s", at, len(want), want[at])
	}
}

// showsBoth says whether a page or a test is there, and shows both profiles.
func showsBoth(shown string) (bool, error) {
	if strings.HasSuffix(shown, ".html") {
		b, err := os.ReadFile(filepath.Join("testdata/pages", shown))
		if err != nil {
			return false, err
		}
		if !strings.Contains(string(b), `id="expect`) {
			return false, fmt.Errorf("%s states no calls", shown)
		}
		return strings.Contains(string(b), `"extension"`), nil
	}
	dot := strings.LastIndex(shown, ".")
	if dot < 0 {
		return false, fmt.Errorf("%s is neither a page nor a test", shown)
	}
	files, err := filepath.Glob(filepath.Join(shown[:dot], "*_test.go"))
	if err != nil {
		return false, err
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return false, err
		}
		if strings.Contains(string(b), "\nfunc "+shown[dot+1:]+"(") {
			return strings.Contains(string(b), "quirks."), nil
		}
	}
	return false, fmt.Errorf("there is no test %s", shown)
}
