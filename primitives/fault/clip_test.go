package fault_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

func TestClipCutsAtARune(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 4, "long..."},
		{"é", 1, "..."},
		{"aé", 2, "a..."},
		{"aéb", 3, "aé..."},
		{"", 0, ""},
	} {
		if got := fault.Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
