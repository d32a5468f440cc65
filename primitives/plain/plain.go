// Package plain writes out what nobody sees and terminals obey, in text of pages that goes to people
// and models. It decides nothing about what is safe to read. The faces and reports call it.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// tags are the characters that spell text nobody sees.
var tags = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0xE0000, Hi: 0xE007F, Stride: 1}}}

// Hidden says of a character that it is not seen and changes how what is beside it is shown or read:
// controls other than the end of a line and the tab, those of the direction of writing, other ends of
// lines, and tags.
func Hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, tags)
}

// ignorable are characters that are left out where a text is drawn or looked for: soft hyphens, zero-width spaces.
var ignorable = []*unicode.RangeTable{
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf,
}

// Comparable is s as the page library compares texts: without characters that nobody sees, in single spaces.
func Comparable(s string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.In(r, ignorable...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(seen), " ")
}

// Text is s with what is hidden as escapes of JSON, \u202e, and with U+FFFD for what is no UTF-8. It
// leaves the value of a text that is JSON as it was.
func Text(s string) string {
	if !strings.ContainsFunc(s, Hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !Hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Line is Text on one line.
func Line(s string) string {
	return Text(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(s))
}
