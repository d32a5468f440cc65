package expr

import (
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// maxNesting bounds brackets inside brackets in an expression for blues, whose
// parser is recursive.
const maxNesting = 256

// unlikeRE2 finds what regular expressions of JavaScript have and those of Go
// lack: look-around and back-references.
var unlikeRE2 = lazyregexp.New(`\(\?(=|!|<=|<!)|\\[1-9]|\\k<`)

// rewriteForBlues returns src as blues is to read it. It removes comments and
// gives quoted steps the quotes that blues knows; positions do not move. What
// blues would misread in silence, or answer differently from run to run, is
// refused with invalid_expression.
func rewriteForBlues(src string) (string, error) {
	all := scan(src)
	out := []byte(src)
	toks := make([]lexeme, 0, len(all))
	for _, t := range all {
		if t.kind == tokComment {
			blank(out[t.start:t.end])
			continue
		}
		toks = append(toks, t)
	}
	at := func(i int) lexeme {
		if i < 0 || i >= len(toks) {
			return lexeme{}
		}
		return toks[i]
	}

	open := []bracket{{}}
	var lambdas []int // depths at which a lambda waits for its body

	for i, t := range toks {
		prev, next := at(i-1), at(i+1)
		switch t.kind {
		case tokBroken:
			continue // the parser says what is missing
		case tokRegex:
			if unlikeRE2().MatchString(t.text) {
				return "", refuse(t, "look-around and back-references in a regular expression")
			}
		case tokString:
			if prev.is(".") || next.is(".") {
				name := unquote(t.text)
				if name == "" || strings.Contains(name, "`") || len(name) != t.end-t.start-2 {
					return "", refuse(t, "a quoted step with escapes")
				}
				out[t.start], out[t.end-1] = '`', '`'
			}
		case tokName:
			if (t.text == "function" || t.text == "λ") && next.is("(") {
				lambdas = append(lambdas, len(open))
			}
		case tokVariable:
			switch t.text {
			case "$keys", "$each", "$spread":
				return "", refuse(t, t.text+" (it loses the order of members)")
			case "$":
				if open[len(open)-1].object && !prev.is(".") && !next.is(".") && !countsContext(prev, at(i-2)) {
					return "", refuse(t, "$ by itself in an object constructor (it is an array there)")
				}
			}
		case tokSymbol:
			switch t.text {
			case "@", "#":
				return "", refuse(t, "the join and index operators @ and #")
			case "??", "?:":
				return "", refuse(t, "the operator "+t.text)
			case "%":
				if t.operand {
					return "", refuse(t, "the parent operator %")
				}
			case "*", "**":
				if t.operand {
					return "", refuse(t, "the wildcard "+t.text+" (it loses the order of members)")
				}
			case "~>":
				call := next.kind != tokRegex && (next.kind != tokVariable || at(i+2).is("("))
				if call && open[len(open)-1].repeated {
					return "", refuse(t, "~> with a call inside a function, step, predicate or grouping")
				}
			case "(", "[", "{":
				b := open[len(open)-1]
				step := prev.is(".") ||
					t.text == "(" && at(i-2).is(".") && (prev.kind == tokVariable || prev.kind == tokName)
				grouping := t.text == "{" && prev.operand
				if n := len(lambdas); t.text == "{" && n > 0 && lambdas[n-1] == len(open) {
					lambdas = lambdas[:n-1]
					b.repeated = true
					grouping = false
				} else if t.text == "{" {
					b.object = true
				}
				if step || grouping || prev.is("^") || t.text == "[" && prev.operand {
					b.repeated, b.object = true, t.text == "{" && b.object
				}
				open = append(open, b)
				if len(open) > maxNesting {
					return "", refuse(t, "brackets nested more than 256 deep")
				}
			case ")", "]", "}":
				if len(open) > 1 {
					open = open[:len(open)-1]
				}
			}
		}
	}
	return string(out), nil
}

// bracket is what holds inside an open bracket.
type bracket struct {
	// repeated: what is inside may be evaluated more than once. blues adds the
	// left side of ~> to the call on its right each time.
	repeated bool
	// object: the context value is that of an object constructor, which blues
	// wraps in an array.
	object bool
}

// countsContext reports whether the context is the argument of a function that
// answers the same for a value and for an array of it.
func countsContext(paren, name lexeme) bool {
	return paren.is("(") && name.kind == tokVariable && (name.text == "$count" || name.text == "$exists")
}

// blank keeps line breaks so that positions and lines stay.
func blank(b []byte) {
	for i, c := range b {
		if c != '\n' {
			b[i] = ' '
		}
	}
}

func refuse(t lexeme, construct string) *fault.Error {
	return fault.New(fault.InvalidExpression, "the blues engine cannot evaluate %s", construct).
		With("construct", construct).With("position", t.start).
		Next("write the expression without it, or use the native engine")
}
