package workflow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/workflow"
)

// Each row breaks one rule. want is "code pointer" of all problems.
func TestCompileProblems(t *testing.T) {
	step := func(more string) string { return workflowText(`{"id":"a","primitive":"page.info"`+more+`}`, "") }
	tests := []struct {
		name, workflow string
		want           []string
		stepID, field  string // of the first problem
	}{
		{name: "not an object", workflow: `[]`, want: []string{"invalid_workflow "}},
		{name: "nothing", workflow: ``, want: []string{"invalid_workflow "}},
		{name: "not JSON", workflow: `{"version":1,`, want: []string{"invalid_workflow "}},
		{name: "empty object", workflow: `{}`, want: []string{
			"invalid_workflow /version", "invalid_workflow /expression_language", "invalid_workflow /steps",
		}},
		{
			name:     "unknown root field",
			workflow: `{"version":1,"expression_language":"jsonata","steps":[],"stepz/~":1}`,
			want:     []string{"invalid_workflow /stepz~1~0"},
			field:    "stepz/~",
		},
		{
			name:     "version 2",
			workflow: `{"version":2,"expression_language":"jsonata","steps":[]}`,
			want:     []string{"invalid_workflow /version"},
			field:    "version",
		},
		{
			name:     "version as text",
			workflow: `{"version":"1","expression_language":"jsonata","steps":[]}`,
			want:     []string{"invalid_workflow /version"},
		},
		{
			name:     "other language",
			workflow: `{"version":1,"expression_language":"js","steps":[]}`,
			want:     []string{"invalid_workflow /expression_language"},
		},
		{
			name:     "steps an object",
			workflow: `{"version":1,"expression_language":"jsonata","steps":{}}`,
			want:     []string{"invalid_workflow /steps"},
		},
		{name: "26 steps", workflow: manySteps(26), want: []string{"invalid_workflow /steps"}},
		{
			name:     "postcondition a string",
			workflow: `{"version":1,"expression_language":"jsonata","steps":[],"postcondition":"x"}`,
			want:     []string{"invalid_workflow /postcondition"},
		},
		{name: "step a string", workflow: workflowText(`"x"`, ""), want: []string{"invalid_workflow /steps/0"}},
		{
			name:     "id absent",
			workflow: workflowText(`{"primitive":"page.info"}`, ""),
			want:     []string{"invalid_workflow /steps/0/id"},
			field:    "id",
		},
		{
			name:     "id starts with a digit",
			workflow: workflowText(`{"id":"1a","primitive":"page.info"}`, ""),
			want:     []string{"invalid_workflow /steps/0/id"},
		},
		{
			name:     "id with a dot",
			workflow: workflowText(`{"id":"a.b","primitive":"page.info"}`, ""),
			want:     []string{"invalid_workflow /steps/0/id"},
		},
		{
			name:     "id with a line break",
			workflow: workflowText(`{"id":"a\n","primitive":"page.info"}`, ""),
			want:     []string{"invalid_workflow /steps/0/id"},
		},
		{
			name:     "id twice",
			workflow: workflowText(`{"id":"a","primitive":"page.info"},{"id":"a","primitive":"page.info"}`, ""),
			want:     []string{"invalid_workflow /steps/1/id"},
			stepID:   "a",
			field:    "id",
		},
		{
			name:     "unknown step field",
			workflow: step(`,"save_as":"b"`),
			want:     []string{"invalid_workflow /steps/0/save_as"},
			stepID:   "a",
			field:    "save_as",
		},
		{
			name:     "primitive absent",
			workflow: workflowText(`{"id":"a"}`, ""),
			want:     []string{"invalid_workflow /steps/0/primitive"},
		},
		{
			name:     "primitive empty",
			workflow: workflowText(`{"id":"a","primitive":""}`, ""),
			want:     []string{"invalid_workflow /steps/0/primitive"},
		},
		{
			name:     "primitive unknown",
			workflow: workflowText(`{"id":"a","primitive":"page.nuke"}`, ""),
			want:     []string{"unknown_primitive /steps/0/primitive"},
			stepID:   "a",
			field:    "primitive",
		},
		{name: "args an array", workflow: step(`,"args":[]`), want: []string{"invalid_workflow /steps/0/args"}},
		{
			name:     "for_each without max_items",
			workflow: step(`,"for_each":"{% input.x %}"`),
			want:     []string{"invalid_workflow /steps/0/max_items"},
			stepID:   "a",
			field:    "max_items",
		},
		{
			name:     "for_each null without max_items",
			workflow: step(`,"for_each":null`),
			want:     []string{"invalid_workflow /steps/0/max_items"},
		},
		{
			name:     "max_items 0",
			workflow: step(`,"for_each":[],"max_items":0`),
			want:     []string{"invalid_workflow /steps/0/max_items"},
		},
		{
			name:     "max_items 51",
			workflow: step(`,"for_each":[],"max_items":51`),
			want:     []string{"invalid_workflow /steps/0/max_items"},
		},
		{
			name:     "max_items text",
			workflow: step(`,"for_each":[],"max_items":"3"`),
			want:     []string{"invalid_workflow /steps/0/max_items"},
		},
		{
			name:     "max_items infinite",
			workflow: step(`,"for_each":[],"max_items":1e999`),
			want:     []string{"invalid_workflow /steps/0/max_items"},
		},
		{
			name:     "retry_until without max_attempts",
			workflow: step(`,"retry_until":"{% true %}"`),
			want:     []string{"invalid_workflow /steps/0/max_attempts"},
		},
		{
			name:     "max_attempts 51",
			workflow: step(`,"retry_until":"{% true %}","max_attempts":51`),
			want:     []string{"invalid_workflow /steps/0/max_attempts"},
		},
		{
			name:     "after_each a string",
			workflow: step(`,"retry_until":"{% true %}","max_attempts":2,"after_each":"x"`),
			want:     []string{"invalid_workflow /steps/0/after_each"},
		},
		{
			name:     "after_each without primitive",
			workflow: step(`,"retry_until":"{% true %}","max_attempts":2,"after_each":{}`),
			want:     []string{"invalid_workflow /steps/0/after_each/primitive"},
			stepID:   "a",
			field:    "after_each",
		},
		{
			name:     "after_each acts",
			workflow: step(`,"retry_until":"{% true %}","max_attempts":2,"after_each":{"primitive":"pointer.click"}`),
			want:     []string{"invalid_workflow /steps/0/after_each/primitive"},
		},
		{name: "after_each unknown", workflow: step(
			`,"retry_until":"{% true %}","max_attempts":2,"after_each":{"primitive":"overlay.menu.show"}`,
		), want: []string{"unknown_primitive /steps/0/after_each/primitive"}},
		{
			name:     "on_error retry",
			workflow: step(`,"on_error":"retry"`),
			want:     []string{"invalid_workflow /steps/0/on_error"},
		},
		{
			name:     "on_error true",
			workflow: step(`,"on_error":true`),
			want:     []string{"invalid_workflow /steps/0/on_error"},
		},
		{
			name:     "settle a number",
			workflow: step(`,"settle_after":500`),
			want:     []string{"invalid_workflow /steps/0/settle_after"},
		},
		{
			name:     "settle empty",
			workflow: step(`,"settle_after":{}`),
			want:     []string{"invalid_workflow /steps/0/settle_after"},
		},
		{
			name:     "settle both",
			workflow: step(`,"settle_after":{"delay_ms":1,"locator":{}}`),
			want:     []string{"invalid_workflow /steps/0/settle_after"},
		},
		{
			name:     "settle null locator",
			workflow: step(`,"settle_after":{"locator":null}`),
			want:     []string{"invalid_workflow /steps/0/settle_after"},
		},
		{
			name:     "settle locator text",
			workflow: step(`,"settle_after":{"locator":"#x"}`),
			want:     []string{"invalid_workflow /steps/0/settle_after/locator"},
		},
		{
			name:     "settle delay 0",
			workflow: step(`,"settle_after":{"delay_ms":0}`),
			want:     []string{"invalid_workflow /steps/0/settle_after/delay_ms"},
		},
		{
			name:     "settle delay null",
			workflow: step(`,"settle_after":{"delay_ms":null}`),
			want:     []string{"invalid_workflow /steps/0/settle_after/delay_ms"},
		},
		{
			name:     "settle unknown key",
			workflow: step(`,"settle_after":{"delay_ms":1,"timeout":1}`),
			want:     []string{"invalid_workflow /steps/0/settle_after/timeout"},
			stepID:   "a",
			field:    "settle_after",
		},
		{
			name:     "partial slot",
			workflow: step(`,"args":{"x":{"y":["v {% input.x %}"]}}`),
			want:     []string{"partial_expression_unsupported /steps/0/args/x/y/0"},
			stepID:   "a",
			field:    "args",
		},
		{
			name:     "does not compile",
			workflow: step(`,"when":"{% input. %}"`),
			want:     []string{"invalid_expression /steps/0/when"},
		},
		{
			name:     "forbidden function",
			workflow: step(`,"for_each":"{% [$random()] %}","max_items":1`),
			want:     []string{"disallowed_expression_function /steps/0/for_each"},
		},
		{
			name:     "bad retry_until",
			workflow: step(`,"retry_until":"{% ( %}","max_attempts":1`),
			want:     []string{"invalid_expression /steps/0/retry_until"},
		},
		{name: "bad after_each args",
			workflow: step(`,"retry_until":"{% true %}","max_attempts":1,` +
				`"after_each":{"primitive":"viewport.scroll","args":{"y":"{% ( %}"}}`),
			want: []string{"invalid_expression /steps/0/after_each/args/y"}},
		{
			name:     "bad settle locator",
			workflow: step(`,"settle_after":{"locator":{"selector":"{% ( %}"}}`),
			want:     []string{"invalid_expression /steps/0/settle_after/locator/selector"},
		},
		{
			name:     "bad output",
			workflow: workflowText("", `{"x":"{% ( %}"}`),
			want:     []string{"invalid_expression /output/x"},
			field:    "output",
		},
		{
			name: "all at once, structure first",
			workflow: `{"version":1,"expression_language":"jsonata","extra":1,"output":"{% ( %}","steps":[
				{"id":"a","primitive":"page.info","when":"{% ( %}","args":{"x":"y {% z %}"}},
				{"id":"b","primitive":"page.nuke","typo":1,"on_error":"no"}]}`,
			want: []string{
				"invalid_workflow /extra", "invalid_workflow /steps/1/typo",
				"unknown_primitive /steps/1/primitive", "invalid_workflow /steps/1/on_error",
				"partial_expression_unsupported /steps/0/args/x",
				"invalid_expression /steps/0/when", "invalid_expression /output",
			},
		},
	}
	known := func(name string) bool { return name != "page.nuke" && name != "overlay.menu.show" }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := workflow.Compile(
				json.RawMessage(tt.workflow), workflow.CompileOptions{Engine: theEngine(t), Known: known},
			)
			if p != nil {
				t.Error("got a program beside problems")
			}
			var got []string
			for _, p := range problems {
				got = append(got, string(p.Code)+" "+p.Pointer)
				if p.Message == "" {
					t.Errorf("%v has no message", p)
				}
				if p.StepID != "" && !strings.Contains(p.Message, p.StepID) {
					t.Errorf("%v does not name its step", p)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("Compile(%s):\n got %q\nwant %q", tt.workflow, problems, tt.want)
			}
			if tt.stepID != "" && problems[0].StepID != tt.stepID || tt.field != "" && problems[0].Field != tt.field {
				t.Errorf(
					"first problem is about step %q field %q, want %q %q",
					problems[0].StepID, problems[0].Field, tt.stepID, tt.field,
				)
			}
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	for _, text := range []string{
		workflowText("", ""),
		manySteps(25),
		`{"version":1.0,"expression_language":"jsonata","steps":[],"x_state_machine":{"any":["thing"]},"output":null}`,
		workflowText(`{"id":"a-b_C9","primitive":"page.info","args":null,"on_error":null,"when":true}`, ""),
		workflowText(`{"id":"a","primitive":"page.info","on_error":"stop","when":"{% input.x %}"}`, `"{% steps.a %}"`),
		workflowText(`{"id":"a","primitive":"page.info","for_each":["x"],"max_items":2.5}`, ""),
		// after_each without retry_until is not looked at.
		workflowText(
			`{"id":"a","primitive":"page.info","after_each":{"primitive":"pointer.click","args":{"x":"{% ( %}"}}}`, "",
		),
		workflowText(
			`{"id":"a","primitive":"page.info","retry_until":"{% true %}","max_attempts":50,"after_each":false}`, "",
		),
		workflowText(
			`{"id":"a","primitive":"page.info","settle_after":{"locator":{},"state":"hidden","timeout_ms":5}}`, "",
		),
		workflowText(`{"id":"a","primitive":"page.info","settle_after":{"delay_ms":0.5,"locator":null}}`, ""),
	} {
		_, problems := workflow.Compile(json.RawMessage(text), workflow.CompileOptions{Engine: theEngine(t)})
		if len(problems) > 0 {
			t.Errorf("Compile(%s) = %v", text, problems)
		}
	}
}

func TestCompileWithoutAnEngine(t *testing.T) {
	text := json.RawMessage(workflowText(`{"id":"a","primitive":"page.info","when":"{% true %}"}`, ""))
	_, problems := workflow.Compile(text, workflow.CompileOptions{})
	if len(problems) != 1 || problems[0].Code != fault.Internal {
		t.Errorf("Compile without engine = %v, want one internal problem", problems)
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct{ step, want string }{
		{`"when":"input.x"`, "/steps/0/when"},
		{`"max_items":3`, "/steps/0/max_items"},
		{`"max_attempts":3`, "/steps/0/max_attempts"},
		{`"for_each":[1],"max_items":3,"settle_after":{"delay_ms":1}`, "/steps/0/settle_after"},
		{`"retry_until":"{% true %}","max_attempts":3`, "/steps/0/retry_until"},
		{`"retry_until":"{% true %}","max_attempts":3,"on_error":"continue",` +
			`"after_each":{"primitive":"viewport.scroll","arg":{}}`, "/steps/0/after_each/arg"},
		{`"settle_after":{"locator":{},"timeout_ms":"soon"}`, "/steps/0/settle_after/timeout_ms"},
		{`"when":"{% input.x %}"`, ""},
	}
	for _, tt := range tests {
		p := compile(t, `{"id":"a","primitive":"page.info",`+tt.step+`}`, "")
		var got []string
		for _, w := range p.Warnings() {
			got = append(got, w.Pointer)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("warnings of %s: %q, want %q", tt.step, got, tt.want)
		}
	}
}

func TestPrimitives(t *testing.T) {
	p := compile(
		t, `{"id":"a","primitive":"page.info"},{"id":"b","primitive":"pointer.click","settle_after":{"locator":{}}},
		{"id":"c","primitive":"page.info","retry_until":"{% true %}","max_attempts":1,
		"after_each":{"primitive":"viewport.scroll"}}`,
		"",
	)
	got := strings.Join(p.Primitives(), " ")
	if got != "page.info pointer.click locator.wait_for viewport.scroll" || p.Len() != 3 {
		t.Errorf("Primitives() = %s", got)
	}
}

func manySteps(n int) string {
	var steps []string
	for i := range n {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","primitive":"page.info"}`, i))
	}
	return workflowText(strings.Join(steps, ","), "")
}

func FuzzCompile(f *testing.F) {
	f.Add(`{}`)
	f.Add(manySteps(2))
	f.Add(workflowText(`{"id":"a","primitive":"p","args":{"l":{"selector":"{% input.x %}"}},"when":"{% a %}",`+
		`"for_each":[1],"max_items":2,"on_error":"continue"}`, `"{% steps %}"`))
	f.Add(workflowText(`{"id":"a","primitive":"p","retry_until":"{% a %}","max_attempts":2,`+
		`"after_each":{"primitive":"viewport.scroll","args":{}},"settle_after":{"locator":{"selector":"x"}}}`, ""))
	f.Add(workflowText(`{"id":"a","primitive":"p","settle_after":{"delay_ms":1e400}}`, `[[["{% x"]]]`))
	f.Add(`{"version":1,"version":2,"steps":[null,[],{"id":{}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, problems := workflow.Compile(json.RawMessage(text), workflow.CompileOptions{Engine: anyEngine{}})
		if (p == nil) == (len(problems) == 0) {
			t.Fatalf("Compile(%q) = %v, %v", text, p, problems)
		}
		for _, problem := range problems {
			if problem.Pointer != "" && problem.Pointer[0] != '/' || problem.Code == "" {
				t.Errorf("Compile(%q): problem %+v", text, problem)
			}
		}
		if p != nil {
			out := p.Run(t.Context(), &page{}, workflow.RunOptions{Sleep: noSleep})
			if (out.Err == nil) != (len(out.Output) > 0) || len(out.Output) > 0 && !json.Valid(out.Output) {
				t.Errorf("running %q: %s, %v", text, out.Output, out.Err)
			}
		}
	})
}

// With DeferredExpressions an expression that does not compile is a warning, and its
// step fails when it gets there, after the steps before it.
func TestDeferredExpressions(t *testing.T) {
	text := workflowText(
		`{"id":"first","primitive":"page.info"},{"id":"bad","primitive":"page.info","args":{"x":"a {% input.x %}"}}`,
		`"{% ( %}"`,
	)
	p, problems := workflow.Compile(
		json.RawMessage(text), workflow.CompileOptions{Engine: theEngine(t), DeferredExpressions: true},
	)
	if len(problems) > 0 || len(p.Warnings()) < 2 {
		t.Fatalf("problems %v, warnings %v", problems, p.Warnings())
	}
	pg := &page{answer: func(int, string, json.RawMessage) primitives.Result {
		return primitives.Result{Payload: json.RawMessage(`{}`)}
	}}
	out := p.Run(t.Context(), pg, workflow.RunOptions{Quirks: quirks.Extension()})
	m := fields(t, out.Err)
	cause, _ := m["cause"].(map[string]any)
	if m["code"] != "workflow_step_failed" || m["step_id"] != "bad" ||
		cause["code"] != "partial_expression_unsupported" || m["retryable"] != false || len(out.Steps) != 2 {
		t.Errorf("got %v after %v", m, out.Steps)
	}
}
