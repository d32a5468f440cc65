package sites_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/sites"
)

func find(t *testing.T, tool string) *sites.Match {
	t.Helper()
	l, err := sites.FromMap("m.json", []byte(withTools(tool)), sites.Options{Known: known})
	if err != nil {
		t.Fatalf("%v %v", err, err.Evidence)
	}
	m, err := l.Find("https://e.com/", "t")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestKindFollowsTheResolutionOrder(t *testing.T) {
	head := `{"name":"t","description":"d","input_schema":{},`
	tests := []struct {
		name, tool string
		want       sites.Kind
	}{
		{
			"static before all",
			head + `"workflow":{},"x_actions":{"static_output":null,"handler":"page.info"}}`, sites.KindStatic,
		},
		{"workflow before handler", head + `"workflow":{},"x_actions":{"handler":"page.info"}}`, sites.KindWorkflow},
		{
			"primitive", head + `"x_actions":{"handler":"page.info","execution":{"steps":[{"type":"click"}]}}}`,
			sites.KindPrimitive,
		},
		{"function of the page", head + `"x_actions":{"handler":"app.save"}}`, sites.KindUnsupported},
		{"steps", head + `"x_actions":{"execution":{"steps":[{"type":"click"}]}}}`, sites.KindUnsupported},
		{"state machine", head + `"x_actions":{"state_machine":{}}}`, sites.KindUnsupported},
		{"navigation", head + `"x_actions":{"navigation":[{}]}}`, sites.KindUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := find(t, tt.tool)
			if got := m.Kind(); got != tt.want {
				t.Errorf("kind %s, want %s", got, tt.want)
			}
			err := m.Unsupported()
			if (err != nil) != (tt.want == sites.KindUnsupported) {
				t.Fatalf("unsupported: %v", err)
			}
			if err != nil &&
				(!errors.Is(err, fault.UnsupportedExecutionMode) || len(err.Evidence["declared"].([]string)) != 1) {
				t.Errorf("unsupported: %v %v", err, err.Evidence)
			}
			l, _ := sites.FromMap("m.json", []byte(withTools(tt.tool)), sites.Options{Known: known})
			row := l.List("").Actions[0]
			if (row.Unavailable != nil) != (err != nil) || err != nil && row.Unavailable.Reason == "" {
				t.Errorf("listed with %+v", row.Unavailable)
			}
		})
	}
}

func TestInputIsValidated(t *testing.T) {
	m := find(t, `{"name":"t","description":"d","workflow":{},"input_schema":{"type":"object","required":["name",`+
		`"n"],"additionalProperties":false,"properties":{"name":{"type":"string"},"n":{"type":"integer",`+
		`"minimum":1}}}}`)
	tests := []struct {
		name, in string
		missing  string
		paths    string
	}{
		{"fine", `{"name":"Ada","n":1}`, "", ""},
		{"one missing", `{"n":1}`, `["name"]`, "/name required "},
		{"none given", ``, `["n","name"]`, "/n required /name required "},
		{"wrong type", `{"name":5,"n":1}`, `[]`, "/name type "},
		{"out of range", `{"name":"","n":0}`, `[]`, "/n minimum "},
		{"too much", `{"name":"","n":1,"x":1}`, `[]`, "/x additionalProperties "},
		{"not an object", `["Ada"]`, `[]`, " type "},
		{"null", `null`, `[]`, " type "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := m.ValidateInput(json.RawMessage(tt.in))
			if tt.paths == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, fault.InvalidInput) || err.Evidence["tool"] != "t" {
				t.Fatalf("error %v with %v", err, err.Evidence)
			}
			paths := ""
			for _, p := range err.Evidence["validation_errors"].([]schema.Problem) {
				paths += p.Path + " " + p.Keyword + " "
			}
			missing := toJSON(t, err.Evidence["missing_required"])
			if paths != tt.paths || missing != tt.missing {
				t.Errorf("problems %q, missing %s; want %q, %s", paths, missing, tt.paths, tt.missing)
			}
		})
	}
}

func TestResultIsValidated(t *testing.T) {
	m := find(t, `{"name":"t","description":"d","input_schema":{},"workflow":{},`+
		`"x_actions":{"result_schema":{"type":"object","required":["ok"]}}}`)
	if err := m.ValidateResult(json.RawMessage(`{"ok":true}`)); err != nil {
		t.Error(err)
	}
	if err := m.ValidateResult(json.RawMessage(`{}`)); !errors.Is(err, fault.InvalidResult) ||
		err.Evidence["tool"] != "t" {
		t.Errorf("wrong result: %v", err)
	}
	if err := find(t, `{"name":"t","description":"d","input_schema":{},"workflow":{}}`).
		ValidateResult(json.RawMessage(`7`)); err != nil {
		t.Errorf("without a result schema: %v", err)
	}
}

func TestBindingArgumentsAreMerged(t *testing.T) {
	tests := []struct{ name, binding, in, want string }{
		{"caller wins", `{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{
			"at every depth", `{"locator":{"selector":"a","options":{"x":1,"y":2}}}`,
			`{"locator":{"options":{"y":3}}}`, `{"locator":{"options":{"x":1,"y":3},"selector":"a"}}`,
		},
		{"arrays are replaced", `{"keys":["a","b"]}`, `{"keys":["c"]}`, `{"keys":["c"]}`},
		{"an object replaces a value", `{"a":1}`, `{"a":{"b":2}}`, `{"a":{"b":2}}`},
		{"null replaces", `{"a":{"b":2}}`, `{"a":null}`, `{"a":null}`},
		{"no arguments", `{"a":1}`, ``, `{"a":1}`},
		{
			"numbers and markup keep their text", `{"n":12345678901234567890,"s":"<b>&"}`,
			`{}`, `{"n":12345678901234567890,"s":"<b>&"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := find(t, `{"name":"t","description":"d","input_schema":{},`+
				`"x_actions":{"handler":"locator.element_info","binding":{"arguments":`+tt.binding+`}}}`)
			name, got, err := m.Primitive(json.RawMessage(tt.in))
			if err != nil || name != "locator.element_info" || string(got) != tt.want {
				t.Errorf("%s %s, %v; want %s", name, got, err, tt.want)
			}
			// The binding is shared by all calls and must not have changed.
			if _, again, _ := m.Primitive(json.RawMessage(tt.in)); string(again) != tt.want {
				t.Errorf("second call: %s", again)
			}
		})
	}
	if _, _, err := find(t, `{"name":"t","description":"d","input_schema":{},"x_actions":{"handler":"page.info"}}`).
		Primitive(json.RawMessage(`[1]`)); !errors.Is(err, fault.InvalidInput) {
		t.Errorf("an array as arguments: %v", err)
	}
}
