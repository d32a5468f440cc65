package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/schema"
)

// A schema that has seen many values must judge each like a fresh one.
func TestAShapeThatPassedDecidesNothingElse(t *testing.T) {
	schemas := []string{
		`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"},"b":{"type":["string","null"]},` +
			`"c":{"type":"array","items":{"type":"number"},"maxItems":2}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"enum":[1,"x",null]},"b":{"type":"string","maxLength":2},` +
			`"c":{"type":"number","minimum":1}}}`,
		`{"anyOf":[{"type":"object","required":["b"]},{"type":"array","items":{"$ref":"#/$defs/n"}}],` +
			`"$defs":{"n":{"type":"integer"}}}`,
		`{"type":"object","properties":{"a":{"not":{"type":"string"}},"b":{"const":"x"}}}`,
		`{"type":"object","properties":{"a":{"enum":["x","xyz"]},"b":{"type":"string"},"c":{"enum":[{"a":"x"},` +
			`["xyz"],"\"\\"]}}}`,
		`{"type":["array","object"],"items":{"type":["array","object","integer"],"properties":{"a":{"type":["string",` +
			`"array"],"items":{}},"b":{"enum":["x",1]}},"items":{"type":["integer","string"]}}}`,
		`{"type":"array","items":{"type":"array","items":{"type":["integer","boolean"]},"minItems":1}}`,
		`{"type":"array","items":{"enum":[[],["x"],["x","x"],1]}}`,
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
			return []string{
				"1", "0", "2", "1.0", "1.5", "-3", "1e2", `"x"`, `"xyz"`, `"x\":"`, `""`, "true",
				"false", "null", `"\u0078"`, `"\u0078\u0079z"`, `"\"\\"`, `"a longer text"`,
			}[r.IntN(18)]
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
			if r.IntN(4) == 0 { // perhaps no JSON any more
				i := r.IntN(len(v) + 1)
				more := []string{
					" ", ",", ":", `"`, "\\", "{", "]", "1", "-", ".", "e", "t", "null", "\n", "\x01", `\u00`, "",
				}[r.IntN(17)]
				v = json.RawMessage(string(v[:i]) + more + string(v[min(len(v), i+r.IntN(2)):]))
			}
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
			if len(got) == 0 && !json.Valid(v) {
				t.Fatalf("%s lets pass %s", text, v)
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

// A list of records is checked once for all that are alike.
func TestEqualElementsAreOneInTheShape(t *testing.T) {
	s, err := schema.Compile(json.RawMessage(
		`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","required":["a"]}}}}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	rows := func(n int, last string) json.RawMessage {
		return json.RawMessage(`{"rows":[` + strings.Repeat(`{"a":"text","b":[1, 2 ,3]} , `, n) + last + `]}`)
	}
	for _, c := range []struct {
		instance json.RawMessage
		wrong    string
	}{
		{rows(5000, `{"a":"x","b":[]}`), ""},
		{rows(4000, `{"a":"x","b":[]}`), ""},
		{rows(3, `{"b":[]}`), "/rows/3/a is required"},
		{rows(3, ``), "(root) is not JSON"},
		{rows(3, `{"a":"x","b":[]},`), "(root) is not JSON"},
		{rows(3, `,`), "(root) is not JSON"},
		{rows(3, `{"a":"x","b":[1,]}`), "(root) is not JSON"},
		{rows(3, `{"a":"x","b":[,]}`), "(root) is not JSON"},
		{rows(3, `{"a":"x","b":[1}]`), "(root) is not JSON"},
	} {
		got := ""
		if problems := s.Validate(c.instance); len(problems) > 0 {
			got = problems[0].String()
		}
		if got != c.wrong {
			t.Errorf("%.200s: got %q, want %q", c.instance, got, c.wrong)
		}
	}
	large := rows(5000, `{"a":"x","b":[]}`)
	if n := testing.AllocsPerRun(5, func() { s.Validate(large) }); n > 20 {
		t.Errorf("checking a list of 5,000 rows like one before makes %g allocations", n)
	}
}

// A long string is not read byte by byte; what is wrong in it must show all the same.
func TestALongStringIsStillCheckedToBeOne(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 200)
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"enum":["","` + long + `"]},"b":{}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"string","maxLength":3201},"b":{}},` +
			`"additionalProperties":{"type":"string"}}`,
	} {
		old, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []string{
			`{"a":"` + long + `","b":1}`, `{"a":"` + long + `x","b":1}`,
			`{"a":"` + long + `xy","b":1}`, `{"a":"","b":1}`, `{"b":1, "a" : "` + long + `"}`,
			`{"` + long + `":"x"}`, `{"` + long + `y" :"x"}`, `{"a":"` + long + "\n" + `"}`,
			`{"a":"` + long + "\x1f" + long + `"}`, `{"a":"` + long + `\n` + long + `"}`,
			`{"a":"` + long + `\x` + long + `"}`, `{"a":"` + long, `{"a":"` + long + `\`,
			`{"a":"` + long + `\"`, `{"a":"` + long + `"`, `{"a":"` + long + `"}}`,
			`"` + long + `"`, `["` + long + `"]`, `{"a":"` + long + `" "b":1}`, `{"a":"` + long + "\xff\xfe" + `"}`,
		} {
			for range 2 {
				fresh, err := schema.Compile(json.RawMessage(text))
				if err != nil {
					t.Fatal(err)
				}
				got, want := old.Validate(json.RawMessage(v)), fresh.Validate(json.RawMessage(v))
				if fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 && !json.Valid([]byte(v)) {
					t.Fatalf("%.80s\non %.40s (%d bytes)\ngot  %v\nwant %v", text, v, len(v), got, want)
				}
			}
		}
	}
}
