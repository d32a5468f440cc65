package siteaction

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/sites/manifest"
)

// slotsOf compiles the slots {% ... %} of an abstract step; nil for a step without any.
func slotsOf(m *mapset.Maps, declared *manifest.ExecutionStep) (*expr.Template, error) {
	if !bytes.Contains(declared.Raw, []byte("{%")) {
		return nil, nil //nolint:nilnil // it has none
	}
	return expr.CompileTemplate(m.Engine, declared.Raw)
}

// filled is a step with its slots evaluated. They see the arguments of the call as input and
// what earlier steps gave as steps. A slot that gives nothing is an error: without it, a target
// would be another element.
func (r *executionRun) filled(s *plannedStep) (*plannedStep, *fault.Error) {
	if s.slots == nil {
		return s, nil
	}
	steps := map[string]json.RawMessage{}
	for _, v := range r.values {
		steps[v.name] = v.value
	}
	seen, err := json.Marshal(map[string]any{"input": r.input, "steps": steps})
	if err != nil {
		return s, fault.From(err)
	}
	in, err := expr.ParseInput(seen)
	if err != nil {
		return s, fault.From(err)
	}
	raw, _, err := s.slots.Eval(r.ctx, in, expr.Limits{})
	if err != nil {
		return s, fault.From(err)
	}
	var before, after any
	if json.Unmarshal(s.Raw, &before) != nil || json.Unmarshal(raw, &after) != nil {
		return s, fault.New(fault.Internal, "the step %s cannot be read", s.id)
	}
	if at, text := unfilled(before, after, ""); at != "" {
		return s, fault.New(fault.InvalidInput, "%s of step %s gives nothing: %s", at[1:], s.id, fault.Clip(text, 100)).
			With("pointer", at).Next("give the argument that the expression reads")
	}
	declared, failed := manifest.Step(raw)
	if failed != nil {
		return s, failed
	}
	out := *s
	if s.ExecutionStep.Target != nil && s.target == s.ExecutionStep.Target {
		out.target = declared.Target
	}
	out.ExecutionStep = declared
	return &out, nil
}

// unfilled is the first slot of a value that gave nothing, or an empty text.
func unfilled(before, after any, at string) (pointer, text string) {
	switch v := before.(type) {
	case string:
		if _, slot, err := expr.Slot(v); err == nil && slot && (after == nil || after == "") {
			return at, v
		}
	case []any:
		list, _ := after.([]any)
		for i := range v {
			var item any
			if i < len(list) {
				item = list[i]
			}
			pointer, text = unfilled(v[i], item, at+"/"+strconv.Itoa(i))
			if pointer != "" {
				return pointer, text
			}
		}
	case map[string]any:
		members, _ := after.(map[string]any)
		for name := range v {
			below := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			pointer, text = unfilled(v[name], members[name], below)
			if pointer != "" {
				return pointer, text
			}
		}
	}
	return "", ""
}
