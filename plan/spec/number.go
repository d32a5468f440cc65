package spec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A number of a plan is kept as it is written, since it can be a code: a postal code, a
// telephone number, a version. JavaScript has floating-point numbers alone, so that a
// number can come back as another text.

// isNumber reports whether a text is a number of JSON.
func isNumber(text string) bool {
	var number json.Number
	return text != "" && text[0] != '"' && json.Unmarshal([]byte(text), &number) == nil
}

// isEndless reports whether a text is one of YAML's numbers that are none of JSON.
func isEndless(text string) bool {
	name := strings.ToLower(strings.TrimLeft(text, "+-"))
	return name == ".inf" || name == ".nan"
}

// comesBack reports whether a number is the same text when JavaScript has read it.
func comesBack(n json.Number) bool {
	text, ok := throughFloat(n)
	return ok && text == string(n)
}

// throughFloat is a number as JavaScript writes it. It is false when the number is too large.
func throughFloat(n json.Number) (string, bool) {
	f, err := n.Float64()
	if err != nil {
		return "", false
	}
	text, err := json.Marshal(f)
	return string(text), err == nil
}

// keepsValue reports whether a number is the same number when JavaScript has read it, however it
// is written then: 1.10 is, 9007199254740993 is not.
func keepsValue(n json.Number) bool {
	text, ok := throughFloat(n)
	return ok && sameNumber(text, string(n))
}

// sameNumber compares the digits of two numbers of JSON and where their points are.
func sameNumber(a, b string) bool {
	digitsOfA, pointOfA := digits(a)
	digitsOfB, pointOfB := digits(b)
	return digitsOfA == digitsOfB && pointOfA == pointOfB
}

// digits are the sign and the digits of a number without zeros around them, and how many of
// them stand before the point.
func digits(number string) (text string, point int) {
	sign := ""
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		number = rest
		sign = "-"
	}
	number, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(number, ".")
	text = whole + fraction
	point = len(whole) + exponentOf(exponent)
	trimmed := strings.TrimLeft(text, "0")
	point -= len(text) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return "0", 0
	}
	return sign + trimmed, point
}

// exponentOf reads an exponent. One that no floating-point number has is as good as any other.
func exponentOf(text string) int {
	const beyond = 100_000
	negative := strings.HasPrefix(text, "-")
	n := 0
	for _, digit := range strings.TrimLeft(text, "+-") {
		n = min(n*10+int(digit-'0'), beyond)
	}
	if negative {
		return -n
	}
	return n
}

// kept makes texts of the numbers in a value that are other numbers in JavaScript.
func kept(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !keepsValue(v) {
			return string(v)
		}
	case []any:
		for i := range v {
			v[i] = kept(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = kept(v[name])
		}
	}
	return v
}

// keepNumbers is kept of all values in which a plan gives something to a page.
func (p *Plan) keepNumbers() {
	kept(p.Vars)
	if p.Data != nil {
		keepRows(p.Data.Rows)
	}
	eachStep(p.Steps, func(s *Step) {
		kept(s.Args)
		if s.ForEach != nil {
			s.ForEach.In = kept(s.ForEach.In)
		}
	})
}

func keepRows(rows []map[string]any) {
	for _, row := range rows {
		kept(row)
	}
}

// decode reads JSON and leaves numbers as they are written.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// Reworded reports whether a number in the arguments would come back as another text.
func Reworded(arguments any) bool {
	switch v := arguments.(type) {
	case json.Number:
		return !comesBack(v)
	case []any:
		if slices.ContainsFunc(v, Reworded) {
			return true
		}
	case map[string]any:
		for name := range v {
			if Reworded(v[name]) {
				return true
			}
		}
	}
	return false
}

// Fit gives arguments to a schema: a number that would come back as another text is a number
// where the schema declares one, else the text as it is written.
func Fit(arguments, schema any) any {
	s, _ := schema.(map[string]any)
	switch v := arguments.(type) {
	case json.Number:
		if !comesBack(v) && !takesNumber(s) {
			return string(v)
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Fit(v[i], s["items"])
		}
		return out
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		out := make(map[string]any, len(v))
		for name := range v {
			of, declared := properties[name]
			if !declared {
				of = s["additionalProperties"]
			}
			out[name] = Fit(v[name], of)
		}
		return out
	}
	return arguments
}

// takesNumber reports whether a schema declares a number.
func takesNumber(schema map[string]any) bool {
	switch declared := schema["type"].(type) {
	case string:
		return declared == "number" || declared == "integer"
	case []any:
		for _, one := range declared {
			if one == "number" || one == "integer" {
				return true
			}
		}
	}
	for _, combined := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := schema[combined].([]any)
		for _, one := range list {
			if s, ok := one.(map[string]any); ok && takesNumber(s) {
				return true
			}
		}
	}
	return false
}
