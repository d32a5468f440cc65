package arguments

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Coordinate is a number, or a string that JavaScript would read as one. Absent,
// null and blank are no coordinate: an expression that gave nothing must not
// become the corner of the page.
type Coordinate struct {
	Given bool
	Value float64 // NaN for a string that is no number
	raw   json.RawMessage
}

func (c *Coordinate) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	*c = Coordinate{raw: bytes.Clone(b)}
	if string(b) == "null" {
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		s = strings.TrimSpace(s)
		if s == "" {
			return nil
		}
		c.Given, c.Value = true, numberOf(s)
		return nil
	}
	c.Given = true
	return json.Unmarshal(b, &c.Value)
}

// MarshalJSON returns what was given, for evidence.
func (c Coordinate) MarshalJSON() ([]byte, error) {
	if len(c.raw) == 0 {
		return []byte("null"), nil
	}
	return c.raw, nil
}

// numberOf is JavaScript's Number of a trimmed, non-blank string, without its
// binary and octal forms.
func numberOf(s string) float64 {
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		if n, err := strconv.ParseUint(hex, 16, 53); err == nil {
			return float64(n)
		}
		return math.NaN()
	}
	if strings.ContainsAny(s, "xXpP_nN") && s != "Infinity" && s != "-Infinity" && s != "+Infinity" {
		return math.NaN() // what Go reads as a number and JavaScript does not
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// Finite returns the value for the page library, nil when JSON cannot carry it.
func (c Coordinate) Finite() any {
	if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
		return nil
	}
	return c.Value
}

// FiniteOrZero is the value, 0 when none was given, nil when it is not finite.
func (c Coordinate) FiniteOrZero() any {
	if !c.Given {
		return 0.0
	}
	return c.Finite()
}

func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
