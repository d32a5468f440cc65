package jsonata

import (
	"sync"
	"unicode/utf8"
)

// ECMAScript regular expressions, the non-unicode kind that a JSONata /regex/
// literal denotes.
//
// How a builtin uses it:
//
//	re, err := compileRegex(`(a)(b)?`, "i")        // once, when parsing the expression
//	in := newRegexInput(subject)                   // once per subject string
//	spans, err := re.match(m, in, 0)               // spans == nil: no match at or after offset 0
//	whole := in.slice(spans[0], spans[1])
//	for g := 1; g <= re.groups; g++ {
//		if spans[2*g] < 0 {                        // the group took no part: undefined in JavaScript
//			continue
//		}
//		text := in.slice(spans[2*g], spans[2*g+1])
//	}
//	next := spans[1]                               // start of the next search (add one after an empty match)
//
// All offsets are UTF-16 code units of the subject, so spans[0] is what $match
// calls index; in.length() is the length of the subject in the same unit. A
// start offset beyond in.length() finds nothing. Look-behind and ^ see the text
// before the start offset, as they do in JavaScript when lastIndex is set.
//
// match charges its work in batches through regexMeter and returns the meter's
// error unchanged; a match that needs too much memory for backtracking fails
// with D1011. A pattern JavaScript would refuse fails in compileRegex with
// S0303, a code of our own: jsonata-js lets the SyntaxError through without one.
//
// The work is done in four places: regex_parse.go reads the pattern into a
// tree, regex_class.go holds the sets of code units, regex_compile.go turns the
// tree into a program, regex_exec.go runs it.

// regexMeter is the budget of the regular expression engine, apart from the
// steps of the evaluator because a unit of work is far smaller here.
type regexMeter interface {
	// regexStep charges n units of matching work.
	regexStep(n int) error
}

// regex is a compiled pattern. It is immutable; goroutines may share it.
type regex struct {
	groups int // number of capturing groups, the whole match not counted
	prog   []reInst
	sets   []unitSet
	regs   int // registers: two per group and two for the match, then the loops'

	anchored bool     // can match at offset 0 only
	prefix   string   // ASCII text every match begins with
	first    *unitSet // what a match can begin with, nil when it may be empty or is unknown
}

// compileRegex compiles a pattern with ECMAScript syntax as it is without the u
// flag. Flags are a subset of "im", each at most once.
func compileRegex(pattern, flags string) (*regex, error) {
	var fold, multi bool
	for _, f := range flags {
		switch {
		case f == 'i' && !fold:
			fold = true
		case f == 'm' && !multi:
			multi = true
		default:
			return nil, newError("S0303", "invalid flags of a regular expression: %q", flags)
		}
	}
	p := &reParser{src: toUnits(pattern), fold: fold, multi: multi}
	tree, err := p.parse()
	if err != nil {
		return nil, err
	}
	return assembleRegex(tree, p.groups), nil
}

// match finds the leftmost match at or after start, an offset in UTF-16 units.
// It returns the offsets of the match and of its groups, -1 for a group that
// took no part, or nil if there is no match.
func (re *regex) match(m regexMeter, in *regexInput, start int) ([]int, error) {
	if start < 0 || start > in.length() {
		return nil, nil
	}
	mt := matchers.Get().(*matcher)
	mt.prepare(re, m)
	var found bool
	var err error
	if in.units != nil {
		found, err = search(mt, re, in.units, "", start)
	} else {
		found, err = search(mt, re, in.bytes, in.text, start)
	}
	var spans []int
	if found {
		spans = make([]int, 2*(re.groups+1))
		for i := range spans {
			spans[i] = int(mt.regs[i])
		}
		for i := 0; i < len(spans); i += 2 {
			if spans[i] < 0 || spans[i+1] < 0 {
				spans[i], spans[i+1] = -1, -1
			}
		}
	}
	mt.release()
	return spans, err
}

var matchers = sync.Pool{New: func() any { return new(matcher) }}

// regexInput is a subject string prepared for matching.
type regexInput struct {
	text  string
	bytes []byte   // the same, set for an ASCII subject
	units []uint16 // set for any other
}

func newRegexInput(s string) *regexInput {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return &regexInput{text: s, units: toUnits(s)}
		}
	}
	return &regexInput{text: s, bytes: []byte(s)}
}

// length returns the length of the subject in UTF-16 units.
func (in *regexInput) length() int {
	if in.units != nil {
		return len(in.units)
	}
	return len(in.text)
}

// slice returns the text between two offsets, which may be half of a surrogate
// pair.
func (in *regexInput) slice(start, end int) string {
	if in.units == nil {
		return in.text[start:end]
	}
	if start == 0 && end == len(in.units) && utf8.ValidString(in.text) {
		return in.text
	}
	return unitsToString(in.units[start:end])
}

// toUnits converts to UTF-16, lone surrogates included. Bytes that are not
// text become U+FFFD.
func toUnits(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		i += n
		if r >= 0x10000 {
			r -= 0x10000
			units = append(units, uint16(0xd800+r>>10), uint16(0xdc00+r&0x3ff))
		} else {
			units = append(units, uint16(r))
		}
	}
	return units
}

func unitsToString(units []uint16) string {
	b := make([]byte, 0, len(units)+len(units)/2)
	for _, u := range units {
		b = appendCodePoint(b, rune(u))
	}
	return string(b)
}

func isHighSurrogate(u uint16) bool { return u >= 0xd800 && u < 0xdc00 }
func isLowSurrogate(u uint16) bool  { return u >= 0xdc00 && u < 0xe000 }
