package jsonata

import (
	"math"
	"strings"
)

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokVariable
	tokOperator
	tokString
	tokNumber
	tokLiteral // true, false, null
	tokRegex
)

type token struct {
	kind tokenKind
	text string // operator, name, variable without $, decoded string, regex pattern
	num  float64
	lit  value
	re   *regex
	pos  int // byte offset of its first character
	end  int
}

// lexer cuts the source into tokens. Whether a slash begins a regular
// expression is not its decision: the parser says what may follow.
type lexer struct {
	src string
	pos int
}

func (l *lexer) fail(code string, pos int, tok, format string, args ...any) *Error {
	e := newError(code, format, args...)
	e.Position, e.Token = utf16Offset(l.src, pos), tok
	return e
}

const singleOperators = ".[]{}(),@#;:?+-*/%|=<>^&!~"

var operatorByte [256]bool

func init() {
	for i := range len(singleOperators) {
		operatorByte[singleOperators[i]] = true
	}
}

func (l *lexer) skipBlank() *Error {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if isSpace(c) {
			l.pos++
			continue
		}
		if c == '/' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '*' {
			end := strings.Index(l.src[l.pos+2:], "*/")
			if end < 0 {
				return l.fail("S0106", l.pos, "/*", "the comment has no closing */")
			}
			l.pos += end + 4
			continue
		}
		return nil
	}
	return nil
}

// next returns the next token. regexOK says that a slash here begins a regular
// expression instead of dividing.
func (l *lexer) next(regexOK bool) (token, *Error) {
	if err := l.skipBlank(); err != nil {
		return token{}, err
	}
	if l.pos >= len(l.src) {
		return token{kind: tokEnd, text: "(end)", pos: len(l.src), end: len(l.src)}, nil
	}
	start := l.pos
	c := l.src[start]
	if c == '/' && regexOK {
		return l.regex()
	}
	if start+1 < len(l.src) {
		switch two := l.src[start : start+2]; two {
		case "..", ":=", "!=", ">=", "<=", "**", "~>", "?:", "??":
			l.pos += 2
			return token{kind: tokOperator, text: two, pos: start, end: l.pos}, nil
		}
	}
	if operatorByte[c] {
		l.pos++
		return token{kind: tokOperator, text: l.src[start:l.pos], pos: start, end: l.pos}, nil
	}
	if c == '"' || c == '\'' {
		return l.quoted(c)
	}
	if isDigit(c) {
		n := scanNumber(l.src[start:])
		f := parseDecimal(l.src[start : start+n])
		if math.IsInf(f, 0) {
			return token{}, l.fail("S0102", start, l.src[start:start+n], "the number is out of range")
		}
		l.pos += n
		return token{kind: tokNumber, text: l.src[start:l.pos], num: f, pos: start, end: l.pos}, nil
	}
	if c == '`' {
		end := strings.IndexByte(l.src[start+1:], '`')
		if end < 0 {
			return token{}, l.fail("S0105", start, "`", "the quoted name has no closing backquote")
		}
		l.pos = start + end + 2
		return token{kind: tokName, text: l.src[start+1 : l.pos-1], pos: start, end: l.pos}, nil
	}
	for l.pos < len(l.src) && !operatorByte[l.src[l.pos]] && !isSpace(l.src[l.pos]) {
		l.pos++
	}
	t := token{kind: tokName, text: l.src[start:l.pos], pos: start, end: l.pos}
	if c == '$' {
		t.kind, t.text = tokVariable, t.text[1:]
		return t, nil
	}
	switch t.text {
	case "or", "in", "and":
		t.kind = tokOperator
	case "true":
		t.kind, t.lit = tokLiteral, vTrue
	case "false":
		t.kind, t.lit = tokLiteral, vFalse
	case "null":
		t.kind, t.lit = tokLiteral, null
	}
	return t, nil
}

func (l *lexer) quoted(quote byte) (token, *Error) {
	start := l.pos
	i := start + 1
	for i < len(l.src) && l.src[i] != quote && l.src[i] != '\\' {
		i++
	}
	if i < len(l.src) && l.src[i] == quote { // nothing to unescape
		l.pos = i + 1
		return token{kind: tokString, text: l.src[start+1 : i], pos: start, end: l.pos}, nil
	}
	buf := append([]byte(nil), l.src[start+1:i]...)
	for i < len(l.src) {
		c := l.src[i]
		switch {
		case c == quote:
			l.pos = i + 1
			return token{kind: tokString, text: string(buf), pos: start, end: l.pos}, nil
		case c != '\\':
			buf = append(buf, c)
			i++
			continue
		}
		i++
		if i >= len(l.src) {
			// jsonata-js meets a missing character here, not the end of the text.
			return token{}, l.fail("S0103", i-1, "", "the string has an unsupported escape")
		}
		switch c = l.src[i]; c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			buf = append(buf, escaped[c])
		case 'u':
			r, ok := hex4(l.src[i+1:])
			rest := l.src[i+1:]
			if !ok && len(rest) > 0 && len(rest) < 4 && strings.Trim(rest, "0123456789abcdefABCDEF") == "" {
				return token{}, l.fail("S0101", start, "", "the string has no closing quote") // nor is it an escape yet
			}
			if !ok {
				return token{}, l.fail("S0104", i-1, "", "\\u must be followed by four hexadecimal digits")
			}
			buf = appendCodePoint(buf, r)
			i += 4
		default:
			return token{}, l.fail("S0103", i-1, string(c), "the string has an unsupported escape")
		}
		i++
	}
	return token{}, l.fail("S0101", start, "", "the string has no closing quote")
}

// escaped is what stands for a character after a backslash.
var escaped = [128]byte{
	'"':  '"',
	'\\': '\\',
	'/':  '/',
	'b':  '\b',
	'f':  '\f',
	'n':  '\n',
	'r':  '\r',
	't':  '\t',
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// regex reads /pattern/flags. A slash inside brackets of any kind does not end
// the pattern.
func (l *lexer) regex() (token, *Error) {
	start := l.pos
	depth := 0
	for i := start + 1; i < len(l.src); i++ {
		c := l.src[i]
		escaped := false
		for j := i - 1; j > start && l.src[j] == '\\'; j-- {
			escaped = !escaped
		}
		if c == '/' && depth == 0 && !escaped {
			pattern := l.src[start+1 : i]
			if pattern == "" {
				return token{}, l.fail("S0301", start, "/", "an empty regular expression is not allowed")
			}
			j := i + 1
			for j < len(l.src) && (l.src[j] == 'i' || l.src[j] == 'm') {
				j++
			}
			re, err := compileRegex(pattern, l.src[i+1:j])
			if err != nil {
				if e, ok := err.(*Error); ok {
					e.Position, e.Token = utf16Offset(l.src, start), l.src[start:j]
					return token{}, e
				}
				return token{}, l.fail("S0303", start, l.src[start:j], "the regular expression is not valid")
			}
			l.pos = j
			return token{kind: tokRegex, text: pattern, re: re, pos: start, end: j}, nil
		}
		prevBackslash := l.src[i-1] == '\\' && i-1 > start
		switch {
		case prevBackslash:
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return token{}, l.fail("S0302", start, "/", "the regular expression has no closing slash")
}
