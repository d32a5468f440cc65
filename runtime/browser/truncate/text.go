package truncate

import (
	"strings"
	"unicode/utf8"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/address"
)

// maxAddress bounds an address, in bytes.
const maxAddress = 2048

// Address returns a URL without user and password, within its bound.
func Address(raw string) string {
	if strings.HasPrefix(raw, "data:") {
		return Bytes(raw, 100)
	}
	return Bytes(address.WithoutUser(raw), maxAddress)
}

// withUser is an address with a user, inside a longer text.
var withUser = lazyregexp.New(`(?i)\b((?:https?|wss?|ftp):\\?/\\?/)[^\s/"'\\?#@<>]*@`)

// WithoutUsers takes users and passwords out of the addresses in a text that the browser
// or a server wrote.
func WithoutUsers[T ~string | ~[]byte](text T) T {
	if !strings.Contains(string(text), "@") {
		return text
	}
	return T(withUser().ReplaceAllString(string(text), "$1"))
}

// Bytes returns at most n bytes of a text, and dots for what is missing.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// Characters returns at most n characters of a text, and dots for what is missing.
func Characters(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}
