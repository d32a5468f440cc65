package jsonata

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

type integerKind uint8

const (
	integerDecimal integerKind = iota
	integerLetters
	integerRoman
	integerWords
	integerUnknown
)

type letterCase uint8

const (
	lowerCase letterCase = iota
	upperCase
	titleCase
)

// integerPicture is an integer picture of XPath's fn:format-integer taken
// apart.
type integerPicture struct {
	kind    integerKind
	letters letterCase
	ordinal bool

	zero                rune // of integerDecimal: the zero of its digits
	mandatory, optional int
	separators          []integerSeparator // from the right
	regular             int                // size of equal groups with one separator, 0 otherwise
}

type integerSeparator struct {
	position int // digits to the right of it
	char     rune
}

// digitZeros lists the zero of every family of ten decimal digits in the
// basic multilingual plane.
var digitZeros = []rune{
	0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
	0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
	0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
}

// digitZero returns the zero of the family a digit belongs to, or -1.
func digitZero(r rune) rune {
	for _, zero := range digitZeros {
		if r >= zero && r <= zero+9 {
			return zero
		}
	}
	return -1
}

func parseIntegerPicture(m meter, picture string) (*integerPicture, error) {
	if err := m.step(1 + len(picture)/8); err != nil {
		return nil, err
	}
	if err := m.alloc(16 * len(picture)); err != nil {
		return nil, err
	}
	p := &integerPicture{}
	primary := picture
	if i := strings.LastIndexByte(picture, ';'); i >= 0 {
		primary = picture[:i]
		p.ordinal = strings.HasPrefix(picture[i+1:], "o")
	}
	switch primary {
	case "A":
		p.kind, p.letters = integerLetters, upperCase
	case "a":
		p.kind = integerLetters
	case "I":
		p.kind, p.letters = integerRoman, upperCase
	case "i":
		p.kind = integerRoman
	case "W":
		p.kind, p.letters = integerWords, upperCase
	case "w":
		p.kind = integerWords
	case "Ww":
		p.kind, p.letters = integerWords, titleCase
	default:
		return p, p.parseDecimal(m, primary)
	}
	return p, nil
}

func (p *integerPicture) parseDecimal(m meter, primary string) error {
	p.zero = -1
	chars := []rune(primary)
	for _, c := range slices.Backward(chars) {
		switch zero := digitZero(c); {
		case zero >= 0:
			if p.zero >= 0 && p.zero != zero {
				return newError("D3131", "a picture mixes digits of different scripts")
			}
			p.zero = zero
			p.mandatory++
		case c == '#':
			p.optional++
		default:
			p.separators = append(p.separators, integerSeparator{p.mandatory + p.optional, c})
		}
	}
	if p.mandatory == 0 {
		p.kind = integerUnknown
		return nil
	}
	n := len(p.separators)
	if err := m.step(n * n / 64); err != nil {
		return err
	}
	positions := make([]int, n)
	for i, s := range p.separators {
		if s.char != p.separators[0].char {
			return nil
		}
		positions[i] = s.position
	}
	p.regular = regularGroups(positions)
	return nil
}

func unknownPicture() error {
	return newError("D3130", "this integer picture is not supported")
}

// formatInteger formats the integer part of a number with a picture of XPath's
// fn:format-integer.
func formatInteger(m meter, value float64, picture string) (string, error) {
	p, err := parseIntegerPicture(m, picture)
	if err != nil {
		return "", err
	}
	return p.format(m, value)
}

func (p *integerPicture) format(m meter, value float64) (string, error) {
	value = math.Floor(value)
	negative := value < 0
	value = math.Abs(value)
	var text string
	var err error
	switch p.kind {
	case integerDecimal:
		text, err = p.formatDecimal(m, value)
	case integerLetters:
		text = formatLetters(value, p.letters)
	case integerRoman:
		text, err = formatRoman(m, value)
		if p.letters == upperCase {
			text = strings.ToUpper(text)
		}
	case integerWords:
		text = formatWords(value, p.ordinal)
		switch p.letters {
		case upperCase:
			text = strings.ToUpper(text)
		case lowerCase:
			text = strings.ToLower(text)
		}
	default:
		err = unknownPicture()
	}
	if err == nil {
		err = m.alloc(len(text) + 1)
	}
	if err != nil {
		return "", err
	}
	if negative {
		text = "-" + text
	}
	return text, nil
}

func (p *integerPicture) formatDecimal(m meter, value float64) (string, error) {
	width := max(p.mandatory, 24) + len(p.separators)
	if err := m.alloc(4 * width); err != nil {
		return "", err
	}
	if err := m.step(width/8 + (len(p.separators)+1)*width/64); err != nil {
		return "", err
	}
	text := toUnits(numberText(value))
	if n := p.mandatory - len(text); n > 0 {
		text = append(slices.Repeat([]uint16{'0'}, n), text...)
	}
	for i := range text {
		text[i] += uint16(p.zero - '0')
	}
	if p.regular > 0 {
		grouped := make([]uint16, 0, 2*len(text))
		separator := toUnits(string(p.separators[0].char))
		for i, c := range text {
			if i > 0 && (len(text)-i)%p.regular == 0 {
				grouped = append(grouped, separator...)
			}
			grouped = append(grouped, c)
		}
		text = grouped
	} else {
		for _, s := range slices.Backward(p.separators) {
			at := len(text) - s.position
			if at < 0 {
				// Too short a number: only as much of it stays as is missing.
				text = text[max(0, len(text)+at):]
				at = 0
			}
			text = slices.Insert(text, at, toUnits(string(s.char))...)
		}
	}
	if p.ordinal {
		suffix := "th"
		n := len(text)
		if n < 2 || text[n-2] != '1' {
			switch text[n-1] {
			case '1':
				suffix = "st"
			case '2':
				suffix = "nd"
			case '3':
				suffix = "rd"
			}
		}
		text = append(text, toUnits(suffix)...)
	}
	return unitsToString(text), nil
}

func formatLetters(value float64, letters letterCase) string {
	first := byte('a')
	if letters == upperCase {
		first = 'A'
	}
	var text []byte
	for value > 0 && !math.IsInf(value, 0) {
		text = append(text, first+byte(math.Mod(value-1, 26)))
		value = math.Floor((value - 1) / 26)
	}
	slices.Reverse(text)
	return string(text)
}

var romanNumerals = []struct {
	value float64
	text  string
}{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"},
	{50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"},
}

// romanLimit is about where jsonata-js runs out of stack.
const romanLimit = 1e7

func formatRoman(m meter, value float64) (string, error) {
	if value > romanLimit {
		return "", newError("D1011", "the number is too large for roman numerals")
	}
	if err := m.alloc(int(value)/1000 + 16); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range romanNumerals {
		for value >= r.value {
			b.WriteString(r.text)
			value -= r.value
		}
	}
	return b.String(), nil
}

var (
	smallWords = strings.Fields(
		"Zero One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen " +
			"Fifteen Sixteen Seventeen Eighteen Nineteen",
	)
	smallOrdinals = strings.Fields(
		"Zeroth First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth Eleventh Twelfth " +
			"Thirteenth Fourteenth Fifteenth Sixteenth Seventeenth Eighteenth Nineteenth",
	)
	decadeWords    = strings.Fields("Twenty Thirty Forty Fifty Sixty Seventy Eighty Ninety")
	magnitudeWords = strings.Fields("Thousand Million Billion Trillion")
)

// formatWords writes a number in English words with capital initials.
func formatWords(value float64, ordinal bool) string {
	var b strings.Builder
	switch {
	case math.IsNaN(value):
		return "undefined"
	case math.IsInf(value, 0):
		return ""
	}
	writeWords(&b, value, false, ordinal)
	return b.String()
}

// writeWords recurses at most once per twelve digits of the number.
func writeWords(b *strings.Builder, n float64, joined, ordinal bool) {
	th := func() {
		if ordinal {
			b.WriteString("th")
		}
	}
	if joined {
		if n < 100 {
			b.WriteString(" and ")
		} else {
			b.WriteString(", ")
		}
	}
	switch {
	case n < 20:
		words := smallWords
		if ordinal {
			words = smallOrdinals
		}
		b.WriteString(words[int(n)])
	case n < 100:
		tens, ones := decadeWords[int(n)/10-2], int(n)%10
		switch {
		case ones == 0 && ordinal:
			b.WriteString(tens[:len(tens)-1] + "ieth")
		case ones == 0:
			b.WriteString(tens)
		default:
			b.WriteString(tens + "-")
			writeWords(b, float64(ones), false, ordinal)
		}
	case n < 1000:
		b.WriteString(smallWords[int(n)/100] + " Hundred")
		if rest := int(n) % 100; rest > 0 {
			writeWords(b, float64(rest), true, ordinal)
		} else {
			th()
		}
	default:
		magnitude := min(int(math.Floor(math.Log10(n)/3)), len(magnitudeWords))
		factor := pow(10, float64(3*magnitude))
		mantissa := math.Floor(n / factor)
		rest := n - mantissa*factor
		writeWords(b, mantissa, false, false)
		b.WriteString(" " + magnitudeWords[magnitude-1])
		if rest > 0 {
			writeWords(b, rest, true, ordinal)
		} else {
			th()
		}
	}
}

// wordValues maps the lower case words of numbers, ordinals included, to what
// they stand for. wordOrder has the words in the order in which a date picture
// tries them.
var wordValues, wordOrder = func() (map[string]float64, []string) {
	values := map[string]float64{}
	var order []string
	add := func(word string, value float64) {
		values[word] = value
		order = append(order, word)
	}
	for i, w := range append(slices.Clone(smallWords), smallOrdinals...) {
		add(strings.ToLower(w), float64(i%len(smallWords)))
	}
	for i, w := range decadeWords {
		w = strings.ToLower(w)
		add(w, float64(10*(i+2)))
		add(w[:len(w)-1]+"ieth", float64(10*(i+2)))
	}
	add("hundred", 100)
	add("hundredth", 100)
	for i, w := range magnitudeWords {
		w = strings.ToLower(w)
		add(w, pow(10, float64(3*(i+1))))
		add(w+"th", pow(10, float64(3*(i+1))))
	}
	return values, order
}()

// parseInteger reads a number written with a picture. Text that the picture
// does not describe yields NaN, as in jsonata-js.
func parseInteger(m meter, s, picture string) (float64, bool, error) {
	p, err := parseIntegerPicture(m, picture)
	if err != nil {
		return 0, false, err
	}
	if err := m.step(1 + len(s)/4); err != nil {
		return 0, false, err
	}
	if err := m.alloc(16 * len(s)); err != nil {
		return 0, false, err
	}
	v, err := p.parse(m, s)
	return v, err == nil, err
}

func (p *integerPicture) parse(m meter, s string) (float64, error) {
	switch p.kind {
	case integerDecimal:
		return p.parseDecimalText(m, s)
	case integerLetters:
		return parseLetters(s, p.letters), nil
	case integerRoman:
		if p.letters == lowerCase {
			s = strings.ToUpper(s)
		}
		return parseRoman(s), nil
	case integerWords:
		return parseWords(s), nil
	}
	return 0, unknownPicture()
}

func (p *integerPicture) parseDecimalText(m meter, s string) (float64, error) {
	if p.ordinal {
		units := toUnits(s)
		s = unitsToString(units[:max(0, len(units)-2)])
	}
	if p.regular > 0 {
		s = strings.ReplaceAll(s, ",", "") // whatever the separator, as in jsonata-js
	} else {
		if err := m.step(len(p.separators) * (1 + len(s)/64)); err != nil {
			return 0, err
		}
		for _, sep := range p.separators {
			s = strings.ReplaceAll(s, string(sep.char), "")
		}
	}
	if p.zero != '0' {
		var b strings.Builder
		for _, r := range s {
			r -= p.zero - '0'
			if r < 0 {
				return 0, newError("D3137", "the text has characters that are no digits of the picture")
			}
			b.WriteRune(r)
		}
		s = b.String()
	}
	return leadingInteger(s), nil
}

// leadingInteger is JavaScript's parseInt.
func leadingInteger(s string) float64 {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r <= 0xffff && inRanges(reSpace, uint16(r)) })
	sign := 1.0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	base := 10
	if len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		base, s = 16, s[2:]
	}
	n := 0
	for n < len(s) && hexDigit(int(s[n])) >= 0 && hexDigit(int(s[n])) < base {
		n++
	}
	if n == 0 {
		return math.NaN()
	}
	if base == 16 {
		s, n = "0x"+s[:n]+"p0", n+4
	}
	v, err := strconv.ParseFloat(s[:n], 64)
	if err != nil && !math.IsInf(v, 0) {
		return math.NaN()
	}
	return sign * v
}

func parseLetters(s string, letters letterCase) float64 {
	first := 'a'
	if letters == upperCase {
		first = 'A'
	}
	total := 0.0
	units := toUnits(s)
	for i, u := range slices.Backward(units) {
		total += float64(rune(u)-first+1) * pow(26, float64(len(units)-1-i))
	}
	return total
}

func parseRoman(s string) float64 {
	total, highest := 0.0, 0.0
	for _, c := range slices.Backward([]byte(s)) {
		i := strings.IndexByte("MDCLXVI", c)
		if i < 0 {
			return math.NaN()
		}
		v := []float64{1000, 500, 100, 50, 10, 5, 1}[i]
		if v < highest {
			total -= v
		} else {
			total += v
			highest = v
		}
	}
	return total
}

// parseWords adds up a number in English words. The parts of the sum are kept
// apart from a thousand on: "two million, three hundred thousand" is 2 million
// and 3, of which "hundred" and "thousand" multiply only the latter.
func parseWords(s string) float64 {
	parts := []float64{0}
	for _, word := range splitWords(strings.ToLower(s)) {
		value, ok := wordValues[word]
		if !ok {
			return math.NaN()
		}
		top := &parts[len(parts)-1]
		switch {
		case value >= 100:
			*top *= value
		case *top >= 1000:
			parts = append(parts, value)
		default:
			*top += value
		}
	}
	total := 0.0
	for _, part := range parts {
		total += part
	}
	return total
}

// splitWords splits at a comma and a space, at "and" between spaces, at a
// space and at a hyphen.
func splitWords(s string) []string {
	isSpace := func(i int) (int, bool) {
		for n, r := range s[i:] {
			if n > 0 {
				return n, true
			}
			if r > 0xffff || !inRanges(reSpace, uint16(r)) {
				return 0, false
			}
		}
		return len(s) - i, i < len(s)
	}
	var words []string
	start := 0
	for i := 0; i < len(s); {
		width := 0
		if n, ok := isSpace(i); ok {
			width = n
			if strings.HasPrefix(s[i+n:], "and") {
				if after, ok := isSpace(i + n + 3); ok {
					width = n + 3 + after
				}
			}
		} else if s[i] == '-' {
			width = 1
		} else if s[i] == ',' {
			if n, ok := isSpace(i + 1); ok {
				width = 1 + n
			}
		}
		if width == 0 {
			i++
			continue
		}
		words = append(words, s[start:i])
		i += width
		start = i
	}
	return append(words, s[start:])
}
