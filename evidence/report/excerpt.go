package report

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/internal/lazyregexp"
)

const (
	around      = 3       // lines of a map shown before and after the one that counts
	largestMap  = 4 << 20 // a larger file is not read again
	longMapLine = 300
)

// withLines adds the lines around the place. A file that cannot be read has none.
func withLines(p Place) Place {
	if p.Line <= 0 {
		return p
	}
	return excerpt(p, linesOf(p.File))
}

// signIn is a name and a password in an address. A report shows no password of a file that it quotes.
var signIn = lazyregexp.New(`(://[^\s/@:"']*):[^\s/@"']+@`)

func excerpt(p Place, lines []string) Place {
	if p.Line > len(lines) {
		return p
	}
	for i := max(p.Line-around, 1); i <= min(p.Line+around, len(lines)); i++ {
		text := signIn().ReplaceAllString(strings.ReplaceAll(lines[i-1], "\t", "  "), "${1}:***@")
		p.Lines = append(p.Lines, Line{i, Shorten(Printable(text), longMapLine)})
	}
	return p
}

// Sources reads files for the lines around places, each once. The zero value is ready; it is for one
// goroutine.
type Sources struct{ files map[string][]string }

// Around adds the lines around a place of a test and of each of its steps.
func (s *Sources) Around(t *Test) {
	if p := &t.Place; p.Line > 0 && p.Lines == nil {
		lines, ok := s.files[p.File]
		if !ok {
			if s.files == nil {
				s.files = map[string][]string{}
			}
			lines = linesOf(p.File)
			s.files[p.File] = lines
		}
		*p = excerpt(*p, lines)
	}
	for i := range t.Steps {
		s.Around(&t.Steps[i])
	}
}

func linesOf(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestMap {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, largestMap))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n"), "\n")
}

// selectorDiff is the unified difference that puts the selector that matched in
// the place of the preferred one. It is "" unless the preferred one stands exactly
// once in the file, as the value of selector.
func selectorDiff(path, preferred, matched, candidate string) string {
	if !strings.HasPrefix(candidate, "fallback_selectors") && !strings.HasPrefix(candidate, "alternate_selectors") {
		return ""
	}
	lines := linesOf(path)
	before, after := quoted(preferred), quoted(matched)
	at := -1
	for i, l := range lines {
		n := 0
		for _, gap := range []string{"", " "} {
			n += strings.Count(l, `"selector":`+gap+before)
		}
		if n > 0 && (at >= 0 || n > 1) {
			return ""
		}
		if n > 0 {
			at = i
		}
	}
	if at < 0 {
		return ""
	}
	changed := lines[at]
	for _, gap := range []string{"", " "} {
		changed = strings.Replace(changed, `"selector":`+gap+before, `"selector":`+gap+after, 1)
	}
	from, to := max(at-around, 0), min(at+around+1, len(lines))
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n", path, path, from+1, to-from, from+1, to-from)
	for i := from; i < to; i++ {
		if i != at {
			fmt.Fprintf(&b, " %s\n", lines[i])
			continue
		}
		fmt.Fprintf(&b, "-%s\n+%s\n", lines[i], changed)
	}
	return b.String()
}

// quoted is text as a JSON string, with <, > and & as they are.
func quoted(s string) string {
	text, err := jsonout.Line(s)
	if err != nil {
		return ""
	}
	return string(text)
}
