// Package sample makes values that fit a JSON Schema of simple arguments, so that an action can be tried. It knows no
// pages. Scaffolding and the verification of learned actions call it.
package sample

import (
	"fmt"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
)

// Property is what is known of one argument.
type Property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Format      string   `json:"format,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	MinLength   *int     `json:"minLength,omitempty"`
	MaxLength   *int     `json:"maxLength,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	MultipleOf  *float64 `json:"multipleOf,omitempty"`
	WriteOnly   bool     `json:"writeOnly,omitempty"` // a password
}

// words are plain, of several lengths, and differ in each letter that they begin with.
var words = []string{"Ada", "Grace", "Edsger", "Barbara", "Donald", "Frances"}

// Value is the n-th example of a property: other numbers give other values where the
// property allows more than one.
func (p Property) Value(n int) any {
	switch p.Type {
	case "boolean":
		return n%2 == 0
	case "integer", "number":
		return p.number(n)
	}
	if len(p.Enum) > 0 {
		// The second is first: the first is often what a page shows already.
		return p.Enum[(n+1)%len(p.Enum)]
	}
	if p.Pattern != "" {
		if s, ok := Matching(p.Pattern, n); ok && p.fits(s) {
			return s
		}
	}
	return p.text(n)
}

func (p Property) text(n int) string {
	two := fmt.Sprintf("%02d", 1+n%27)
	s := words[n%len(words)]
	switch p.Format {
	case "email":
		s = strings.ToLower(s) + "@example.com"
	case "uri":
		s = "https://example.com/" + strings.ToLower(s)
	case "date":
		s = "2026-03-" + two
	case "time":
		s = "10:" + two
	case "date-time", "datetime-local":
		s = "2026-03-" + two + "T10:30"
	case "month":
		s = fmt.Sprintf("2026-%02d", 1+n%12)
	case "week":
		s = "2026-W" + two
	case "color":
		s = fmt.Sprintf("#%06x", 0x336699+n*0x111111)
	case "tel":
		s = fmt.Sprintf("+1555010%04d", n)
	case "password":
		s = "Correct-horse-" + two
	}
	if p.MinLength != nil && len(s) < *p.MinLength {
		s += strings.Repeat("a", *p.MinLength-len(s))
	}
	if p.MaxLength != nil && len(s) > *p.MaxLength {
		s = s[:max(*p.MaxLength, 0)]
	}
	return s
}

func (p Property) fits(s string) bool {
	return (p.MinLength == nil || len(s) >= *p.MinLength) && (p.MaxLength == nil || len(s) <= *p.MaxLength)
}

func (p Property) number(n int) any {
	low := 1.0
	high := math.MaxInt32 * 1.0
	step := 1.0
	if p.Minimum != nil {
		low = *p.Minimum
	}
	if p.Maximum != nil {
		high = *p.Maximum
		if p.Minimum == nil && low > high {
			low = high
		}
	}
	if p.MultipleOf != nil && *p.MultipleOf > 0 {
		step = *p.MultipleOf
	}
	v := low + float64(n+1)*step
	if v > high {
		v = low
	}
	if p.Type == "integer" || v == math.Trunc(v) {
		return int64(v)
	}
	return math.Round(v*1e6) / 1e6
}

// Text is a value as it is typed.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// maxMatching bounds a text that is made of a pattern.
const maxMatching = 200

// Matching makes a text that a pattern of HTML matches, the whole of it. ok is false
// for a pattern with assertions or references.
func Matching(pattern string, n int) (text string, ok bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if !write(&b, re, &n) || b.Len() > maxMatching {
		return "", false
	}
	return b.String(), true
}

func write(b *strings.Builder, re *syntax.Regexp, n *int) bool {
	if b.Len() > maxMatching {
		return false
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(oneOf(re.Rune, *n))
		*n++
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('a' + *n%26))
		*n++
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if !write(b, sub, n) {
				return false
			}
		}
	case syntax.OpAlternate:
		return write(b, re.Sub[*n%len(re.Sub)], n)
	case syntax.OpPlus:
		return times(b, re.Sub[0], 3, n)
	case syntax.OpStar:
		return times(b, re.Sub[0], 2, n)
	case syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return times(b, re.Sub[0], max(re.Min, min(3, max(re.Max, 0))), n)
	default:
		return false
	}
	return true
}

func times(b *strings.Builder, re *syntax.Regexp, count int, n *int) bool {
	for range count {
		if !write(b, re, n) {
			return false
		}
	}
	return true
}

// oneOf is a character of a class, one that people type if there is one.
func oneOf(ranges []rune, n int) rune {
	var usual, any []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && len(any) < 512; r++ {
			any = append(any, r)
			if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				usual = append(usual, r)
			}
		}
	}
	switch {
	case len(usual) > 0:
		return usual[n%len(usual)]
	case len(any) > 0:
		return any[n%len(any)]
	}
	return 'a'
}
