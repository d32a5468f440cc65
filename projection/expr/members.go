package expr

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// EachMember calls f with the members of an object in the order of its text,
// names that appear twice included. raw must be valid JSON and an object: a
// decoder checks each value again, which is most of what reading a large map
// would cost. The values are parts of raw.
func EachMember(raw json.RawMessage, f func(name string, value json.RawMessage)) {
	i := blanks(raw, 0) + 1
	for {
		i = blanks(raw, i)
		if i >= len(raw) || raw[i] != '"' {
			return
		}
		end := stringEnd(raw, i)
		name := unquoted(raw[i:end])
		i = blanks(raw, blanks(raw, end)+1) // a colon
		end = valueEnd(raw, i)
		if end <= i {
			return
		}
		f(name, raw[i:end:end])
		i = blanks(raw, end)
		if i >= len(raw) || raw[i] != ',' {
			return
		}
		i++
	}
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd returns where the value that begins at i ends.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i // of a number or a word
			}
		}
		i++
	}
	return len(b)
}

// unquoted is the text of a JSON string.
func unquoted(quoted []byte) string {
	if len(quoted) < 2 {
		return ""
	}
	inner := quoted[1 : len(quoted)-1]
	if utf8.Valid(inner) && !slices.Contains(inner, '\\') {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // the text was valid
	return s
}
