package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/workflow"
)

// anyEngine accepts every expression; all of them are true.
type anyEngine struct{}

func (anyEngine) Name() string                             { return "any" }
func (anyEngine) Close() error                             { return nil }
func (anyEngine) Compile(src string) (expr.Program, error) { return anyProgram(src), nil }

type anyProgram string

func (p anyProgram) Source() string { return string(p) }
func (anyProgram) Eval(_ context.Context, in expr.Input, _ expr.Limits) (expr.Value, error) {
	if !json.Valid(in.JSON()) {
		return expr.Value{}, fault.New(fault.Internal, "the input is not JSON: %s", in.JSON())
	}
	return expr.Value{JSON: json.RawMessage("true")}, nil
}

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

const input = `{"title":"Fix","none":null,"ids":["a","b","c"],"yes":true,"zero":0,"empty":"","list":[],"object":{},` +
	`"falsetext":"false"}`

func TestRun(t *testing.T) {
	tests := []struct {
		name          string
		steps, output string
		page          *page
		value         string // of the output; "" when there is none
		code          fault.Code
		cause         string // code of the cause
		calls         []string
		summary       string
	}{
		{
			name: "args, output and literals",
			steps: `{"id":"find","primitive":"p.find","args":{"t":"{% input.title %}","n":1.50,` +
				`"gone":"{% input.nope %}","l":["{% input.nope %}"],"lit":"x"}}`,
			page: &page{
				answer: func(int, string, json.RawMessage) primitives.Result { return ok(`{"x":{"y":[1,2.0]}}`) },
			},
			output:  `{"y":"{% steps.find.output.x.y %}","t":"{% input.title %}"}`,
			value:   `{"y":[1,2],"t":"Fix"}`,
			calls:   []string{`p.find {"t":"Fix","n":1.50,"l":[null],"lit":"x"}`},
			summary: "find:ok",
		},
		{
			name:    "no args is an empty object",
			steps:   `{"id":"a","primitive":"p"}`,
			output:  `"{% steps.a.ok %}"`,
			value:   `true`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{name: "no steps", output: `"{% input.title %}"`, value: `"Fix"`},
		{
			name:    "no output",
			steps:   `{"id":"a","primitive":"p"}`,
			value:   `{"steps":{"a":{"ok":true,"output":{"done":true}}}}`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{
			name:    "undefined output",
			steps:   `{"id":"a","primitive":"p"}`,
			output:  `"{% input.nope %}"`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{name: "null output", output: `null`, value: `null`},
		{
			name:    "empty payload is null",
			steps:   `{"id":"a","primitive":"p"}`,
			output:  `"{% [steps.a.output = null] %}"`,
			page:    &page{answer: func(int, string, json.RawMessage) primitives.Result { return primitives.Result{} }},
			value:   `[true]`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{
			name:   "item and index are null outside loops",
			output: `"{% [item = null, index = null] %}"`,
			value:  `[true,true]`,
		},
		// 3.1.5 A
		{
			name:    "when false",
			steps:   `{"id":"a","primitive":"p","when":"{% input.title = 'x' %}"}`,
			output:  `"{% steps.a %}"`,
			value:   `{"ok":true,"skipped":true}`,
			summary: "a:skipped",
		},
		{
			name:    "when undefined",
			steps:   `{"id":"a","primitive":"p","when":"{% input.nope %}"}`,
			output:  `1`,
			value:   `1`,
			summary: "a:skipped",
		},
		{name: "when null, zero, empty", steps: `{"id":"a","primitive":"p","when":"{% input.none %}"},` +
			`{"id":"b","primitive":"p","when":"{% input.zero %}"},{"id":"c","primitive":"p",` +
			`"when":"{% input.empty %}"},{"id":"d","primitive":"p","when":false},{"id":"e","primitive":"p",` +
			`"when":null},{"id":"f","primitive":"p","when":""}`,
			output: `1`, value: `1`, summary: "a:skipped b:skipped c:skipped d:skipped e:skipped f:skipped"},
		{
			name: "when truthy as in JavaScript",
			steps: `{"id":"a","primitive":"p","when":"false"},{"id":"b","primitive":"p",` +
				`"when":"{% input.falsetext %}"},{"id":"c","primitive":"p","when":"{% [] %}"},` +
				`{"id":"d","primitive":"p","when":"{% {} %}"},{"id":"e","primitive":"p","when":[]}`,
			output:  `1`,
			value:   `1`,
			calls:   []string{`p {}`, `p {}`, `p {}`, `p {}`, `p {}`},
			summary: "a:ok b:ok c:ok d:ok e:ok",
		},
		{
			name:    "when fails",
			steps:   `{"id":"a","primitive":"p","when":"{% 'x' + 1 %}"},{"id":"b","primitive":"p"}`,
			code:    fault.WorkflowStepFailed,
			cause:   "expression_evaluation_failed",
			summary: "a:expression_evaluation_failed",
		},
		{
			name: "when fails and continues",
			steps: `{"id":"a","primitive":"p","when":"{% 'x' + 1 %}","on_error":"continue"},` +
				`{"id":"b","primitive":"p"}`,
			output:  `"{% steps.a.error.code %}"`,
			value:   `"expression_evaluation_failed"`,
			calls:   []string{`p {}`},
			summary: "a:expression_evaluation_failed b:ok",
		},
		// appendix A 30
		{
			name:    "a failed step stops",
			steps:   `{"id":"find","primitive":"locator.element_info"},{"id":"b","primitive":"p"}`,
			page:    failing("locator.", fault.TargetNotFound),
			code:    fault.WorkflowStepFailed,
			cause:   "target_not_found",
			calls:   []string{`locator.element_info {}`},
			summary: "find:target_not_found",
		},
		{
			name:  "a failed step continues",
			steps: `{"id":"a","primitive":"bad","on_error":"continue"},{"id":"b","primitive":"p"}`,
			page:  failing("bad", fault.TargetNotFound),
			output: `"{% [steps.a.ok, $exists(steps.a.output), steps.a.error.code, steps.a.primitive, ` +
				`steps.a.adapter] %}"`,
			value:   `[false,false,"target_not_found","bad","cdp"]`,
			calls:   []string{`bad {}`, `p {}`},
			summary: "a:target_not_found b:ok",
		},
		{
			name:    "expression in args fails",
			steps:   `{"id":"a","primitive":"p","args":{"x":{"y":"{% 1 + 'x' %}"}}}`,
			code:    fault.WorkflowStepFailed,
			cause:   "expression_evaluation_failed",
			summary: "a:expression_evaluation_failed",
		},
		{
			name:    "expression too large",
			steps:   `{"id":"a","primitive":"p","args":{"x":"{% $pad('', 16000, 'x') %}"}}`,
			code:    fault.WorkflowStepFailed,
			cause:   "expression_output_too_large",
			summary: "a:expression_output_too_large",
		},
		{
			name:    "alias of a forbidden function",
			steps:   `{"id":"a","primitive":"p","args":{"x":"{% ($f := $now; $f()) %}"}}`,
			code:    fault.WorkflowStepFailed,
			cause:   "disallowed_expression_function",
			summary: "a:disallowed_expression_function",
		},
		// flat payloads
		{
			name:  "flat failure fails and keeps its output",
			steps: `{"id":"a","primitive":"p","on_error":"continue"}`,
			page: &page{answer: func(int, string, json.RawMessage) primitives.Result {
				return primitives.Result{Flat: true, Payload: json.RawMessage(
					`{"ok":false,"error":{"code":"navigation_failed","message":"no"},"url":"u"}`,
				)}
			}},
			output:  `"{% [steps.a.ok, steps.a.output.url, steps.a.error.code] %}"`,
			value:   `[false,"u","navigation_failed"]`,
			calls:   []string{`p {}`},
			summary: "a:navigation_failed",
		},
		{
			name:  "flat failure without an error",
			steps: `{"id":"a","primitive":"p"}`,
			page: &page{answer: func(int, string, json.RawMessage) primitives.Result {
				return primitives.Result{Flat: true, Payload: json.RawMessage(`{"ok":false}`)}
			}},
			code:    fault.WorkflowStepFailed,
			cause:   "handler_failed",
			calls:   []string{`p {}`},
			summary: "a:handler_failed",
		},
		{
			name:  "soft failure of an enveloped payload is a success",
			steps: `{"id":"a","primitive":"p"}`,
			page: &page{answer: func(int, string, json.RawMessage) primitives.Result {
				return ok(`{"ok":false,"error":{"code":"payload_too_large"}}`)
			}},
			output:  `"{% [steps.a.ok, steps.a.output.ok] %}"`,
			value:   `[true,false]`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{
			name:  "a payload with its own value and output keys",
			steps: `{"id":"a","primitive":"p"}`,
			page: &page{answer: func(int, string, json.RawMessage) primitives.Result {
				return ok(`{"value":1,"output":2,"primitive":"x"}`)
			}},
			output:  `"{% [steps.a.output.value, steps.a.output.output, steps.a.output.primitive] %}"`,
			value:   `[1,2,"x"]`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		// 3.1.5 B, appendix A 34
		{
			name: "for_each",
			steps: `{"id":"a","primitive":"p","for_each":"{% input.ids %}","max_items":2,"args":{"v":"{% item %}",` +
				`"i":"{% index %}"}}`,
			output: `"{% [steps.a.ok, $count(steps.a.items), $exists(steps.a.output), steps.a.items[1].output.done] ` +
				`%}"`,
			value:   `[true,2,false,true]`,
			calls:   []string{`p {"v":"a","i":0}`, `p {"v":"b","i":1}`},
			summary: "a:ok",
		},
		{
			name:    "for_each over nothing",
			steps:   `{"id":"a","primitive":"p","for_each":[],"max_items":2}`,
			value:   `{"steps":{"a":{"ok":true,"items":[]}}}`,
			summary: "a:ok",
		},
		{
			name: "for_each over a literal",
			steps: `{"id":"a","primitive":"p","for_each":[{"x":1},"{% input.title %}"],` +
				`"max_items":2,"args":{"v":"{% item %}"}}`,
			output:  `1`,
			value:   `1`,
			calls:   []string{`p {"v":{"x":1}}`, `p {"v":"Fix"}`},
			summary: "a:ok",
		},
		{name: "for_each over a scalar",
			steps: `{"id":"a","primitive":"p","for_each":"{% input.ids[0] %}",` +
				`"max_items":2,"on_error":"continue"},{"id":"b","primitive":"p"}`,
			code:    fault.WorkflowLoopInputInvalid,
			summary: "a:workflow_loop_input_invalid"},
		{
			name:    "for_each over undefined",
			steps:   `{"id":"a","primitive":"p","for_each":"{% input.nope %}","max_items":2}`,
			code:    fault.WorkflowLoopInputInvalid,
			summary: "a:workflow_loop_input_invalid",
		},
		{
			name:    "for_each expression fails and continues",
			steps:   `{"id":"a","primitive":"p","for_each":"{% 1 + 'x' %}","max_items":2,"on_error":"continue"}`,
			output:  `1`,
			value:   `1`,
			summary: "a:expression_evaluation_failed",
		},
		{
			name:    "for_each stops at a failure",
			steps:   `{"id":"a","primitive":"bad","for_each":"{% input.ids %}","max_items":3}`,
			page:    failing("bad", fault.TargetObscured),
			code:    fault.WorkflowStepFailed,
			cause:   "target_obscured",
			calls:   []string{`bad {}`},
			summary: "a:target_obscured",
		},
		{
			name:  "for_each continues",
			steps: `{"id":"a","primitive":"p","for_each":"{% input.ids %}","max_items":3,"on_error":"continue"}`,
			page: &page{answer: func(n int, _ string, _ json.RawMessage) primitives.Result {
				if n == 1 {
					return bad(fault.TargetNotFound)
				}
				return ok(`{}`)
			}},
			output:  `"{% [steps.a.ok, steps.a.items.ok, $exists(steps.a.error)] %}"`,
			value:   `[false,true,false,true,false]`,
			calls:   []string{`p {}`, `p {}`, `p {}`},
			summary: "a:target_not_found",
		},
		{
			name: "for_each wins over retry_until and settle_after",
			steps: `{"id":"a","primitive":"p","for_each":[1],"max_items":3,"retry_until":"{% false %}",` +
				`"max_attempts":3,"settle_after":{"locator":{"selector":"x"}}}`,
			output:  `1`,
			value:   `1`,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		// 3.1.5 C, appendix A 31 and 32
		{
			name: "retry until true",
			steps: `{"id":"a","primitive":"p","args":{"i":"{% index %}","item":"{% item %}"},` +
				`"retry_until":"{% steps.a.output.n = 2 and index = null %}","max_attempts":5,` +
				`"after_each":{"primitive":"viewport.scroll","args":{"i":"{% index %}","n":"{% steps.a.output.n %}"}}}`,
			page: &page{answer: func(_ int, name string, args json.RawMessage) primitives.Result {
				if name == "p" {
					return ok(`{"n":` + string(args[5]) + `}`)
				}
				return ok(`{}`)
			}},
			output: `"{% [steps.a.ok, steps.a.output.n, $count(steps.a.attempts)] %}"`,
			value:  `[true,2,5]`,
			calls: []string{
				`p {"i":0,"item":null}`, `viewport.scroll {"i":null,"n":0}`, `p {"i":1,"item":null}`,
				`viewport.scroll {"i":null,"n":1}`, `p {"i":2,"item":null}`,
			},
			summary: "a:ok",
		},
		{
			name: "retry armed by continue is exhausted",
			steps: `{"id":"a","primitive":"bad","retry_until":"{% steps.a.ok %}","max_attempts":4,` +
				`"after_each":{"primitive":"viewport.scroll"},"on_error":"continue"},{"id":"b","primitive":"p"}`,
			page:  failing("bad", fault.TargetNotFound),
			code:  fault.WorkflowRetryExhausted,
			cause: "workflow_retry_exhausted",
			calls: []string{
				`bad {}`, `viewport.scroll {}`, `bad {}`, `viewport.scroll {}`,
				`bad {}`, `viewport.scroll {}`, `bad {}`,
			},
			summary: "a:workflow_retry_exhausted",
		},
		{
			name: "retry with stop is one attempt",
			steps: `{"id":"a","primitive":"bad","retry_until":"{% steps.a.ok %}","max_attempts":4,` +
				`"after_each":{"primitive":"viewport.scroll"}}`,
			page:    failing("bad", fault.TargetNotFound),
			code:    fault.WorkflowStepFailed,
			cause:   "target_not_found",
			calls:   []string{`bad {}`},
			summary: "a:target_not_found",
		},
		{
			name:    "retry of successes is exhausted",
			steps:   `{"id":"a","primitive":"p","retry_until":"{% false %}","max_attempts":2}`,
			code:    fault.WorkflowRetryExhausted,
			cause:   "workflow_retry_exhausted",
			calls:   []string{`p {}`, `p {}`},
			summary: "a:workflow_retry_exhausted",
		},
		{
			name: "after_each fails",
			steps: `{"id":"a","primitive":"p","retry_until":"{% false %}","max_attempts":3,` +
				`"after_each":{"primitive":"viewport.scroll"}}`,
			page:    failing("viewport", fault.TargetNotScrollable),
			code:    fault.WorkflowStepFailed,
			cause:   "target_not_scrollable",
			calls:   []string{`p {}`, `viewport.scroll {}`},
			summary: "a:target_not_scrollable",
		},
		{
			name: "after_each fails and continues",
			steps: `{"id":"a","primitive":"p","retry_until":"{% steps.a.output.done = false %}","max_attempts":2,` +
				`"after_each":{"primitive":"viewport.scroll"},"on_error":"continue"}`,
			page:    failing("viewport", fault.TargetNotScrollable),
			code:    fault.WorkflowRetryExhausted,
			cause:   "workflow_retry_exhausted",
			calls:   []string{`p {}`, `viewport.scroll {}`, `p {}`},
			summary: "a:workflow_retry_exhausted",
		},
		{
			name: "retry_until fails and continues",
			steps: `{"id":"a","primitive":"p","retry_until":"{% 1 + 'x' %}","max_attempts":3,` +
				`"on_error":"continue"},{"id":"b","primitive":"q"}`,
			output:  `"{% steps.a.error.code %}"`,
			value:   `"expression_evaluation_failed"`,
			calls:   []string{`p {}`, `q {}`},
			summary: "a:expression_evaluation_failed b:ok",
		},
		{
			name: "retry succeeds on a failed attempt",
			steps: `{"id":"a","primitive":"bad","retry_until":"{% steps.a.error.code = 'target_not_found' %}",` +
				`"max_attempts":3,"on_error":"continue"}`,
			page:    failing("bad", fault.TargetNotFound),
			output:  `"{% [steps.a.ok, $count(steps.a.attempts)] %}"`,
			value:   `[false,1]`,
			calls:   []string{`bad {}`},
			summary: "a:target_not_found",
		},
		// output
		{
			name:    "output fails",
			steps:   `{"id":"a","primitive":"p"}`,
			output:  `{"x":"{% 1 + 'x' %}"}`,
			code:    fault.ExpressionEvaluationFailed,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{
			name:   "output too large",
			output: `["{% $pad('', 15000, 'x') %}","{% $pad('', 15000, 'x') %}","{% $pad('', 3000, 'x') %}"]`,
			code:   fault.WorkflowOutputTooLarge,
		},
		{
			name:  "steps too large for an output",
			steps: `{"id":"a","primitive":"p"}`,
			page: &page{answer: func(int, string, json.RawMessage) primitives.Result {
				return ok(`"` + strings.Repeat("x", 33_000) + `"`)
			}},
			code:    fault.WorkflowOutputTooLarge,
			calls:   []string{`p {}`},
			summary: "a:ok",
		},
		{
			name: "retained results are bounded",
			steps: `{"id":"a","primitive":"p"},{"id":"b","primitive":"p","on_error":"continue"},` +
				`{"id":"c","primitive":"p"}`,
			page: &page{answer: func(int, string, json.RawMessage) primitives.Result {
				return ok(`"` + strings.Repeat("x", workflow.MaxRetainedBytes/2) + `"`)
			}},
			code:    fault.WorkflowStepFailed,
			cause:   "payload_too_large",
			calls:   []string{`p {}`, `p {}`},
			summary: "a:ok b:payload_too_large",
		},
		// blank selectors
		{
			name:    "selector slot gives nothing",
			steps:   `{"id":"a","primitive":"p","args":{"locator":{"selector":"{% input.nope %}"}}}`,
			code:    fault.WorkflowStepFailed,
			cause:   "invalid_arguments",
			summary: "a:invalid_arguments",
		},
		{
			name:    "selector slot gives a blank",
			steps:   `{"id":"a","primitive":"p","args":{"locator":{"selector":"{% ' ' %}","text_equals":"x"}}}`,
			code:    fault.WorkflowStepFailed,
			cause:   "invalid_arguments",
			summary: "a:invalid_arguments",
		},
		{
			name:    "selector slot is absent beside others",
			steps:   `{"id":"a","primitive":"p","args":{"locator":{"selector":"{% input.nope %}","text_equals":"x"}}}`,
			output:  `1`,
			value:   `1`,
			calls:   []string{`p {"locator":{"text_equals":"x"}}`},
			summary: "a:ok",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.page == nil {
				tt.page = &page{}
			}
			out := compile(t, tt.steps, tt.output).Run(t.Context(), tt.page, workflow.RunOptions{
				Action: "site.act",
				Input:  json.RawMessage(input),
			})
			if got := fault.CodeOf(err(out)); got != tt.code {
				t.Fatalf("error %v, want %q", out.Err, tt.code)
			}
			if got, want := strings.Join(tt.page.calls, "\n"), strings.Join(tt.calls, "\n"); got != want {
				t.Errorf("calls:\n%s\nwant:\n%s", got, want)
			}
			if got := summary(out.Steps); got != tt.summary {
				t.Errorf("steps %q, want %q", got, tt.summary)
			}
			if tt.code == "" {
				var o struct {
					OK                bool
					Primitive, Action string
					Value, Steps      json.RawMessage
				}
				if e := json.Unmarshal(out.Output, &o); e != nil || !o.OK || o.Primitive != "actions.workflow" ||
					o.Action != "site.act" || string(o.Value) != tt.value {
					t.Errorf("output %s, %v; want value %s", out.Output, e, tt.value)
				}
				if (o.Steps != nil) != (tt.output == "") {
					t.Errorf("output %s: steps belong at the top level exactly when no output is declared", out.Output)
				}
				return
			}
			if out.Output != nil {
				t.Errorf("output %s beside an error", out.Output)
			}
			m := fields(t, out.Err)
			if c, _ := m["cause"].(map[string]any); tt.cause != "" && c["code"] != tt.cause {
				t.Errorf("cause %v, want %s", m["cause"], tt.cause)
			}
			if _, classified := m["failure_class"]; classified != (tt.cause != "") {
				t.Errorf("error %v: classification belongs to failed steps", m)
			}
		})
	}
}

func err(o workflow.Outcome) error {
	if o.Err == nil {
		return nil
	}
	return o.Err
}

func TestOutputShape(t *testing.T) {
	out := compile(t, `{"id":"a","primitive":"p"}`, `{"opened":"{% input.title %}"}`).
		Run(t.Context(), &page{}, workflow.RunOptions{Action: `x."y"`, Input: json.RawMessage(input)})
	if want := `{"ok":true,"primitive":"actions.workflow","action":"x.\"y\"","value":{"opened":"Fix"}}`; string(
		out.Output,
	) != want {
		t.Errorf("got %s, want %s", out.Output, want)
	}
	out = compile(t, `{"id":"a","primitive":"p","when":false}`, ``).
		Run(t.Context(), &page{}, workflow.RunOptions{Input: json.RawMessage(`[1]`)})
	if want := `{"ok":true,"primitive":"actions.workflow","action":"","value":{"steps":{"a":{"ok":true,` +
		`"skipped":true}}},"steps":{"a":{"ok":true,"skipped":true}}}`; string(out.Output) != want {
		t.Errorf("got %s, want %s", out.Output, want)
	}
}

// The result of a step is the one that primitives.Result.Step defines.
func TestStepResultsHaveTheDocumentedForm(t *testing.T) {
	for name, r := range map[string]primitives.Result{
		"payload": ok(`{"x":[1]}`),
		"nothing": {},
		"error":   bad(fault.TargetNotFound),
		"flat failure": {
			Flat:    true,
			Payload: json.RawMessage(`{"ok":false,"x":1}`),
			Err:     fault.New(fault.NavigationFailed, "no"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			pg := &page{answer: func(int, string, json.RawMessage) primitives.Result { return r }}
			out := compile(t, `{"id":"a","primitive":"p","on_error":"continue"}`, "").
				Run(t.Context(), pg, workflow.RunOptions{})
			var o struct{ Steps struct{ A json.RawMessage } }
			if e := json.Unmarshal(out.Output, &o); e != nil {
				t.Fatal(e)
			}
			r.Primitive = "p"
			if string(o.Steps.A) != string(r.Step()) {
				t.Errorf("got %s, want %s", o.Steps.A, r.Step())
			}
		})
	}
}

func TestSettle(t *testing.T) {
	never := func() *page { return failing("locator.wait_for", fault.Timeout) }
	tests := []struct {
		name, steps string
		page        *page
		fatal       bool
		code        fault.Code
		cause       string
		summary     string
		waits       []string // calls of locator.wait_for
	}{
		{
			name:    "defaults",
			steps:   `{"id":"a","primitive":"p","settle_after":{"locator":{"selector":"#x"}}}`,
			summary: "a:ok(settle true locator)",
			waits:   []string{`{"locator":{"selector":"#x"},"state":"visible","timeout_ms":8000}`},
		},
		{name: "given",
			steps: `{"id":"a","primitive":"p","settle_after":{"locator":{"selector":"{% '#' & ` +
				`input.title %}"},"state":"hidden","timeout_ms":12.5}}`,
			summary: "a:ok(settle true locator)",
			waits:   []string{`{"locator":{"selector":"#Fix"},"state":"hidden","timeout_ms":12.5}`}},
		{name: "timeout is pacing",
			page: never(),
			steps: `{"id":"a","primitive":"p",` +
				`"settle_after":{"locator":{"selector":"#x"}}},{"id":"b","primitive":"p"}`,
			summary: "a:ok(settle false locator timeout) b:ok",
			waits:   []string{""}},
		{name: "other failures are pacing too",
			page: failing(
				"locator.wait_for", fault.InvalidSelector,
			),
			steps: `{"id":"a","primitive":"p","settle_after":{"locator":{"selector":"#["}}},` +
				`{"id":"b","primitive":"p"}`,
			summary: "a:ok(settle false locator invalid_selector) b:ok",
			waits:   []string{""}},
		{name: "after success only",
			page: failing("bad", fault.TargetNotFound),
			steps: `{"id":"a","primitive":"bad",` +
				`"on_error":"continue","settle_after":{"locator":{"selector":"#x"}}},{"id":"b","primitive":"p"}`,
			summary: "a:target_not_found b:ok"},
		{
			name:    "not after a skipped step",
			steps:   `{"id":"a","primitive":"p","when":false,"settle_after":{"locator":{"selector":"#x"}}}`,
			summary: "a:skipped",
		},
		{name: "retry",
			page: never(),
			steps: `{"id":"a","primitive":"p","retry_until":"{% true %}","max_attempts":2,` +
				`"settle_after":{"locator":{"selector":"#x"}}},{"id":"b","primitive":"p"}`,
			summary: "a:ok(settle false locator timeout) b:ok",
			waits:   []string{""}},
		{
			name: "retry that succeeds on a failed attempt",
			page: failing("bad", fault.TargetNotFound),
			steps: `{"id":"a","primitive":"bad","retry_until":"{% true %}","max_attempts":2,"on_error":"continue",` +
				`"settle_after":{"locator":{"selector":"#x"}}}`,
			summary: "a:target_not_found",
		},
		{
			name:    "delay",
			steps:   `{"id":"a","primitive":"p","settle_after":{"delay_ms":1.5}}`,
			summary: "a:ok(settle true delay)",
		},
		{name: "locator cannot be computed",
			steps: `{"id":"a","primitive":"p",` +
				`"settle_after":{"locator":{"selector":"{% 1 + 'x' %}"}}},{"id":"b","primitive":"p"}`,
			code:    fault.WorkflowStepFailed,
			cause:   "expression_evaluation_failed",
			summary: "a:expression_evaluation_failed(settle false locator expression_evaluation_failed)"},
		// appendix A 33, as the extension has it
		{
			name:  "fatal",
			fatal: true,
			page:  never(),
			steps: `{"id":"a","primitive":"p","settle_after":{"locator":{"selector":"#x"}}},` +
				`{"id":"b","primitive":"p"}`,
			code:    fault.WorkflowStepFailed,
			cause:   "workflow_settle_timeout",
			summary: "a:workflow_settle_timeout(settle false locator timeout)",
			waits:   []string{""},
		},
		{
			name:  "fatal but continue",
			fatal: true,
			page:  never(),
			steps: `{"id":"a","primitive":"p","on_error":"continue","settle_after":{"locator":{"selector":"#x"}}},` +
				`{"id":"b","primitive":"p"}`,
			summary: "a:ok(settle false locator timeout) b:ok",
			waits:   []string{""},
		},
		{
			name:    "fatal: also after an allowed failure",
			fatal:   true,
			page:    failing("bad", fault.TargetNotFound),
			steps:   `{"id":"a","primitive":"bad","on_error":"continue","settle_after":{"locator":{"selector":"#x"}}}`,
			summary: "a:target_not_found(settle true locator)",
			waits:   []string{""},
		},
		{
			name:  "fatal: never on retry",
			fatal: true,
			page:  never(),
			steps: `{"id":"a","primitive":"p","retry_until":"{% true %}","max_attempts":2,` +
				`"settle_after":{"locator":{"selector":"#x"}}}`,
			summary: "a:ok(settle false locator timeout)",
			waits:   []string{""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.page == nil {
				tt.page = &page{}
			}
			var slept []time.Duration
			var set quirks.Set
			if tt.fatal {
				set = quirks.Of(quirks.FatalSettle)
			}
			out := compile(t, tt.steps, "").Run(t.Context(), tt.page, workflow.RunOptions{
				Input:  json.RawMessage(input),
				Quirks: set,
				Sleep: func(_ context.Context, d time.Duration) error {
					slept = append(slept, d)
					return nil
				},
			})
			if got := fault.CodeOf(err(out)); got != tt.code {
				t.Fatalf("error %v, want %q", out.Err, tt.code)
			}
			if got := summary(out.Steps); got != tt.summary {
				t.Errorf("steps %q, want %q", got, tt.summary)
			}
			if tt.cause != "" {
				if c, _ := fields(t, out.Err)["cause"].(map[string]any); c["code"] != tt.cause {
					t.Errorf("cause %v, want %s", c, tt.cause)
				}
			}
			var waits []string
			for _, c := range tt.page.calls {
				if args, isWait := strings.CutPrefix(c, "locator.wait_for "); isWait {
					waits = append(waits, args)
				}
			}
			if len(waits) != len(tt.waits) {
				t.Fatalf("waited for %q, want %d waits", waits, len(tt.waits))
			}
			for i, want := range tt.waits {
				if want != "" && waits[i] != want {
					t.Errorf("waited for %s, want %s", waits[i], want)
				}
			}
			if strings.Contains(tt.steps, "delay_ms") && (len(slept) != 1 || slept[0] != 1500*time.Microsecond) {
				t.Errorf("slept %v, want 1.5 ms", slept)
			}
		})
	}
}

func TestClassification(t *testing.T) {
	no := false
	tests := []struct {
		name, id, primitive string
		err                 *fault.Error
		class, state        string
		retryable, recov    bool
	}{
		{
			"overlay in the message", "a", "p", fault.New(fault.TargetNotFound, "the Overlay menu is visible"),
			"overlay_interference", "mutation", true, true,
		},
		{
			"occluded", "find", "locator.x", fault.New(fault.TargetNotActionable, "occluded by a div"),
			"overlay_interference", "mutation", true, true,
		},
		{
			"intercepts", "a", "p", fault.New(fault.TargetObscured, "another element intercepts it"),
			"overlay_interference", "mutation", true, true,
		},
		{
			"postcondition step", "checkPostcondition", "locator.x",
			fault.New(fault.TargetNotFound, "x"), "postcondition_failed", "postcondition", false, true,
		},
		{
			"locator primitive", "a", "locator.value", fault.New(fault.TargetNotFound, "x"),
			"control_not_ready", "readiness", true, true,
		},
		{
			"step name", "openButton", "pointer.click", fault.New(fault.TargetNotFound, "x"),
			"control_not_ready", "readiness", true, true,
		},
		{
			"step name verify", "verify_it", "p", fault.New(fault.TargetNotFound, "x"),
			"control_not_ready", "readiness", true, true,
		},
		{
			"otherwise", "a", "pointer.click", fault.New(fault.TargetNotFound, "x"),
			"target_not_found", "precondition", true, true,
		},
		{
			"otherwise, not recoverable", "a", "pointer.click",
			&fault.Error{Code: fault.TargetNotFound, Message: "x", Recoverable: &no},
			"target_not_found", "precondition", false, false,
		},
		{
			"otherwise, code says not recoverable", "a", "pointer.click",
			fault.New(fault.PermissionDenied, "x"), "target_not_found", "precondition", false, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pg := &page{
				answer: func(int, string, json.RawMessage) primitives.Result { return primitives.Result{Err: tt.err} },
			}
			out := compile(t, `{"id":"`+tt.id+`","primitive":"`+tt.primitive+`"}`, "").
				Run(t.Context(), pg, workflow.RunOptions{})
			m := fields(t, out.Err)
			if m["failure_class"] != tt.class || m["failed_state"] != tt.state || m["retryable"] != tt.retryable ||
				m["recoverable"] != tt.recov {
				t.Errorf("got %v", m)
			}
			if m["step_id"] != tt.id || m["primitive"] != tt.primitive || m["safe_recovery"] == "" ||
				m["code"] != "workflow_step_failed" {
				t.Errorf("got %v", m)
			}
			if c := m["cause"].(map[string]any); c["code"] != string(tt.err.Code) || c["message"] != tt.err.Message {
				t.Errorf("cause %v", c)
			}
			if !errors.Is(out.Err, tt.err.Code) && !errors.Is(errors.Unwrap(out.Err), tt.err.Code) {
				t.Errorf("the chain of %v lost its cause", out.Err)
			}
		})
	}
}

// What the schema of a primitive refuses, it refuses again: no advice to retry,
// whatever the class, which stays that of the reference.
func TestRefusedArgumentsAreNotRetryable(t *testing.T) {
	refused := func(message string) *fault.Error { return fault.New(fault.InvalidInput, "%s", message) }
	tests := []struct {
		name, id, primitive string
		err                 *fault.Error
		class, state        string
		upstream            bool // retryable there
	}{
		{
			"otherwise", "choose", "page.select", refused("/labels is not a declared member"),
			"target_not_found", "precondition", true,
		},
		{
			"locator primitive", "a", "locator.value",
			refused("/locator is required"), "control_not_ready", "readiness", true,
		},
		{
			"step name", "openButton", "pointer.click",
			refused("/z is not a declared member"), "control_not_ready", "readiness", true,
		},
		{
			"overlay in the message", "a", "p", refused("/overlay is not a declared member"),
			"overlay_interference", "mutation", true,
		},
		{
			"postcondition step", "checkPostcondition", "p", refused("/z is not a declared member"),
			"postcondition_failed", "postcondition", false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, profile := range []struct {
				set       quirks.Set
				retryable bool
			}{{quirks.Set{}, false}, {quirks.Of(quirks.RetryableByClass), tt.upstream}} {
				pg := &page{answer: func(int, string, json.RawMessage) primitives.Result {
					return primitives.Result{Err: tt.err}
				}}
				out := compile(t, `{"id":"`+tt.id+`","primitive":"`+tt.primitive+`"}`, "").
					Run(t.Context(), pg, workflow.RunOptions{Quirks: profile.set})
				m := fields(t, out.Err)
				if m["failure_class"] != tt.class || m["failed_state"] != tt.state ||
					m["retryable"] != profile.retryable || m["recoverable"] != true {
					t.Errorf("quirks %v: got class %v, state %v, retryable %v, recoverable %v, want %s, %s, %v, true",
						profile.set.Names(), m["failure_class"], m["failed_state"],
						m["retryable"], m["recoverable"], tt.class, tt.state, profile.retryable)
				}
				advice, _ := m["safe_recovery"].(string)
				if corrected := strings.Contains(advice, "correct the arguments"); corrected != profile.set.Empty() {
					t.Errorf("quirks %v: got the advice %q", profile.set.Names(), advice)
				}
			}
		})
	}
}

// Each attempt replaces the result of the one before it.
func TestRetryKeepsOneResult(t *testing.T) {
	n := 0
	pg := &page{answer: func(int, string, json.RawMessage) primitives.Result {
		n++
		return ok(`{"n":` + strconv.Itoa(n) + `}`)
	}}
	out := compile(t, `{"id":"a","primitive":"p","retry_until":"{% steps.a.output.n = 2 %}","max_attempts":3},`+
		`{"id":"b","primitive":"p"}`, "").Run(t.Context(), pg, workflow.RunOptions{})
	const want = `"steps":{"a":{"ok":true,"output":{"n":2},"attempts":[{"ok":true,"output":{"n":1}},` +
		`{"ok":true,"output":{"n":2}}]},"b":{"ok":true,"output":{"n":3}}}`
	if got := string(out.Output); strings.Count(got, want) != 2 {
		t.Errorf("got %s, want %s in it twice", got, want)
	}
}

// What an attempt waits for takes the page time: a change of the page, or a growing
// pause, whichever comes first. What after_each takes is part of the pause.
func TestRetriesWait(t *testing.T) {
	stopped := func() time.Time { return time.Time{} }
	for _, tt := range []struct {
		name, step string
		set        quirks.Set
		want       []time.Duration
	}{
		{"growing pause", `"max_attempts":7`, quirks.Set{}, []time.Duration{50, 100, 200, 400, 500, 500}},
		{
			"after_each", `"max_attempts":3,"after_each":{"primitive":"overlay.menu.hide"}`,
			quirks.Set{},
			[]time.Duration{50, 100},
		},
		{
			"after_each in the extension", `"max_attempts":3,"after_each":{"primitive":"overlay.menu.hide"}`,
			quirks.Of(quirks.RetriesAtOnce), nil,
		},
		{"extension", `"max_attempts":7`, quirks.Of(quirks.RetriesAtOnce), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var slept []time.Duration
			compile(t, `{"id":"a","primitive":"p","retry_until":"{% false %}",`+tt.step+`}`, "").
				Run(t.Context(), &page{}, workflow.RunOptions{
					Quirks: tt.set,
					Now:    stopped,
					Sleep: func(_ context.Context, d time.Duration) error {
						slept = append(slept, d/time.Millisecond)
						return nil
					},
				})
			if !slices.Equal(slept, tt.want) {
				t.Errorf("slept %v ms, want %v", slept, tt.want)
			}
			var bounds []time.Duration
			compile(t, `{"id":"a","primitive":"p","retry_until":"{% false %}",`+tt.step+`}`, "").
				Run(t.Context(), &page{}, workflow.RunOptions{
					Quirks: tt.set, Now: stopped,
					Sleep: func(context.Context, time.Duration) error {
						t.Error("slept where the page is watched")
						return nil
					},
					Changed: func(_ context.Context, d time.Duration) error {
						bounds = append(bounds, d/time.Millisecond)
						return nil
					},
				})
			if !slices.Equal(bounds, tt.want) {
				t.Errorf("waited for a change for at most %v ms, want %v", bounds, tt.want)
			}
		})
	}
}

func TestExhaustedNamesTheLastError(t *testing.T) {
	out := compile(
		t, `{"id":"a","primitive":"bad","retry_until":"{% steps.a.ok %}","max_attempts":2,"on_error":"continue"}`, "",
	).Run(t.Context(), failing("bad", fault.TargetNotFound), workflow.RunOptions{})
	m := fields(t, out.Err)
	cause := m["cause"].(map[string]any)
	last, _ := cause["cause"].(map[string]any)
	if m["code"] != "workflow_retry_exhausted" || cause["step_id"] != "a" || last["code"] != "target_not_found" ||
		m["failure_class"] != "control_not_ready" {
		t.Errorf("got %v", m)
	}
	out = compile(t, `{"id":"a","primitive":"p","retry_until":"{% false %}","max_attempts":2}`, "").
		Run(t.Context(), &page{}, workflow.RunOptions{})
	if c := fields(t, out.Err)["cause"].(map[string]any); c["cause"] != nil {
		t.Errorf("cause of an exhausted loop without an error: %v", c)
	}
}

func TestPostconditionIsRefusedNotIgnored(t *testing.T) {
	p := compileText(t, `{"version":1,"expression_language":"jsonata","steps":[{"id":"a","primitive":"p"}],`+
		`"postcondition":{"projection":"site.board"}}`)
	if got := string(p.Postcondition()); got != `{"projection":"site.board"}` {
		t.Errorf("Postcondition() = %s", got)
	}
	pg := &page{}
	out := p.Run(t.Context(), pg, workflow.RunOptions{})
	if !errors.Is(out.Err, fault.CapabilityUnavailable) || len(pg.calls) > 0 {
		t.Errorf("got %v after the calls %v", out.Err, pg.calls)
	}
	out = p.Run(t.Context(), pg, workflow.RunOptions{ChecksPostcondition: true})
	if out.Err != nil || len(pg.calls) != 1 {
		t.Errorf("for a caller that checks it: got %v after the calls %v", out.Err, pg.calls)
	}
}

// clock is a time that moves only when told.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestTimeIsOver(t *testing.T) {
	three := `{"id":"a","primitive":"p"},{"id":"b","primitive":"slow","on_error":"continue"},{"id":"c","primitive":"p"}`
	tests := []struct {
		name, steps string
		cause       error // what the context ends with, during "slow"
		answer      primitives.Result
		code        fault.Code
		step        string
		completed   string
		summary     string
	}{
		{
			"deadline during a step", three, context.DeadlineExceeded, bad(fault.Timeout),
			fault.HandlerTimeout, "b", `[a]`, "a:ok b:handler_timeout",
		},
		{
			"deadline as a step ends well", three, context.DeadlineExceeded,
			ok(`{}`), fault.HandlerTimeout, "b", `[a b]`, "a:ok b:ok",
		},
		{"cancelled", three, context.Canceled, bad(fault.Cancelled), fault.Cancelled, "b", `[a]`, "a:ok b:cancelled"},
		{
			"tab closed", three, fault.New(fault.TabClosed, "gone"),
			bad(fault.TabClosed), fault.TabClosed, "b", `[a]`, "a:ok b:tab_closed",
		},
		{
			"in a loop", `{"id":"l","primitive":"slow","for_each":[1,2,3],"max_items":3,"on_error":"continue"}`,
			context.DeadlineExceeded, bad(fault.Timeout), fault.HandlerTimeout, "l", `[]`, "l:handler_timeout",
		},
		{
			"in a retry",
			`{"id":"r","primitive":"slow","retry_until":"{% false %}","max_attempts":9,"on_error":"continue"}`,
			context.DeadlineExceeded, bad(fault.Timeout), fault.HandlerTimeout, "r", `[]`, "r:handler_timeout",
		},
		{
			"settle_after is a remaining step too",
			`{"id":"a","primitive":"p"},{"id":"b","primitive":"slow","settle_after":{"locator":{"selector":"#x"}}}`,
			context.DeadlineExceeded, ok(`{}`), fault.HandlerTimeout, "b", `[a b]`, "a:ok b:ok",
		},
		{
			"in the last step", `{"id":"z","primitive":"slow"}`, context.DeadlineExceeded,
			bad(fault.Timeout), fault.HandlerTimeout, "z", `[]`, "z:handler_timeout",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c := &clock{now: time.Unix(1000, 0)}
			pg := &page{answer: func(_ int, name string, _ json.RawMessage) primitives.Result {
				if name != "slow" {
					return ok(`{}`)
				}
				c.now = c.now.Add(1500 * time.Millisecond)
				cancel(tt.cause)
				return tt.answer
			}}
			out := compile(t, tt.steps, "").Run(ctx, pg, workflow.RunOptions{Now: c.Now})
			if !errors.Is(out.Err, tt.code) || fault.CodeOf(out.Err) != tt.code {
				t.Fatalf("got %v, want %s", out.Err, tt.code)
			}
			e := fields(t, out.Err)["evidence"].(map[string]any)
			if e["elapsed_ms"] != 1500.0 || e["step_id"] != tt.step || e["primitive"] != "slow" {
				t.Errorf("evidence %v", e)
			}
			done, _ := json.Marshal(e["steps_completed"])
			if got := strings.NewReplacer(`"`, "", ",", " ").Replace(string(done)); got != tt.completed {
				t.Errorf("completed %s, want %s", got, tt.completed)
			}
			if got := summary(out.Steps); got != tt.summary {
				t.Errorf("steps %q, want %q", got, tt.summary)
			}
			if last := pg.calls[len(pg.calls)-1]; !strings.HasPrefix(last, "slow") {
				t.Errorf("called %s after the time was over", last)
			}
			if n := strings.Count(strings.Join(pg.calls, "\n"), "slow"); n != 1 {
				t.Errorf("%d calls of the slow primitive, want 1", n)
			}
			if out.Err.NextStep == "" {
				t.Error("no advice to read the page first")
			}
		})
	}

	t.Run("before the first step", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		pg := &page{}
		if out := compile(t, three, "").Run(
			ctx, pg, workflow.RunOptions{},
		); !errors.Is(out.Err, fault.HandlerTimeout) || len(pg.calls)+len(out.Steps) > 0 {
			t.Errorf("got %v, calls %v", out.Err, pg.calls)
		}
	})
	t.Run("during a delay", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		start := time.Now()
		out := compile(
			t, `{"id":"a","primitive":"p","settle_after":{"delay_ms":60000}},{"id":"b","primitive":"p"}`, "",
		).Run(ctx, &page{}, workflow.RunOptions{})
		if !errors.Is(out.Err, fault.HandlerTimeout) || time.Since(start) > 20*time.Second {
			t.Errorf("got %v after %v", out.Err, time.Since(start))
		}
	})
	t.Run("during an expression", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		out := compile(t, `{"id":"a","primitive":"p","on_error":"continue","args":{"x":"{% ($f := function($n) { $n `+
			`< 0 ? 0 : $f($n + 1) }; $f(0)) %}"}}`, "").Run(ctx, &page{}, workflow.RunOptions{})
		if !errors.Is(out.Err, fault.HandlerTimeout) {
			t.Errorf("got %v", out.Err)
		}
	})
}

func TestEndlessExpressionFailsItsStep(t *testing.T) {
	start := time.Now()
	out := compile(
		t, `{"id":"a","primitive":"p","args":{"x":"{% ($f := function($n) { $n < 0 ? 0 : $f($n + 1) }; $f(0)) %}"}}`,
		"",
	).Run(t.Context(), &page{}, workflow.RunOptions{})
	m := fields(t, out.Err)
	cause, _ := m["cause"].(map[string]any)
	if m["code"] != "workflow_step_failed" || cause["code"] != "expression_limit_exceeded" ||
		time.Since(start) > 30*time.Second {
		t.Errorf("got %v after %v", m, time.Since(start))
	}
	if e, _ := cause["evidence"].(map[string]any); e["budget"] == nil || e["pointer"] != "/x" {
		t.Errorf("evidence %v, want the budget and the pointer", e)
	}
}

func TestOnStepHearsOfEachStep(t *testing.T) {
	var heard []string
	compile(t, `{"id":"a","primitive":"p"},{"id":"b","primitive":"q","when":false},{"id":"c","primitive":"bad"},`+
		`{"id":"d","primitive":"p"}`, "").
		Run(t.Context(), failing("bad", fault.TargetNotFound), workflow.RunOptions{
			OnStep: func(id, primitive string) { heard = append(heard, id+" "+primitive) },
		})
	if got := strings.Join(heard, ","); got != "a p,b q,c bad" {
		t.Errorf("heard %s", got)
	}
}

func TestDurations(t *testing.T) {
	c := &clock{now: time.Unix(0, 0)}
	pg := &page{answer: func(int, string, json.RawMessage) primitives.Result {
		c.now = c.now.Add(12600 * time.Microsecond)
		return ok(`{}`)
	}}
	out := compile(t, `{"id":"a","primitive":"p"}`, "").Run(t.Context(), pg, workflow.RunOptions{Now: c.Now})
	b, _ := json.Marshal(out.Steps)
	if want := `[{"id":"a","primitive":"p","ok":true,"skipped":false,"duration_ms":13}]`; string(b) != want {
		t.Errorf("got %s, want %s", b, want)
	}
}

// A program may run many times at once; nothing of a run stays in it.
func TestRunsDoNotShareState(t *testing.T) {
	p := compile(t, `{"id":"a","primitive":"p","args":{"t":"{% input.t %}"}}`, `"{% [input.t, steps.a.output.t] %}"`)
	done := make(chan string, 8)
	for i := range 8 {
		go func() {
			id := string(rune('a' + i))
			out := p.Run(context.Background(), &page{answer: func(
				_ int, _ string, args json.RawMessage,
			) primitives.Result {
				return primitives.Result{Payload: args}
			}},
				workflow.RunOptions{Input: json.RawMessage(`{"t":"` + id + `"}`)})
			if !strings.Contains(string(out.Output), `"value":["`+id+`","`+id+`"]`) {
				done <- string(out.Output) + err2text(out)
				return
			}
			done <- ""
		}()
	}
	for range 8 {
		if s := <-done; s != "" {
			t.Error(s)
		}
	}
}

func err2text(o workflow.Outcome) string {
	if o.Err == nil {
		return ""
	}
	return o.Err.Error()
}

func BenchmarkRun25Steps(b *testing.B) {
	var steps []string
	for i := range 25 {
		prev := "input"
		if i > 0 {
			prev = "steps.s" + strconv.Itoa(i-1) + ".output.clickable_center"
		}
		steps = append(steps, `{"id":"s`+strconv.Itoa(i)+`","primitive":"pointer.click","args":{"x":"{% `+prev+
			`.x %}","y":"{% `+prev+`.y %}","locator":{"selector":"#a"}}}`)
	}
	p := compile(b, strings.Join(steps, ","), `"{% steps.s24.output.clickable_center %}"`)
	payload := ok(`{"visible":true,"clickable_center":{"x":12.5,"y":40},"text":"` + strings.Repeat("x", 500) + `"}`)
	pg := &page{answer: func(int, string, json.RawMessage) primitives.Result { return payload }}
	in := json.RawMessage(`{"x":1,"y":2}`)
	b.ReportAllocs()
	for b.Loop() {
		pg.calls = pg.calls[:0]
		if out := p.Run(context.Background(), pg, workflow.RunOptions{Input: in}); out.Err != nil {
			b.Fatal(out.Err)
		}
	}
}
