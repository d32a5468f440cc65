package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compilePattern compiles the pattern of a schema. Patterns are ECMAScript
// expressions; they run on an engine without backtracking, because they come
// with maps, so one with look-around or back references does not compile.
func compilePattern(s string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(ecma(s))
	if err != nil {
		return nil, err
	}
	return (*pattern)(re), nil
}

// wrongPattern says why a pattern does not compile.
func wrongPattern(err error) string {
	var parse *syntax.Error
	if !errors.As(err, &parse) {
		return "must be a regular expression"
	}
	around := strings.HasPrefix(parse.Expr, "(?<=") || strings.HasPrefix(parse.Expr, "(?<!")
	switch {
	case parse.Code == syntax.ErrInvalidRepeatSize:
		return "must be a regular expression that repeats nothing more than 1000 times; maxLength bounds a text"
	case around, parse.Code == syntax.ErrInvalidPerlOp, parse.Code == syntax.ErrInvalidEscape:
		return "must be a regular expression without look-around and back references"
	}
	return "must be a regular expression: " + parse.Code.String()
}

type pattern regexp.Regexp

func (p *pattern) MatchString(s string) bool { return (*regexp.Regexp)(p).MatchString(s) }
func (p *pattern) String() string            { return (*regexp.Regexp)(p).String() }

// ecma rewrites what the two languages spell differently: the escapes \uXXXX,
// \u{X} and \cX, and [^] and [], which are any and no character.
func ecma(s string) string {
	if !strings.Contains(s, `\u`) && !strings.Contains(s, `\c`) && !strings.Contains(s, `[`) {
		return s
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(s); i++ {
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, `\u{`):
			if end := strings.IndexByte(rest, '}'); end > 0 {
				b.WriteString(`\x` + rest[2:end+1])
				i += end
				continue
			}
			b.WriteString(`\u`)
			i++
		case strings.HasPrefix(rest, `\u`) && len(rest) >= 6:
			b.WriteString(`\x{` + rest[2:6] + `}`)
			i += 5
		case strings.HasPrefix(rest, `\c`) && len(rest) >= 3 && (rest[2]|0x20) >= 'a' && (rest[2]|0x20) <= 'z':
			fmt.Fprintf(&b, `\x{%x}`, rest[2]&0x1f)
			i += 2
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		case !class && strings.HasPrefix(rest, `[^]`):
			b.WriteString(`(?s:.)`)
			i += 2
		case !class && strings.HasPrefix(rest, `[]`):
			b.WriteString(`[^\x00-\x{10FFFF}]`)
			i++
		case !class && rest[0] == '[':
			class = true
			b.WriteByte('[')
		case class && rest[0] == '[':
			b.WriteString(`\[`)
		case class && rest[0] == ']':
			class = false
			b.WriteByte(']')
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}
