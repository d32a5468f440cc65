package jsonata

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// regexBudget is a regexMeter and a meter with a limit.
type regexBudget struct{ used, limit int }

var errBudget = errors.New("budget")

func (b *regexBudget) regexStep(n int) error {
	b.used += n
	if b.limit > 0 && b.used > b.limit {
		return errBudget
	}
	return nil
}

func (b *regexBudget) step(n int) error  { return b.regexStep(n) }
func (b *regexBudget) alloc(n int) error { return b.regexStep(n / 16) }

func readCases[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var rows []T
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRegexCases compares with the spans that JavaScript's RegExp found. A row
// is pattern, flags, subject, start and the spans, null or "error".
func TestRegexCases(t *testing.T) {
	rows := readCases[[5]json.RawMessage](t, "testdata/regex_cases.json")
	if len(rows) < 500 {
		t.Fatalf("only %d cases", len(rows))
	}
	for _, row := range rows {
		var pattern, flags, subject string
		var start int
		for i, p := range []any{&pattern, &flags, &subject, &start} {
			if err := json.Unmarshal(row[i], p); err != nil {
				t.Fatal(err)
			}
		}
		got := "null"
		re, err := compileRegex(pattern, flags)
		if err != nil {
			got = `"error"`
		} else {
			in := newRegexInput(subject)
			spans, err := re.match(&regexBudget{limit: 10_000_000}, in, start)
			if err != nil {
				t.Errorf("/%s/%s on %q at %d: %v", pattern, flags, subject, start, err)
			}
			if spans != nil {
				text, _ := json.Marshal(spans)
				got = string(text)
				if len(spans) != 2*(re.groups+1) {
					t.Errorf("/%s/%s: %d spans for %d groups", pattern, flags, len(spans), re.groups)
				}
				for g := 0; g < len(spans); g += 2 {
					if spans[g] >= 0 {
						_ = in.slice(spans[g], spans[g+1])
					}
				}
			}
		}
		if want := string(row[4]); got != want {
			t.Errorf("/%s/%s on %q at %d: got %s, want %s", pattern, flags, subject, start, got, want)
		}
	}
}

func TestRegexInputSlice(t *testing.T) {
	tests := []struct {
		name, text string
		length     int
		start, end int
		want       string
	}{
		{"ascii", "hello", 5, 1, 3, "el"},
		{"two bytes", "né!", 3, 1, 3, "é!"},
		{"pair", "a😀b", 4, 1, 3, "😀"},
		{"half a pair", "a😀b", 4, 0, 2, "a\xed\xa0\xbd"},
		{"whole", "a😀b", 4, 0, 4, "a😀b"},
		{"not utf-8", "a\xffb", 3, 0, 3, "a\ufffdb"},
		{"empty", "", 0, 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := newRegexInput(tt.text)
			if in.length() != tt.length {
				t.Errorf("length %d, want %d", in.length(), tt.length)
			}
			if got := in.slice(tt.start, tt.end); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRegexBudget(t *testing.T) {
	tests := []struct{ name, pattern, subject string }{
		{"nested plus", `^(a+)+$`, strings.Repeat("a", 40) + "b"},
		{"alternation", `^(a|a)*$`, strings.Repeat("a", 40) + "b"},
		{"optional", strings.Repeat("a?", 40) + strings.Repeat("a", 40) + "b", strings.Repeat("a", 40)},
		{"empty iterations", `(?:){2000000000}x`, "a"},
		{"nested counts", `(?:(?:(?:a{0,99}){99}){99}){99}b`, strings.Repeat("a", 50)},
		{"look-behind", `(?<=(a*)*b)c`, strings.Repeat("a", 40) + "c"},
		{"backreference", `^(a*)*\1$`, strings.Repeat("a", 40) + "b"},
		{"quadratic", `x*y`, strings.Repeat("x", 100_000)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			re, err := compileRegex(tt.pattern, "")
			if err != nil {
				t.Fatal(err)
			}
			m := &regexBudget{limit: 1_000_000}
			spans, err := re.match(m, newRegexInput(tt.subject), 0)
			if err == nil && spans != nil {
				t.Fatalf("matched: %v", spans)
			}
			if err != nil && !errors.Is(err, errBudget) {
				t.Fatalf("got %v, want the meter's error", err)
			}
			if m.used > m.limit+1_000_000 {
				t.Errorf("charged %d at once beyond a limit of %d", m.used, m.limit)
			}
		})
	}
}

func TestRegexStackLimit(t *testing.T) {
	re, err := compileRegex(`(?:(a)|(b))*c`, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = re.match(&regexBudget{}, newRegexInput(strings.Repeat("ab", 1<<20)), 0)
	var e *Error
	if !errors.As(err, &e) || e.Code != "D1011" {
		t.Fatalf("got %v, want D1011", err)
	}
}

func TestRegexRejects(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("(", 100_000),
		strings.Repeat("(?:", 501) + strings.Repeat(")", 501),
		strings.Repeat("(?=", 50_000) + "a",
		strings.Repeat("()", 70_000),
	} {
		_, err := compileRegex(pattern, "")
		var e *Error
		if !errors.As(err, &e) || e.Code != "S0303" {
			t.Errorf("%.10q...: got %v, want S0303", pattern, err)
		}
	}
}

func TestRegexConcurrent(t *testing.T) {
	re, err := compileRegex(`(\w+)@(\w+)|x(?=y)`, "i")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				spans, err := re.match(&regexBudget{}, newRegexInput("to Ann@host"), 0)
				if err != nil || !slices.Equal(spans, []int{3, 11, 3, 6, 7, 11}) {
					t.Errorf("got %v, %v", spans, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzRegex(f *testing.F) {
	for _, row := range readCases[[5]any](f, "testdata/regex_cases.json") {
		f.Add(row[0].(string), row[1].(string), row[2].(string), int(row[3].(float64)))
	}
	f.Fuzz(func(t *testing.T, pattern, flags, subject string, start int) {
		re, err := compileRegex(pattern, flags)
		if err != nil {
			return
		}
		in := newRegexInput(subject)
		m := &regexBudget{limit: 200_000}
		spans, err := re.match(m, in, start)
		if err != nil && !errors.Is(err, errBudget) {
			t.Fatal(err)
		}
		for i := 0; i < len(spans); i += 2 {
			if spans[i] == -1 && spans[i+1] == -1 {
				continue
			}
			if spans[i] < 0 || spans[i] > spans[i+1] || spans[i+1] > in.length() {
				t.Fatalf("/%s/%s on %q: spans %v", pattern, flags, subject, spans)
			}
			in.slice(spans[i], spans[i+1])
		}
		if spans != nil && spans[0] < start {
			t.Fatalf("match at %d before the start %d", spans[0], start)
		}
	})
}

func BenchmarkRegex(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over 12 lazy dogs, ", 200)
	for _, bb := range []struct{ name, pattern, flags string }{
		{"literal", "lazy cats", ""},
		{"class", `[0-9]{3,}`, ""},
		{"word", `\bz\w+`, ""},
		{"fold", "LAZY CATS", "i"},
		{"capture", `(\w+) (\w+) cats`, ""},
		{"alternation", `cat|mouse|elk`, ""},
	} {
		b.Run(bb.name, func(b *testing.B) {
			re, err := compileRegex(bb.pattern, bb.flags)
			if err != nil {
				b.Fatal(err)
			}
			in := newRegexInput(text)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if spans, err := re.match(&regexBudget{}, in, 0); spans != nil || err != nil {
					b.Fatal(spans, err)
				}
			}
		})
	}
}
