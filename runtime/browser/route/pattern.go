package route

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// maxPattern bounds the pattern of a route, in bytes.
const maxPattern = 2000

// pattern is a glob for addresses, as Playwright has them: * is anything but a slash, ** is
// anything, {a,b} is one of several, and \ takes the next character as it is. One that
// begins with a slash is of any host.
type pattern struct {
	exact *regexp.Regexp
	// loose is a pattern of the protocol that matches at least as much, and anything
	// after it: what is close to a route is seen too.
	loose string
}

// CheckPattern says what is wrong with a glob for addresses.
func CheckPattern(glob string) error {
	_, err := parse(glob)
	return err
}

func parse(glob string) (pattern, error) {
	if glob == "" || len(glob) > maxPattern {
		return pattern{}, fault.New(
			fault.InvalidInput, "the address of a route has %d bytes: expected 1 to %d", len(glob), maxPattern,
		)
	}
	var exact, loose strings.Builder
	exact.WriteString("^")
	text := glob
	if strings.HasPrefix(glob, "/") {
		exact.WriteString(`[a-z][a-z0-9+.-]*://[^/]*`)
		loose.WriteByte('*')
	} else if i := strings.Index(glob, "://"); i > 0 { // schemes and hosts have no upper case in addresses of a browser
		end := len(glob)
		if j := strings.IndexByte(glob[i+3:], '/'); j >= 0 {
			end = i + 3 + j
		}
		text = address.ASCII(strings.ToLower(glob[:end]) + glob[end:])
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '*':
			stars := 1
			for i+1 < len(text) && text[i+1] == '*' {
				stars++
				i++
			}
			switch slash := i+1 < len(text) && text[i+1] == '/'; {
			case stars == 1:
				exact.WriteString(`[^/]*`)
			case slash && i >= stars && text[i-stars] == '/': // /**/ is one slash, or anything between two
				exact.WriteString(`(?:.+/|)`)
				i++
			case slash:
				exact.WriteString(`.*/`)
				i++
			default:
				exact.WriteString(`.*`)
			}
			if depth == 0 {
				loose.WriteByte('*')
			}
		case '{':
			if depth++; depth > 1 {
				return pattern{}, badPattern(glob, "a group is inside another")
			}
			exact.WriteString("(?:")
			loose.WriteByte('*')
		case '}':
			if depth--; depth < 0 {
				return pattern{}, badPattern(glob, "there is a } without a {")
			}
			exact.WriteByte(')')
		case ',':
			if depth > 0 {
				exact.WriteByte('|')
				continue
			}
			exact.WriteByte(c)
			loose.WriteByte(c)
		default:
			if c == '\\' && i+1 < len(text) {
				i++
				c = text[i]
			}
			exact.WriteString(regexp.QuoteMeta(text[i : i+1]))
			if depth == 0 {
				if strings.IndexByte(`*?\`, c) >= 0 {
					loose.WriteByte('\\')
				}
				loose.WriteByte(c)
			}
		}
	}
	if depth > 0 {
		return pattern{}, badPattern(glob, "there is a { without a }")
	}
	re, err := regexp.Compile(exact.String() + "$")
	if err != nil {
		return pattern{}, badPattern(glob, err.Error())
	}
	return pattern{exact: re, loose: loose.String() + "*"}, nil
}

func badPattern(glob, why string) error {
	return fault.New(
		fault.InvalidInput, "%s is no pattern of addresses: %s", fmt.Sprintf("%q", fault.Clip(glob, 200)), why,
	)
}

// matches reports whether the address, without its fragment, is one of the pattern's.
func (p pattern) matches(address string) bool { return p.exact.MatchString(address) }
