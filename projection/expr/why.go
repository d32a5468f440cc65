package expr

import (
	"context"
	"fmt"
	"strings"
	"unicode"
)

// comparisons are the operators whose two sides WhyFalse shows, the longer first,
// with the words for what is expected.
var comparisons = []struct{ op, words string }{
	{"!=", "anything but "},
	{"<=", "at most "},
	{">=", "at least "},
	{"=", ""},
	{"<", "less than "},
	{">", "more than "},
	{"in", "one of "},
}

// maxWhy bounds a value in a sentence, in characters.
const maxWhy = 200

// WhyFalse says, one sentence each, which parts of an expression that is not true
// are not: "$count(items): 0, expected 10". Parts are those that and joins. A part
// that compares shows both sides, any other its value. The answer is empty when
// src cannot be taken apart.
func WhyFalse(ctx context.Context, e Engine, src string, in Input) []string {
	var out []string
	if loose(src) {
		v, ok := valueOf(ctx, e, src, in)
		if !ok || Truthy(v) {
			return nil
		}
		return []string{fmt.Sprintf("%s: %s, expected true", strings.TrimSpace(src), shown(v))}
	}
	for _, part := range conjuncts(src) {
		v, ok := valueOf(ctx, e, part, in)
		switch {
		case !ok:
			return nil
		case Truthy(v):
			continue
		}
		out = append(out, whyFalse(ctx, e, part, v, in))
	}
	return out
}

func whyFalse(ctx context.Context, e Engine, part string, v Value, in Input) string {
	for _, c := range comparisons {
		left, right, ok := splitAt(part, c.op)
		if !ok {
			continue
		}
		l, okLeft := valueOf(ctx, e, left, in)
		r, okRight := valueOf(ctx, e, right, in)
		if !okLeft || !okRight {
			continue
		}
		expected := shown(r)
		if right != string(r.JSON) && strings.Trim(right, `'"`) != strings.Trim(string(r.JSON), `"`) {
			expected = right + ", which is " + expected
		}
		return fmt.Sprintf("%s: %s, expected %s%s", left, shown(l), c.words, expected)
	}
	return fmt.Sprintf("%s: %s, expected true", part, shown(v))
}

func shown(v Value) string {
	if v.Undefined {
		return "nothing"
	}
	r := []rune(string(v.JSON))
	if len(r) > maxWhy {
		return string(r[:maxWhy-1]) + "…"
	}
	return string(r)
}

func valueOf(ctx context.Context, e Engine, src string, in Input) (Value, bool) {
	if src == "" {
		return Value{}, false
	}
	p, err := e.Compile(src)
	if err != nil {
		return Value{}, false
	}
	v, err := p.Eval(ctx, in, Limits{})
	return v, err == nil
}

// loose reports whether the top of an expression has an operator that binds less
// than and: what stands around it is no part by itself.
func loose(src string) bool {
	for _, op := range []string{"or", "?", ":=", "~>", ";"} {
		if _, _, ok := splitAt(src, op); ok {
			return true
		}
	}
	return false
}

// conjuncts are the parts that and joins at the top of an expression.
func conjuncts(src string) []string {
	var out []string
	for {
		left, right, ok := splitAt(src, "and")
		if !ok {
			return append(out, strings.TrimSpace(src))
		}
		out, src = append(out, left), right
	}
}

// splitAt splits src at the first op that stands in no brackets and no string. The
// words and, or and in are operators between blanks only.
func splitAt(src, op string) (left, right string, ok bool) {
	depth := 0
	var quote byte
	word := unicode.IsLetter(rune(op[0]))
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
			continue
		case c == '"' || c == '\'' || c == '`':
			quote = c
			continue
		case c == '(' || c == '[' || c == '{':
			depth++
			continue
		case c == ')' || c == ']' || c == '}':
			depth--
			continue
		}
		if depth != 0 || !strings.HasPrefix(src[i:], op) {
			continue
		}
		before, after := src[:i], src[i+len(op):]
		switch {
		case strings.TrimSpace(before) == "" || strings.TrimSpace(after) == "":
			continue
		case word && (!blankEnd(before) || !blankStart(after)):
			continue
		case op == "=" && strings.ContainsRune("!<>:", rune(before[len(before)-1])):
			continue
		case (op == "<" || op == ">") && (after[0] == '=' || op == ">" && before[len(before)-1] == '~'):
			continue
		}
		return strings.TrimSpace(before), strings.TrimSpace(after), true
	}
	return "", "", false
}

func blankEnd(s string) bool   { return strings.TrimRight(s, " \t\r\n") != s }
func blankStart(s string) bool { return strings.TrimLeft(s, " \t\r\n") != s }
