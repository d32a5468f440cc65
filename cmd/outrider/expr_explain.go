package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// explained is all that the verb knows of an evaluation; --json prints it.
type explained struct {
	OK       bool            `json:"ok"`
	Kind     string          `json:"kind,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Engine   string          `json:"engine"`
	Budget   exprBudget      `json:"budget"`
	Warnings []expr.Warning  `json:"warnings"`
	Error    *fault.Error    `json:"error,omitempty"`
	At       *place          `json:"at,omitempty"` // of the error
}

// exprBudget is what an evaluation took. Usage is nil for an engine that does
// not count.
type exprBudget struct {
	*expr.Usage
	DurationUS int64 `json:"duration_us"`
}

// place is a position in an expression as an editor shows it: both count from
// 1, the column in characters.
type place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

func (x explained) orEmpty() explained {
	if x.Warnings == nil {
		x.Warnings = []expr.Warning{}
	}
	return x
}

// explainError says where an expression failed and what it had cost until
// then. With --json it has printed the error; otherwise the caller's caller
// does, below the caret.
func (a *app) explainError(src string, x explained, err error) error {
	x.Error = fault.From(err)
	at, known := errorOffset(src, x)
	if known {
		x.At = placeOf(src, at)
	}
	if a.json {
		a.printJSON(x.orEmpty())
		return &exit{code: exitFailed}
	}
	if known {
		a.caret(src, at)
	}
	a.printExplained(src, x)
	return err
}

// errorOffset finds the byte of src that the error is about. The native engine
// counts UTF-16 units as JSONata does; blues counts bytes.
func errorOffset(src string, x explained) (int, bool) {
	var at int
	switch p := x.Error.Evidence["position"].(type) {
	case int:
		at = p
	case float64:
		at = int(p)
	default:
		return 0, false
	}
	if x.Engine == expr.Blues && !errors.Is(x.Error, fault.DisallowedExpressionFunction) {
		return at, at >= 0 && at <= len(src)
	}
	return byteOffset(src, at)
}

// byteOffset turns an offset in UTF-16 units into one in bytes.
func byteOffset(src string, units int) (int, bool) {
	for i, r := range src {
		if units <= 0 {
			return i, units == 0
		}
		units -= utf16.RuneLen(r)
	}
	return len(src), units == 0
}

func placeOf(src string, at int) *place {
	before := src[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &place{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line)}
}

// caret shows the line of src that holds byte at, with a mark below it.
func (a *app) caret(src string, at int) {
	start := strings.LastIndexByte(src[:at], '\n') + 1
	end := len(src)
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		end = at + i
	}
	fmt.Fprintf(a.stderr, "%s\n%s^\n", src[start:end], blank(src[start:at]))
}

// blank is white space as wide as text is in a terminal: tabs stay, marks that
// combine take no column and East Asian and pictographic characters take two.
func blank(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteByte('\t')
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd
}

// printExplained writes budget and warnings for people.
func (a *app) printExplained(src string, x explained) {
	if u := x.Budget.Usage; u != nil {
		fmt.Fprintf(a.stderr, "used: %d steps, depth %d, %d bytes allocated, %d regex steps, %d µs\n",
			u.Steps, u.Depth, u.Bytes, u.RegexSteps, x.Budget.DurationUS)
	} else if x.OK {
		fmt.Fprintf(a.stderr, "used: %d µs\n", x.Budget.DurationUS)
	}
	for _, w := range x.Warnings {
		fmt.Fprintf(a.stderr, "warning %s: %s\n", w.Code, w.Message)
		if at, ok := byteOffset(src, w.Position); ok {
			a.caret(src, at)
		}
	}
}
