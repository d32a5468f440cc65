package manifest

import (
	"strconv"
	"unicode/utf8"
)

// MaxIdentifier bounds a name or id in bytes.
const MaxIdentifier = 200

// SafeIdentifier reports whether s is a safe identifier of schema v1:
//
//	^[a-zA-Z][a-zA-Z0-9_-]*(\.[a-zA-Z][a-zA-Z0-9_-]*)*$
func SafeIdentifier(s string) bool {
	start := true
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch {
		case start && !letter:
			return false
		case start:
			start = false
		case c == '.':
			start = true
		case !letter && c != '_' && c != '-' && (c < '0' || c > '9'):
			return false
		}
	}
	return !start
}

// Nearest returns the name of names that a person most likely meant by s, or
// "" when none is close.
func Nearest(s string, names []string) string {
	best, bestDistance := "", len(s)/3+1
	if len(s) > 64 {
		return ""
	}
	for _, n := range names {
		if n == s || len(n) > 64 {
			continue
		}
		if d := distance(s, n, bestDistance); d <= bestDistance && (best == "" || d < bestDistance) {
			best, bestDistance = n, d
		}
	}
	return best
}

// distance counts inserted, removed, replaced and swapped bytes, and stops
// counting above limit.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	var rows [3][66]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	prev2, prev, cur := &rows[2], &rows[0], &rows[1]
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			cur[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// quote shows a name of the map in a message: escaped and cut.
func quote(s string) string {
	const limit = 80
	if len(s) > limit {
		cut := limit
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strconv.QuoteToGraphic(s)
}
