package manifest_test

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/sites/manifest"
)

var keywords = []string{
	"type", "title", "description", "$comment", "format", "default",
	"const", "examples", "enum", "deprecated", "readOnly",
	"uniqueItems", "properties", "anyOf", "oneOf", "allOf",
	"additionalProperties", "items", "not", "contains", "required",
	"minLength", "maxItems", "maxProperties", "minimum", "exclusiveMaximum", "pattern",
	"$ref", "$id", "$defs", "if", "patternProperties", "multipleOf", "unknown",
}

// A plain schema always compiles: its error would otherwise be found by the
// first call instead of the validator.
func TestPlainSchemasCompile(t *testing.T) {
	values := []string{
		"null", "true", "0", "1", "-1", "1.0", "1.5", "1e2", "1e999", "3000000000",
		"12345678901234567890123", `""`, `"object"`, `"objekt"`, `"a"`,
		"[]", `["a"]`, `["a","a"]`, `["string","null"]`, `["string","string"]`, `[1,2.5]`,
		`[1e999]`, `[{}]`, `[true,{"type":"string"}]`, `[{"type":1}]`, `[[1]]`,
		"{}", `{"a":{}}`, `{"a":true}`, `{"a":1}`, `{"type":"string"}`, `{"type":["null"]}`,
		`{"type":[]}`, `{"$ref":"#/x"}`, `{"minLength":-1}`, `{"minimum":"1"}`,
	}
	plain, total := 0, 0
	check := func(raw string) {
		total++
		if !manifest.Plain(json.RawMessage(raw)) {
			return
		}
		plain++
		if _, err := schema.Compile(json.RawMessage(raw)); err != nil {
			t.Errorf("%s counts as plain, but %v", raw, err)
		}
	}
	for _, k := range keywords {
		for _, v := range values {
			check(`{"` + k + `":` + v + `}`)
			check(`{"type":"object","properties":{"p":{"` + k + `":` + v + `}}}`)
			check(`{"anyOf":[{"` + k + `":` + v + `}]}`)
		}
	}
	if plain < 300 || plain == total {
		t.Errorf("%d of %d schemas are plain: the test has lost its material", plain, total)
	}
}

// What is compiled late decides like what is compiled at once.
func TestPlainSchemasAreApplied(t *testing.T) {
	m, report := parse(t, `{"protocol":"actions.json","version":1,"tools":[{"name":"a","description":"d",`+
		`"workflow":{},"input_schema":{"type":"object","required":["q"],"properties":{"q":{"type":"string",`+
		`"minLength":2}}}}]}`, manifest.Options{})
	if !report.OK() || !manifest.Plain(m.Tools[0].InputSchema) {
		t.Fatalf("errors %v, plain %v", report.Errors, manifest.Plain(m.Tools[0].InputSchema))
	}
	for _, tt := range []struct {
		in   string
		want int
	}{{`{"q":"ab"}`, 0}, {`{"q":"a"}`, 1}, {`{}`, 1}, {`[]`, 1}} {
		if got := m.Tools[0].Input.Validate(json.RawMessage(tt.in)); len(got) != tt.want {
			t.Errorf("%s: problems %v, want %d", tt.in, got, tt.want)
		}
	}
}
