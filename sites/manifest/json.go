package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Limits of one map.
const (
	// MaxBytes bounds the text of a map.
	MaxBytes = 8 << 20
	// MaxDepth bounds the nesting of objects and arrays.
	MaxDepth = 64
	// MaxValues bounds the number of JSON values, because a short value costs
	// far more memory than text.
	MaxValues = 1_000_000
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

func (k kind) String() string { return kindNames[k] }

// node is one JSON value with its place in the text. Strings are decoded when
// they are needed: most of a map is schemas and workflows that are handed on
// as they are.
type node struct {
	start, end int32
	kind       kind
	names      []string // of an object, beside kids
	kids       []*node
}

func (n *node) member(name string) *node {
	// The last of several equal names counts, as everywhere in JSON; the
	// duplicate itself is reported by the scanner.
	for i := len(n.names) - 1; i >= 0; i-- {
		if n.names[i] == name {
			return n.kids[i]
		}
	}
	return nil
}

// scanner reads JSON (RFC 8259) into nodes. encoding/json is not used because
// it accepts duplicate names, forgets the order of members, matches names
// without regard to case and knows no positions: each of them would let a map
// mean one thing to the validator and another to a reviewer.
type scanner struct {
	src      []byte
	pos      int
	depth    int
	values   int
	interned map[string]string
	slab     []node
	names    []string // what objects begin with, as slab is for nodes
	kids     []*node
	trail    []step
	// duplicate is called for each repeated member name.
	duplicate func(pointer, name string, offset int)
}

// step is one token of the place where the scanner is.
type step struct {
	name  string
	index int // -1 for a member
}

// scanError is where and why reading stopped.
type scanError struct {
	offset  int
	limit   bool
	message string
}

func (s *scanner) document() (*node, *scanError) {
	s.interned = map[string]string{}
	s.space()
	n, err := s.value()
	if err != nil {
		return nil, err
	}
	s.space()
	if s.pos < len(s.src) {
		return nil, s.fail("text after the end of the document")
	}
	return n, nil
}

func (s *scanner) fail(format string, args ...any) *scanError {
	return &scanError{offset: s.pos, message: fmt.Sprintf(format, args...)}
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) node(k kind) *node {
	if len(s.slab) == 0 {
		s.slab = make([]node, 256)
	}
	n := &s.slab[0]
	s.slab = s.slab[1:]
	n.kind, n.start = k, int32(s.pos)
	return n
}

// fewMembers is what most objects and arrays have at most.
const fewMembers = 4

// taken is an empty slice with place for a few, cut from a slab: one allocation serves many.
func taken[T any](slab *[]T) []T {
	if len(*slab) < fewMembers {
		*slab = make([]T, 64*fewMembers)
	}
	out := (*slab)[:0:fewMembers]
	*slab = (*slab)[fewMembers:]
	return out
}

func (s *scanner) value() (*node, *scanError) {
	if s.pos >= len(s.src) {
		return nil, s.fail("the document ends where a value should be")
	}
	if s.values++; s.values > MaxValues {
		return nil, &scanError{
			offset:  s.pos,
			limit:   true,
			message: fmt.Sprintf("the map has more than %d values", MaxValues),
		}
	}
	var (
		n   *node
		err *scanError
	)
	switch c := s.src[s.pos]; {
	case c == '{':
		n = s.node(kindObject)
		err = s.nested(n, s.object)
	case c == '[':
		n = s.node(kindArray)
		err = s.nested(n, s.array)
	case c == '"':
		n = s.node(kindString)
		err = s.skipString()
	case c == '-' || c >= '0' && c <= '9':
		n = s.node(kindNumber)
		err = s.number()
	case c == 't':
		n = s.node(kindBool)
		err = s.literal("true")
	case c == 'f':
		n = s.node(kindBool)
		err = s.literal("false")
	case c == 'n':
		n = s.node(kindNull)
		err = s.literal("null")
	default:
		return nil, s.fail("a value cannot start with %s", quoteByte(c))
	}
	if err != nil {
		return nil, err
	}
	n.end = int32(s.pos)
	return n, nil
}

func (s *scanner) nested(n *node, read func(*node) *scanError) *scanError {
	if s.depth++; s.depth > MaxDepth {
		return &scanError{
			offset:  s.pos,
			limit:   true,
			message: fmt.Sprintf("objects and arrays are nested more than %d deep", MaxDepth),
		}
	}
	s.trail = append(s.trail, step{index: -1})
	err := read(n)
	s.trail = s.trail[:len(s.trail)-1]
	s.depth--
	return err
}

func (s *scanner) object(n *node) *scanError {
	s.pos++
	s.space()
	if s.pos < len(s.src) && s.src[s.pos] == '}' {
		s.pos++
		return nil
	}
	n.names, n.kids = taken(&s.names), taken(&s.kids)
	var seen map[string]bool // used when a linear search would be slow
	for {
		if s.pos >= len(s.src) || s.src[s.pos] != '"' {
			return s.fail("a member name in double quotes should be here")
		}
		nameAt := s.pos
		if err := s.skipString(); err != nil {
			return err
		}
		name := s.intern(s.src[nameAt:s.pos])
		repeated := false
		if seen != nil {
			repeated = seen[name]
			seen[name] = true
		} else {
			repeated = n.member(name) != nil
			if len(n.names) == 16 {
				seen = make(map[string]bool, 64)
				for _, m := range n.names {
					seen[m] = true
				}
				seen[name] = true
			}
		}
		if repeated && s.duplicate != nil {
			s.trail[len(s.trail)-1].name = name
			s.duplicate(s.pointer(), name, nameAt)
		}
		s.space()
		if s.pos >= len(s.src) || s.src[s.pos] != ':' {
			return s.fail("a colon should follow the member name")
		}
		s.pos++
		s.space()
		s.trail[len(s.trail)-1].name = name
		kid, err := s.value()
		if err != nil {
			return err
		}
		n.names = append(n.names, name)
		n.kids = append(n.kids, kid)
		s.space()
		if s.pos >= len(s.src) {
			return s.fail("the document ends inside an object")
		}
		switch s.src[s.pos] {
		case ',':
			s.pos++
			s.space()
		case '}':
			s.pos++
			return nil
		default:
			return s.fail("a comma or a closing brace should be here")
		}
	}
}

func (s *scanner) array(n *node) *scanError {
	s.pos++
	s.space()
	if s.pos < len(s.src) && s.src[s.pos] == ']' {
		s.pos++
		return nil
	}
	n.kids = taken(&s.kids)
	for {
		s.trail[len(s.trail)-1].index = len(n.kids)
		kid, err := s.value()
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
		s.space()
		if s.pos >= len(s.src) {
			return s.fail("the document ends inside an array")
		}
		switch s.src[s.pos] {
		case ',':
			s.pos++
			s.space()
		case ']':
			s.pos++
			return nil
		default:
			return s.fail("a comma or a closing bracket should be here")
		}
	}
}

func (s *scanner) pointer() string {
	var p *path
	for _, t := range s.trail {
		p = &path{parent: p, key: t.name, index: t.index, item: t.index >= 0}
	}
	return p.String()
}

func (s *scanner) literal(word string) *scanError {
	for i := range len(word) {
		if s.pos >= len(s.src) || s.src[s.pos] != word[i] {
			return s.fail("the word %s should be here", word)
		}
		s.pos++
	}
	return nil
}

func (s *scanner) number() *scanError {
	digits := func() bool {
		from := s.pos
		for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
			s.pos++
		}
		return s.pos > from
	}
	if s.src[s.pos] == '-' {
		s.pos++
	}
	switch {
	case s.pos < len(s.src) && s.src[s.pos] == '0':
		s.pos++
	case !digits():
		return s.fail("a digit should be here")
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		if !digits() {
			return s.fail("a digit should follow the decimal point")
		}
	}
	if s.pos < len(s.src) && s.src[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if !digits() {
			return s.fail("a digit should be in the exponent")
		}
	}
	return nil
}

// skipString reads over a string and checks its escapes and its encoding.
func (s *scanner) skipString() *scanError {
	s.pos++
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if s.pos+1 >= len(s.src) {
				return s.fail("the document ends inside a string")
			}
			switch s.src[s.pos+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				s.pos += 2
			case 'u':
				if !startsWithHex4(s.src[s.pos+2:]) {
					return s.fail("four hexadecimal digits should follow \\u")
				}
				s.pos += 6
			default:
				return s.fail("the escape is not one of JSON")
			}
		case c < 0x20:
			return s.fail("a control character must be escaped inside a string")
		case c < utf8.RuneSelf:
			s.pos++
		default:
			r, size := utf8.DecodeRune(s.src[s.pos:])
			if r == utf8.RuneError && size == 1 {
				return s.fail("the text is not UTF-8")
			}
			s.pos += size
		}
	}
	return s.fail("the document ends inside a string")
}

func (s *scanner) intern(quoted []byte) string {
	if name, ok := s.interned[string(quoted)]; ok {
		return name
	}
	name := unquote(quoted)
	s.interned[string(quoted)] = name
	return name
}

// unquote decodes a string that skipString has accepted. A lone surrogate
// becomes U+FFFD.
func unquote(quoted []byte) string {
	if in := quoted[1 : len(quoted)-1]; !slices.Contains(in, '\\') {
		return string(in)
	}
	var out string
	_ = json.Unmarshal(quoted, &out) // the text is valid
	return out
}

// startsWithHex4 reports whether four hexadecimal digits come first.
func startsWithHex4(b []byte) bool {
	return len(b) >= 4 && len(bytes.Trim(b[:4], "0123456789abcdefABCDEF")) == 0
}

func quoteByte(c byte) string {
	if c >= utf8.RuneSelf {
		return "a character outside ASCII"
	}
	return strconv.QuoteRune(rune(c))
}
