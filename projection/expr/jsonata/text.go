package jsonata

import (
	"strings"
	"unicode/utf8"
)

// Strings are JavaScript strings held as WTF-8: UTF-8 in which a lone
// surrogate is encoded like any other code point of three bytes. A high and a
// low surrogate never stand side by side; joinText sees to that.

// joinText concatenates a and b, merging a surrogate pair split between them.
func joinText(a, b string) string {
	if endsHigh(a) && startsLow(b) {
		hi, lo := surrogateAt(a[len(a)-3:]), surrogateAt(b)
		r := 0x10000 + (hi-0xD800)<<10 + (lo - 0xDC00)
		return a[:len(a)-3] + string(r) + b[3:]
	}
	return a + b
}

func endsHigh(s string) bool {
	n := len(s)
	return n >= 3 && s[n-3] == 0xED && s[n-2] >= 0xA0 && s[n-2] <= 0xAF
}

func startsLow(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xB0 && s[1] <= 0xBF
}

// surrogateAt decodes the three bytes of a lone surrogate.
func surrogateAt(s string) rune {
	return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

// decodeRune is utf8.DecodeRuneInString for WTF-8.
func decodeRune(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	if s[0] == 0xED && len(s) >= 3 && s[1] >= 0xA0 && s[1] <= 0xBF {
		return surrogateAt(s), 3
	}
	return utf8.DecodeRuneInString(s)
}

// appendCodePoint is utf8.AppendRune that also writes surrogates.
func appendCodePoint(dst []byte, r rune) []byte {
	if r >= 0xD800 && r <= 0xDFFF {
		if r >= 0xDC00 && endsHigh(string(dst[max(0, len(dst)-3):])) {
			hi := surrogateAt(string(dst[len(dst)-3:]))
			return utf8.AppendRune(dst[:len(dst)-3], 0x10000+(hi-0xD800)<<10+(r-0xDC00))
		}
		return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// textLength counts code points.
func textLength(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// utf16Length counts UTF-16 code units, which is what JavaScript indexes by.
func utf16Length(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c&0xC0 != 0x80 {
			n++
			if c >= 0xF0 {
				n++
			}
		}
	}
	return n
}

// textOffset is the byte offset of code point i, len(s) when there are fewer.
func textOffset(s string, i int) int {
	if i <= 0 {
		return 0
	}
	for o := 0; o < len(s); o++ {
		if s[o]&0xC0 != 0x80 {
			if i == 0 {
				return o
			}
			i--
		}
	}
	return len(s)
}

// compareText orders strings by UTF-16 code units, as JavaScript's < does.
func compareText(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			// In UTF-16 everything beyond the basic plane sorts below U+E000.
			x, y := a[i], b[i]
			if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
				if x >= 0xF0 {
					return -1
				}
				return 1
			}
			if x < y {
				return -1
			}
			return 1
		}
	}
	return len(a) - len(b)
}

// isSpace is JSONata's white space between tokens.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v'
}

// utf16Offset is the UTF-16 offset of byte offset i in src.
func utf16Offset(src string, i int) int {
	return utf16Length(src[:min(i, len(src))])
}

func hasLoneSurrogate(s string) bool {
	for i := 0; ; {
		j := strings.IndexByte(s[i:], 0xED)
		if j < 0 {
			return false
		}
		i += j
		if i+1 < len(s) && s[i+1] >= 0xA0 {
			return true
		}
		i++
	}
}
