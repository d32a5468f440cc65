package expr

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokSymbol tokenKind = iota
	tokName
	tokQuotedName // `a b`, quotes included
	tokVariable   // $x, dollar included
	tokString     // quotes included
	tokNumber
	tokRegex // slashes and flags included
	tokComment
	tokBroken // a literal or comment without end: the rest of the text
)

// lexeme is one token of an expression. operand says that a value ends with
// it, so that what follows is an infix operator.
type lexeme struct {
	kind       tokenKind
	text       string
	start, end int
	operand    bool
}

func (t lexeme) is(symbol string) bool { return t.kind == tokSymbol && t.text == symbol }

// scan takes an expression apart well enough to see which constructs it uses.
// It never fails: what is wrong with the text is left to the parser to say.
func scan(src string) []lexeme {
	var out []lexeme
	operand := false // whether the last token that is no comment ended a value
	for i := 0; i < len(src); {
		c := src[i]
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' {
			i++
			continue
		}
		t := lexeme{start: i}
		switch {
		case strings.HasPrefix(src[i:], "/*"):
			t.kind = tokComment
			if n := strings.Index(src[i+2:], "*/"); n >= 0 {
				t.end = i + 2 + n + 2
			} else {
				t.kind, t.end = tokBroken, len(src)
			}
			t.text, i = src[t.start:t.end], t.end
			out = append(out, t)
			continue
		case c == '"' || c == '\'':
			t.kind, t.end = tokString, endOfString(src, i)
		case c == '`':
			t.kind, t.end = tokQuotedName, -1
			if n := strings.IndexByte(src[i+1:], '`'); n >= 0 {
				t.end = i + 1 + n + 1
			}
		case c == '/' && !operand:
			t.kind, t.end = tokRegex, endOfRegex(src, i)
		case c >= '0' && c <= '9':
			t.kind, t.end = tokNumber, endOfNumber(src, i)
		default:
			if n := symbolLength(src[i:]); n > 0 {
				t.end = i + n
				break
			}
			t.kind, t.end = tokName, endOfName(src, i)
			if c == '$' {
				t.kind = tokVariable
			}
		}
		if t.end < 0 {
			t.kind, t.end = tokBroken, len(src)
		}
		t.text = src[t.start:t.end]
		switch t.kind {
		case tokSymbol:
			switch t.text {
			case ")", "]", "}":
				t.operand = true
			case "*", "**", "%":
				t.operand = !operand // a wildcard or the parent, not an operator
			}
		case tokName:
			t.operand = !operand || t.text != "and" && t.text != "or" && t.text != "in"
		default:
			t.operand = true
		}
		operand, i = t.operand, t.end
		out = append(out, t)
	}
	return out
}

const symbols = ".[]{}()?+-*/%|=<>^&,;:@#!~"

func symbolLength(s string) int {
	if len(s) >= 2 {
		switch s[:2] {
		case "..", ":=", "!=", ">=", "<=", "**", "~>", "?:", "??":
			return 2
		}
	}
	if strings.IndexByte(symbols, s[0]) >= 0 {
		return 1
	}
	return 0
}

func endOfString(src string, i int) int {
	quote := src[i]
	for j := i + 1; j < len(src); j++ {
		switch src[j] {
		case '\\':
			j++
		case quote:
			return j + 1
		}
	}
	return -1
}

func endOfRegex(src string, i int) int {
	depth := 0
	for j := i + 1; j < len(src); j++ {
		switch src[j] {
		case '\\':
			j++
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '/':
			if depth == 0 {
				j++
				for j < len(src) && (src[j] == 'i' || src[j] == 'm') {
					j++
				}
				return j
			}
		}
	}
	return -1
}

func endOfNumber(src string, i int) int {
	digits := func(j int) int {
		for j < len(src) && src[j] >= '0' && src[j] <= '9' {
			j++
		}
		return j
	}
	j := digits(i)
	if j+1 < len(src) && src[j] == '.' && src[j+1] >= '0' && src[j+1] <= '9' {
		j = digits(j + 1)
	}
	if j < len(src) && (src[j] == 'e' || src[j] == 'E') {
		k := j + 1
		if k < len(src) && (src[k] == '+' || src[k] == '-') {
			k++
		}
		if n := digits(k); n > k {
			j = n
		}
	}
	return j
}

func endOfName(src string, i int) int {
	_, n := utf8.DecodeRuneInString(src[i:])
	j := i + n
	for j < len(src) {
		c := src[j]
		if c <= ' ' || strings.IndexByte(symbols, c) >= 0 {
			break
		}
		j++
	}
	return j
}

// unquote returns the text of a string literal, "" when it has no good form.
func unquote(literal string) string {
	if len(literal) < 2 {
		return ""
	}
	in := literal[1 : len(literal)-1]
	if !strings.Contains(in, `\`) {
		return in
	}
	if literal[0] == '\'' {
		in = strings.ReplaceAll(in, `"`, `\"`)
	}
	var s string
	if json.Unmarshal([]byte(`"`+in+`"`), &s) != nil {
		return ""
	}
	return s
}
