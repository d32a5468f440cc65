package expr

import (
	"bytes"
	"strconv"
)

// Truthy reports whether v counts as true for when, retry_until and
// postconditions. It is the truth of JavaScript, not of JSONata: false, null,
// undefined, 0 and "" are false; everything else is true, so are the string
// "false", [] and {}.
func Truthy(v Value) bool {
	if v.Undefined {
		return false
	}
	text := bytes.TrimSpace(v.JSON)
	if len(text) == 0 {
		return false
	}
	switch text[0] {
	case 'f', 'n': // false, null
		return false
	case '"':
		return len(text) > 2
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		f, err := strconv.ParseFloat(string(text), 64)
		// A number too large for a float64 is Infinity in JavaScript.
		return err != nil || f != 0
	}
	return true
}
