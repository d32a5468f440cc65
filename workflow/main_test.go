package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/workflow"
)

func TestMain(m *testing.M) {
	expr.MaybeWorker()
	code := m.Run()
	if engine != nil {
		_ = engine.Close()
	}
	os.Exit(code)
}

var engine expr.Engine

var startEngine = sync.OnceValues(func() (expr.Engine, error) {
	e, err := expr.New("", nil)
	engine = e
	return e, err
})

func theEngine(t testing.TB) expr.Engine {
	t.Helper()
	e, err := startEngine()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func compile(t testing.TB, steps, output string) *workflow.Program {
	t.Helper()
	return compileText(t, workflowText(steps, output))
}

// workflowText completes steps, the inside of an array, to a workflow.
func workflowText(steps, output string) string {
	if output != "" {
		output = `,"output":` + output
	}
	return `{"version":1,"expression_language":"jsonata","steps":[` + steps + `]` + output + `}`
}

func compileText(t testing.TB, text string) *workflow.Program {
	t.Helper()
	p, problems := workflow.Compile(json.RawMessage(text), workflow.CompileOptions{Engine: theEngine(t)})
	if len(problems) > 0 {
		t.Fatalf("compiling %s: %v", text, problems)
	}
	return p
}

// page answers primitives from a script and notes what was asked.
type page struct {
	answer func(n int, name string, args json.RawMessage) primitives.Result
	calls  []string
}

func (p *page) Invoke(_ context.Context, name string, args json.RawMessage) primitives.Result {
	p.calls = append(p.calls, name+" "+string(args))
	r := primitives.Result{Payload: json.RawMessage(`{"done":true}`)}
	if p.answer != nil {
		r = p.answer(len(p.calls)-1, name, args)
	}
	r.Primitive = name
	return r
}

func ok(payload string) primitives.Result {
	return primitives.Result{Payload: json.RawMessage(payload)}
}

func bad(code fault.Code) primitives.Result {
	return primitives.Result{Err: fault.New(code, "it did not work").With("selector", "#x")}
}

// failing answers primitives whose name has prefix with code, others with ok.
func failing(prefix string, code fault.Code) *page {
	return &page{answer: func(_ int, name string, _ json.RawMessage) primitives.Result {
		if strings.HasPrefix(name, prefix) {
			return bad(code)
		}
		return ok(`{"done":true}`)
	}}
}

func fields(t testing.TB, err *fault.Error) map[string]any {
	t.Helper()
	b, e := json.Marshal(err)
	if e != nil {
		t.Fatal(e)
	}
	var m map[string]any
	if e := json.Unmarshal(b, &m); e != nil {
		t.Fatal(e)
	}
	return m
}

// summary writes step summaries as "id:state" words.
func summary(steps []workflow.StepSummary) string {
	var out []string
	for _, s := range steps {
		state := "ok"
		switch {
		case s.Skipped:
			state = "skipped"
		case !s.OK:
			state = string(s.Error)
		}
		if s.Settle != nil {
			state += fmt.Sprintf("(settle %v %s %s)", s.Settle.OK, s.Settle.Mode, s.Settle.Reason)
			state = strings.Replace(state, " )", ")", 1)
		}
		out = append(out, s.ID+":"+state)
	}
	return strings.Join(out, " ")
}
