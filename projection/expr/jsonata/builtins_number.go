package jsonata

import (
	"math"
	"strconv"
	"strings"
)

// elements is what an array parameter holds; a value that slipped past the
// signature (through a partial application) counts as an array of one.
func elements(v value) []value {
	if v.isArray() {
		return v.arr().items
	}
	if v.isUndefined() {
		return nil
	}
	return []value{v}
}

func fnSum(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	items := elements(args[0])
	total := 0.0
	for _, v := range items {
		if v.isNumber() {
			total += v.num()
		}
	}
	return numberValue(total), ev.step(len(items) >> 2)
}

func fnCount(_ *evaluator, args []value, _ value) (value, error) {
	return numberValue(float64(len(elements(args[0])))), nil
}

func fnMax(ev *evaluator, args []value, _ value) (value, error) {
	return extreme(ev, args[0], math.Inf(-1), math.Max)
}

func fnMin(ev *evaluator, args []value, _ value) (value, error) {
	return extreme(ev, args[0], math.Inf(1), math.Min)
}

func extreme(ev *evaluator, v value, start float64, pick func(a, b float64) float64) (value, error) {
	items := elements(v)
	if len(items) == 0 {
		return undefined, nil
	}
	for _, it := range items {
		if it.isNumber() {
			start = pick(start, it.num())
		}
	}
	return numberValue(start), ev.step(len(items) >> 2)
}

func fnAverage(ev *evaluator, args []value, _ value) (value, error) {
	items := elements(args[0])
	if len(items) == 0 {
		return undefined, nil
	}
	total := 0.0
	for _, v := range items {
		if v.isNumber() {
			total += v.num()
		}
	}
	return numberValue(total / float64(len(items))), ev.step(len(items) >> 2)
}

func numeric(f func(float64) float64) func(*evaluator, []value, value) (value, error) {
	return func(_ *evaluator, args []value, _ value) (value, error) {
		if !args[0].isNumber() {
			return undefined, nil
		}
		return numberValue(f(args[0].num())), nil
	}
}

var (
	fnFloor = numeric(math.Floor)
	fnCeil  = numeric(math.Ceil)
	fnAbs   = numeric(math.Abs)
)

func fnSqrt(_ *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() {
		return undefined, nil
	}
	f := args[0].num()
	if f < 0 {
		return undefined, newError("D3060", "the square root of a negative number does not exist")
	}
	return numberValue(math.Sqrt(f)), nil
}

func fnPower(_ *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() || !args[1].isNumber() {
		if args[0].isUndefined() {
			return undefined, nil
		}
		return undefined, newError("D3061", "the power is not a number")
	}
	f := pow(args[0].num(), args[1].num())
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return undefined, newError("D3061", "the power is not a representable number")
	}
	return numberValue(f), nil
}

// fnRound rounds halves to even. The decimal point is moved in the number's
// text, because a multiplication would add errors of its own.
func fnRound(_ *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() {
		return undefined, nil
	}
	f, digits := args[0].num(), 0.0
	if len(args) > 1 && args[1].isNumber() {
		digits = args[1].num()
	}
	if digits != 0 {
		f = movePoint(f, digits)
	}
	r := jsRound(f)
	if diff := r - f; math.Abs(diff) == 0.5 && math.Abs(math.Mod(r, 2)) == 1 {
		r--
	}
	if digits != 0 {
		r = movePoint(r, -digits)
	}
	if r == 0 {
		r = 0 // drop the sign of zero
	}
	return numberValue(r), nil
}

// jsRound is Math.round: halves go up.
func jsRound(f float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) || math.Abs(f) >= 1<<52 {
		return f
	}
	r := math.Floor(f)
	if f-r >= 0.5 {
		r++
	}
	return r
}

func movePoint(f, by float64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return math.NaN()
	}
	mantissa, exp := formatJSNumber(f), 0.0
	if digits, power, ok := strings.Cut(mantissa, "e"); ok {
		e, _ := strconv.Atoi(power)
		exp, mantissa = float64(e), digits
	}
	e := exp + by
	if e != math.Trunc(e) {
		return math.NaN()
	}
	r, _ := strconv.ParseFloat(mantissa+"e"+strconv.FormatFloat(e, 'f', -1, 64), 64)
	return r
}

func fnRandom(ev *evaluator, _ []value, _ value) (value, error) {
	return numberValue(ev.random()), nil
}

func fnNumber(ev *evaluator, args []value, _ value) (value, error) {
	v := args[0]
	switch v.kind() {
	case kUndefined:
		return undefined, nil
	case kNumber:
		return v, nil
	case kBool:
		if v.bool() {
			return numberValue(1), nil
		}
		return numberValue(0), nil
	case kString:
		s := v.str()
		if err := ev.step(len(s) >> 5); err != nil {
			return undefined, err
		}
		if plainNumber(s) {
			if f := parseDecimal(s); !math.IsInf(f, 0) {
				return numberValue(f), nil
			}
		}
		if f, ok := parseRadix(s); ok {
			return numberValue(f), nil
		}
	}
	return undefined, newError("D3030", "the value cannot be cast to a number")
}

// plainNumber accepts decimal text, leading zeros included.
func plainNumber(s string) bool {
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		s = s[1:]
	}
	for len(s) > 1 && s[0] == '0' && isDigit(s[1]) {
		s = s[1:]
	}
	return len(s) > 0 && s[0] != '-' && scanNumber(s) == len(s)
}

// parseRadix reads 0x, 0o and 0b numbers.
func parseRadix(s string) (float64, bool) {
	if len(s) < 3 || s[0] != '0' {
		return 0, false
	}
	base := 0.0
	switch s[1] {
	case 'x', 'X':
		base = 16
	case 'o', 'O':
		base = 8
	case 'b', 'B':
		base = 2
	default:
		return 0, false
	}
	if len(s) <= 14 {
		n, err := strconv.ParseUint(s[2:], int(base), 64)
		return float64(n), err == nil && s[2] != '+' && !strings.Contains(s, "_")
	}
	for i := 2; i < len(s); i++ {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if isDigit(s[i]) {
			d = int(s[i] - '0')
		}
		if d < 0 || float64(d) >= base {
			return 0, false
		}
	}
	digits := s[2:]
	bits := map[float64]int{16: 4, 8: 3, 2: 1}[base]
	// ParseFloat rounds a binary mantissa correctly.
	hex := "0x" + toHex(digits, bits) + "p0"
	f, err := strconv.ParseFloat(hex, 64)
	return f, err == nil
}

// toHex regroups binary or octal digits into hexadecimal ones.
func toHex(digits string, bits int) string {
	if bits == 4 {
		return digits
	}
	var out []byte
	acc, n := 0, 0
	for i := len(digits) - 1; i >= 0; i-- {
		acc |= int(digits[i]-'0') << n
		n += bits
		for n >= 4 {
			out = append(out, "0123456789abcdef"[acc&15])
			acc, n = acc>>4, n-4
		}
	}
	out = append(out, "0123456789abcdef"[acc&15])
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func fnFormatBase(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() {
		return undefined, nil
	}
	r, err := fnRound(ev, args[:1], undefined)
	if err != nil {
		return undefined, err
	}
	radix := 10.0
	if len(args) > 1 && args[1].isNumber() {
		rr, _ := fnRound(ev, args[1:2], undefined)
		radix = rr.num()
	}
	if radix < 2 || radix > 36 || math.IsNaN(radix) {
		return undefined, newError("D3100", "the radix must be between 2 and 36")
	}
	f := r.num()
	if radix == 10 || math.IsInf(f, 0) || math.IsNaN(f) {
		return ev.text(formatJSNumber(f))
	}
	return ev.text(integerText(f, radix))
}

// integerText writes an integer in a radix as V8 does: digits far beyond 2^53 are
// divided away and written as zeros.
func integerText(f, radix float64) string {
	neg := f < 0
	f = math.Abs(f)
	var out []byte
	for f/radix >= 1<<53 {
		f /= radix
		out = append(out, '0')
	}
	for {
		rest := math.Mod(f, radix)
		out = append(out, "0123456789abcdefghijklmnopqrstuvwxyz"[int(rest)])
		f = (f - rest) / radix
		if f <= 0 {
			break
		}
	}
	if neg {
		out = append(out, '-')
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func fnFormatNumber(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() {
		return undefined, nil
	}
	var options map[string]string
	if len(args) > 2 && args[2].isObject() {
		o := args[2].obj()
		options = make(map[string]string, o.len())
		for i, k := range o.sh.keys {
			s, err := ev.stringify(o.vals[i], false)
			if err != nil {
				return undefined, err
			}
			options[k] = s
		}
	}
	s, err := formatNumber(ev, args[0].num(), textOf(args[1]), options)
	if err != nil {
		return undefined, err
	}
	return ev.text(s)
}

// textOf is a string argument, or "" when it is missing.
func textOf(v value) string {
	if v.isString() {
		return v.str()
	}
	return ""
}

func fnFormatInteger(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() {
		return undefined, nil
	}
	s, err := formatInteger(ev, args[0].num(), textOf(args[1]))
	if err != nil {
		return undefined, err
	}
	return ev.text(s)
}

func fnParseInteger(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	f, ok, err := parseInteger(ev, args[0].str(), textOf(args[1]))
	if err != nil || !ok {
		return undefined, err
	}
	return numberValue(f), nil
}
