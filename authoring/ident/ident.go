// Package ident makes identifiers of what pages say, and says which hosts are this machine. It knows no pages. The
// packages that write maps call it.
package ident

import (
	"net"
	"strconv"
	"strings"
	"unicode"
)

// maxWords bounds a name: what follows is content.
const maxWords = 5

// Slug makes an identifier of a text: its first words, in ASCII where that is possible.
// It is "" for a text without letters.
func Slug(text string) string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	previous := rune(0)
	for _, r := range text {
		plain := folded(r)
		switch {
		case plain == 0:
			if r != '\'' && r != '’' {
				end()
			}
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			end()
			word.WriteRune(plain)
		default:
			word.WriteRune(plain)
		}
		previous = r
	}
	end()
	for len(words) > 0 && !unicode.IsLetter(rune(words[0][0])) {
		words = words[1:] // an identifier begins with a letter
	}
	out := strings.Join(words[:min(len(words), maxWords)], "_")
	return out[:min(len(out), 48)]
}

// folded is a letter or digit of ASCII that stands for r, 0 when none does.
func folded(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
		return r
	case r >= 'A' && r <= 'Z':
		return r - 'A' + 'a'
	}
	if i := strings.IndexRune("àáâãäåçèéêëìíîïñòóôõöùúûüýÿßœæ", unicode.ToLower(r)); i >= 0 {
		n := len([]rune("àáâãäåçèéêëìíîïñòóôõöùúûüýÿßœæ"[:i]))
		return []rune("aaaaaaceeeeiiiinooooouuuuyysoa")[n]
	}
	return 0
}

// Names gives each entry of a section another name.
type Names map[string]bool

// Free is the name, or with a number the next that is not taken.
func (n Names) Free(name string) string {
	out := name
	for i := 2; n[out]; i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	n[out] = true
	return out
}

// First is the first text that is not blank.
func First(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return strings.TrimSpace(t)
		}
	}
	return ""
}

// Local reports whether a host is this machine, whose pages may be changed by trials.
func Local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
