package cdp

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Frames are read without a general decoder: most events are of no use to us
// and need only their name, and answers can be megabytes that must be searched
// at once, not once per layer. The scanner trusts nothing: whatever it does not
// understand it reports as malformed, and values are decoded (and so validated)
// by encoding/json where they are used.

// frameHead is the top level of a CDP frame. Its slices alias the frame.
type frameHead struct {
	id      int64
	hasID   bool
	method  []byte
	session []byte
	params  []byte
	result  []byte
	err     []byte
}

// scanFrame reads the top level of a frame. When ok is false, what was read
// before the fault is kept.
func scanFrame(b []byte) (h frameHead, ok bool) {
	ok = EachMember(b, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			id, err := strconv.ParseInt(string(value), 10, 64)
			if err != nil {
				return false
			}
			h.id, h.hasID = id, true
		case "method":
			h.method = PlainString(value)
			return utf8.Valid(h.method)
		case "sessionId":
			h.session = PlainString(value)
			return utf8.Valid(h.session)
		case "params":
			h.params = value
		case "result":
			h.result = value
		case "error":
			h.err = value
		}
		return true
	})
	return h, ok
}

// EachMember calls visit with the key and raw value of each member of the
// object b and reports whether b is one, as far as its top level shows. Keys
// with escapes are passed as they stand. visit returns false to stop with
// failure.
func EachMember(b []byte, visit func(key, value []byte) bool) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	i = space(b, i+1)
	if i < len(b) && b[i] == '}' {
		return space(b, i+1) == len(b)
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return false
		}
		end := stringEnd(b, i)
		if end < 0 {
			return false
		}
		key := b[i+1 : end-1]
		i = space(b, end)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		i = space(b, i+1)
		end = valueEnd(b, i)
		if end <= i {
			return false
		}
		if !visit(key, b[i:end]) {
			return false
		}
		i = space(b, end)
		if i >= len(b) {
			return false
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case '}':
			return space(b, i+1) == len(b)
		default:
			return false
		}
	}
}

// Member returns the raw value of one member of the object b, nil when there is
// none.
func Member(b []byte, name string) (value []byte) {
	EachMember(b, func(k, v []byte) bool {
		if string(k) == name {
			value = v
			return false
		}
		return true
	})
	return value
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at i, -1 when it
// does not end.
func stringEnd(b []byte, i int) int {
	for i = mark(b, i+1); i < len(b); i = mark(b, i+2) {
		if b[i] == '"' {
			return i + 1
		}
	}
	return -1
}

// mark returns the index of the next quote or backslash from i on, at least
// len(b) when there is none. It tests eight bytes at a time: the text of an
// answer is JSON inside a JSON string, with an escape every few bytes, where a
// search that is fast over long stretches spends its time starting anew.
func mark(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		// The lowest byte that is set is exact.
		if m := ((quote-ones)&^quote | (slash-ones)&^slash) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// valueEnd returns the index after the value that starts at i, -1 when it does
// not end. Brackets are counted, not matched.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = stringEnd(b, i)
				if i < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return -1
	}
	for start := i; ; i++ {
		if i >= len(b) || b[i] == ',' || b[i] == '}' || b[i] == ']' || space(b, i) != i {
			if i == start {
				return -1
			}
			return i
		}
	}
}

// PlainString returns the content of a string value without escapes, nil for
// anything else.
func PlainString(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' || bytes.IndexByte(v, '\\') >= 0 {
		return nil
	}
	return v[1 : len(v)-1]
}

// Unquote decodes a string value, and nothing but one string value. Unlike
// strconv.Unquote it reads JSON, and it copies runs without escapes at once: an
// answer of the page library is one long string.
func Unquote(v []byte) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' {
		return nil, false
	}
	v = v[1 : len(v)-1]
	out := make([]byte, 0, len(v))
	for i := 0; ; {
		n := mark(v, i)
		if n >= len(v) {
			return append(out, v[i:]...), true
		}
		out = append(out, v[i:n]...)
		if v[n] == '"' || n+1 == len(v) {
			return nil, false
		}
		i = n + 2
		switch c := v[n+1]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			r, ok := hex4(v[i:])
			if !ok {
				return nil, false
			}
			i += 4
			if utf16.IsSurrogate(r) {
				if low, ok := lowSurrogate(v[i:]); ok && r < 0xdc00 {
					r = utf16.DecodeRune(r, low)
					i += 6
				} else {
					r = utf8.RuneError
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, false
		}
	}
}

func lowSurrogate(v []byte) (rune, bool) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, false
	}
	r, ok := hex4(v[2:])
	return r, ok && r >= 0xdc00 && r < 0xe000
}

func hex4(v []byte) (rune, bool) {
	if len(v) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range v[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
