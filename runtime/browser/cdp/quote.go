package cdp

import "unicode/utf8"

// Object encodes an object of string members.
func Object(pairs ...string) []byte {
	b := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, pairs[i])
		b = append(b, ':')
		b = AppendQuoted(b, pairs[i+1])
	}
	return append(b, '}')
}

// AppendQuoted writes s as a JSON string. What is not UTF-8 becomes U+FFFD, as
// json.Marshal has it.
func AppendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[from:i]...), `\ufffd`...)
				from = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			b = append(b, s[from:i]...)
			if c < ' ' {
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				b = append(b, '\\', c)
			}
			from = i + 1
		}
		i++
	}
	return append(append(b, s[from:]...), '"')
}

// AppendLiteral writes text as the inside of a JavaScript string literal in single
// quotes, which itself stands in a JSON string.
func AppendLiteral(b, text []byte) []byte {
	const hex = "0123456789abcdef"
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, text[from:i]...), `\ufffd`...)
				from = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' || c == '\'' {
			b = append(b, text[from:i]...)
			switch c {
			case '"':
				b = append(b, `\"`...)
			case '\'':
				b = append(b, `\\'`...)
			case '\\':
				b = append(b, `\\\\`...)
			default:
				b = append(b, '\\', '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			from = i + 1
		}
		i++
	}
	return append(b, text[from:]...)
}
