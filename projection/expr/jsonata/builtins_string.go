package jsonata

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

func fnString(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	if args[0].isString() {
		return args[0], nil
	}
	if args[0].isArray() && args[0].arr().is(fOuter) && len(args[0].arr().items) > 0 {
		args[0] = args[0].arr().items[0]
	}
	s, err := ev.stringify(args[0], len(args) > 1 && args[1].kind() == kBool && args[1].bool())
	if err != nil {
		return undefined, err
	}
	return stringValue(s), nil
}

// fnSubstring counts in code points. Fractions are cut towards zero, as
// Array.prototype.slice does.
func fnSubstring(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	if err := ev.step(len(s) >> 4); err != nil {
		return undefined, err
	}
	n := float64(textLength(s))
	start := math.NaN()
	if args[1].isNumber() {
		start = args[1].num()
	}
	if n+start < 0 {
		start = 0
	}
	from, to := sliceIndex(start, n), n
	if len(args) > 2 && args[2].isNumber() {
		length := args[2].num()
		if length <= 0 {
			return vEmpty, nil
		}
		end := start + length // not a number without a start: then nothing is left
		if start < 0 {
			end = n + start + length
		}
		to = sliceIndex(end, n)
	}
	if from >= to {
		return vEmpty, nil
	}
	if float64(len(s)) == n {
		return stringValue(s[int(from):int(to)]), nil
	}
	i := textOffset(s, int(from))
	return stringValue(s[i : i+textOffset(s[i:], int(to-from))]), nil
}

func sliceIndex(f, n float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	f = math.Trunc(f)
	if f < 0 {
		return math.Max(n+f, 0)
	}
	return math.Min(f, n)
}

func fnSubstringBefore(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	if i, err := ev.find(s, separator(args[1]), 0); i >= 0 || err != nil {
		return stringValue(s[:max(i, 0)]), err
	}
	return args[0], nil
}

// separator is the text to look for; a missing one is looked for by the name
// JavaScript gives it.
func separator(v value) string {
	if v.isString() {
		return v.str()
	}
	return "undefined"
}

func fnSubstringAfter(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s, sep := args[0].str(), separator(args[1])
	if i, err := ev.find(s, sep, 0); i >= 0 || err != nil {
		return stringValue(s[min(max(i, 0)+len(sep), len(s)):]), err
	}
	return args[0], nil
}

// find is strings.Index that is charged for.
func (ev *evaluator) find(s, sep string, from int) (int, error) {
	i := strings.Index(s[from:], sep)
	n := i
	if i < 0 {
		n = len(s) - from
	}
	if err := ev.step(n>>5 + 1); err != nil {
		return -1, err
	}
	if i < 0 {
		return -1, nil
	}
	return from + i, nil
}

func fnLowercase(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	return ev.text(lowerText(args[0].str()))
}

func fnUppercase(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	return ev.text(upperText(args[0].str()))
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// upperText follows the full Unicode mapping, in which one character can
// become several.
func upperText(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	buf := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		i += n
		if special, ok := specialUpper[r]; ok {
			buf = append(buf, special...)
			continue
		}
		buf = appendCodePoint(buf, unicode.ToUpper(r))
	}
	return string(buf)
}

func lowerText(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	buf := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		switch {
		case r == 'İ':
			buf = append(buf, "i̇"...)
		case r == 'Σ' && finalSigma(s, i, n):
			buf = append(buf, "ς"...)
		default:
			buf = appendCodePoint(buf, unicode.ToLower(r))
		}
		i += n
	}
	return string(buf)
}

// finalSigma reports whether the sigma at i ends a word.
func finalSigma(s string, i, n int) bool {
	before := false
	for j := i; j > 0; {
		k := j - 1
		for k > 0 && s[k]&0xC0 == 0x80 {
			k--
		}
		r, _ := decodeRune(s[k:])
		if caseIgnorable(r) {
			j = k
			continue
		}
		before = unicode.IsLetter(r) && (unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r))
		break
	}
	if !before {
		return false
	}
	for j := i + n; j < len(s); {
		r, m := decodeRune(s[j:])
		if caseIgnorable(r) {
			j += m
			continue
		}
		return !(unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r))
	}
	return true
}

func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '’', '^', '`', '¨', '\u00ad':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

func fnLength(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	return numberValue(float64(textLength(s))), ev.step(len(s) >> 5)
}

// fnTrim makes every run of white space one blank and drops it at the ends.
// Only blank, tab, line feed and carriage return count inside.
func fnTrim(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	clean := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		single := c == ' ' && i > 0 && i < len(s)-1 && s[i+1] != ' '
		if c == '\t' || c == '\n' || c == '\r' || c == ' ' && !single {
			clean = false
			break
		}
	}
	if clean {
		return args[0], ev.step(len(s) >> 5)
	}
	if err := ev.alloc(len(s)); err != nil {
		return undefined, err
	}
	buf := make([]byte, 0, len(s))
	gap := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r':
			gap = true
		default:
			if gap && len(buf) > 0 {
				buf = append(buf, ' ')
			}
			gap = false
			buf = append(buf, c)
		}
	}
	return stringValue(string(buf)), nil
}

func fnPad(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	width := 0.0
	if args[1].isNumber() {
		width = args[1].num()
	}
	fill := " "
	if len(args) > 2 && !args[2].isUndefined() {
		// A number arrives here through a callback of three parameters.
		s, err := ev.stringify(args[2], false)
		if err != nil {
			return undefined, err
		}
		if s != "" {
			fill = s
		}
	}
	missing := math.Abs(width) - float64(textLength(s))
	if missing <= 0 || math.IsNaN(missing) {
		return args[0], nil
	}
	unit := float64(textLength(fill))
	if size := missing / unit * float64(len(fill)); size > float64(ev.lim.Bytes) {
		return undefined, ev.alloc(int(math.Min(size, 1<<50)))
	}
	n := int(math.Ceil(missing))
	if width != math.Trunc(width) {
		n = int(math.Floor(missing))
	}
	whole, rest := n/int(unit), n%int(unit)
	size := whole*len(fill) + textOffset(fill, rest)
	if err := ev.alloc(size + len(s)); err != nil {
		return undefined, err
	}
	var b strings.Builder
	b.Grow(size + len(s))
	if width > 0 {
		b.WriteString(s)
	}
	for i := 0; i < whole; i++ {
		b.WriteString(fill)
		if i&1023 == 0 {
			if err := ev.tick(); err != nil {
				return undefined, err
			}
		}
	}
	b.WriteString(fill[:textOffset(fill, rest)])
	if width < 0 {
		b.WriteString(s)
	}
	return stringValue(b.String()), nil
}

func fnJoin(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	items := elements(args[0])
	sep := ""
	if len(args) > 1 {
		sep = textOf(args[1])
	}
	size := 0
	for i, v := range items {
		if i > 0 {
			size += len(sep)
		}
		size += len(textOf(v))
	}
	if err := ev.alloc(size); err != nil {
		return undefined, err
	}
	if err := ev.step(len(items)); err != nil {
		return undefined, err
	}
	var b strings.Builder
	b.Grow(size)
	fuse := false
	for i, v := range items {
		s := textOf(v)
		fuse = fuse || startsLow(s) || startsLow(sep)
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
	}
	if fuse {
		return stringValue(fuseSurrogates(b.String())), nil
	}
	return stringValue(b.String()), nil
}

// fuseSurrogates merges surrogate pairs that concatenation put together.
func fuseSurrogates(s string) string {
	if !hasLoneSurrogate(s) {
		return s
	}
	buf := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		buf = appendCodePoint(buf, r)
		i += n
	}
	return string(buf)
}

// fnBase64Encode encodes the characters up to U+00FF as bytes, the low eight
// bits of any other.
func fnBase64Encode(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	if err := ev.alloc(3 * len(s)); err != nil {
		return undefined, err
	}
	raw := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		i += n
		if r >= 0x10000 {
			r -= 0x10000
			raw = append(raw, byte((0xd800+r>>10)&0xFF), byte((0xdc00+r&0x3ff)&0xFF))
			continue
		}
		raw = append(raw, byte(r))
	}
	return stringValue(base64.StdEncoding.EncodeToString(raw)), nil
}

// fnBase64Decode is as lenient as Node: other characters are skipped and the
// padding may be missing.
func fnBase64Decode(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	s := args[0].str()
	if err := ev.alloc(3 * len(s)); err != nil {
		return undefined, err
	}
	var out []byte
	acc, bits := 0, 0
	for _, unit := range toUnits(s) {
		c, d := byte(unit), -1 // Node looks at the lower half of a code unit
		switch {
		case c >= 'A' && c <= 'Z':
			d = int(c - 'A')
		case c >= 'a' && c <= 'z':
			d = int(c-'a') + 26
		case isDigit(c):
			d = int(c-'0') + 52
		case c == '+' || c == '-':
			d = 62
		case c == '/' || c == '_':
			d = 63
		}
		if c == '=' {
			break
		}
		if d < 0 {
			continue
		}
		acc = acc<<6 | d
		bits += 6
		if bits >= 8 {
			bits -= 8
			out = utf8.AppendRune(out, rune(acc>>bits&0xFF))
			acc &= 1<<bits - 1
		}
	}
	return stringValue(string(out)), nil
}

const (
	urlUnreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
	urlReserved   = ";/?:@&=+$,#"
)

func fnEncodeURLComponent(ev *evaluator, args []value, _ value) (value, error) {
	return ev.percentEncode(args[0], urlUnreserved)
}

func fnEncodeURL(ev *evaluator, args []value, _ value) (value, error) {
	return ev.percentEncode(args[0], urlUnreserved+urlReserved)
}

func (ev *evaluator) percentEncode(v value, keep string) (value, error) {
	if !v.isString() {
		return undefined, nil
	}
	s := v.str()
	if hasLoneSurrogate(s) {
		return undefined, newError("D3140", "the text holds half a surrogate pair and cannot be encoded")
	}
	if err := ev.alloc(3 * len(s)); err != nil {
		return undefined, err
	}
	buf := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < utf8.RuneSelf && strings.IndexByte(keep, c) >= 0 {
			buf = append(buf, c)
		} else {
			buf = append(buf, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return stringValue(string(buf)), nil
}

func fnDecodeURLComponent(ev *evaluator, args []value, _ value) (value, error) {
	return ev.percentDecode(args[0], "")
}

func fnDecodeURL(ev *evaluator, args []value, _ value) (value, error) {
	return ev.percentDecode(args[0], urlReserved)
}

// percentDecode leaves escapes of the characters in keep alone.
func (ev *evaluator) percentDecode(v value, keep string) (value, error) {
	if !v.isString() {
		return undefined, nil
	}
	s := v.str()
	if err := ev.alloc(len(s)); err != nil {
		return undefined, err
	}
	malformed := newError("D3140", "the text is not a valid URL encoding")
	buf := make([]byte, 0, len(s))
	octet := func(i int) (byte, bool) {
		if i+2 >= len(s) || s[i] != '%' {
			return 0, false
		}
		h, ok := hex4("00" + s[i+1:i+3])
		return byte(h), ok
	}
	for i := 0; i < len(s); {
		if s[i] != '%' {
			buf = append(buf, s[i])
			i++
			continue
		}
		c, ok := octet(i)
		if !ok {
			return undefined, malformed
		}
		if c < utf8.RuneSelf {
			if strings.IndexByte(keep, c) >= 0 {
				buf = append(buf, s[i:i+3]...)
			} else {
				buf = append(buf, c)
			}
			i += 3
			continue
		}
		var seq [4]byte
		n := 1
		switch {
		case c >= 0xF0 && c < 0xF8:
			n = 4
		case c >= 0xE0:
			n = 3
		case c >= 0xC0:
			n = 2
		}
		for k := 0; k < n; k++ {
			seq[k], ok = octet(i + 3*k)
			if !ok {
				return undefined, malformed
			}
		}
		r, size := utf8.DecodeRune(seq[:n])
		if r == utf8.RuneError || size != n {
			return undefined, malformed
		}
		buf = append(buf, seq[:n]...)
		i += 3 * n
	}
	return stringValue(string(buf)), nil
}
