package fault_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
)

func TestNear(t *testing.T) {
	names := []string{
		"contact.submit_name", "contact.clear", "board.open",
		"overlay.open", "label", "value", "x", "y", "text", "next",
	}
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"contact.submit_nam", []string{"contact.submit_name"}},
		{"contcat.clear", []string{"contact.clear"}},
		{"board.opne", []string{"board.open"}},
		{"labels", []string{"label"}},
		{"Label", []string{"label"}},
		{"label", nil},
		{"texts", []string{"text", "next"}},
		{"nxet", []string{"next", "text"}},
		{"z", nil},
		{"zzz", nil},
		{"", nil},
		{strings.Repeat("a", 5000), nil},
	} {
		got := fault.Near(tt.in, names)
		if !slices.Equal(got, tt.want) {
			t.Errorf("Near(%.20q) = %q, want %q", tt.in, got, tt.want)
		}
		best := ""
		if len(tt.want) > 0 {
			best = tt.want[0]
		}
		if got := fault.Nearest(tt.in, names); got != best {
			t.Errorf("Nearest(%.20q) = %q, want %q", tt.in, got, best)
		}
	}
}

func TestNearTellsThreeAtMost(t *testing.T) {
	got := fault.Near("abcd", []string{"abce", "abcf", "abc", "abcdd", "abcd"})
	if want := []string{"abce", "abcf", "abc"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
