package projection

import (
	"errors"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A state is JSON that came from, and is compared with, JavaScript: member
// order counts for its hash, numbers are doubles, and a string may hold half a
// surrogate pair. encoding/json keeps none of that, so states are read into
// values of our own.

type kind uint8

const (
	kindNull kind = iota
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is one JSON value. text is a string, where half a surrogate pair is
// encoded like any other code point (WTF-8), or a number as JavaScript writes
// it.
type value struct {
	kind  kind
	text  string
	items []*value
	names []string // of an object; items has the members
	id    int      // given by an interner; equal values have equal ids
}

// maxDepth bounds the nesting of a value, and with it every recursion here.
const maxDepth = 1000

var (
	errSyntax = errors.New("the text is not JSON")
	errDepth  = errors.New("the value is nested too deeply")
)

// parseValue reads one JSON text as JSON.parse does: of members with the same
// name the last counts, at the place of the first, and names that are array
// indexes come first, in order.
func parseValue(raw []byte) (*value, error) {
	p := &parser{in: raw}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at != len(p.in) {
		return nil, errSyntax
	}
	return v, nil
}

type parser struct {
	in []byte
	at int
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// take consumes c if it is next.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.in) && p.in[p.at] == c {
		p.at++
		return true
	}
	return false
}

var words = map[string]kind{"null": kindNull, "false": kindFalse, "true": kindTrue}

func (p *parser) value(depth int) (*value, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	p.space()
	if p.at == len(p.in) {
		return nil, errSyntax
	}
	switch c := p.in[p.at]; c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		s, err := p.string()
		return &value{kind: kindString, text: s}, err
	case 'n', 'f', 't':
		for word, k := range words {
			if end := p.at + len(word); end <= len(p.in) && string(p.in[p.at:end]) == word {
				p.at = end
				return &value{kind: k}, nil
			}
		}
		return nil, errSyntax
	default:
		return p.number()
	}
}

func (p *parser) array(depth int) (*value, error) {
	p.at++
	v := &value{kind: kindArray}
	if p.take(']') {
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if p.take(']') {
			return v, nil
		}
		if !p.take(',') {
			return nil, errSyntax
		}
	}
}

func (p *parser) object(depth int) (*value, error) {
	p.at++
	v := &value{kind: kindObject}
	if p.take('}') {
		return v, nil
	}
	var index map[string]int // only for objects where a search would cost
	sorted := true
	for {
		p.space()
		if p.at == len(p.in) || p.in[p.at] != '"' {
			return nil, errSyntax
		}
		name, err := p.string()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, errSyntax
		}
		member, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		at := -1
		switch {
		case index != nil:
			if i, ok := index[name]; ok {
				at = i
			}
		default:
			at = slices.Index(v.names, name)
		}
		if at >= 0 {
			v.items[at] = member
		} else {
			if _, numeric := arrayIndex(name); numeric {
				sorted = false
			}
			v.names, v.items = append(v.names, name), append(v.items, member)
			if index != nil {
				index[name] = len(v.names) - 1
			} else if len(v.names) == 16 {
				index = make(map[string]int, 64)
				for i, n := range v.names {
					index[n] = i
				}
			}
		}
		if p.take('}') {
			break
		}
		if !p.take(',') {
			return nil, errSyntax
		}
	}
	if !sorted {
		v.orderMembers()
	}
	return v, nil
}

// orderMembers puts names that are array indexes first, ascending.
func (v *value) orderMembers() {
	type member struct {
		name    string
		item    *value
		index   uint32
		numeric bool
	}
	members := make([]member, len(v.names))
	for i, name := range v.names {
		index, numeric := arrayIndex(name)
		members[i] = member{name, v.items[i], index, numeric}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		switch {
		case a.numeric && b.numeric:
			if a.index < b.index {
				return -1
			}
			return 1
		case a.numeric:
			return -1
		case b.numeric:
			return 1
		}
		return 0
	})
	for i, m := range members {
		v.names[i], v.items[i] = m.name, m.item
	}
}

// arrayIndex reports whether name is an array index in JavaScript's sense: the
// shortest decimal form of 0 to 2^32-2.
func arrayIndex(name string) (uint32, bool) {
	if name == "" || len(name) > 10 || (name[0] == '0' && len(name) > 1) {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil || name[0] == '+' || n == 1<<32-1 {
		return 0, false
	}
	return uint32(n), true
}

func (p *parser) number() (*value, error) {
	start := p.at
	digits := func() bool {
		from := p.at
		for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
			p.at++
		}
		return p.at > from
	}
	if p.in[p.at] == '-' {
		p.at++
	}
	first := p.at
	if !digits() || (p.in[first] == '0' && p.at > first+1) {
		return nil, errSyntax
	}
	if p.at < len(p.in) && p.in[p.at] == '.' {
		p.at++
		if !digits() {
			return nil, errSyntax
		}
	}
	if p.at < len(p.in) && p.in[p.at]|0x20 == 'e' {
		p.at++
		if p.at < len(p.in) && (p.in[p.at] == '+' || p.in[p.at] == '-') {
			p.at++
		}
		if !digits() {
			return nil, errSyntax
		}
	}
	f, err := strconv.ParseFloat(string(p.in[start:p.at]), 64)
	if err != nil {
		return &value{kind: kindNull}, nil // JSON.stringify(Infinity)
	}
	return &value{kind: kindNumber, text: formatNumber(f)}, nil
}

// formatNumber writes a finite number as JavaScript does.
func formatNumber(f float64) string {
	if f == 0 {
		return "0" // -0 too
	}
	abs := max(f, -f)
	if abs >= 1e21 || abs < 1e-6 {
		b := strconv.AppendFloat(nil, f, 'e', -1, 64)
		// e-07 is e-7 in JavaScript.
		if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-2] == '0' {
			b = append(b[:n-2], b[n-1])
		}
		return string(b)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func (p *parser) string() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c == '"':
			s := p.in[start:p.at]
			if !utf8.Valid(s) {
				return p.decode(start)
			}
			p.at++
			return string(s), nil
		case c == '\\':
			return p.decode(start)
		case c < 0x20:
			return "", errSyntax
		}
		p.at++
	}
	return "", errSyntax
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decode reads a string with escapes.
func (p *parser) decode(start int) (string, error) {
	p.at = start
	var b []byte
	for p.at < len(p.in) {
		c := p.in[p.at]
		switch {
		case c == '"':
			p.at++
			return string(b), nil
		case c < 0x20:
			return "", errSyntax
		case c != '\\':
			r, n := utf8.DecodeRune(p.in[p.at:])
			b = utf8.AppendRune(b, r)
			p.at += n
			continue
		}
		if p.at++; p.at == len(p.in) {
			return "", errSyntax
		}
		if e, ok := escapes[p.in[p.at]]; ok {
			b = append(b, e)
			p.at++
			continue
		}
		unit, ok := p.unit()
		if !ok {
			return "", errSyntax
		}
		if utf16.IsSurrogate(unit) && unit < 0xdc00 && p.at+1 < len(p.in) && p.in[p.at] == '\\' && p.in[p.at+1] == 'u' {
			mark := p.at
			p.at++
			low, ok := p.unit()
			if !ok {
				return "", errSyntax
			}
			if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
				b = utf8.AppendRune(b, r)
				continue
			}
			p.at = mark
		}
		b = appendUnit(b, unit)
	}
	return "", errSyntax
}

// unit reads uXXXX.
func (p *parser) unit() (rune, bool) {
	if p.at+5 > len(p.in) || p.in[p.at] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.in[p.at+1:p.at+5]), 16, 16)
	p.at += 5
	return rune(n), err == nil
}

// appendUnit encodes a code point, half a surrogate pair included.
func appendUnit(b []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f|0x80, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}

// halfPair decodes what appendUnit made of half a surrogate pair.
func halfPair(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// append writes the value as JSON.stringify does.
func (v *value) append(b []byte) []byte {
	switch v.kind {
	case kindNull:
		return append(b, "null"...)
	case kindFalse:
		return append(b, "false"...)
	case kindTrue:
		return append(b, "true"...)
	case kindNumber:
		return append(b, v.text...)
	case kindString:
		return appendString(b, v.text)
	case kindArray:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, item := range v.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = item.append(append(appendString(b, v.names[i]), ':'))
	}
	return append(b, '}')
}

const hexDigits = "0123456789abcdef"

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0xed {
			continue
		}
		if c == 0xed {
			if r, ok := halfPair(s[i:]); ok {
				b = append(
					append(b, s[from:i]...), '\\', 'u', 'd', hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15],
				)
				i += 2
				from = i + 1
			}
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// member returns a member of an object, nil when there is none.
func (v *value) member(name string) *value {
	if v == nil || v.kind != kindObject {
		return nil
	}
	if i := slices.Index(v.names, name); i >= 0 {
		return v.items[i]
	}
	return nil
}

// truthy is the truth of JavaScript.
func (v *value) truthy() bool {
	if v == nil {
		return false
	}
	switch v.kind {
	case kindNull, kindFalse:
		return false
	case kindNumber:
		return v.text != "0"
	case kindString:
		return v.text != ""
	}
	return true
}

// given reports whether a member is there and not null.
func (v *value) given() bool { return v != nil && v.kind != kindNull }
