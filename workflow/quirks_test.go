package workflow_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/workflow"
)

type quirkCase struct {
	name, steps      string
	page             func() *page
	quirk            quirks.Name
	strict, upstream outcome
}

type outcome struct {
	code    fault.Code
	summary string
	last    string // the last call
}

// TestQuirks runs each workflow in the strict profile and with one quirk.
func TestQuirks(t *testing.T) {
	settling := func() *page { return failing("locator.wait_for", fault.Timeout) }
	tests := []quirkCase{
		{
			name:  "a failed step",
			quirk: quirks.SwallowedStepFailure,
			page:  func() *page { return failing("bad", fault.TargetNotFound) },
			steps: `{"id":"a","primitive":"bad"},{"id":"b","primitive":"p",` +
				`"args":{"code":"{% steps.a.output.error.code %}"}}`,
			strict:   outcome{fault.WorkflowStepFailed, "a:target_not_found", "bad {}"},
			upstream: outcome{"", "a:ok b:ok", `p {"code":"target_not_found"}`},
		},
		{
			name:     "a handler that threw fails either way",
			quirk:    quirks.SwallowedStepFailure,
			page:     func() *page { return failing("bad", fault.HandlerFailed) },
			steps:    `{"id":"a","primitive":"bad"}`,
			strict:   outcome{fault.WorkflowStepFailed, "a:handler_failed", "bad {}"},
			upstream: outcome{fault.WorkflowStepFailed, "a:handler_failed", "bad {}"},
		},
		{
			name:     "a tab that closed fails either way",
			quirk:    quirks.SwallowedStepFailure,
			page:     func() *page { return failing("bad", fault.TabClosed) },
			steps:    `{"id":"a","primitive":"bad"}`,
			strict:   outcome{fault.WorkflowStepFailed, "a:tab_closed", "bad {}"},
			upstream: outcome{fault.WorkflowStepFailed, "a:tab_closed", "bad {}"},
		},
		{
			name:     "a swallowed success is still a payload",
			quirk:    quirks.SwallowedStepFailure,
			page:     func() *page { return &page{} },
			steps:    `{"id":"a","primitive":"p"},{"id":"b","primitive":"p","args":{"v":"{% steps.a.output.done %}"}}`,
			strict:   outcome{"", "a:ok b:ok", `p {"v":true}`},
			upstream: outcome{"", "a:ok b:ok", `p {"v":true}`},
		},
		{
			name:  "a settle that is not met",
			quirk: quirks.FatalSettle,
			page:  settling,
			steps: `{"id":"a","primitive":"p","settle_after":{"locator":{"selector":"#x"},"timeout_ms":5}},` +
				`{"id":"b","primitive":"p"}`,
			strict: outcome{"", "a:ok(settle false locator timeout) b:ok", "p {}"},
			upstream: outcome{
				fault.WorkflowStepFailed, "a:workflow_settle_timeout(settle false locator timeout)",
				`locator.wait_for {"locator":{"selector":"#x"},"state":"visible","timeout_ms":5}`,
			},
		},
		{
			name:  "an expression in a settle locator",
			quirk: quirks.VerbatimSettle,
			page:  func() *page { return &page{} },
			steps: `{"id":"a","primitive":"p","settle_after":{"locator":{"text":"{% input.title %}"},` +
				`"timeout_ms":5}}`,
			strict: outcome{
				"", "a:ok(settle true locator)",
				`locator.wait_for {"locator":{"text":"Fix"},"state":"visible","timeout_ms":5}`,
			},
			upstream: outcome{
				"", "a:ok(settle true locator)",
				`locator.wait_for {"locator":{"text":"{% input.title %}"},"state":"visible","timeout_ms":5}`,
			},
		},
		{
			name:     "a name that is only a tool",
			quirk:    quirks.ToolOnlyNames,
			page:     func() *page { return &page{} },
			steps:    `{"id":"a","primitive":"browser.extract_elements"}`,
			strict:   outcome{"", "a:ok", "browser.extract_elements {}"},
			upstream: outcome{code: fault.InvalidWorkflow},
		},
		{
			name:     "a selector that came out blank",
			quirk:    quirks.BlankSelector,
			page:     func() *page { return &page{} },
			steps:    `{"id":"a","primitive":"pointer.drag","args":{"locator":{"selector":"{% input.nothing %}"}}}`,
			strict:   outcome{fault.WorkflowStepFailed, "a:invalid_arguments", ""},
			upstream: outcome{"", "a:ok", `pointer.drag {"locator":{}}`},
		},
	}
	for _, tt := range tests {
		for _, profile := range []struct {
			name string
			set  quirks.Set
			want outcome
		}{{"strict", quirks.Set{}, tt.strict}, {string(tt.quirk), quirks.Of(tt.quirk), tt.upstream}} {
			t.Run(tt.name+"/"+profile.name, func(t *testing.T) {
				p := tt.page()
				out := compile(t, tt.steps, "").Run(t.Context(), p, workflow.RunOptions{
					Input:  json.RawMessage(input),
					Quirks: profile.set,
				})
				if got := fault.CodeOf(err(out)); got != profile.want.code {
					t.Fatalf("got %v, want code %q", out.Err, profile.want.code)
				}
				if got := summary(out.Steps); got != profile.want.summary {
					t.Errorf("got steps %q, want %q", got, profile.want.summary)
				}
				last := ""
				if len(p.calls) > 0 {
					last = p.calls[len(p.calls)-1]
				}
				if last != profile.want.last {
					t.Errorf("got last call %q, want %q", last, profile.want.last)
				}
			})
		}
	}
	for _, q := range quirks.All() {
		if q.Proof == "workflow.TestQuirks" &&
			!slices.ContainsFunc(tests, func(c quirkCase) bool { return c.quirk == q.Name }) {
			t.Errorf("%s has no case", q.Name)
		}
	}
}
