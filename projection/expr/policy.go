package expr

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

// MaxSource bounds the text of one expression in bytes. It keeps the memory
// and the recursion of a parser in proportion, whatever engine it belongs to.
const MaxSource = 64 << 10

// Defaults of Limits.
const (
	defaultTime        = timeLimit
	defaultOutputBytes = 16_000
)

// forbidden are the functions that maps may not use: what a map does must
// depend on its input and the page alone, and must be readable in its text.
var forbidden = []string{"eval", "random", "now", "millis"}

// forbiddenText is the check of the reference runtime: a match on the text,
// string literals included. It gives the error at load time; an alias
// ($f := $now) passes it and fails when the function is called.
var forbiddenText = lazyregexp.New(`(?i)\$(eval|random|now|millis)\s*\(`)

// checkSource applies the rules that hold for every engine.
func checkSource(src string) error {
	if len(src) > MaxSource {
		return fault.New(fault.InvalidExpression, "the expression has %d bytes; the limit is %d", len(src), MaxSource).
			With("budget", "source")
	}
	if !utf8.ValidString(src) {
		return fault.New(fault.InvalidExpression, "the expression is not valid UTF-8")
	}
	if m := forbiddenText().FindStringSubmatchIndex(src); m != nil {
		return disallowed(src[m[2]:m[3]]).With("position", utf16Length(src[:m[0]]))
	}
	return nil
}

// utf16Length counts text as the positions of errors do.
func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func disallowed(name string) *fault.Error {
	return fault.New(fault.DisallowedExpressionFunction, "maps may not use the function $%s", name).
		With("function", name)
}

// evaluationError is the one way to report an expression that failed with a
// JSONata code. position is negative when it is not known.
func evaluationError(code fault.Code, jsonataCode string, position int, token, message string) *fault.Error {
	e := fault.New(code, "%s", message)
	if jsonataCode != "" {
		e.With("jsonata_code", jsonataCode)
	}
	if position >= 0 {
		e.With("position", position)
	}
	if token != "" {
		e.With("token", token)
	}
	return e
}

func overLimit(budget, what string) *fault.Error {
	return fault.New(fault.ExpressionLimitExceeded, "the expression %s", what).With("budget", budget)
}

func tooLarge(limit int) *fault.Error {
	return fault.New(fault.ExpressionOutputTooLarge, "the value of the expression is larger than %d bytes", limit).
		With("limit_bytes", limit).
		Next(fmt.Sprintf("select fewer fields or items so that the value stays below %d bytes", limit))
}
