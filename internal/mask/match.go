package mask

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// pattern is a text to look for. A literal one has one form only. In any other, a blank stands
// for a run of white space, since pages and browsers show a run as another one.
type pattern struct {
	name    string
	runes   []rune
	literal bool
	typed   bool // key by key, so beginnings of it were shown
}

// at finds the longest secret that begins at i; end is 0 when there is none. more says
// that the text ends before that is known.
func (st *state) at(text string, i int) (name string, end int, more bool) {
	if !st.begins[text[i]] {
		return "", 0, false
	}
	if name, n := st.placeholder(text[i:]); n > 0 {
		return name, i + n, false
	}
	for _, p := range st.patterns {
		to, unknown := p.match(text, i)
		more = more || unknown
		if to > end && !(len(p.runes) < shortPattern && insideData(text, i, to)) {
			name, end = p.name, to
		}
	}
	return name, end, more
}

// placeholder reads the placeholder of a secret, which stays: a secret may be one of
// its words.
func (st *state) placeholder(text string) (name string, n int) {
	rest, ok := strings.CutPrefix(text, opening)
	if !ok {
		return "", 0
	}
	name, _, ok = strings.Cut(rest[:min(len(rest), longestName+len(closing))], closing)
	if _, known := st.secrets[name]; !ok || !known && len(st.hidden[name]) == 0 {
		return "", 0
	}
	return name, len(Placeholder(name))
}

// match is where the pattern ends that begins at i, 0 when it does not. Each character
// may stand there in any of its forms, so several ends are followed at once.
func (p pattern) match(text string, i int) (end int, more bool) {
	at := []int{i}
	for n, r := range p.runes {
		var next []int
		if r == blank && !p.literal {
			next = p.run(text, at, &more)
		} else {
			next = p.steps(text, at, r, &more)
		}
		if len(next) == 0 {
			return p.cutOff(text, at, n), more
		}
		at = next
	}
	for _, to := range at {
		end = max(end, to)
	}
	return end, more
}

// blank stands for a run of white space in a pattern.
const blank = ' '

// inFilename is what stands in the name of a file for a character that it cannot have, and
// notInFilename are these characters.
const inFilename, notInFilename = '_', `"*/:<>?\|~.`

// whites are the white space that has further forms in an escaped text.
const whites = " \t\n\r\f\v\u00a0"

// longestRun bounds how much white space is one run.
const longestRun = 4096

// blanks is a text in which each run of white space is one blank.
func blanks(text string) []rune {
	var out []rune
	white := false
	for _, r := range text {
		space := unicode.IsSpace(r)
		switch {
		case !space:
			out = append(out, r)
		case !white:
			out = append(out, blank)
		}
		white = space
	}
	return out
}

// run are the places after each character of a run of white space.
func (p pattern) run(text string, at []int, more *bool) []int {
	var out []int
	for n := 0; len(at) > 0 && n < longestRun; n++ {
		var next []int
		for _, from := range at {
			if from == len(text) {
				*more = true
				continue
			}
			if !utf8.FullRuneInString(text[from:]) {
				*more = true
				continue
			}
			if r, size := utf8.DecodeRuneInString(text[from:]); unicode.IsSpace(r) {
				next = append(next, from+size)
				continue
			}
			for _, w := range whites {
				next = p.step(next, text, from, w, more)
			}
		}
		out = append(out, next...)
		at = next
	}
	return out
}

// steps are the places after r.
func (p pattern) steps(text string, at []int, r rune, more *bool) []int {
	var next []int
	for _, from := range at {
		if from == len(text) {
			*more = true
			continue
		}
		next = p.step(next, text, from, r, more)
	}
	return next
}

// cutOff is the end of the first n characters, where a text was cut inside a secret, or
// shows the beginning of one that was being typed; 0 when that is not so, or too little
// is left to tell it from other text.
func (p pattern) cutOff(text string, at []int, n int) int {
	if n < leastLength {
		return 0
	}
	for _, to := range at {
		rest := text[to:]
		if strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...") {
			return to
		}
		next, _ := utf8.DecodeRuneInString(rest)
		if p.typed && (rest == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next)) {
			return to
		}
	}
	return 0
}

// step adds the places after r, in each form that it can have at from.
func (p pattern) step(to []int, text string, from int, r rune, more *bool) []int {
	add := func(end int) {
		if slices.Contains(to, end) {
			return
		}
		to = append(to, end)
	}
	rest := text[from:]
	raw := string(r)
	switch {
	case strings.HasPrefix(rest, raw):
		add(from + len(raw))
	case strings.HasPrefix(raw, rest):
		*more = true
	}
	if p.literal {
		return to
	}
	if rest[0] == inFilename && strings.ContainsRune(notInFilename, r) {
		add(from + 1)
	}
	switch rest[0] {
	case '%':
		percent(rest, raw, func(n int) { add(from + n) }, more)
		if r == ' ' { // a plus sign that was encoded again
			percent(rest, "+", func(n int) { add(from + n) }, more)
		}
	case '+':
		if r == ' ' {
			add(from + 1)
		}
	case '\\':
		if r == '\\' {
			slashes := len(rest) - len(strings.TrimLeft(rest, `\`))
			for n := 2; n <= min(slashes, 4); n += 2 {
				add(from + n)
			}
			*more = *more || slashes == len(rest) && slashes < 4
			break
		}
		n, unknown := backslash(rest, r)
		if n > 0 {
			add(from + n)
		}
		*more = *more || unknown
	case '&':
		entity(rest, r, func(n int) { add(from + n) }, more)
	}
	return to
}

// levels is how often a text that was escaped is escaped again, at most.
const levels = 3

// percent finds where the bytes of raw end in percent encoding, which may have been
// applied several times: %25 stands for a percent sign.
func percent(text, raw string, add func(n int), more *bool) {
	at := []int{0}
	for i := range len(raw) {
		var next []int
		for _, n := range at {
			if n == len(text) {
				*more = true
				continue
			}
			if text[n] != '%' {
				continue
			}
			for k := n + 1; k <= n+1+2*levels; k += 2 {
				if len(text) < k+2 {
					*more = true
					break
				}
				if b, err := strconv.ParseUint(text[k:k+2], 16, 8); err == nil && byte(b) == raw[i] {
					next = append(next, k+2)
				}
				if text[k:k+2] != "25" {
					break
				}
			}
		}
		at = next
	}
	for _, n := range at {
		add(n)
	}
}

var controls = map[rune]byte{'\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f', '\v': 'v', 0: '0'}

// backslash reads a character other than a backslash after backslashes, whose number
// says how often the text was escaped.
func backslash(text string, r rune) (n int, more bool) {
	slashes := len(text) - len(strings.TrimLeft(text, `\`))
	rest := text[slashes:]
	if rest == "" {
		return 0, true
	}
	switch {
	case strings.ContainsRune("\"'`/", r) && rune(rest[0]) == r:
		return slashes + 1, false
	case controls[r] != 0 && rest[0] == controls[r]:
		return slashes + 1, false
	case rest[0] == 'x' && r < utf8.RuneSelf:
		return digits(text, slashes+1, 2, uint64(r))
	case rest[0] == 'U':
		return digits(text, slashes+1, 8, uint64(r))
	case rest[0] == 'u':
		units := utf16.Encode([]rune{r})
		for i, u := range units {
			if i > 0 {
				again := len(text[n:]) - len(strings.TrimLeft(text[n:], `\`))
				if len(text) == n+again {
					return 0, true
				}
				if again == 0 || text[n+again] != 'u' {
					return 0, false
				}
				slashes = n + again
			}
			n, more = digits(text, slashes+1, 4, uint64(u))
			if n == 0 {
				return 0, more
			}
		}
		return n, false
	}
	return 0, false
}

// digits reads a number of hexadecimal digits, and returns where they end.
func digits(text string, from, count int, want uint64) (end int, more bool) {
	if len(text) < from+count {
		return 0, true
	}
	if v, err := strconv.ParseUint(text[from:from+count], 16, 32); err != nil || v != want {
		return 0, false
	}
	return from + count, false
}

var entities = map[rune][]string{
	'&':      {"amp"},
	'<':      {"lt"},
	'>':      {"gt"},
	'"':      {"quot"},
	'\'':     {"apos"},
	'\u00a0': {"nbsp"},
}

// longestEntity is that of a character reference with all its digits.
const longestEntity = 12

// entity finds where a character reference of HTML or XML ends, which may have been
// escaped again.
func entity(text string, r rune, add func(n int), more *bool) {
	for n := 1; n <= 1+levels*len("amp;"); n += len("amp;") {
		body, _, whole := strings.Cut(text[n:min(len(text), n+longestEntity)], ";")
		switch {
		case !whole:
			*more = *more || len(text) < n+longestEntity
		case slices.Contains(entities[r], body) || number(body) == r:
			add(n + len(body) + 1)
		}
		if !strings.HasPrefix(text[n:], "amp;") {
			return
		}
	}
}

// number is the character of a numeric reference, -1 when it is none.
func number(body string) rune {
	text, ok := strings.CutPrefix(body, "#")
	base := 10
	if hex, found := strings.CutPrefix(strings.ToLower(text), "x"); found {
		text, base = hex, 16
	}
	v, err := strconv.ParseUint(text, base, 31)
	if !ok || err != nil {
		return -1
	}
	return rune(v)
}

// A short secret can occur by chance in a long run of base64, such as a picture. There
// it is not looked for.
const (
	shortPattern = 10
	longRun      = 200
)

func insideData(text string, from, to int) bool {
	n := to - from
	for i := from - 1; i >= 0 && n < longRun && dataByte(text[i]); i-- {
		n++
	}
	for i := to; i < len(text) && n < longRun && dataByte(text[i]); i++ {
		n++
	}
	for i := from; i < to; i++ {
		if !dataByte(text[i]) {
			return false
		}
	}
	return n >= longRun
}

func dataByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
		return true
	}
	return false
}
