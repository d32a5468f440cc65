package cdp_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// FuzzQuote: what is written as a JSON string reads as what json.Marshal would have
// written, with bytes that are not UTF-8 replaced.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{
		"", "plain", `"quoted\"`, "line\nline\r\t\x00\x1f\x7f", "<a href='x'>&</a>",
		"äöü \u2028 \U0001f600", "\xff\xfe in \xc3", "\xed\xa0\x80", "end\\",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := cdp.AppendQuoted(nil, s)
		var read string
		if err := json.Unmarshal(quoted, &read); err != nil {
			t.Fatalf("%q is written as %s: %v", s, quoted, err)
		}
		marshalled, _ := json.Marshal(s)
		var want string
		if err := json.Unmarshal(marshalled, &want); err != nil || read != want {
			t.Fatalf("%q is read as %q, that of json.Marshal as %q", s, read, want)
		}
	})
}

// difficultText has what a string literal, the JSON around it and the JSON in it escape.
const difficultText = "plain 'single' \"double\" \\back\\ `tick` ${x} </script> \\' \\\" \\u0041 äöü \u2028\u2029 " +
	"\U0001f600 \x7f\ttab"

// FuzzLiteral: within JSON a JavaScript string literal reads as what was written, and
// ends nowhere else.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"", difficultText, "line\nline\r\x00\x1f", "\xff in \xc3", "end\\", "end'"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		written := cdp.AppendLiteral(nil, text)
		var source string
		if err := json.Unmarshal([]byte(`"`+string(written)+`"`), &source); err != nil {
			t.Fatalf("%q is written as %s: %v", text, written, err)
		}
		read, err := readLiteral(source)
		if want := string([]rune(string(text))); err != nil || read != want {
			t.Fatalf("%q is read as %q, %v", want, read, err)
		}
	})
}

// readLiteral reads the inside of a string literal in single quotes as JavaScript
// does, with the escapes that are written.
func readLiteral(source string) (string, error) {
	var read strings.Builder
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\'' || c < ' ':
			return "", fmt.Errorf("byte %#x at %d is not escaped", c, i)
		case c != '\\':
			read.WriteByte(c)
		case strings.HasPrefix(source[i+1:], "u00") && len(source) >= i+6:
			n, err := strconv.ParseUint(source[i+4:i+6], 16, 8)
			if err != nil {
				return "", err
			}
			read.WriteByte(byte(n))
			i += 5
		case strings.HasPrefix(source[i+1:], `\`) || strings.HasPrefix(source[i+1:], "'"):
			read.WriteByte(source[i+1])
			i++
		default:
			return "", fmt.Errorf("an unknown escape at %d", i)
		}
	}
	return read.String(), nil
}
