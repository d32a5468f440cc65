package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
)

// EvidenceLines are the fields and the evidence of an error, one line each.
func EvidenceLines(f *fault.Error) []string {
	var out []string
	for _, m := range []map[string]any{f.Fields, f.Evidence} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			v, err := jsonout.Line(m[k])
			if err != nil {
				continue
			}
			out = append(out, k+": "+Shorten(string(v), 300))
		}
	}
	return out
}

// Shorten cuts text to n characters, the last of which then is an ellipsis.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// Count is a number of things whose plural ends in s.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Printable is text of a page on its way to a terminal: on one line, also for readers to whom U+2028 and
// U+2029 end one, and with nothing that a terminal would obey.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case plain.Hidden(r):
			return '·'
		}
		return r
	}, s)
}
