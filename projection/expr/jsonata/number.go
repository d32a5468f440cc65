package jsonata

import (
	"math"
	"strconv"
)

// appendNumber writes f as JavaScript's Number.prototype.toString does:
// shortest digits that read back, plain notation from 1e-6 up to 1e21.
func appendNumber(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(dst, int64(f), 10) // also turns -0 into 0
	}
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go pads the exponent to two digits.
	for i := len(dst) - 1; i > from; i-- {
		if dst[i] == 'e' {
			if i+2 < len(dst)-1 && dst[i+2] == '0' {
				dst = append(dst[:i+2], dst[i+3:]...)
			}
			break
		}
	}
	return dst
}

func formatJSNumber(f float64) string {
	var buf [32]byte
	return string(appendNumber(buf[:0], f))
}

// precision15 rounds a number that is not an integer to 15 significant digits,
// ties away from zero, as Number(f.toPrecision(15)) does.
func precision15(f float64) float64 {
	if f == math.Trunc(f) || math.IsNaN(f) {
		return f
	}
	var buf [64]byte
	if short := strconv.AppendFloat(buf[:0], f, 'e', -1, 64); mantissaDigits(short) <= 15 {
		return f
	}
	cut := strconv.AppendFloat(buf[:0], f, 'e', 14, 64)
	r, _ := strconv.ParseFloat(string(cut), 64)
	// Go breaks an exact tie to even; look whether this is one.
	long := strconv.FormatFloat(math.Abs(f), 'e', 60, 64)
	digits := long[0:1] + long[2:62]
	if digits[15] == '5' && allZero(digits[16:]) && (digits[14]-'0')%2 == 0 {
		up := digits[:1] + "." + digits[1:14] + string(digits[14]+1) + long[62:]
		r, _ = strconv.ParseFloat(up, 64)
		if f < 0 {
			r = -r
		}
	}
	return r
}

func mantissaDigits(e []byte) int {
	n := 0
	for _, c := range e {
		switch {
		case c == 'e':
			return n
		case c >= '0' && c <= '9':
			n++
		}
	}
	return n
}

func allZero(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '0' {
			return false
		}
	}
	return true
}

// scanNumber returns the length of the longest JSON number at the start of s,
// 0 if there is none. A leading minus is part of it.
func scanNumber(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	switch {
	case i < len(s) && s[i] == '0':
		i++
	case i < len(s) && s[i] >= '1' && s[i] <= '9':
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	default:
		return 0
	}
	if i+1 < len(s) && s[i] == '.' && isDigit(s[i+1]) {
		i += 2
		for i < len(s) && isDigit(s[i]) {
			i++
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			i = j
		}
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseDecimal reads a number that scanNumber accepted. Out of range values
// become infinities, as in JavaScript.
func parseDecimal(s string) float64 {
	if len(s) < 16 {
		n := int64(0)
		ok := true
		neg := false
		for i := 0; i < len(s); i++ {
			if i == 0 && s[i] == '-' {
				neg = true
				continue
			}
			if !isDigit(s[i]) {
				ok = false
				break
			}
			n = n*10 + int64(s[i]-'0')
		}
		if ok {
			if neg {
				return -float64(n)
			}
			return float64(n)
		}
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}
