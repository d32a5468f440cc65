package manifest

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Step reads one abstract step: one whose slots were filled when it was about to run.
func Step(raw json.RawMessage) (*ExecutionStep, *fault.Error) {
	refused := func(why string) (*ExecutionStep, *fault.Error) {
		return nil, fault.New(
			fault.InvalidInput, "the step cannot be read after its expressions were evaluated: %s", why,
		)
	}
	execution := map[string]any{"mode": "steps_only", "steps": []json.RawMessage{raw}}
	tool := map[string]any{
		"name": "a.b", "description": "One step.", "input_schema": map[string]any{"type": "object"},
		"x_actions": map[string]any{"execution": execution},
	}
	surface := map[string]any{"name": "a"}
	whole, err := json.Marshal(map[string]any{
		"protocol": Protocol,
		"version":  Version,
		"surface":  surface,
		"tools":    []any{tool},
	})
	if err != nil {
		return refused("it is no JSON")
	}
	m, report := Parse(whole, Options{})
	if len(report.Errors) > 0 {
		return refused(report.Errors[0].Message)
	}
	if m == nil || len(m.Tools) != 1 || m.Tools[0].XActions.Execution == nil ||
		len(m.Tools[0].XActions.Execution.Steps) != 1 {
		return refused("it is no step")
	}
	return &m.Tools[0].XActions.Execution.Steps[0], nil
}
