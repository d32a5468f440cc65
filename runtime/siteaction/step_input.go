package siteaction

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites/manifest"
)

// selectPrimitive chooses an option of a native list.
const selectPrimitive = "dom.select_option"

func (r *executionRun) click(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.pointer(s, "pointer.click")
}

func (r *executionRun) doubleClick(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.pointer(s, "pointer.double_click")
}

func (r *executionRun) hover(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.pointer(s, "pointer.move")
}

func (r *executionRun) pointer(s *plannedStep, primitive string) (json.RawMessage, *fault.Error) {
	info, _, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	return r.invoke(primitive, info.Center)
}

// setChecked clicks a control only when it is not yet what it should be, and
// sees that it became so. A step with a value does what its type says when the value is
// true, and the opposite when it is false.
func (r *executionRun) setChecked(s *plannedStep) (json.RawMessage, *fault.Error) {
	want := s.Type == "check"
	if s.ValueFrom != "" || s.Value != nil {
		value, err := r.value(s)
		if err != nil {
			return nil, err
		}
		var yes bool
		if json.Unmarshal(value, &yes) != nil {
			return nil, fault.New(
				fault.InvalidInput, "step %s needs true or false, not %s", s.id, fault.Clip(string(value), 60),
			)
		}
		want = want == yes
	}
	f, err := r.find(s, false)
	if err != nil {
		return nil, err
	}
	is := f.match.Facts
	if is == nil || is.Checked == nil {
		return nil, fault.New(fault.TargetNotActionable, "the target of step %s is nothing that can be checked", s.id).
			With("target", verify.TargetEvidence(s.target))
	}
	if *is.Checked != want {
		if _, err := r.pointer(s, "pointer.click"); err != nil {
			return nil, err
		}
		probe := &manifest.Probe{Target: f.target, Checked: &want}
		after, err := r.await(func(sv *verify.Batch) {
			sv.Add(r.match.Map, probe, nil)
		}, func(sv *verify.Batch) (verify.Observation, bool) {
			f := sv.Judge(r.match.Map, probe, nil)
			return f, f.Verdict == verify.Yes
		})
		if err != nil {
			return nil, err
		}
		if after.Verdict != verify.Yes {
			return nil, fault.New(fault.StateMismatch, "the control of step %s was clicked and did not change", s.id).
				With("target", verify.TargetEvidence(s.target))
		}
	}
	return call.JSON(map[string]any{"checked": want, "changed": *is.Checked != want}), nil
}

func (r *executionRun) focus(s *plannedStep) (json.RawMessage, *fault.Error) {
	f, err := r.find(s, false)
	if err != nil {
		return nil, err
	}
	return r.invoke("dom.focus", map[string]any{"locator": f.locator})
}

// typeText replaces what is in the control, unless clear is false: then it
// types behind it.
func (r *executionRun) typeText(s *plannedStep) (json.RawMessage, *fault.Error) {
	value, err := r.value(s)
	if err != nil {
		return nil, err
	}
	out, err := r.insert(s, plainText(value), s.Clear == nil || *s.Clear)
	if err != nil || s.Submit == nil || !*s.Submit {
		return out, err
	}
	_, err = r.invoke("keyboard.press", map[string]any{"key": "Enter"})
	return out, err
}

func (r *executionRun) clear(s *plannedStep) (json.RawMessage, *fault.Error) {
	return r.insert(s, "", true)
}

func (r *executionRun) insert(s *plannedStep, text string, replace bool) (json.RawMessage, *fault.Error) {
	_, f, err := r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	mode := "append"
	if replace {
		mode = "replace"
	}
	return r.invoke("text.insert", map[string]any{"target": f.locator, "text": text, "mode": mode})
}

func (r *executionRun) press(s *plannedStep) (json.RawMessage, *fault.Error) {
	keys := s.Keys
	if s.Key != "" {
		keys = []string{s.Key}
	}
	if len(keys) == 0 {
		value, err := r.value(s)
		if err != nil {
			return nil, err
		}
		keys = []string{plainText(value)}
	}
	if s.target != nil {
		if _, err := r.focus(s); err != nil {
			return nil, err
		}
	}
	var out json.RawMessage
	for _, key := range keys {
		var err *fault.Error
		out, err = r.invoke("keyboard.press", map[string]any{"key": key})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *executionRun) selectOption(s *plannedStep) (json.RawMessage, *fault.Error) {
	f, err := r.find(s, false)
	if err != nil {
		return nil, err
	}
	if is := f.match.Facts; is != nil && is.TagName == "input" && is.Checked != nil {
		return r.chooseRadio(s, f)
	}
	_, f, err = r.elementInfo(s)
	if err != nil {
		return nil, err
	}
	args := map[string]any{"locator": f.locator}
	switch {
	case s.Label != "":
		args["label"] = s.Label
	case s.Option != "":
		args["option"] = s.Option
	default:
		value, err := r.value(s)
		if err != nil {
			return nil, err
		}
		args["option"] = plainText(value)
	}
	return r.invoke(selectPrimitive, args)
}

// chooseRadio checks the radio button among those of the target that has the value, or
// else the name, that the step gives.
func (r *executionRun) chooseRadio(s *plannedStep, f found) (json.RawMessage, *fault.Error) {
	selector, _ := f.all["selector"].(string)
	if selector == "" {
		return nil, fault.New(
			fault.CapabilityUnavailable, "step %s chooses a radio button, which needs a selector in its target", s.id,
		)
	}
	wanted := s.Label
	if wanted == "" {
		wanted = s.Option
	}
	if wanted == "" {
		value, err := r.value(s)
		if err != nil {
			return nil, err
		}
		wanted = plainText(value)
	}
	targets := []*manifest.Target{{Selector: []string{selector}, Role: "radio", Name: wanted}}
	if s.Label == "" {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\a `).Replace(wanted)
		targets = append(
			[]*manifest.Target{{Selector: []string{":is(" + selector + `)[value="` + quoted + `"]`}}}, targets...,
		)
	}
	for _, t := range targets {
		m, err := r.resolve(t)
		if err != nil {
			return nil, err
		}
		if !m.Found || m.Count != 1 || len(m.Relaxed) > 0 {
			continue
		}
		one := *s.ExecutionStep
		one.Type = "check"
		one.ValueFrom = ""
		one.Value = nil
		return r.setChecked(&plannedStep{ExecutionStep: &one, id: s.id, kind: s.kind, target: t})
	}
	return nil, fault.New(
		fault.TargetNotEditable,
		"no radio button of step %s has the value or the name %s", s.id, strconv.Quote(fault.Clip(wanted, 60)),
	).With("target", verify.TargetEvidence(s.target)).With("reason", "no_option")
}
