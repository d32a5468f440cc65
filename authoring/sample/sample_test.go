package sample_test

import (
	"regexp"
	"testing"

	"github.com/outrider-run/outrider/authoring/sample"
)

func TestMatchingGivesTextsOfThePattern(t *testing.T) {
	for _, pattern := range []string{
		`[0-9]{5}`, `\d{5}(-\d{4})?`, `[A-Z]{2}-\d+`, `(red|green|blue)`, `[^@\s]+@[^@\s]+\.[a-z]{2,}`,
		`\+?[0-9 ]{7,15}`, `^[a-z]+$`, `.{8,}`, `[A-Za-z0-9]+`, `a*b?c+`,
	} {
		seen := map[string]bool{}
		for n := range 4 {
			got, ok := sample.Matching(pattern, n)
			if !ok || !regexp.MustCompile(`^(?:`+pattern+`)$`).MatchString(got) {
				t.Errorf("pattern %s, example %d: got %q, %v", pattern, n, got, ok)
			}
			seen[got] = true
		}
		if pattern != `a*b?c+` && len(seen) < 2 {
			t.Errorf("pattern %s: all examples are the same: %v", pattern, seen)
		}
	}
	for _, pattern := range []string{`(?=.*\d).+`, `(a)\1`, `[`, `\bword`, `a{900}b{900}`} {
		if got, ok := sample.Matching(pattern, 0); ok {
			t.Errorf("pattern %s: got %q, expected none", pattern, got)
		}
	}
}

func TestValueKeepsLimits(t *testing.T) {
	length := func(n int) *int { return &n }
	number := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		name string
		p    sample.Property
		want [2]any
	}{
		{"email", sample.Property{Type: "string", Format: "email"}, [2]any{"ada@example.com", "grace@example.com"}},
		{"short", sample.Property{Type: "string", MaxLength: length(2)}, [2]any{"Ad", "Gr"}},
		{"long", sample.Property{Type: "string", MinLength: length(6)}, [2]any{"Adaaaa", "Gracea"}},
		{"choice", sample.Property{Type: "string", Enum: []string{"", "small", "large"}}, [2]any{"small", "large"}},
		{
			"whole", sample.Property{Type: "integer", Minimum: number(18), Maximum: number(99)},
			[2]any{int64(19), int64(20)},
		},
		{"step", sample.Property{Type: "number", Minimum: number(0), MultipleOf: number(0.5)}, [2]any{0.5, int64(1)}},
		{
			"one number", sample.Property{Type: "integer", Minimum: number(7), Maximum: number(7)},
			[2]any{int64(7), int64(7)},
		},
		{"yes and no", sample.Property{Type: "boolean"}, [2]any{true, false}},
		{"date", sample.Property{Type: "string", Format: "date"}, [2]any{"2026-03-01", "2026-03-02"}},
	} {
		for n, want := range c.want {
			if got := c.p.Value(n); got != want {
				t.Errorf("%s, example %d: got %#v, want %#v", c.name, n, got, want)
			}
		}
	}
}
