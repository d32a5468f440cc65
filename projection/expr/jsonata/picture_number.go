package jsonata

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// decimalFormat holds the characters of a number picture. They are UTF-16
// units as everywhere in JavaScript strings; a property of more than one unit
// is found as text but never counts as an active character.
type decimalFormat struct {
	decimal, grouping, exponent, minus, percent, perMille, digit, separator []uint16
	zero                                                                    uint16
}

func newDecimalFormat(options map[string]string) decimalFormat {
	get := func(name, otherwise string) []uint16 {
		if v, ok := options[name]; ok {
			return toUnits(v)
		}
		return toUnits(otherwise)
	}
	f := decimalFormat{
		decimal:   get("decimal-separator", "."),
		grouping:  get("grouping-separator", ","),
		exponent:  get("exponent-separator", "e"),
		minus:     get("minus-sign", "-"),
		percent:   get("percent", "%"),
		perMille:  get("per-mille", "‰"),
		digit:     get("digit", "#"),
		separator: get("pattern-separator", ";"),
	}
	if zero := get("zero-digit", "0"); len(zero) > 0 {
		f.zero = zero[0]
	}
	return f
}

func isUnit(text []uint16, u uint16) bool { return len(text) == 1 && text[0] == u }

// isDigit reports whether u is one of the ten digits.
func (f *decimalFormat) isDigit(u uint16) bool { return u-f.zero < 10 }

// active reports whether a character of the picture stands for a part of the
// number rather than for itself.
func (f *decimalFormat) active(u uint16) bool {
	return f.isDigit(u) || isUnit(f.decimal, u) || isUnit(f.grouping, u) || isUnit(f.digit, u) || isUnit(f.exponent, u)
}

func indexUnits(s, sep []uint16, from int) int {
	for i := max(from, 0); i+len(sep) <= len(s); i++ {
		if slices.Equal(s[i:i+len(sep)], sep) {
			return i
		}
	}
	return -1
}

func lastIndexUnits(s, sep []uint16) int {
	for i := len(s) - len(sep); i >= 0; i-- {
		if slices.Equal(s[i:i+len(sep)], sep) {
			return i
		}
	}
	return -1
}

func splitUnits(s, sep []uint16) [][]uint16 {
	var parts [][]uint16
	if len(sep) == 0 {
		for i := range s {
			parts = append(parts, s[i:i+1])
		}
		return parts
	}
	for {
		i := indexUnits(s, sep, 0)
		if i < 0 {
			return append(parts, s)
		}
		parts = append(parts, s[:i])
		s = s[i+len(sep):]
	}
}

// subPicture is the picture for positive or negative numbers, taken apart as
// in section 4.7.4 of XPath Functions and Operators 3.1.
type subPicture struct {
	text           []uint16
	prefix, suffix []uint16
	mantissa       []uint16
	integer        []uint16
	fraction       []uint16
	exponent       []uint16
	hasExponent    bool
	active         []uint16

	integerGroups, fractionGroups []int // positions of the separators
	regular                       int   // size of the groups, 0 when irregular
	minInteger, scaling           int
	minFraction, maxFraction      int
	minExponent                   int
}

func (f *decimalFormat) parse(text []uint16) *subPicture {
	p := &subPicture{text: text}
	solid := func(u uint16) bool { return f.active(u) && !isUnit(f.exponent, u) }
	first := slices.IndexFunc(text, solid)
	if first < 0 {
		p.active = text
	} else {
		last := len(text) - 1
		for !solid(text[last]) {
			last--
		}
		p.prefix = text[:first]
		p.active = text[first : last+1]
		p.suffix = text[last+1:]
	}
	mantissa := p.active
	// jsonata-js applies the position in the whole text to the part without its
	// prefix, so with a prefix an exponent is hardly ever valid.
	if at := indexUnits(text, f.exponent, len(p.prefix)); at >= 0 && at <= len(text)-len(p.suffix) {
		p.hasExponent = true
		mantissa = p.active[:min(at, len(p.active))]
		p.exponent = p.active[min(at+1, len(p.active)):]
	}
	p.mantissa = mantissa
	p.integer = mantissa
	p.fraction = p.suffix
	if at := indexUnits(mantissa, f.decimal, 0); at >= 0 {
		p.integer = mantissa[:at]
		p.fraction = mantissa[at+1:]
	}
	return p
}

// check returns the code of what is wrong with a sub-picture. When several
// things are, jsonata-js reports the last.
func (f *decimalFormat) check(p *subPicture) string {
	code := ""
	twice := func(s []uint16) bool { return indexUnits(p.text, s, 0) != lastIndexUnits(p.text, s) }
	has := func(s []uint16) bool { return indexUnits(p.text, s, 0) >= 0 }
	optional := func(u uint16) bool { return isUnit(f.digit, u) }

	if twice(f.decimal) {
		code = "D3081"
	}
	if twice(f.percent) {
		code = "D3082"
	}
	if twice(f.perMille) {
		code = "D3083"
	}
	if has(f.percent) && has(f.perMille) {
		code = "D3084"
	}
	if !slices.ContainsFunc(p.mantissa, func(u uint16) bool { return f.isDigit(u) || optional(u) }) {
		code = "D3085"
	}
	if slices.ContainsFunc(p.active, func(u uint16) bool { return !f.active(u) }) {
		code = "D3086"
	}
	if at := indexUnits(p.text, f.decimal, 0); at >= 0 {
		if at > 0 && isUnit(f.grouping, p.text[at-1]) || at+1 < len(p.text) && isUnit(f.grouping, p.text[at+1]) {
			code = "D3087"
		}
	} else if n := len(p.integer); n > 0 && isUnit(f.grouping, p.integer[n-1]) {
		code = "D3088"
	}
	if has(append(slices.Clone(f.grouping), f.grouping...)) {
		code = "D3089"
	}
	// Only the optional digit nearest to the edge counts, so "#0#" passes.
	if at := slices.IndexFunc(p.integer, optional); at >= 0 && slices.ContainsFunc(p.integer[:at], f.isDigit) {
		code = "D3090"
	}
	if at := lastIndexUnits(p.fraction, f.digit); at >= 0 && slices.ContainsFunc(p.fraction[at:], f.isDigit) {
		code = "D3091"
	}
	if p.hasExponent && len(p.exponent) > 0 && (has(f.percent) || has(f.perMille)) {
		code = "D3092"
	}
	if p.hasExponent &&
		(len(p.exponent) == 0 || slices.ContainsFunc(p.exponent, func(u uint16) bool { return !f.isDigit(u) })) {
		code = "D3093"
	}
	return code
}

// analyse derives the variables of section 4.7.4.
func (f *decimalFormat) analyse(p *subPicture) {
	optional := func(u uint16) bool { return isUnit(f.digit, u) }
	counts := func(part []uint16) (digits, all int) {
		for _, u := range part {
			if f.isDigit(u) {
				digits++
				all++
			} else if optional(u) {
				all++
			}
		}
		return digits, all
	}
	for i, u := range p.integer {
		if isUnit(f.grouping, u) {
			_, after := counts(p.integer[i:])
			p.integerGroups = append(p.integerGroups, after)
		}
	}
	p.regular = regularGroups(p.integerGroups)
	// jsonata-js looks for the first separator in the fraction, but for the
	// others in the integer part.
	for i, part := -1, p.fraction; ; part = p.integer {
		i = indexUnits(part, f.grouping, i+1)
		if i < 0 {
			break
		}
		_, before := counts(p.fraction[:min(i, len(p.fraction))])
		p.fractionGroups = append(p.fractionGroups, before)
	}
	p.minInteger, _ = counts(p.integer)
	p.scaling = p.minInteger
	p.minFraction, p.maxFraction = counts(p.fraction)
	if p.minInteger == 0 && p.maxFraction == 0 {
		if p.hasExponent {
			p.minFraction, p.maxFraction = 1, 1
		} else {
			p.minInteger = 1
		}
	}
	if p.hasExponent && p.minInteger == 0 && slices.ContainsFunc(p.integer, optional) {
		p.minInteger = 1
	}
	if p.minInteger == 0 && p.minFraction == 0 {
		p.minFraction = 1
	}
	p.minExponent, _ = counts(p.exponent)
}

// regularGroups returns the size of groups that all have the same size, or 0.
func regularGroups(positions []int) int {
	size := 0
	for _, p := range positions {
		size = gcd(size, p)
	}
	for i := range positions {
		if !slices.Contains(positions, (i+1)*size) {
			return 0
		}
	}
	return size
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// formatNumber formats a number with a picture of XPath's fn:format-number.
// Options are the decimal format properties by name.
func formatNumber(m meter, value float64, picture string, options map[string]string) (string, error) {
	total := 0
	for _, text := range options {
		total += len(text)
	}
	if err := m.step((1 + len(picture)) * (1 + total/128)); err != nil {
		return "", err
	}
	if err := m.alloc(4 * (len(picture) + total)); err != nil {
		return "", err
	}
	f := newDecimalFormat(options)
	units := toUnits(picture)
	parts := splitUnits(units, f.separator)
	if len(parts) > 2 {
		return "", newError("D3080", "the picture of formatNumber has more than two sub-pictures")
	}
	var pictures []*subPicture
	for _, part := range parts {
		p := f.parse(part)
		if code := f.check(p); code != "" {
			return "", newError(code, "the picture of formatNumber is not valid")
		}
		pictures = append(pictures, p)
	}
	if len(pictures) == 0 {
		return "", newError("D3085", "the picture of formatNumber is not valid")
	}
	p, negate := pictures[0], false
	if value < 0 {
		if len(pictures) == 2 {
			p = pictures[1]
		} else {
			negate = true
		}
	}
	// Every separator may cost a pass over the number.
	groups := 1
	for _, u := range p.active {
		if isUnit(f.grouping, u) {
			groups++
		}
	}
	if err := m.step(groups * (len(p.active)/8 + 1)); err != nil {
		return "", err
	}
	f.analyse(p)
	if err := m.alloc(4 * (len(units) + p.minInteger + p.maxFraction + 32)); err != nil {
		return "", err
	}
	out := f.format(p, value)
	if negate {
		out = append(slices.Clone(f.minus), out...)
	}
	return unitsToString(out), nil
}

func (f *decimalFormat) format(p *subPicture, value float64) []uint16 {
	if indexUnits(p.text, f.percent, 0) >= 0 {
		value *= 100
	} else if indexUnits(p.text, f.perMille, 0) >= 0 {
		value *= 1000
	}
	mantissa, exponent := value, 0
	if p.hasExponent && value != 0 && !math.IsInf(value, 0) {
		high, low := pow(10, float64(p.scaling)), pow(10, float64(p.scaling-1))
		for math.Abs(mantissa) < low && exponent > -1000 {
			mantissa *= 10
			exponent--
		}
		for math.Abs(mantissa) > high && exponent < 1000 {
			mantissa /= 10
			exponent++
		}
	}
	text := f.digits(math.Abs(roundHalfEven(mantissa, p.maxFraction)), p.maxFraction)
	point := indexUnits(text, f.decimal, 0)
	if point < 0 {
		text = append(text, f.decimal...)
	}
	for len(text) > 0 && text[0] == f.zero {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] == f.zero {
		text = text[:len(text)-1]
	}
	point = max(indexUnits(text, f.decimal, 0), 0)
	zeros := func(n int) []uint16 { return slices.Repeat([]uint16{f.zero}, max(n, 0)) }
	text = slices.Concat(zeros(p.minInteger-point), text, zeros(p.minFraction-(len(text)-point-1)))

	point = max(indexUnits(text, f.decimal, 0), 0)
	if p.regular > 0 {
		size := (point - 1) / p.regular
		for g := 1; g <= size; g++ {
			text = slices.Insert(text, point-g*p.regular, f.grouping...)
		}
	} else {
		for _, g := range p.integerGroups {
			at := point - g
			if at < 0 { // beyond the first digit: counted from the end
				at = max(0, len(text)+at)
			}
			text = slices.Insert(text, at, f.grouping...)
			point++
		}
	}
	point = max(indexUnits(text, f.decimal, 0), 0)
	for _, g := range p.fractionGroups {
		text = slices.Insert(text, min(point+g+1, len(text)), f.grouping...)
	}
	point = indexUnits(text, f.decimal, 0)
	if indexUnits(p.active, f.decimal, 0) < 0 || point == len(text)-1 {
		text = text[:len(text)-1]
	}
	out := append(slices.Clone(p.prefix), text...)
	if p.hasExponent {
		digits := f.digits(math.Abs(float64(exponent)), 0)
		out = append(out, f.exponent...)
		if exponent < 0 {
			out = append(out, f.minus...)
		}
		out = append(out, zeros(p.minExponent-len(digits))...)
		out = append(out, digits...)
	}
	return append(out, p.suffix...)
}

// digits writes a number with a fixed number of decimals and the digits and
// decimal separator of the format. Like JavaScript's toFixed it resorts to an
// exponent from 1e21 on.
func (f *decimalFormat) digits(value float64, decimals int) []uint16 {
	var text string
	if value < 1e21 {
		text = fixedText(value, decimals)
	} else {
		text = numberText(value)
	}
	out := make([]uint16, 0, len(text))
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			out = append(out, f.zero+uint16(c-'0'))
		case c == '.':
			out = append(out, f.decimal...)
		default:
			out = append(out, uint16(c))
		}
	}
	return out
}

// fixedText is JavaScript's toFixed: of two equally near decimals it takes the
// larger.
func fixedText(value float64, decimals int) string {
	if t := strconv.FormatFloat(value, 'f', decimals+1, 64); t[len(t)-1] == '5' {
		var exact, tie big.Rat
		if _, ok := tie.SetString(t); ok && exact.SetFloat64(value) != nil && exact.Cmp(&tie) == 0 {
			value = math.Nextafter(value, math.Inf(1))
		}
	}
	return strconv.FormatFloat(value, 'f', decimals, 64)
}

// numberText writes a number as JavaScript's String does.
func numberText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+") + "inity"
	}
	if v == 0 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}

// roundHalfEven rounds the decimal text of a number, as $round does: 1.005 is
// halfway between 1.00 and 1.01, although its binary value is not.
func roundHalfEven(v float64, decimals int) float64 {
	v = shiftDecimal(v, decimals)
	rounded := math.Floor(v)
	if v-rounded >= 0.5 {
		rounded++
	}
	if rounded-v == 0.5 && math.Mod(rounded, 2) != 0 {
		rounded--
	}
	return shiftDecimal(rounded, -decimals)
}

// shiftDecimal multiplies by a power of ten without a rounding error of its own.
func shiftDecimal(v float64, by int) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return v
	}
	shifted, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+by), 64)
	if err != nil && !math.IsInf(shifted, 0) {
		return v
	}
	return shifted
}
