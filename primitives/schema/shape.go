package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
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
	strings, numbers bool // the schema looks at these values too, so they belong to the shape
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
			"minItems", "maxItems", "minProperties", "maxProperties":
		case "enum", "const":
			s.named(v)
		case "uniqueItems":
			s.strings, s.numbers = true, true
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

// isWord says whether a string, without its quotes, may be one of those. An
// escape takes up to six bytes for one.
func (s *rules) isWord(text []byte) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		return len(text) <= 6*s.longest
	}
	_, ok := s.words[string(text)]
	return ok
}

// shape returns the shape of a value; ok is false when it is not JSON or the
// shape is not worth keeping.
func (s *rules) shape(raw []byte) (shape []byte, ok bool) {
	if !s.strings && len(raw) > longString {
		raw = s.shortened(raw)
	}
	if !json.Valid(raw) {
		return nil, false
	}
	out := make([]byte, 0, min(len(raw), maxShape))
	for i := 0; i < len(raw); {
		if len(out) > maxShape {
			return nil, false
		}
		switch c := raw[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '"':
			end := stringEnd(raw, i)
			next := end
			for next < len(raw) && (raw[next] == ' ' || raw[next] == '\t' || raw[next] == '\n' || raw[next] == '\r') {
				next++
			}
			if s.strings || next < len(raw) && raw[next] == ':' || s.isWord(raw[i+1:end-1]) { // a name, or a value that counts
				out = append(out, raw[i:end]...)
			} else {
				out = append(out, 's')
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i
			for end < len(raw) && strings.IndexByte("+-.eE0123456789", raw[end]) >= 0 {
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
			i = end
		default: // punctuation, true, false, null
			out = append(out, c)
			i++
		}
	}
	return out, true
}

// longString is from when on the value of a string is not looked at byte by
// byte: a screenshot has millions.
const longString = 1 << 10

// shortened is raw with the middle of long strings left out where that changes
// neither whether it is JSON nor its shape: in values without escapes and
// control characters, which stay longer than any word.
func (s *rules) shortened(raw []byte) []byte {
	keep := s.longest + 1
	out, told := []byte(nil), 0
	for i := 0; ; {
		open := bytes.IndexByte(raw[i:], '"')
		if open < 0 {
			break
		}
		start := i + open + 1
		end := plainEnd(raw, start)
		if end < len(raw) && raw[end] == '"' {
			next := end + 1
			for next < len(raw) && (raw[next] == ' ' || raw[next] == '\t' || raw[next] == '\n' || raw[next] == '\r') {
				next++
			}
			if end-start > longString+keep && (next == len(raw) || raw[next] != ':') { // names belong to the shape
				out = append(out, raw[told:start+keep]...)
				told = end
			}
			i = end + 1
			continue
		}
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(raw) {
			return raw
		}
		i = end + 1
	}
	if out == nil {
		return raw
	}
	return append(out, raw[told:]...)
}

// plainEnd is the index of the next quote, backslash or control character from i
// on, len(b) when there is none. It looks at eight bytes at a time.
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

// stringEnd returns the index after the string that starts at i of valid JSON.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// numberKind tells integers from other numbers as schemas do, for which 1.0 is
// one, and 1.0 from 1.
func numberKind(text []byte) (kind byte, ok bool) {
	if len(text) > 30 {
		return 0, false
	}
	kind = 'i'
	for _, c := range text {
		switch {
		case c == 'e' || c == 'E':
			return 0, false
		case c == '.':
			kind = 'w'
		case kind == 'w' && c != '0':
			kind = 'n'
		}
	}
	return kind, true
}

// Alike remembers values that took a way once which all of their shape take: their
// names, kinds and the values that the schema looks at are the same.
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
