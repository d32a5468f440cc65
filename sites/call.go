package sites

import (
	"bytes"
	"encoding/json"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Kind is how a tool runs.
type Kind string

const (
	// KindStatic: the answer is in the map.
	KindStatic Kind = "static"
	// KindWorkflow: the steps of a workflow run.
	KindWorkflow Kind = "workflow"
	// KindPrimitive: one primitive runs, see Primitive.
	KindPrimitive Kind = "primitive"
	// KindUnsupported: see Unsupported.
	KindUnsupported Kind = "unsupported"
)

// Kind returns how the tool runs: static output, else workflow, else a handler
// that is a primitive of this runtime.
func (m *Match) Kind() Kind {
	t := m.Tool
	switch {
	case t.Unusable != nil, len(t.Wrong) > 0:
		return KindUnsupported
	case t.XActions.StaticOutput != nil:
		return KindStatic
	case t.Workflow != nil:
		return KindWorkflow
	case t.XActions.Handler != "" && (m.Map.known == nil || m.Map.known(t.XActions.Handler)):
		return KindPrimitive
	}
	return KindUnsupported
}

// Unsupported returns why this runtime cannot run the tool, or nil.
func (m *Match) Unsupported() *fault.Error {
	if m.Kind() != KindUnsupported {
		return nil
	}
	if err := manifest.Invalid("action", m.Tool.Name, m.Tool.Wrong); err != nil {
		return err.With("map_path", m.Map.Path)
	}
	if u := m.Tool.Unusable; u != nil && u.Code != fault.NotExecutable {
		return fault.New(u.Code, "the tool is a draft that cannot run: %s", u.Message).
			With("action", m.Tool.Name).With("pointer", u.Pointer).With("map_path", m.Map.Path)
	}
	x := m.Tool.XActions
	reason := "the tool declares no form of execution that this runtime supports"
	var declared []string
	if x.Handler != "" {
		declared = append(declared, "handler")
		reason = "the handler is not a primitive"
	}
	if x.Execution != nil && len(x.Execution.Steps) > 0 {
		declared = append(declared, "execution.steps")
		switch {
		case x.Execution.Mode == "documentary" || x.Execution.Mode == "test_only":
			reason = "its steps are of the mode " + x.Execution.Mode + ", which does not run in a call"
		case x.Handler == "":
			reason = "it declares abstract steps alone"
		}
	}
	if x.StateMachine != nil {
		declared = append(declared, "state_machine")
	}
	if len(x.Navigation) > 0 {
		declared = append(declared, "navigation")
		if len(declared) == 1 {
			reason = "x_actions.navigation, an older form, does not run; declare steps"
		}
	}
	return fault.New(fault.UnsupportedExecutionMode, "%s", reason).
		With("action", m.Tool.Name).With("declared", declared).With("map_path", m.Map.Path)
}

// ValidateInput checks the arguments of a call against the tool's
// input_schema. nil arguments mean an empty object.
func (m *Match) ValidateInput(arguments json.RawMessage) *fault.Error {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	arguments = bytes.TrimSpace(arguments)
	if arguments[0] != '{' {
		return fault.New(fault.InvalidInput, "the arguments must be an object").With("tool", m.Tool.Name).
			With("validation_errors", []schema.Problem{
				{Keyword: "type", Message: "must be object", Expected: "object"},
			}).
			With("missing_required", []string{})
	}
	problems := m.Tool.Input.Validate(arguments)
	if len(problems) == 0 {
		return nil
	}
	missing := schema.Missing(problems)
	if missing == nil {
		missing = []string{}
	}
	return fault.New(
		fault.InvalidInput, "the arguments do not match the input schema: %s%s", problems[0], problems[0].Advice(),
	).With("tool", m.Tool.Name).With("validation_errors", problems[:min(len(problems), 10)]).
		With("missing_required", missing)
}

// ValidateResult checks an output against the tool's result_schema, when it
// declares one.
func (m *Match) ValidateResult(output json.RawMessage) *fault.Error {
	problems := m.Tool.Result.Validate(output)
	if len(problems) == 0 {
		return nil
	}
	return fault.New(fault.InvalidResult, "the output does not match the result schema: %s", problems[0]).
		With("tool", m.Tool.Name).With("validation_errors", problems[:min(len(problems), 10)])
}

// Static returns the declared answer of a tool of KindStatic.
func (m *Match) Static() json.RawMessage { return m.Tool.XActions.StaticOutput }

// Primitive returns the primitive that a tool of KindPrimitive calls, and its
// arguments: those of the binding with the caller's merged over them, member by
// member at every depth.
func (m *Match) Primitive(arguments json.RawMessage) (name string, merged json.RawMessage, err *fault.Error) {
	merged, mergeErr := mergeObjects(m.Tool.XActions.Binding.Arguments, arguments)
	if mergeErr != nil {
		return "", nil, fault.New(fault.InvalidInput, "the arguments must be an object").With("tool", m.Tool.Name)
	}
	return m.Tool.XActions.Handler, merged, nil
}

// mergeObjects lays over onto base; nil is an empty object. Anything but two
// objects at the same place is replaced, arrays too.
func mergeObjects(base, over json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(over)) == 0 {
		over = json.RawMessage("{}")
	}
	if len(base) == 0 {
		base = json.RawMessage("{}")
	}
	b, err := decodeObject(base)
	if err != nil {
		return nil, err
	}
	o, err := decodeObject(over)
	if err != nil {
		return nil, err
	}
	merge(b, o)
	return jsonout.Line(b)
}

func decodeObject(raw json.RawMessage) (map[string]any, error) {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	if m == nil {
		m = map[string]any{}
	}
	return m, nil
}

func merge(base, over map[string]any) {
	for k, v := range over {
		if inner, ok := v.(map[string]any); ok {
			if at, ok := base[k].(map[string]any); ok {
				merge(at, inner)
				continue
			}
		}
		base[k] = v
	}
}
