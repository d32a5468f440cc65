// Package selector says whether a CSS selector of a map is certain to be refused by
// every browser. It does not say that one is accepted: pseudo-classes and newer syntax
// are the browser's to know. The checks of maps call it.
package selector

import (
	"strings"

	"github.com/andybalholm/cascadia"
)

// Check returns why no browser reads text as a selector, nil when one may.
func Check(text string) error {
	plain, certain := withoutPseudos(text)
	if !certain {
		return nil
	}
	_, err := cascadia.ParseGroup(plain)
	return err
}

// withoutPseudos replaces pseudo-classes and pseudo-elements, which only a browser
// knows, and closes what the end of a selector closes. certain is false where the
// parser knows less than a browser: comments, namespaces, nesting, flags.
func withoutPseudos(text string) (out string, certain bool) {
	if strings.Contains(text, "/*") || strings.ContainsAny(text, "&\x00") {
		return "", false
	}
	var b strings.Builder
	var quote byte
	bracket, compound := false, false // inside [...]; after a part of a compound
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			b.WriteByte(c)
			if i++; i == len(text) {
				return "", false
			}
			b.WriteByte(text[i])
			compound = true
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case bracket:
			switch c {
			case ']':
				bracket, compound = false, true
			case '|':
				if i+1 == len(text) || text[i+1] != '=' {
					return "", false
				}
			case ' ', '\t', '\n', '\r', '\f':
				rest := strings.TrimLeft(text[i:], " \t\r\n\f")
				if rest != "" && strings.ContainsRune("sSiI", rune(rest[0])) {
					return "", false
				}
			}
		case c == '[':
			bracket = true
		case c == '|':
			return "", false
		case c == ':':
			end, ok := pseudoEnd(text, i)
			if !ok {
				return "", false
			}
			if end > i {
				if !compound {
					b.WriteByte('*')
				}
				compound, i = true, end-1
				continue
			}
		default:
			compound = !strings.ContainsRune(" \t\r\n\f>+~,", rune(c))
		}
		b.WriteByte(c)
	}
	if quote != 0 {
		b.WriteByte(quote)
	}
	if bracket {
		b.WriteByte(']')
	}
	return b.String(), true
}

// pseudoEnd is where the pseudo-class or pseudo-element at i ends; i when there is no
// name. ok is false for arguments that hold more than brackets can tell.
func pseudoEnd(text string, i int) (end int, ok bool) {
	at := i + 1
	if at < len(text) && text[at] == ':' {
		at++
	}
	name := at
	named := func(c byte) bool {
		return c == '-' || c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
	}
	for at < len(text) && named(text[at]) {
		at++
	}
	switch {
	case at < len(text) && text[at] == '\\':
		return 0, false
	case at == name:
		return i, true
	case at == len(text) || text[at] != '(':
		return at, true
	}
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '"', '\'', '\\':
			return 0, false
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at + 1, true
			}
		}
	}
	return at, true // the end closes it
}
