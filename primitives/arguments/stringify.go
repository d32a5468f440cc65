package arguments

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Stringify is raw as JavaScript's JSON.stringify writes it: without white
// space between its parts, and with no character escaped that need not be. What
// came through json.Marshal on the way has \u0026, \u003c and \u003e in its
// strings, which nobody wants to read in a page. The order of members and the
// writing of numbers stay as they are.
func Stringify(raw json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return raw
	}
	in := compact.Bytes()
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	out := make([]byte, 0, len(in))
	// A backslash is only in strings, and in JSON that compacts something
	// follows each.
	for i := 0; i < len(in); {
		switch {
		case in[i] != '\\':
			out = append(out, in[i])
			i++
		case in[i+1] == '/':
			out = append(out, '/')
			i += 2
		case in[i+1] != 'u':
			out = append(out, in[i], in[i+1])
			i += 2
		default:
			unit := escapedUnit(in[i:])
			i += 6
			second := escapedUnit(in[i:])
			if utf16.IsSurrogate(unit) && utf16.DecodeRune(unit, second) != utf8.RuneError {
				unit = utf16.DecodeRune(unit, second)
				i += 6
			}
			out = appendPlain(out, unit)
		}
	}
	return out
}

// escapedUnit reads the escape, \u and four digits, that in begins with; -1 when it
// begins with none.
func escapedUnit(in []byte) rune {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(in[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// appendPlain appends one character of a JSON string. Half of a surrogate pair
// has no UTF-8 and stays escaped.
func appendPlain(out []byte, c rune) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(out, '\\', byte(c))
	case '\b':
		return append(out, `\b`...)
	case '\f':
		return append(out, `\f`...)
	case '\n':
		return append(out, `\n`...)
	case '\r':
		return append(out, `\r`...)
	case '\t':
		return append(out, `\t`...)
	}
	if c < 0x20 || utf16.IsSurrogate(c) {
		return append(out, '\\', 'u', hex[c>>12&15], hex[c>>8&15], hex[c>>4&15], hex[c&15])
	}
	return utf8.AppendRune(out, c)
}
