package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/outrider-run/outrider/primitives/schema"
)

// A schema that has seen many values must judge each like a fresh one.
func TestAShapeThatPassedDecidesNothingElse(t *testing.T) {
	schemas := []string{
		`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"},"b":{"type":["string","null"]},"c":{"type":"array","items":{"type":"number"},"maxItems":2}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"enum":[1,"x",null]},"b":{"type":"string","maxLength":2},"c":{"type":"number","minimum":1}}}`,
		`{"anyOf":[{"type":"object","required":["b"]},{"type":"array","items":{"$ref":"#/$defs/n"}}],"$defs":{"n":{"type":"integer"}}}`,
		`{"type":"object","properties":{"a":{"not":{"type":"string"}},"b":{"const":"x"}}}`,
		`{"type":"object","properties":{"a":{"enum":["x","xyz"]},"b":{"type":"string"},"c":{"enum":[{"a":"x"},["xyz"],"\"\\"]}}}`,
		`{"type":"array","uniqueItems":true,"items":{"type":["integer","string","boolean"]}}`,
	}
	r := rand.New(rand.NewPCG(3, 4))
	var value func(depth int) string
	value = func(depth int) string {
		switch n := r.IntN(10); {
		case n < 2 && depth < 3:
			out := "{"
			for i := range r.IntN(3) {
				if i > 0 {
					out += " , "
				}
				out += fmt.Sprintf(`"%c" : %s`, 'a'+r.IntN(3), value(depth+1))
			}
			return out + "}"
		case n < 4 && depth < 3:
			out := "["
			for i := range r.IntN(4) {
				if i > 0 {
					out += ","
				}
				out += value(depth + 1)
			}
			return out + "]"
		default:
			return []string{"1", "0", "2", "1.0", "1.5", "-3", "1e2", `"x"`, `"xyz"`, `"x\":"`, `""`, "true", "false", "null", `"\u0078"`, `"\u0078\u0079z"`, `"\"\\"`, `"a longer text"`}[r.IntN(18)]
		}
	}
	for _, text := range schemas {
		old, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		valid := 0
		for range 4500 {
			v := json.RawMessage(value(0))
			fresh, err := schema.Compile(json.RawMessage(text))
			if err != nil {
				t.Fatal(err)
			}
			got, want := old.Validate(v), fresh.Validate(v)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s\non %s\ngot  %v\nwant %v", text, v, got, want)
			}
			if len(want) == 0 {
				valid++
			}
		}
		if valid < 20 {
			t.Errorf("%s: only %d values are valid", text, valid)
		}
	}
	s, err := schema.Compile(json.RawMessage(schemas[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{`{"a":1}`, `{"a":1`, `{"a":1}}`, `{"a":01}`, `{"a":1} x`} {
		if got := len(s.Validate(json.RawMessage(v))) == 0; got != json.Valid([]byte(v)) {
			t.Errorf("%s: valid %v", v, got)
		}
	}
}
