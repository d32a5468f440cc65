// Package explain evaluates one expression and says what came of it: the value or the
// place of the error, what it took, and what deserves a warning. It decides nothing
// about expressions; the engine does. The verb expr calls it.
package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// Result is all that is known of an evaluation.
type Result struct {
	OK       bool            `json:"ok"`
	Kind     string          `json:"kind,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Engine   string          `json:"engine"`
	Budget   Budget          `json:"budget"`
	Warnings []expr.Warning  `json:"warnings"`
	Error    *fault.Error    `json:"error,omitempty"`
	At       *Place          `json:"at,omitempty"` // of the error

	source    string
	undefined bool
	offset    int // of the error, in bytes; -1 when it has no place
}

// Budget is what an evaluation took. Usage is nil for an engine that does not count.
type Budget struct {
	*expr.Usage
	DurationUS int64 `json:"duration_us"`
}

// Place is a position in an expression as an editor shows it: both count from 1, the
// column in characters.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Evaluate compiles and evaluates src. A failure is in the result.
func Evaluate(ctx context.Context, engine expr.Engine, src string, input expr.Input) Result {
	x := Result{Engine: engine.Name(), Warnings: []expr.Warning{}, source: src, offset: -1}
	program, err := engine.Compile(src)
	if err != nil {
		return x.failed(err)
	}
	began := time.Now()
	var v expr.Value
	if e, ok := program.(expr.Explainer); ok {
		if w := e.Warnings(); w != nil {
			x.Warnings = w
		}
		var used expr.Usage
		v, used, err = e.Explain(ctx, input, expr.Limits{})
		x.Budget.Usage = &used
	} else {
		v, err = program.Eval(ctx, input, expr.Limits{})
	}
	x.Budget.DurationUS = time.Since(began).Microseconds()
	if err != nil {
		return x.failed(err)
	}
	x.OK = true
	x.Kind = "undefined"
	x.Value = nullIfEmpty(v.JSON)
	x.undefined = v.Undefined
	if !v.Undefined {
		x.Kind = kindOf(v.JSON)
	}
	return x
}

// failed is the result with its error, and with the error's place if it has one.
func (x Result) failed(err error) Result {
	x.Error = fault.From(err)
	if at, known := errorOffset(x.source, x); known {
		x.offset, x.At = at, placeOf(x.source, at)
	}
	return x
}

// Defined reports whether there is a value to show.
func (x Result) Defined() bool { return x.OK && !x.undefined }

// Print writes for people what is beside the value and the error's own text.
func (x Result) Print(w io.Writer) {
	if x.OK {
		size := len(x.Value)
		if x.undefined {
			size = 0
		}
		fmt.Fprintf(w, "%s, %d bytes (%s engine)\n", x.Kind, size, x.Engine)
	}
	if x.offset >= 0 {
		caret(w, x.source, x.offset)
	}
	if u := x.Budget.Usage; u != nil {
		fmt.Fprintf(w, "used: %d steps, depth %d, %d bytes allocated, %d regex steps, %d µs\n",
			u.Steps, u.Depth, u.Bytes, u.RegexSteps, x.Budget.DurationUS)
	} else if x.OK {
		fmt.Fprintf(w, "used: %d µs\n", x.Budget.DurationUS)
	}
	for _, warning := range x.Warnings {
		fmt.Fprintf(w, "warning %s: %s\n", warning.Code, warning.Message)
		if at, ok := byteOffset(x.source, warning.Position); ok {
			caret(w, x.source, at)
		}
	}
}

// errorOffset finds the byte of src that the error is about. The native engine
// counts UTF-16 units as JSONata does; blues counts bytes.
func errorOffset(src string, x Result) (int, bool) {
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

func placeOf(src string, at int) *Place {
	before := src[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return &Place{Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line)}
}

// caret shows the line of src that holds byte at, with a mark below it.
func caret(w io.Writer, src string, at int) {
	start := strings.LastIndexByte(src[:at], '\n') + 1
	end := len(src)
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		end = at + i
	}
	fmt.Fprintf(w, "%s\n%s^\n", src[start:end], blank(src[start:at]))
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
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60,
		r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return false
}

func nullIfEmpty(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

func kindOf(v json.RawMessage) string {
	switch v[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
