package tools

import "testing"

func TestSameDigits(t *testing.T) {
	for _, c := range []struct {
		held, text string
		want       bool
	}{
		{"12", "12", true},
		{"12.00", "12", true},
		{"1,200.00 EUR", "1200", true},
		{"12 kg", "12", true},
		{"120", "12", false},
		{"12.50", "12", false},
		{"", "12", false},
		{"abcdef", "abc", false},
	} {
		if got := sameDigits(c.held, c.text); got != c.want {
			t.Errorf("%q for %q: %t", c.held, c.text, got)
		}
	}
}
