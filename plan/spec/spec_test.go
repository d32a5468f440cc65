package spec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/projection/expr"
)

func engine(t testing.TB) expr.Engine {
	t.Helper()
	e, err := expr.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each refusal names the line and the pointer.
func TestRefusals(t *testing.T) {
	e := engine(t)
	for text, want := range map[string]string{
		"opne: x\nsteps: [{check: true}]": "/opne: opne: is not a declared member; did you mean open?",
		"steps: [{call: page.info, with: {a: 1}}]": "/steps/0/with: with: is not a declared member; " +
			"did you mean args?",
		"steps: [{check: true, expect: [{targt: a}]}]": "targt: is not a declared member; did you mean target?",
		"steps: [{check: true, expect: {txt: a}}]":     "txt: is not a declared member; did you mean text?",
		"steps: [{for_each: {in: [1], stps: []}}]":     "stps: is not a declared member; did you mean steps?",
		"":                                     ":1 /: the plan is empty",
		"steps: [":                             "did not find expected node content",
		"steps: []":                            ":1 /steps: ",
		"name: x":                              "/steps: steps: ",
		"steps:\n  - call: a\n    nmae: x":     ":3 /steps/0/nmae: nmae: ",
		"steps:\n  - {call: a, timeout: 10}":   ":2 /steps/0/timeout: ",
		"steps:\n  - {call: a, timeout: soon}": ":2 /steps/0/timeout: ",
		"steps:\n  - {call: a, on_failure: panic}": ":2 /steps/0/on_failure: ",
		"steps:\n  - {call: a, expect_status: 200}": ":2 /steps/0/expect_status: " +
			"expect_status belongs to check",
		"steps:\n  - {check: true, expect_status: 9}": ":2 /steps/0/expect_status: ",
		"steps:\n  - {state: a, action: b}":           ":2 /steps/0: the step has 2 of",
		"steps:\n  - {call: a, summary: b}": ":2 /steps/0/summary: " +
			"summary belongs to state",
		"steps:\n  - {call: a, expect: {visible: true}}": ":2 /steps/0/expect: " +
			"the expectation is about an element and has no target",
		"steps:\n  - {call: a, expect: [ok, {}]}": ":2 /steps/0/expect/1: " +
			"the expectation is empty",
		"steps:\n  - {call: a, expect: [ok, {expression: '('}]}": ":2 " +
			"/steps/0/expect/1/expression: ",
		"steps:\n  - {call: a, expect: '${vars.x} = 1'}": ":2 /steps/0/expect: " +
			"an expression has no ${…}",
		"steps:\n  - {call: a, capture: {'a b': ok}}": ":2 /steps/0/capture/a b: " +
			"\"a b\" is no name",
		"steps:\n  - {for_each: {in: [1], steps: [{call: a}]}, timeout: 1s}": ":2 /steps/0/timeout: " +
			"timeout belongs to the steps of for_each",
		"steps:\n  - {for_each: {in: [1], as: vars, steps: [{call: a}]}}": "/steps/0/for_each/as: ",
		"steps:\n  - for_each:\n      in: [1]\n      steps:\n        - {summary: x}": ":5 /steps/0/for_each/steps/0: " +
			"the step does nothing",
		"secrets: {PW: {env: A, file: B}}\nsteps: [{call: a}]": ":1 /secrets/PW: " +
			"expected exactly one of env, file and command",
		"secrets: {PW: {env: A, origins: [x]}}\nsteps: [{call: a}]": ":1 /secrets/PW: " +
			"\"x\" is no origin",
		"steps: [{call: a}]\nsteps: [{call: b}]": ":2 /steps: steps is there twice",
		"steps: [{call: !!binary aGk=}]": "/steps/0/call: a value of the " +
			"type !!binary",
		"? [a]\n: b": "the name of a member is no text",
	} {
		path := write(t, "plan.yaml", text)
		_, err := spec.Read(path, e)
		var problems spec.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestCasesOfData(t *testing.T) {
	e := engine(t)
	for name, c := range map[string]struct{ file, text, want string }{
		"csv":        {"rows.csv", "\ufeffuser, n\nada,1\n\"b, ob\",2\n", ""},
		"twice":      {"rows.csv", "a,a\n1,2\n", "rows.csv:1: the column 2 has no name of its own"},
		"ragged":     {"rows.csv", "a,b\n1\n", "wrong number of fields"},
		"no rows":    {"rows.csv", "a,b\n", "there are no rows"},
		"json":       {"rows.json", `[{"user": "ada", "n": 1}]`, ""},
		"no objects": {"rows.json", `[1]`, "expected a list of objects"},
		"other":      {"rows.txt", "x", "expected a file .csv or .json"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{
			c.file:      c.text,
			"plan.yaml": "data: " + c.file + "\nsteps:\n  - {call: a}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cases, err := spec.Source{Engine: e}.Cases(filepath.Join(dir, "plan.yaml"))
		says := func(part string) bool { return err != nil && strings.Contains(err.Error(), part) }
		right := err == nil && len(cases) > 0
		if c.want != "" {
			right = says(c.want) && says("plan.yaml:1 /data: ")
		}
		if !right {
			t.Errorf("%s: %d cases, %v", name, len(cases), err)
		}
	}
}

func TestReferences(t *testing.T) {
	s := &spec.Scope{
		Vars:  map[string]any{"a": "x", "n": json.Number("12"), "o": map[string]any{"list": []any{"y", true}}},
		Row:   map[string]any{"c": "z"},
		Items: map[string]any{"item": map[string]any{"name": "i"}},
		Env:   func(name string) (string, bool) { return "env:" + name, name != "NONE" },
	}
	for text, want := range map[string]string{
		"${vars.a}-${row.c}-${env.HOME}-${item.name}": "x-z-env:HOME-i",
		"${vars.n}${vars.o.list.0}":                   "12y",
		"$${vars.a} `${name}` ${x.y}":                 "${vars.a} `${name}` ${x.y}",
		"{{secret:PW}}":                               "{{secret:PW}}",
	} {
		if got, err := s.Text(text); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]any{
		"${vars.n}":      json.Number("12"),
		"${vars.o.list}": []any{"y", true},
		"${item}":        map[string]any{"name": "i"},
	} {
		if got, err := s.Expand(text); fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"${vars.none}", "${row.none}", "${env.NONE}", "${vars.a.b}",
		"${vars.o.list.7}", "${vars.o.none}", "${rows.c}", "${secrets.PW}",
	} {
		if got, err := s.Text(text); err == nil {
			t.Errorf("%s became %q", text, got)
		}
	}
}

// Editors and the reader agree on what a plan is.
func TestSchemaAcceptsWhatIsRead(t *testing.T) {
	s, err := schema.Compile(spec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	text := `{"$schema": "x", "name": "n", "tags": ["a"], "open": "http://x", "maps": ["m"], "vars": {"a": 1}, "secrets": {"PW": {"env": "A", "origins": ["https://x.org"]}},
		"data": [{"a": 1}], "setup": ["s"], "teardown": ["t"], "storage_state": "f", "sessions": {"b": {"open": "http://y"}}, "timeout": "2m", "retries": 1,
		"steps": [{"action": "a", "args": {"x": [1]}, "expect": "ok", "capture": {"v": "output"}, "timeout": "1.5s", "retries": 2, "on_failure": "continue"},
			{"for_each": {"in": "${vars.a}", "as": "x", "steps": [{"call": "p", "tab": "t", "session": "b", "new_tab": "n"}]}},
			{"expect": ["ok", {"target": {"selector": "a"}, "count": 0, "within": "100ms"}, {"network": [{"url": "x", "count": 0}]}]},
			{"check": true, "requires": ["s"], "expect_status": 404, "strict_checks": true}, {"state": "s", "summary": "y"}]}`
	if problems := s.Validate(json.RawMessage(text)); len(problems) > 0 {
		t.Error(problems)
	}
	if _, err := spec.Read(write(t, "plan.json", text), engine(t)); err != nil {
		t.Error(err)
	}
}

func TestSetupsAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"self.yaml":  "setup: [self.yaml]\nsteps: [{call: a}]",
		"none.yaml":  "setup: [missing.yaml]\nsteps: [{call: a}]",
		"deep.yaml":  "setup: [self.yaml]\nsteps: [{call: a}]",
		"later.yaml": "teardown: [uses.yaml]\nsteps: [{call: a, capture: {id: ok}}]",
		"uses.yaml":  "steps: [{call: 'b ${vars.id}'}]",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := spec.Source{Engine: engine(t)}
	for file, want := range map[string]string{
		"self.yaml":  "self.yaml:1 /setup/0: the plan sets itself up",
		"none.yaml":  "none.yaml:1 /setup/0: there is no plan",
		"deep.yaml":  "of its own",
		"later.yaml": "",
		"uses.yaml":  "uses.yaml:1 /steps/0/call: there is no variable id",
	} {
		_, err := source.Cases(filepath.Join(dir, file))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"steps: [{call: a}]", "a: &a [*a]", "steps:\n  - {expect: [{target: x}]}",
		`{"steps": [{"for_each": {"in": [], "steps": [{"call": "x"}]}}]}`,
	} {
		f.Add(seed)
	}
	e := engine(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "plan.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = spec.Source{Engine: e}.Cases(path)
	})
}

// What is expected to be empty is judged like any other value, and what is not given is not.
func TestExpectedToBeEmpty(t *testing.T) {
	p, err := spec.Read(write(t, "plan.yaml", `
steps:
  - expect:
      - {target: "#a", text_equals: "", value_equals: "${vars.none}"}
      - {target: "#a", text_equals: "${vars.some}"}
      - {target: "#a"}
`), engine(t))
	if err != nil {
		t.Fatal(err)
	}
	scope := spec.Scope{Vars: map[string]any{"none": nil, "some": "x"}}
	for i, want := range []string{
		`{"target":{"selector":"#a"},"text_equals":"","value_equals":""}`,
		`{"target":{"selector":"#a"},"text_equals":"x"}`,
		`{"target":{"selector":"#a"}}`,
	} {
		e := p.Steps[0].Expect[i]
		if err := e.Expand(&scope); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(e.Probe())
		if err != nil || string(got) != want {
			t.Errorf("expectation %d: got %s, %v, want %s", i, got, err, want)
		}
	}
	if got, want := p.Steps[0].Expect[0].String(), `#a text_equals "" value_equals ${vars.none}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An editor refuses by the published schema what the reader refuses: a step does one thing.
func TestSchemaAndReaderAgreeOnSteps(t *testing.T) {
	text, err := os.ReadFile("../../testdata/plans/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Plan  json.RawMessage `json:"plan"`
		Valid bool            `json:"valid"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	published, err := schema.Compile(spec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	e := engine(t)
	for _, row := range rows {
		if problems := published.Validate(row.Plan); (len(problems) == 0) != row.Valid {
			t.Errorf("%s: the schema says %v, want valid: %t", row.Plan, problems, row.Valid)
		}
		if _, err := spec.Read(write(t, "plan.json", string(row.Plan)), e); (err == nil) != row.Valid {
			t.Errorf("%s: the reader says %v, want valid: %t", row.Plan, err, row.Valid)
		}
	}
}
