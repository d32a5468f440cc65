package projection

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// canonical reports whether a text is JSON just as JSON.stringify writes what JSON.parse reads of it. Then it need not
// be read into values, which take ten times its size. It may be false of such a text: of one with half a surrogate
// pair, with an object of many members, or with a member whose name starts with a digit.
func canonical(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	c := canonicalReader{in: text}
	return c.value(0) && c.at == len(text)
}

// manyMembers is from where on looking for a name twice would cost.
const manyMembers = 16

type canonicalReader struct {
	in    []byte
	at    int
	names [][]byte // of the objects that are open, as they are written
}

func (c *canonicalReader) take(b byte) bool {
	if c.at < len(c.in) && c.in[c.at] == b {
		c.at++
		return true
	}
	return false
}

func (c *canonicalReader) word(w string) bool {
	if bytes.HasPrefix(c.in[c.at:], []byte(w)) {
		c.at += len(w)
		return true
	}
	return false
}

func (c *canonicalReader) value(depth int) bool {
	if depth > maxDepth || c.at == len(c.in) {
		return false
	}
	switch c.in[c.at] {
	case '{':
		return c.object(depth)
	case '[':
		c.at++
		if c.take(']') {
			return true
		}
		for c.value(depth + 1) {
			if c.take(']') {
				return true
			}
			if !c.take(',') {
				return false
			}
		}
		return false
	case '"':
		return c.text()
	case 'n':
		return c.word("null")
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	}
	return c.number()
}

func (c *canonicalReader) object(depth int) bool {
	c.at++
	if c.take('}') {
		return true
	}
	first := len(c.names)
	for {
		from := c.at
		if !c.text() {
			return false
		}
		name := c.in[from:c.at]
		if d := name[1]; d >= '0' && d <= '9' {
			return false // an array index may have to come first
		}
		if len(c.names)-first == manyMembers ||
			slices.ContainsFunc(c.names[first:], func(n []byte) bool { return bytes.Equal(n, name) }) {
			return false
		}
		c.names = append(c.names, name)
		if !c.take(':') || !c.value(depth+1) {
			return false
		}
		if c.take('}') {
			c.names = c.names[:first]
			return true
		}
		if !c.take(',') {
			return false
		}
	}
}

// text reads a string with the escapes that JSON.stringify has for single characters.
func (c *canonicalReader) text() bool {
	if !c.take('"') {
		return false
	}
	for c.at < len(c.in) {
		switch b := c.in[c.at]; {
		case b == '"':
			c.at++
			return true
		case b < 0x20:
			return false
		case b == '\\':
			if c.at++; c.at == len(c.in) || !bytes.ContainsRune([]byte(`"\bfnrt`), rune(c.in[c.at])) {
				return false
			}
		}
		c.at++
	}
	return false
}

// exactDigits is how many digits of an integer a number always keeps.
const exactDigits = 15

func (c *canonicalReader) number() bool {
	from := c.at
	for c.at < len(c.in) && bytes.IndexByte([]byte("+-.0123456789e"), c.in[c.at]) >= 0 {
		c.at++
	}
	text := c.in[from:c.at]
	if digits := bytes.TrimPrefix(text, []byte{'-'}); len(digits) > 0 && len(digits) <= exactDigits &&
		digits[0] != '0' &&
		!bytes.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return err == nil && formatNumber(f) == string(text)
}
