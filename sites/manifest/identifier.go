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
