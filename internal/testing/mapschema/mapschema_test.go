package mapschema_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/outrider-run/outrider/internal/testing/mapschema"
)

const page = "../../../docs/reference/actions.schema.json"

// TestSchemaPageIsCurrent holds docs/reference/actions.schema.json to the records.
func TestSchemaPageIsCurrent(t *testing.T) {
	want, err := mapschema.Editor()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(page, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/reference/actions.schema.json is stale: run make generate (%v)", err)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := mapschema.Editor()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(mapschema.ID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(mapschema.ID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused are the places in a map that the schema refuses, the innermost ones.
func refused(t *testing.T, s *jsonschema.Schema, text []byte) []string {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Validate(doc)
	if err == nil {
		return nil
	}
	var out []string
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			p := ""
			for _, token := range e.InstanceLocation {
				p += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
			}
			out = append(out, p)
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(err.(*jsonschema.ValidationError)) //nolint:errorlint // the library returns it unwrapped
	slices.Sort(out)
	return slices.Compact(out)
}

// A map that the runtime takes is none that an editor marks.
func TestEditorsMarkNoGoodMap(t *testing.T) {
	s := compiled(t)
	good, err := filepath.Glob("../../../testdata/maps/good/*/actions.json")
	if err != nil || len(good) < 50 {
		t.Fatalf("%d maps, %v", len(good), err)
	}
	for _, path := range append(
		good, "../../../testdata/maps/arguments/all-well/actions.json", "../../../sites/demo/actions.json",
	) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(path, "lone-surrogate") || strings.Contains(path, "deep-but-allowed") {
			continue // beyond what this library reads
		}
		if at := refused(t, s, text); at != nil {
			t.Errorf("%s: refused at %q", path, at)
		}
	}
}

// Wrong arguments are marked where they stand.
func TestEditorsMarkWrongArguments(t *testing.T) {
	s := compiled(t)
	step := func(step string) string {
		return `{"protocol":"actions.json","version":1,"tools":[{"name":"a.b","description":"d",` +
			`"input_schema":{"type":"object"},` + step + `}]}`
	}
	workflow := func(args string) string {
		return step(`"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"s",` +
			`"primitive":"pointer.click","args":` + args + `}]}`)
	}
	const at = "/tools/0/workflow/steps/0"
	for _, tc := range []struct{ name, text, pointer string }{
		{"none wrong", workflow(`{"x":1,"y":2,"button":"right"}`), ""},
		{"an expression", workflow(`{"x":"{% steps.a.output.x %}","y":2,"button":"{% input.button %}"}`), ""},
		{"a value that is none of the choice", workflow(`{"x":1,"y":2,"button":"lfet"}`), at + "/args/button"},
		{"a type", workflow(`{"x":1,"y":2,"modifiers":"{% 1 %} and more"}`), at + "/args/modifiers"},
		{"an argument that it does not take", workflow(`{"x":1,"y":2,"buton":"left"}`), at + "/args"},
		{"an argument in a locator", workflow(`{"locator":{"selektor":"a"}}`), at + "/args/locator"},
		{"a primitive", step(
			`"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"s","primitive":"pointer.clik"}]}`,
		), at + "/primitive"},
		{"a field of a step", step(`"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"s",` +
			`"primitive":"page.info","retries":3}]}`), at},
		{"no bound", step(`"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"s",` +
			`"primitive":"page.info","for_each":"{% input.all %}"}]}`), at},
		{
			"an abstract step",
			step(`"x_actions":{"execution":{"steps":[{"type":"pointer.click","arguments":{"x":1,"y":2,"button":7}}]}}`),
			"/tools/0/x_actions/execution/steps/0/arguments/button",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := refused(t, s, []byte(tc.text))
			switch {
			case tc.pointer == "" && got != nil:
				t.Errorf("refused at %q: expected none", got)
			case tc.pointer != "" && !slices.Contains(got, tc.pointer):
				t.Errorf("refused at %q: expected %q", got, tc.pointer)
			case tc.pointer != "" &&
				slices.ContainsFunc(got, func(p string) bool { return !strings.HasPrefix(p, tc.pointer) }):
				t.Errorf("refused at %q: expected %q alone", got, tc.pointer)
			}
		})
	}
}

// beyondEditors are problems that the schema leaves to validate: one of two arguments
// that exclude each other may be an expression that gives nothing, and what is below
// another spelling of a name is not judged.
var beyondEditors = []string{
	"values/tools/0/workflow/steps/4/args/conditions/0",
	"in-locators/tools/0/workflow/steps/2/args/locator/hasText/contain",
}

// What validate refuses in the arguments of steps, editors mark: at the value, or at the
// object that lacks it or has it too much.
func TestEditorsMarkWhatValidateRefuses(t *testing.T) {
	s := compiled(t)
	for _, name := range []string{"undeclared", "values", "between-attempts", "in-locators"} {
		dir := filepath.Join("../../../testdata/maps/arguments", name)
		text, err := os.ReadFile(filepath.Join(dir, "actions.json"))
		if err != nil {
			t.Fatal(err)
		}
		expect, err := os.ReadFile(filepath.Join(dir, "expect.json"))
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Errors []struct{ Pointer, Code string }
		}
		if err := json.Unmarshal(expect, &want); err != nil {
			t.Fatal(err)
		}
		marked := refused(t, s, text)
		for _, e := range want.Errors {
			if slices.Contains(beyondEditors, name+e.Pointer) {
				continue
			}
			if !slices.ContainsFunc(marked, func(p string) bool {
				return p == e.Pointer || p == filepath.Dir(e.Pointer) ||
					e.Code == "missing_field" && p == filepath.Dir(filepath.Dir(e.Pointer))
			}) {
				t.Errorf("%s: %s at %s is not marked: %q", name, e.Code, e.Pointer, marked)
			}
		}
	}
}

// The types of abstract steps are those of the reference.
func TestStepTypesAreThoseOfTheReference(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference/map-steps.md")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := mapschema.Editor()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllSubmatch(text, -1) {
		for _, word := range regexp.MustCompile("`([a-z_]+)`").FindAllSubmatch(row[1], -1) {
			if slices.Contains(
				[]string{"missing_handler", "handler_failed", "handler_timeout", "invalid_result", "payload_too_large"},
				string(word[1]),
			) {
				continue // codes, of another table
			}
			n++
			if !bytes.Contains(schema, append(append([]byte(`"`), word[1]...), '"')) {
				t.Errorf("the schema does not know the type %s", word[1])
			}
		}
	}
	if n < 25 {
		t.Errorf("the reference names %d types: the test does not see the table", n)
	}
}
