package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
)

func compile(t *testing.T, s string) *schema.Schema {
	t.Helper()
	c, err := schema.Compile(json.RawMessage(s))
	if err != nil {
		t.Fatalf("compiling %s: %v", s, err)
	}
	return c
}

func TestProblems(t *testing.T) {
	const person = `{"type":"object","required":["name"],"additionalProperties":false,"properties":{
		"name":{"type":"string","minLength":2,"pattern":"^[a-z]+$"},"age":{"type":"integer","minimum":0,"maximum":150},
		"tags":{"type":"array","maxItems":2,"items":{"enum":["a","b"]}},
		"at":{"oneOf":[{"type":"string"},{"type":"object","required":["x"],"properties":{"x":{"type":"number"}}}]}}}`
	for _, c := range []struct{ name, schema, instance, want string }{
		{"valid", person, `{"name":"ab","age":3.0,"tags":["a"],"at":{"x":1}}`, ``},
		{"missing", person, `{}`, `/name required is required`},
		{
			"two kinds of wrong", person, `{"name":1,"zip/code":2}`,
			`/name type must be string; /zip~1code additionalProperties is not a declared member`,
		},
		{
			"several unexpected", person, `{"name":"ab","y":1,"x":1}`,
			`/x additionalProperties is not a declared member; /y additionalProperties is not a declared member`,
		},
		{"not an object", person, `[]`, ` type must be object`},
		{"bounds", person, `{"name":"ab","age":-1}`, `/age minimum must be at least 0`},
		{"fraction", person, `{"name":"ab","age":1.5}`, `/age type must be integer`},
		{"deep", person, `{"name":"ab","tags":["a","c"]}`, `/tags/1 enum must be one of "a", "b"`},
		{"too many", person, `{"name":"ab","tags":["a","b","a"]}`, `/tags maxItems must have at most 2 items`},
		{
			"length and pattern", person, `{"name":"7"}`,
			`/name minLength must have at least 2 characters; /name pattern must match the pattern`,
		},
		{"no alternative", person, `{"name":"ab","at":4}`, `/at oneOf matches none of the alternatives`},
		{
			"the alternative that was meant", person, `{"name":"ab","at":{}}`,
			`/at oneOf matches none of the alternatives; /at/x required is required`,
		},
		{"false", `false`, `1`, ` false is not allowed here`},
		{"true", `true`, `1`, ``},
		{"type list", `{"type":["string","null"]}`, `1`, ` type must be null or string`},
		{"not JSON", `true`, `{"a":`, ` json is not JSON`},
		{"empty", `true`, ``, ` json is not JSON`},
		{"two values", `true`, `{} {}`, ` json has text after its end`},
		{"huge exponent", `{"type":"integer"}`, `1e999999999`, ` json has a number that no double can hold`},
		{"tiny exponent", `{"type":"integer"}`, `1e-999999999`, ` json has a number that no double can hold`},
		{"zero with exponent", `{"type":"integer"}`, `0e5`, ``},
		{"long integer", `{"const":9007199254740993}`, `9007199254740993`, ``},
		{
			"long integer differs", `{"const":9007199254740993}`,
			`9007199254740992`, ` const must be the one allowed value`,
		},
		{"reference", `{"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/n"},` +
			`"v":{"type":"string"}}}},"$ref":"#/$defs/n"}`, `{"n":{"n":{"v":1}}}`, `/n/n/v type must be string`},
		{"draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"s":{"type":"string"}},` +
			`"items":{"$ref":"#/definitions/s"}}`, `[1]`, `/0 type must be string`},
		{"unicode escape in a pattern", `{"pattern":"^\\u0041[^]$"}`, `"A\n"`, ``},
		{"format is an annotation", `{"format":"date"}`, `"yesterday"`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range compile(t, c.schema).Validate(json.RawMessage(c.instance)) {
				got = append(got, p.Path+" "+p.Keyword+" "+p.Message)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("%s against %s:\n got %s\nwant %s", c.instance, c.schema, s, c.want)
			}
		})
	}
}

func TestExpectedSaysWhatTheSchemaWants(t *testing.T) {
	for _, c := range []struct {
		schema, instance string
		want             any
	}{
		{`{"type":"string"}`, `1`, "string"},
		{`{"type":["string","null"]}`, `1`, []string{"null", "string"}},
		{`{"maximum":10.5}`, `11`, 10.5},
		{`{"minItems":2}`, `[]`, 2},
		{`{"anyOf":[{"type":"string"},{"type":"array"}]}`, `1`, []string{"string", "array"}},
	} {
		p := compile(t, c.schema).Validate(json.RawMessage(c.instance))
		if len(p) != 1 {
			t.Fatalf("%s: got %v", c.schema, p)
		}
		got := p[0].Expected
		if g, ok := got.([]string); ok && c.schema[2:6] == "type" {
			got = sorted(g)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: expected is %#v, want %#v", c.schema, got, c.want)
		}
	}
}

func TestAdviceNamesTheDeclaredMembers(t *testing.T) {
	const tool = `{"type":"object","additionalProperties":false,"properties":{"ref":{},"text_contains":{"type":"string"},
		"within":{"$ref":"#/$defs/within"},"of":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"a/b":{}}}},
		"none":{"type":"object","additionalProperties":false}},
		"$defs":{"within":{"type":"object","additionalProperties":false,"properties":{"css":{},"role":{}}}}}`
	for instance, want := range map[string]string{
		`{"text_contain":"a"}`: `/text_contain is not a declared member; did you mean "text_contains"?`,
		`{"zzz":"a"}`: `/zzz is not a declared member; the members are none, of, ref, ` +
			`text_contains, within`,
		`{"within":{"rol":1}}`:         `/within/rol is not a declared member; did you mean "role"?`,
		`{"within":{"quite":1}}`:       `/within/quite is not a declared member; the members are css, role`,
		`{"of":[{"a/b":1},{"a/c":1}]}`: `/of/1/a~1c is not a declared member; did you mean "a/b"?`,
		`{"none":{"x":1}}`:             `/none/x is not a declared member`,
		`{"text_contains":1}`:          `/text_contains must be string`,
	} {
		p := compile(t, tool).Validate(json.RawMessage(instance))
		if len(p) != 1 || p[0].String()+p[0].Advice() != want {
			t.Errorf("%s: got %v, %q, want %s", instance, p, p[0].Advice(), want)
		}
	}
	const circle = `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"}},` +
		`"additionalProperties":false}}}`
	if p := compile(t, circle).Validate(json.RawMessage(`{"x":{"x":{"y":1}}}`)); len(p) != 1 ||
		p[0].Advice() != "; the members are x" {
		t.Errorf("in a circle: %v", p)
	}
}

func sorted(s []string) []string {
	s = append([]string(nil), s...)
	for i := range s {
		for j := i + 1; j < len(s); j++ {
			if s[j] < s[i] {
				s[i], s[j] = s[j], s[i]
			}
		}
	}
	return s
}

func TestMissing(t *testing.T) {
	p := compile(t, `{"required":["b","a/b"],"properties":{"c":{"required":["d"]}}}`).
		Validate(json.RawMessage(`{"c":{}}`))
	if got, want := schema.Missing(p), []string{"a/b", "b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoValueReachesAMessage(t *testing.T) {
	const secret = "hunter2-of-the-user"
	for _, s := range []string{
		`{"type":"number"}`, `{"const":"x"}`, `{"enum":["x"]}`,
		`{"pattern":"^x$"}`, `{"maxLength":3}`, `{"not":{"type":"string"}}`,
		`{"anyOf":[{"type":"string","maxLength":1},{"type":"number"}]}`,
		`{"oneOf":[{"type":"string"},{"minLength":1}]}`,
	} {
		for _, p := range compile(t, s).Validate(json.RawMessage(`"` + secret + `"`)) {
			if b, _ := json.Marshal(p); strings.Contains(string(b), secret) {
				t.Errorf("%s: the value is in %s", s, b)
			}
		}
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(file, []byte(`{"enum":["top-secret"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"not":`, 100) + `true` + strings.Repeat(`}`, 100)
	for _, c := range []struct{ name, schema, want string }{
		{"not JSON", `{`, "schema is not JSON"},
		{"number", `1`, "schema is neither an object nor a boolean"},
		{"null", `null`, "schema is neither"},
		{"empty", ``, "schema is not JSON"},
		{"wrong type", `{"type":"strng"}`, "schema breaks the rules of JSON Schema: /type"},
		{
			"wrong keyword value", `{"properties":{"a":{"minimum":"0"}}}`,
			"schema breaks the rules of JSON Schema: /properties/a/minimum must be number",
		},
		{"file", `{"$ref":"file://` + file + `"}`, "schema refers to another document"},
		{"http", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, "schema refers to another document"},
		{"relative", `{"$ref":"other.json"}`, "schema refers to another document"},
		{
			"moved base", `{"$id":"file://` + filepath.Dir(file) + `/","properties":{"a":{"$ref":"secret.json"}}}`,
			"schema refers to another document",
		},
		{"meta-schema elsewhere", `{"$schema":"file://` + file + `"}`, "schema refers to another document"},
		{"dangling pointer", `{"$ref":"#/$defs/none"}`, "schema refers to a place it does not have"},
		{"dangling anchor", `{"$ref":"#none"}`, "schema refers to an anchor it does not have"},
		{"look-ahead", `{"pattern":"(?=a)"}`, "/pattern must be a regular expression"},
		{"deep", deep, "schema is nested too deeply"},
		{"large", `{"title":"` + strings.Repeat("x", schema.MaxSchemaBytes) + `"}`, "the limit is"},
		{"duplicate ids", `{"$defs":{"a":{"$id":"urn:x"},"b":{"$id":"urn:x"}}}`, "schema"},
		{"bad id", `{"$id":"%%"}`, "schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := schema.Compile(json.RawMessage(c.schema))
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.InvalidSchema {
				t.Fatalf("got %v, want invalid_schema", err)
			}
			b, _ := json.Marshal(f)
			if !strings.Contains(f.Message, c.want) {
				t.Errorf("got %q, want it to contain %q", f.Message, c.want)
			}
			if strings.Contains(string(b), "top-secret") {
				t.Errorf("the file's text is in %s", b)
			}
		})
	}
}

// A schema of 30 definitions, each of which applies the next twice, asks for
// 2^30 steps.
func TestWorkIsBounded(t *testing.T) {
	for _, draft := range []string{
		"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#",
	} {
		var b strings.Builder
		b.WriteString(`{"$schema":"` + draft + `","allOf":[{"$ref":"#/$defs/d0"}],"$defs":{"d30":{"type":"string"}`)
		for i := range 30 {
			fmt.Fprintf(&b, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
		}
		b.WriteString(`}}`)
		s := compile(t, b.String())
		p := s.Validate(json.RawMessage(`"x"`))
		if len(p) != 1 || p[0].Keyword != "limit" {
			t.Errorf("%s: got %v, want one problem limit", draft, p)
		}
		// The budget belongs to one validation, not to the schema.
		if p := compile(t, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`).
			Validate(json.RawMessage(`"x"`)); p != nil {
			t.Errorf("got %v", p)
		}
	}
	if p := compile(t, `{"$ref":"#"}`).Validate(json.RawMessage(`1`)); len(p) != 1 || p[0].Keyword != "$ref" {
		t.Errorf("endless reference: got %v", p)
	}
	if p := compile(t, `true`).Validate(json.RawMessage(strings.Repeat("[", 5000) +
		strings.Repeat("]", 5000))); len(p) != 1 || p[0].Keyword != "json" {
		t.Errorf("deep instance: got %v", p)
	}
	many := compile(t, `{"additionalProperties":false}`)
	var in strings.Builder
	in.WriteString(`{"a":0`)
	for i := range 200 {
		fmt.Fprintf(&in, `,"k%d":1`, i)
	}
	in.WriteByte('}')
	if p := many.Validate(json.RawMessage(in.String())); len(p) != schema.MaxProblems {
		t.Errorf("got %d problems, want %d", len(p), schema.MaxProblems)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := compile(t, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"n":{"type":"integer"}}}}}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				in, want := `{"n":1}`, 0
				if (i+j)%2 == 0 {
					in, want = `{"n":"x"}`, 1
				}
				if p := s.Validate(json.RawMessage(in)); len(p) != want {
					t.Errorf("%s: got %v, want %d problems", in, p, want)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"type":"object"}`, `{}`)
	f.Add(`{"$ref":"#/a","a":{"not":{"$ref":"#"}}}`, `[1,{"a":1e5}]`)
	f.Add(`{"$id":"http://x/","$dynamicRef":"#a","$defs":{"b":{"$dynamicAnchor":"a"}}}`, `"x"`)
	f.Fuzz(func(t *testing.T, s, in string) {
		c, err := schema.Compile(json.RawMessage(s))
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidSchema {
				t.Fatalf("code %s", fault.CodeOf(err))
			}
			return
		}
		c.Validate(json.RawMessage(in))
	})
}
