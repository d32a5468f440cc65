package schema

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
)

// Most schemas of this project ask only for names and types, and most values
// that are checked against one have the same shape as one before: the answers
// of one primitive. A shape is a value with its scalars replaced by their kind;
// a value whose shape passed once passes again, so it is not checked again.
type shapes struct {
	*rules
	mu     sync.RWMutex
	passed map[string]struct{}
}

// rules say what of a value belongs to its shape. They are immutable once read.
type rules struct {
	strings, numbers bool // the schema checks these values too, so they belong to the shape
	counts           bool // it checks how many elements a list has, so equal ones do not become one
	// words are the strings that the schema names as values: those belong to the
	// shape, as all others are alike to it.
	words   map[string]struct{}
	longest int // of them, in bytes
}

const (
	maxShape  = 16 << 10
	maxShapes = 64
)

// newShapes returns nil for a schema with keywords whose outcome a shape does
// not decide.
func newShapes(doc any) *shapes {
	s := &shapes{rules: &rules{words: map[string]struct{}{}}, passed: map[string]struct{}{}}
	if !s.schema(doc) {
		return nil
	}
	return s
}

func (s *rules) schema(doc any) bool {
	m, ok := doc.(map[string]any)
	if !ok {
		_, boolean := doc.(bool)
		return boolean
	}
	for k, v := range m {
		switch k {
		case "type", "required", "title", "description", "default", "examples", "$comment", "$ref", "$schema",
			"minProperties", "maxProperties":
		case "minItems", "maxItems":
			s.counts = true
		case "enum", "const":
			s.named(v)
		case "uniqueItems":
			s.strings = true
			s.numbers = true
			s.counts = true
		case "pattern", "minLength", "maxLength":
			s.strings = true
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
			s.numbers = true
		case "items", "additionalProperties":
			if !s.schema(v) {
				return false
			}
		case "properties", "$defs":
			all, ok := v.(map[string]any)
			if !ok {
				return false
			}
			for _, sub := range all {
				if !s.schema(sub) {
					return false
				}
			}
		case "anyOf", "oneOf", "allOf":
			all, ok := v.([]any)
			if !ok {
				return false
			}
			for _, sub := range all {
				if !s.schema(sub) {
					return false
				}
			}
		default:
			if !strings.HasPrefix(k, "x_") {
				return false
			}
		}
	}
	return true
}

// named notes the values of enum and const.
func (s *rules) named(value any) {
	switch v := value.(type) {
	case string:
		s.words[v] = struct{}{}
		s.longest = max(s.longest, len(v))
	case []any:
		s.counts = true
		for _, e := range v {
			s.named(e)
		}
	case map[string]any:
		for _, e := range v {
			s.named(e)
		}
	case bool, nil:
	default:
		s.numbers = true
	}
}

// isWord reports whether a string, without its quotes, may be one of those. An
// escape takes up to six bytes for one.
func (s *rules) isWord(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return len(text) <= 6*s.longest
	}
	_, ok := s.words[string(text)]
	return ok
}

// shape returns the shape of a value; ok is false when it cannot be JSON or the
// shape is not worth keeping. Each token is checked, not how they follow each
// other: a shape that JSON has is of JSON. Elements of a list that have the shape of the
// one before are left out, so that a list of a thousand records has the shape of one.
func (s *rules) shape(raw []byte) (shape []byte, ok bool) {
	out := make([]byte, 0, min(len(raw), maxShape))
	var lists elements
	value := false // the token before is a scalar: two in a row are told apart from one
	for i := 0; i < len(raw); {
		if len(out) > maxShape {
			return nil, false
		}
		c := raw[i]
		if space(c) {
			i++
			continue
		}
		scalar := true
		end := i
		switch {
		case c == '"':
			end = stringEnd(raw, i)
			if end < 0 {
				return nil, false
			}
			next := end
			for next < len(raw) && space(raw[next]) {
				next++
			}
			// a name, or a value that counts
			if s.strings || next < len(raw) && raw[next] == ':' || s.isWord(raw[i+1:end-1]) {
				out = append(out, raw[i:end]...)
			} else {
				out = append(out, 's')
			}
		case c == '-' || c >= '0' && c <= '9':
			for end < len(raw) && ofNumber[raw[end]] {
				end++
			}
			kind, ok := numberKind(raw[i:end])
			if !ok {
				return nil, false
			}
			if s.numbers {
				out = append(out, raw[i:end]...)
			} else {
				out = append(out, kind)
			}
		case c == 't' && bytes.HasPrefix(raw[i:], []byte("true")), c == 'n' && bytes.HasPrefix(raw[i:], []byte("null")):
			end += 4
			out = append(out, raw[i:end]...)
		case c == 'f' && bytes.HasPrefix(raw[i:], []byte("false")):
			end += 5
			out = append(out, raw[i:end]...)
		case c == '{', c == '}', c == '[', c == ']', c == ',', c == ':':
			end++
			if s.counts {
				out = append(out, c)
			} else if out, ok = lists.structure(out, c); !ok {
				return nil, false
			}
			scalar = false
		default:
			return nil, false
		}
		if scalar && value {
			return nil, false
		}
		value, i = scalar, end
	}
	return out, true
}

// elements are the objects and lists around a token, and where in the shape the elements
// of the lists are.
type elements struct {
	open []container
}

type container struct {
	list bool
	// from is where the element begins that is being read. before is where the one before
	// it is, which the next one may equal.
	from           int
	before, beyond int
	several        bool
}

// structure adds a token that is no scalar. It refuses what cannot be JSON and would have
// the shape of JSON: a list with an element that is missing, brackets that do not match.
func (l *elements) structure(out []byte, c byte) (_ []byte, ok bool) {
	switch c {
	case '{', '[':
		out = append(out, c)
		l.open = append(l.open, container{list: c == '[', from: len(out)})
		return out, true
	case ':':
		return append(out, c), true
	}
	if len(l.open) == 0 {
		return nil, false
	}
	in := &l.open[len(l.open)-1]
	if in.list && c != '}' {
		if in.from == len(out) && (c == ',' || in.several) {
			return nil, false
		}
		if in.several && bytes.Equal(out[in.from:], out[in.before:in.beyond]) {
			out = out[:in.beyond]
		} else {
			in.before, in.beyond = in.from, len(out)
		}
	}
	if c == ',' {
		in.several = true
		out = append(out, c)
		in.from = len(out)
		return out, true
	}
	if in.list != (c == ']') {
		return nil, false
	}
	l.open = l.open[:len(l.open)-1]
	return append(out, c), true
}

// ofNumber are the bytes that a number can have.
var ofNumber = func() (of [256]bool) {
	for _, c := range []byte("+-.eE0123456789") {
		of[c] = true
	}
	return of
}()

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// plainEnd is the index of the next quote, backslash or control character from i
// on, len(b) when there is none. It reads eight bytes at a time.
func plainEnd(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		// The lowest byte that is set is exact.
		if m := ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// stringEnd returns the index after the string that starts at i, -1 when it is none
// of JSON.
func stringEnd(raw []byte, i int) int {
	for i = plainEnd(raw, i+1); i < len(raw); i = plainEnd(raw, i) {
		switch {
		case raw[i] == '"':
			return i + 1
		case raw[i] != '\\' || i+1 == len(raw):
			return -1
		case raw[i+1] == 'u':
			if i+6 > len(raw) || len(bytes.Trim(raw[i+2:i+6], "0123456789abcdefABCDEF")) > 0 {
				return -1
			}
			i += 6
		case strings.IndexByte(`"\/bfnrt`, raw[i+1]) >= 0:
			i += 2
		default:
			return -1
		}
	}
	return -1
}

// numberKind distinguishes integers from other numbers as schemas do, for which 1.0 is
// one, and 1.0 from 1.
func numberKind(text []byte) (kind byte, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(text) > 30 || len(digits) == 0 || digits[0] < '0' || text[len(text)-1] < '0' {
		return 0, false
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1] != '.' {
		return 0, false
	}
	kind = 'i'
	for _, c := range digits {
		switch {
		case c == '.' && kind == 'i':
			kind = 'w'
		case c < '0' || c > '9':
			return 0, false // an exponent, or no number
		case kind == 'w' && c != '0':
			kind = 'n'
		}
	}
	return kind, true
}

// Alike remembers values that took a way once which all of their shape take: their
// names, kinds and the values that the schema checks are the same.
type Alike struct{ shapes *shapes }

// Alike returns a memory that is empty; nil, which remembers nothing, for a schema
// to which the shape of a value is not enough. A way may depend on what the schema
// says of a value and on how its numbers are written, not on other strings.
func (s *Schema) Alike() *Alike {
	if s.shapes == nil {
		return nil
	}
	return &Alike{&shapes{rules: s.shapes.rules, passed: map[string]struct{}{}}}
}

// Met returns the shape of raw, which is nil for one not worth keeping, and whether
// it was added before.
func (a *Alike) Met(raw []byte) (shape []byte, met bool) {
	if a == nil {
		return nil, false
	}
	shape, ok := a.shapes.shape(raw)
	if !ok {
		return nil, false
	}
	return shape, a.shapes.has(shape)
}

// Add remembers a shape that Met returned.
func (a *Alike) Add(shape []byte) {
	if a != nil && shape != nil {
		a.shapes.add(shape)
	}
}

func (s *shapes) has(shape []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.passed[string(shape)]
	return ok
}

func (s *shapes) add(shape []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.passed) < maxShapes {
		s.passed[string(shape)] = struct{}{}
	}
}
