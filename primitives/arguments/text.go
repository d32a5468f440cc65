package arguments

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Text is a string argument that also accepts numbers and booleans: an
// expression in a map gives a number where the author thinks of text.
type Text string

func (t *Text) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	if string(b) == "true" || string(b) == "false" {
		*t = Text(b)
		return nil
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*t = Text(numberText(f))
	return nil
}

// numberText writes a number as JavaScript's String does.
func numberText(f float64) string {
	if a := max(f, -f); a != 0 && (a < 1e-6 || a >= 1e21) {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		// Go pads the exponent to two digits, JavaScript does not.
		mantissa, exponent, _ := strings.Cut(s, "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
