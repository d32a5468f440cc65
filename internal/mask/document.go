package mask

import (
	"bytes"
	"encoding/json"
	"io"
)

// document is a JSON document that is being written: what began like one.
type document struct {
	text                 []byte
	depth                int
	quoted, escaped, all bool // inside a string, after a backslash, the value is whole
	signs, lines         int  // bytes that are no space, and line ends
}

// longestDocument is how much of one waits. What is longer is text.
const longestDocument = 64 << 20

func opens(c byte) bool { return c == '{' || c == '[' }

func (d *document) begun() bool { return len(d.text) > 0 }

// take adds bytes up to the end of the document's last line, or to where it is none.
func (d *document) take(p []byte) (n int, ended bool) {
	for i, c := range p {
		d.text = append(d.text, c)
		if d.add(c) || len(d.text) > longestDocument {
			return i + 1, true
		}
	}
	return len(p), false
}

// add follows one byte and says whether it ends the document, or shows that it is none.
func (d *document) add(c byte) (ended bool) {
	space := c == ' ' || c == '\t' || c == '\r' || c == '\n'
	if !space {
		d.signs++
	}
	switch {
	case d.quoted:
		switch {
		case d.escaped:
			d.escaped = false
		case c == '\\':
			d.escaped = true
		case c == '"':
			d.quoted = false
		}
		return c == '\n'
	case d.all:
		return c == '\n' || !space
	case c == '"':
		d.quoted = true
	case opens(c):
		d.depth++
	case c == '}' || c == ']':
		d.depth--
		d.all = d.depth == 0
	}
	if c == '\n' {
		d.lines++
		return d.lines == 1 && !d.mayBe()
	}
	return d.signs == 2 && !space && !d.mayBe() // such as a question that ends with [y/N]
}

// mayBe reports whether the text is the beginning of JSON.
func (d *document) mayBe() bool {
	dec := json.NewDecoder(bytes.NewReader(d.text))
	_, err := dec.Token()
	for err == nil {
		_, err = dec.Token()
	}
	return err == io.EOF || err == io.ErrUnexpectedEOF
}
