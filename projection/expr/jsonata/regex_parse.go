package jsonata

import (
	"math"
	"unicode"
)

// regexNesting bounds the depth of groups in a pattern. V8 accepts a few
// thousand levels and then fails too.
const regexNesting = 500

const regexGroups = 1<<16 - 1 // V8 refuses more capturing groups

// reUnbounded is the maximum of a quantifier without one.
const reUnbounded = math.MaxInt32

type reKind uint8

const (
	reEmpty reKind = iota
	reSet          // one unit out of set
	reSeq
	reAlt
	reGroup // capturing group
	reLoop
	reLook
	reBackref
	reLineStart
	reLineStop
	reWordEdge
	reNotWordEdge
)

type reNode struct {
	kind  reKind
	set   []unitRange
	subs  []*reNode // the parts of a sequence or alternation; one otherwise
	group int       // of reGroup and reBackref
	name  string    // of a backreference by name, until the end of parsing

	min, max int  // of reLoop
	lazy     bool // of reLoop
	behind   bool // of reLook
	negative bool // of reLook

	multi bool // of the line assertions
	fold  bool // of reBackref

	firstGroup, lastGroup int // of reLoop: the groups inside, first > last when none

	empty uint8 // whether it can match nothing: 0 not yet known, 1 yes, 2 no
}

type reParser struct {
	src         []uint16
	pos         int
	fold, multi bool

	groups int // seen so far
	total  int // in the whole pattern
	named  bool
	names  map[string]int
	folded map[string][]unitRange // classes with the other cases added
	refs   []*reNode              // backreferences by name
	depth  int
}

func (p *reParser) fail(what string) error {
	return newError("S0303", "invalid regular expression: %s", what)
}

func (p *reParser) parse() (*reNode, error) {
	p.countGroups()
	if p.total > regexGroups {
		return nil, p.fail("too many captures")
	}
	p.names, p.folded = map[string]int{}, map[string][]unitRange{}
	tree, err := p.disjunction()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.src) {
		return nil, p.fail("unmatched ')'")
	}
	for _, ref := range p.refs {
		g, ok := p.names[ref.name]
		if !ok {
			return nil, p.fail("invalid named capture referenced")
		}
		ref.group = g
	}
	return tree, nil
}

// countGroups looks ahead for capturing groups: whether \2 is a backreference
// or an octal escape depends on how many there are in the whole pattern, and
// whether \k is special depends on there being a named one.
func (p *reParser) countGroups() {
	class := false
	for i := 0; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '(':
			switch {
			case class:
			case i+1 >= len(p.src) || p.src[i+1] != '?':
				p.total++
			case i+3 < len(p.src) && p.src[i+2] == '<' && p.src[i+3] != '=' && p.src[i+3] != '!':
				p.total++
				p.named = true
			}
		}
	}
}

func (p *reParser) more() bool { return p.pos < len(p.src) }

func (p *reParser) at(i int) int {
	if p.pos+i < len(p.src) {
		return int(p.src[p.pos+i])
	}
	return -1
}

func (p *reParser) eat(text string) bool {
	for i := range len(text) {
		if p.at(i) != int(text[i]) {
			return false
		}
	}
	p.pos += len(text)
	return true
}

func (p *reParser) disjunction() (*reNode, error) {
	if p.depth++; p.depth > regexNesting {
		return nil, p.fail("too deeply nested")
	}
	defer func() { p.depth-- }()
	var alts []*reNode
	for {
		alt, err := p.alternative()
		if err != nil {
			return nil, err
		}
		alts = append(alts, alt)
		if !p.eat("|") {
			break
		}
	}
	if len(alts) == 1 {
		return alts[0], nil
	}
	return &reNode{kind: reAlt, subs: alts}, nil
}

func (p *reParser) alternative() (*reNode, error) {
	var terms []*reNode
	for p.more() && p.at(0) != '|' && p.at(0) != ')' {
		before := p.groups
		term, quantifiable, err := p.term()
		if err != nil {
			return nil, err
		}
		term, err = p.quantified(term, quantifiable, before)
		if err != nil {
			return nil, err
		}
		if term.kind != reEmpty {
			terms = append(terms, term)
		}
	}
	switch len(terms) {
	case 0:
		return &reNode{kind: reEmpty}, nil
	case 1:
		return terms[0], nil
	}
	return &reNode{kind: reSeq, subs: terms}, nil
}

// quantified reads the quantifier after a term, if there is one. The groups
// above before are inside the term.
func (p *reParser) quantified(term *reNode, quantifiable bool, before int) (*reNode, error) {
	loop := &reNode{kind: reLoop, subs: []*reNode{term}, firstGroup: before + 1, lastGroup: p.groups}
	switch p.at(0) {
	case '*':
		loop.min, loop.max = 0, reUnbounded
		p.pos++
	case '+':
		loop.min, loop.max = 1, reUnbounded
		p.pos++
	case '?':
		loop.min, loop.max = 0, 1
		p.pos++
	case '{':
		lo, hi, ok := p.braces()
		if !ok {
			return term, nil
		}
		if lo > hi {
			return nil, p.fail("numbers out of order in {} quantifier")
		}
		loop.min, loop.max = lo, hi
	default:
		return term, nil
	}
	loop.lazy = p.eat("?")
	if !quantifiable {
		return nil, p.fail("nothing to repeat")
	}
	if term.kind == reEmpty || loop.max == 0 {
		return &reNode{kind: reEmpty}, nil
	}
	return loop, nil
}

// braces reads {n}, {n,} or {n,m}. Anything else is not a quantifier and leaves
// the position alone.
func (p *reParser) braces() (lo, hi int, ok bool) {
	start := p.pos
	p.pos++
	lo, ok = p.number()
	hi = lo
	if ok && p.eat(",") {
		if p.at(0) == '}' {
			hi = reUnbounded
		} else {
			hi, ok = p.number()
		}
	}
	if !ok || !p.eat("}") {
		p.pos = start
		return 0, 0, false
	}
	return lo, hi, true
}

func (p *reParser) number() (int, bool) {
	start, n := p.pos, 0
	for c := p.at(0); c >= '0' && c <= '9'; c = p.at(0) {
		n = min(n*10+c-'0', reUnbounded)
		p.pos++
	}
	return n, p.pos > start
}

// term reads one assertion or atom and says whether a quantifier may follow.
func (p *reParser) term() (*reNode, bool, error) {
	c := p.at(0)
	p.pos++
	switch c {
	case '^':
		return &reNode{kind: reLineStart, multi: p.multi}, false, nil
	case '$':
		return &reNode{kind: reLineStop, multi: p.multi}, false, nil
	case '(':
		return p.group()
	case '.':
		return &reNode{kind: reSet, set: reNotLineEnd}, true, nil
	case '[':
		set, err := p.class()
		return &reNode{kind: reSet, set: set}, true, err
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return nil, false, p.fail("nothing to repeat")
	case '{':
		p.pos--
		if _, _, ok := p.braces(); ok {
			return nil, false, p.fail("nothing to repeat")
		}
		p.pos++
	}
	return p.unit(uint16(c)), true, nil
}

func (p *reParser) unit(u uint16) *reNode {
	var set []unitRange
	if p.fold {
		for _, v := range caseVariants(u) {
			set = append(set, unitRange{v, v})
		}
		set = normalRanges(set)
	} else {
		set = []unitRange{{u, u}}
	}
	return &reNode{kind: reSet, set: set}
}

func (p *reParser) group() (*reNode, bool, error) {
	node := &reNode{kind: reEmpty}
	quantifiable := true
	switch {
	case p.eat("?:"):
	case p.eat("?="):
		node.kind = reLook
	case p.eat("?!"):
		node.kind, node.negative = reLook, true
	case p.eat("?<="):
		node.kind = reLook
		node.behind = true
		quantifiable = false
	case p.eat("?<!"):
		node.kind = reLook
		node.behind = true
		node.negative = true
		quantifiable = false
	case p.eat("?<"):
		name, ok := p.groupName()
		if !ok {
			return nil, false, p.fail("invalid capture group name")
		}
		if _, twice := p.names[name]; twice {
			return nil, false, p.fail("duplicate capture group name")
		}
		p.names[name] = p.groups + 1
		node.kind = reGroup
	case p.at(0) == '?':
		return nil, false, p.fail("invalid group")
	default:
		node.kind = reGroup
	}
	if node.kind == reGroup {
		p.groups++
		node.group = p.groups
	}
	body, err := p.disjunction()
	if err != nil {
		return nil, false, err
	}
	if !p.eat(")") {
		return nil, false, p.fail("unterminated group")
	}
	if node.kind == reEmpty {
		return body, true, nil
	}
	node.subs = []*reNode{body}
	return node, quantifiable, nil
}

// groupName reads an identifier and the > after it.
func (p *reParser) groupName() (string, bool) {
	var name []rune
	for p.more() {
		c := p.at(0)
		p.pos++
		if c == '>' {
			return string(name), len(name) > 0
		}
		r := rune(c)
		switch {
		case c == '\\':
			var ok bool
			r, ok = p.nameEscape()
			if !ok {
				return "", false
			}
		case isHighSurrogate(uint16(c)) && p.at(0) >= 0 && isLowSurrogate(uint16(p.at(0))):
			r = 0x10000 + (r-0xd800)<<10 + rune(p.at(0)) - 0xdc00
			p.pos++
		}
		if !isIdentifierRune(r, len(name) == 0) {
			return "", false
		}
		name = append(name, r)
	}
	return "", false
}

// nameEscape reads the rest of \uXXXX, a pair of those, or \u{X...} in a name.
func (p *reParser) nameEscape() (rune, bool) {
	if !p.eat("u") {
		return 0, false
	}
	if p.eat("{") {
		n, digits := 0, 0
		for ; hexDigit(p.at(0)) >= 0 && n <= unicode.MaxRune; digits++ {
			n = n*16 + hexDigit(p.at(0))
			p.pos++
		}
		return rune(n), digits > 0 && n <= unicode.MaxRune && p.eat("}")
	}
	hi, ok := p.hex(4)
	if !ok {
		return 0, false
	}
	if isHighSurrogate(uint16(hi)) && p.at(0) == '\\' && p.at(1) == 'u' {
		start := p.pos
		p.pos += 2
		if lo, ok := p.hex(4); ok && isLowSurrogate(uint16(lo)) {
			return 0x10000 + rune(hi-0xd800)<<10 + rune(lo-0xdc00), true
		}
		p.pos = start
	}
	return rune(hi), true
}

func isIdentifierRune(r rune, first bool) bool {
	switch {
	case r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) ||
		unicode.Is(unicode.Other_ID_Start, r):
		return r != 0x2e2f // VERTICAL TILDE is pattern syntax
	case first:
		return false
	}
	return r == 0x200c || r == 0x200d ||
		unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

// hex reads exactly n hexadecimal digits or nothing.
func (p *reParser) hex(n int) (int, bool) {
	value := 0
	for i := range n {
		d := hexDigit(p.at(i))
		if d < 0 {
			return 0, false
		}
		value = value*16 + d
	}
	p.pos += n
	return value, true
}

func hexDigit(c int) int {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return -1
}

// escape reads what follows a backslash outside a class.
func (p *reParser) escape() (*reNode, bool, error) {
	c := p.at(0)
	switch {
	case c < 0:
		return nil, false, p.fail(`\ at end of pattern`)
	case c == 'b':
		p.pos++
		return &reNode{kind: reWordEdge}, false, nil
	case c == 'B':
		p.pos++
		return &reNode{kind: reNotWordEdge}, false, nil
	case c >= '1' && c <= '9':
		start := p.pos
		if n, _ := p.number(); n <= p.total {
			return &reNode{kind: reBackref, group: n, fold: p.fold}, true, nil
		}
		p.pos = start
	case c == 'k' && p.named:
		p.pos++
		if !p.eat("<") {
			return nil, false, p.fail("invalid named reference")
		}
		name, ok := p.groupName()
		if !ok {
			return nil, false, p.fail("invalid named reference")
		}
		ref := &reNode{kind: reBackref, name: name, fold: p.fold}
		p.refs = append(p.refs, ref)
		return ref, true, nil
	}
	if set := p.classEscape(); set != nil {
		return &reNode{kind: reSet, set: set}, true, nil
	}
	u, err := p.unitEscape(false)
	if err != nil {
		return nil, false, err
	}
	return p.unit(u), true, nil
}

// classEscape reads d, D, s, S, w or W.
func (p *reParser) classEscape() []unitRange {
	var set []unitRange
	switch p.at(0) | 0x20 {
	case 'd':
		set = reDigit
	case 's':
		set = reSpace
	case 'w':
		set = reWord
	default:
		return nil
	}
	if p.at(0)&0x20 == 0 {
		set = invertRanges(set)
	}
	p.pos++
	return set
}

// unitEscape reads an escape that stands for one unit, with the leniencies of
// Annex B: what is not a valid escape stands for the letter itself.
func (p *reParser) unitEscape(class bool) (uint16, error) {
	c := p.at(0)
	p.pos++
	switch c {
	case -1:
		return 0, p.fail(`\ at end of pattern`)
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'v':
		return '\v', nil
	case 'c':
		d := p.at(0)
		if d|0x20 >= 'a' && d|0x20 <= 'z' || class && (d >= '0' && d <= '9' || d == '_') {
			p.pos++
			return uint16(d & 31), nil
		}
		p.pos-- // the backslash stands for itself
		return '\\', nil
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := c - '0'
		for range 2 {
			d := p.at(0)
			if d < '0' || d > '7' || n*8+d-'0' > 0o377 {
				break
			}
			n = n*8 + d - '0'
			p.pos++
		}
		return uint16(n), nil
	case 'x':
		if n, ok := p.hex(2); ok {
			return uint16(n), nil
		}
	case 'u':
		if n, ok := p.hex(4); ok {
			return uint16(n), nil
		}
	case 'k':
		if p.named {
			return 0, p.fail("invalid escape")
		}
	}
	return uint16(c), nil
}

// class reads a character class after its opening bracket.
func (p *reParser) class() ([]unitRange, error) {
	negative := p.eat("^")
	var set []unitRange
	for {
		if !p.more() {
			return nil, p.fail("unterminated character class")
		}
		if p.eat("]") {
			break
		}
		lo, loSet, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if p.at(0) != '-' || p.at(1) == ']' || p.at(1) < 0 {
			set = append(append(set, loSet...), unitRange{lo, lo})
			if loSet != nil {
				set = set[:len(set)-1]
			}
			continue
		}
		p.pos++
		hi, hiSet, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if loSet != nil || hiSet != nil { // [\d-x]: the hyphen stands for itself
			set = append(append(append(set, loSet...), hiSet...), unitRange{'-', '-'})
			if loSet == nil {
				set = append(set, unitRange{lo, lo})
			}
			if hiSet == nil {
				set = append(set, unitRange{hi, hi})
			}
			continue
		}
		if lo > hi {
			return nil, p.fail("range out of order in character class")
		}
		set = append(set, unitRange{lo, hi})
	}
	set = normalRanges(set)
	if p.fold {
		key := rangesKey(set)
		folded, ok := p.folded[key]
		if !ok {
			folded = foldRanges(set)
			p.folded[key] = folded
		}
		set = folded
	}
	if negative {
		set = invertRanges(set)
	}
	return set, nil
}

// classAtom reads one member of a class: a unit, or a set such as \d.
func (p *reParser) classAtom() (uint16, []unitRange, error) {
	c := p.at(0)
	p.pos++
	if c != '\\' {
		return uint16(c), nil, nil
	}
	if p.eat("b") {
		return '\b', nil, nil
	}
	if set := p.classEscape(); set != nil {
		return 0, set, nil
	}
	u, err := p.unitEscape(true)
	return u, nil, err
}
