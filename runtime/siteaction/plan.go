package siteaction

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Modes of x_actions.execution.
const (
	stepsFirst   = "steps_first"
	handlerFirst = "handler_first"
	stepsOnly    = "steps_only"
	handlerOnly  = "handler_only"
)

// execution is x_actions.execution with its handler, checked before anything of
// it runs.
type execution struct {
	mode    string
	steps   []plannedStep
	handler string // dotted name of a primitive or a function of the page; "" is none
	// fallback is the second form that the map declares, for when the first has
	// failed: steps, handler, none, or something for people.
	fallback string
}

// plannedStep is one abstract step and how it lowers onto primitives.
type plannedStep struct {
	*manifest.ExecutionStep
	id     string
	kind   *stepKind
	target *manifest.Target // its own, else the tool's; nil for steps that need none

	slots *expr.Template // evaluated before it runs; nil for a step without any

	signal   call.SignalID // of a wait for one
	signalIn *sites.Map    // declares it
}

func (s *plannedStep) waits() bool { return s.Type == "wait" || s.Type == "wait_for" }

// waitsForElement reports whether a wait without a target is about an element all
// the same.
func (s *plannedStep) waitsForElement() bool {
	return s.waits() && s.Until == nil && s.State != "" && elementState(s.State)
}

// needsTarget reports whether a kind of step is about an element.
type needsTarget int

const (
	targetNever needsTarget = iota
	targetOptional
	targetRequired
)

// stepKind is one type of abstract step.
type stepKind struct {
	// uses names the primitives that the step may invoke.
	uses func(s *plannedStep) []string
	// target is whether the step needs one; the tool's target stands in for
	// a step that declares none.
	target needsTarget
	// reads means that its outcome is part of the result without being named
	// for by as.
	reads bool
	// lacking returns what else the step would need to say, "" for nothing.
	lacking func(s *plannedStep) string
	run     func(r *executionRun, s *plannedStep) (json.RawMessage, *fault.Error)
}

func using(names ...string) func(*plannedStep) []string {
	return func(*plannedStep) []string { return names }
}

// stepKinds are the types that steps may have; see docs/explanation/site-actions.md. Beside
// them the name of a primitive is a type: its arguments stand in arguments.
var stepKinds map[string]*stepKind

func init() { // the handlers refer to the run, and it to the table
	click := &stepKind{
		uses:   using("locator.element_info", "pointer.click"),
		target: targetRequired,
		run:    (*executionRun).click,
	}
	inspect := &stepKind{
		uses:   using("locator.element_info"),
		target: targetRequired,
		reads:  true,
		run:    (*executionRun).inspect,
	}
	typing := &stepKind{uses: typingUses, target: targetRequired, lacking: needsValue, run: (*executionRun).typeText}
	extract := &stepKind{
		uses:    extractUses,
		target:  targetRequired,
		lacking: extractLacks,
		reads:   true,
		run:     (*executionRun).extract,
	}
	waiting := &stepKind{uses: using(), target: targetOptional, lacking: waitLacks, run: (*executionRun).waitFor}
	checkbox := &stepKind{
		uses:   using("locator.element_info", "pointer.click"),
		target: targetRequired,
		run:    (*executionRun).setChecked,
	}
	stepKinds = map[string]*stepKind{
		"inspect": inspect, "find": inspect, "locate": inspect,
		"click": click, "tap": click,
		"double_click": {
			uses:   using("locator.element_info", "pointer.double_click"),
			target: targetRequired,
			run:    (*executionRun).doubleClick,
		},
		"hover": {
			uses:   using("locator.element_info", "pointer.move"),
			target: targetRequired,
			run:    (*executionRun).hover,
		},
		"focus": {uses: using("dom.focus"), target: targetRequired, run: (*executionRun).focus},
		"type":  typing, "fill": typing, "input": typing,
		"clear": {uses: using("text.insert"), target: targetRequired, run: (*executionRun).clear},
		"press": {uses: pressUses, target: targetOptional, lacking: pressLacks, run: (*executionRun).press},
		"scroll": {
			uses:    using("viewport.scroll", "locator.element_info"),
			target:  targetOptional,
			lacking: scrollLacks,
			run:     (*executionRun).scroll,
		},
		"select": {
			uses:    using(selectPrimitive),
			target:  targetRequired,
			lacking: selectLacks,
			run:     (*executionRun).selectOption,
		},
		"check":   checkbox,
		"uncheck": checkbox,
		"wait":    waiting, "wait_for": waiting,
		"extract": extract, "read": extract, "collect": extract,
		"navigate":   {uses: using("browser.navigate"), lacking: navigateLacks, run: (*executionRun).navigate},
		"reload":     {uses: using("browser.navigate"), run: (*executionRun).reload},
		"screenshot": {uses: using("browser.screenshot"), reads: true, run: (*executionRun).screenshot},
		"assert": {
			uses:    using(),
			target:  targetOptional,
			lacking: assertLacks,
			run:     func(*executionRun, *plannedStep) (json.RawMessage, *fault.Error) { return nil, nil },
		},
		"handler": {uses: using(), lacking: handlerLacks, reads: true, run: (*executionRun).callHandler},
	}
}

// formOf returns which executable form a tool has here. It is Match.Kind for what
// the maps alone decide, and beyond that what this runtime executes.
func formOf(m *mapset.Maps, match *sites.Match) form {
	switch match.Kind() {
	case sites.KindStatic:
		return formStatic
	case sites.KindWorkflow:
		return formWorkflow
	}
	x := match.Tool.XActions
	runnable := x.Execution != nil && len(x.Execution.Steps) > 0 && x.Execution.Mode != "documentary" &&
		x.Execution.Mode != "test_only"
	switch {
	case match.Tool.Unusable != nil, len(match.Tool.Wrong) > 0:
		return formNone
	case runnable && x.Execution.Mode == "" && x.Handler != "" && m.Known(x.Handler):
		// Steps beside a primitive explain it unless a mode is given.
		return formPrimitive
	case runnable && x.Execution.Mode != handlerOnly:
		return formExecution
	case x.Handler != "" && m.Known(x.Handler):
		return formPrimitive
	case x.Handler != "":
		return formExecution
	case x.StateMachine != nil && x.Source != nil && x.Source.ItemSelector != nil && x.Source.Fields != nil:
		return formExtract
	}
	return formNone
}

// form is how a tool runs.
type form int

const (
	formNone form = iota
	formStatic
	formWorkflow
	formPrimitive
	formExecution // abstract steps, a function of the page, or both
	formExtract   // an older form: state_machine with the arguments of one extraction in source
)

// extractPrimitive is run by the older form state_machine, as the bridge
// does (wire reference, "call").
const extractPrimitive = "browser.extract_elements"

// extraction fills in what the caller's arguments leave open from the tool's
// source.
func extraction(t *manifest.Tool, arguments json.RawMessage) (json.RawMessage, *fault.Error) {
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, fault.New(fault.InvalidInput, "the arguments must be an object").With("tool", t.Name)
	}
	s := t.XActions.Source
	for name, v := range map[string]json.RawMessage{
		"scope":         s.Scope,
		"item_selector": s.ItemSelector,
		"fields":        s.Fields,
	} {
		if _, given := args[name]; !given && v != nil {
			args[name] = v
		}
	}
	out := call.Encoded(args)
	return out.Output, out.Err
}

// executionOf plans the abstract steps of a tool, once.
func executionOf(m *mapset.Maps, o *mapset.Offer, match *sites.Match) (*execution, *fault.Error) {
	if e, ok := o.Plans.Load(match.Tool); ok {
		return e.(*execution), nil
	}
	e, err := planExecution(m, o.Library, match)
	if err != nil {
		return nil, err
	}
	o.Plans.Store(match.Tool, e)
	return e, nil
}

func planExecution(m *mapset.Maps, lib *sites.Library, match *sites.Match) (*execution, *fault.Error) {
	t := match.Tool
	e := &execution{handler: t.XActions.Handler}
	if x := t.XActions.Execution; x != nil {
		e.mode, e.fallback = x.Mode, x.Fallback
		if e.mode != handlerOnly && e.mode != "documentary" && e.mode != "test_only" {
			for i := range x.Steps {
				s, err := planStep(m, lib, match, &x.Steps[i], i)
				if err != nil {
					return nil, err.With("map_path", match.Map.Path).With("action", t.Name)
				}
				e.steps = append(e.steps, s)
			}
		}
	}
	switch {
	case e.handler == "" && len(e.steps) == 0:
		return nil, fault.New(
			fault.UnsupportedExecutionMode, "the mode %s leaves nothing to run", cmp.Or(e.mode, "documentary"),
		).With("action", t.Name).With("map_path", match.Map.Path)
	case e.handler == "":
		e.mode = stepsOnly
	case len(e.steps) == 0:
		e.mode = handlerOnly
	case e.mode == "":
		e.mode = handlerFirst
	}
	if e.mode == stepsOnly {
		e.handler = ""
	}
	return e, nil
}

func planStep(
	m *mapset.Maps, lib *sites.Library, match *sites.Match, declared *manifest.ExecutionStep, index int,
) (plannedStep, *fault.Error) {
	t := match.Tool
	s := plannedStep{ExecutionStep: declared, id: declared.ID, target: declared.Target}
	if s.id == "" {
		s.id = declared.Type + "_" + strconv.Itoa(index+1)
	}
	unable := func(format string, args ...any) (plannedStep, *fault.Error) {
		return s, fault.New(fault.CapabilityUnavailable, format, args...).
			With("step_id", s.id).With("type", declared.Type)
	}
	slots, err := slotsOf(m, declared)
	if err != nil {
		return s, fault.From(err)
	}
	s.slots = slots
	s.kind = stepKinds[declared.Type]
	if s.kind == nil && m.Known(declared.Type) {
		s.kind = &stepKind{uses: using(declared.Type), reads: true, run: (*executionRun).direct}
	}
	if s.kind == nil {
		known := slices.Sorted(maps.Keys(stepKinds))
		s, err := unable("this runtime does not know the type of step %s", s.id)
		return s, err.With("known_types", known).With("nearest", fault.Near(declared.Type, known))
	}
	switch {
	case s.kind.target == targetNever:
		s.target = nil
	case s.target == nil && (s.kind.target == targetRequired || s.waitsForElement()):
		s.target = t.Target
	}
	if s.kind.target == targetRequired && s.target == nil {
		return unable("step %s (%s) names no target, and the tool has none", s.id, declared.Type)
	}
	if s.kind.lacking != nil {
		if lacks := s.kind.lacking(&s); lacks != "" {
			return unable("step %s (%s) names no %s", s.id, declared.Type, lacks)
		}
	}
	if !s.waits() {
		return s, nil
	}
	if !elementState(s.State) {
		switch _, state := lib.State(match.Map, s.State); {
		case state == nil:
			return unable(
				"step %s waits for the state %s, which is neither one of an element nor declared by the map",
				s.id, fault.Clip(s.State, 60),
			)
		case len(state.Diagnostics) == 0:
			return unable(
				"step %s waits for the state %s, which nothing on the page can decide", s.id, fault.Clip(s.State, 60),
			)
		}
	}
	if s.Signal != "" {
		in, signal := lib.Signal(match.Map, s.Signal)
		if signal == nil {
			return unable("step %s waits for the signal %s, which nobody declares", s.id, fault.Clip(s.Signal, 60))
		}
		s.signal = call.SignalID{MapPath: in.Path, Name: signal.Name}
		s.signalIn = in
	}
	return s, nil
}

// uses lists the primitives that an execution may invoke, in order and without
// repetition.
func (e *execution) uses() []string {
	var names []string
	for i := range e.steps {
		for _, n := range e.steps[i].kind.uses(&e.steps[i]) {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// plainText is a member of a step that is a string or a number, as text.
func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}
