package mapset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

const (
	// postconditionTime is the time in which a page may come to meet a
	// postcondition that does not say timeout_ms, counted from the end of the
	// workflow. The call's own time bounds it in any case.
	postconditionTime    = 5 * time.Second
	maxPostconditionTime = time.Minute
)

// Postcondition must be true of the page after an action.
type Postcondition struct {
	Expression *projection.Postcondition
	Projection string
	Time       time.Duration
	In         *sites.Map
}

// Postcondition returns what the action's map wants checked after it, nil when
// nothing is: the workflow's own declaration, else the first projection of the
// map that has one for the action. program is nil for an action that is no workflow. A malformed one is an error before
// the action does anything.
func (m *Maps) Postcondition(o *Offer, match *sites.Match, program *workflow.Program) (*Postcondition, *fault.Error) {
	if pc, ok := o.postconditions.Load(match.Tool); ok {
		return pc.(*Postcondition), nil
	}
	var raw json.RawMessage
	containing := ""
	if program != nil {
		raw = program.Postcondition()
	}
	if raw == nil {
		raw, containing = mapPostcondition(match)
	}
	if raw == nil {
		o.postconditions.Store(match.Tool, (*Postcondition)(nil))
		return nil, nil
	}
	pc, err := compilePostcondition(raw, containing, m.Engine)
	if err != nil {
		return nil, err.With("action", match.Tool.Name)
	}
	pc.In = match.Map
	o.postconditions.Store(match.Tool, pc)
	return pc, nil
}

// compilePostcondition compiles a declaration. containing is the projection it
// stands in, "" for one that stands in a workflow and so has to name its own.
func compilePostcondition(raw json.RawMessage, containing string, engine expr.Engine) (*Postcondition, *fault.Error) {
	check, err := projection.CompilePostcondition(raw, engine)
	if err != nil {
		return nil, err
	}
	pc := &Postcondition{Expression: check, Projection: cmp.Or(check.Projection(), containing), Time: postconditionTime}
	var own struct {
		TimeoutMS *int64 `json:"timeout_ms"` // an extension of this runtime
	}
	if e := json.Unmarshal(raw, &own); e != nil {
		return nil, fault.New(fault.InvalidStatePostcondition, "timeout_ms must be a whole number")
	}
	if ms := own.TimeoutMS; ms != nil {
		if *ms < 1 || *ms > maxPostconditionTime.Milliseconds() {
			return nil, fault.New(
				fault.InvalidStatePostcondition, "timeout_ms must be between 1 and %d",
				maxPostconditionTime.Milliseconds(),
			)
		}
		pc.Time = time.Duration(*ms) * time.Millisecond
	}
	if pc.Projection == "" {
		return nil, fault.New(fault.InvalidStatePostcondition, "the postcondition of a workflow names no projection")
	}
	return pc, nil
}

func mapPostcondition(match *sites.Match) (raw json.RawMessage, containing string) {
	for i := range match.Map.Manifest.StateProjections {
		p := &match.Map.Manifest.StateProjections[i]
		if raw := p.Postconditions[match.Tool.Name]; len(raw) > 0 && raw[0] == '{' {
			return raw, p.Name
		}
	}
	return nil, ""
}

// projection compiles a declared projection.
func (m *Maps) projection(raw json.RawMessage) (*projection.Projection, []manifest.Problem) {
	if m.how.Salvage {
		return projection.CompileAsItComes(raw, m.Engine)
	}
	return projection.Compile(raw, m.Engine)
}

// projectionProblems checks a declared projection when its map loads.
func (m *Maps) projectionProblems(raw json.RawMessage) []manifest.Problem {
	_, problems := m.projection(raw)
	return problems
}

// projectionWarnings lists what is suspicious about the expressions of a
// projection. What is wrong with them is reported elsewhere.
func (m *Maps) projectionWarnings(raw json.RawMessage) []manifest.Problem {
	p, _ := projection.Compile(raw, m.Engine)
	if p == nil {
		return nil
	}
	return p.Warnings()
}

// postconditionWarnings is the same for the postcondition of a workflow.
func (m *Maps) postconditionWarnings(raw json.RawMessage) []manifest.Problem {
	pc, err := projection.CompilePostcondition(raw, m.Engine)
	if err != nil {
		return nil
	}
	var out []manifest.Problem
	for _, p := range pc.Warnings() {
		p.Pointer = "/postcondition" + p.Pointer
		out = append(out, p)
	}
	return out
}

// Projection compiles a projection of o, once.
func (m *Maps) Projection(o *Offer, declared *manifest.Projection) (*projection.Projection, *fault.Error) {
	if p, ok := o.projections.Load(declared); ok {
		return p.(*projection.Projection), nil
	}
	if err := manifest.Invalid("projection", declared.Name, declared.Wrong); err != nil {
		return nil, err
	}
	p, problems := m.projection(declared.Raw)
	if len(problems) > 0 {
		return nil, fault.New(problems[0].Code, "%s", problems[0].Message).
			With("projection", declared.Name).With("pointer", problems[0].Pointer)
	}
	o.projections.Store(declared, p)
	return p, nil
}

// workflowProblems compiles a workflow once and returns what is wrong with it and
// what its author hardly meant.
func (m *Maps) workflowProblems(raw json.RawMessage) (problems, warnings []manifest.Problem) {
	if m.how.Arguments == ArgumentsUnchecked {
		way := fmt.Sprint(m.Engine.Name(), m.how.AcceptDrafts, m.how.Salvage, m.how.Upstream)
		if m.how.Checked.Has(way, raw) {
			return nil, nil
		}
		defer func() {
			if len(problems)+len(warnings) == 0 {
				m.how.Checked.Add(way, raw)
			}
		}()
	}
	how := m.compiling()
	how.Arguments = m.arguments()
	program, wrong := workflow.Compile(raw, how)
	for _, p := range wrong {
		problems = append(problems, p.Problem)
	}
	if program == nil {
		return problems, nil
	}
	for _, p := range program.Warnings() {
		warnings = append(warnings, p.Problem)
	}
	if pc := program.Postcondition(); pc != nil {
		warnings = append(warnings, m.postconditionWarnings(pc)...)
		if len(problems) == 0 {
			if _, err := compilePostcondition(pc, "", m.Engine); err != nil {
				problems = append(problems, manifest.Problem{
					Pointer: "/postcondition",
					Code:    err.Code,
					Message: err.Message,
				})
			}
		}
	}
	return problems, warnings
}

// stepArgumentWarnings says what is wrong with the arguments of an abstract
// step whose type is a primitive. They have no expressions. Whether the step
// runs at all is up to the mode, so nothing of them is an error.
func (m *Maps) stepArgumentWarnings(primitive string, args json.RawMessage) []manifest.Problem {
	if m.how.Arguments == ArgumentsUnchecked {
		return nil
	}
	var out []manifest.Problem
	for _, p := range m.registry.CheckArguments(primitive, args, func(string) bool { return false }) {
		out = append(out, manifest.Problem{Pointer: p.Path, Code: p.Code, Message: p.Message})
	}
	return out
}

// arguments is the check of steps' arguments of the options.
func (m *Maps) arguments() func(string, json.RawMessage, func(string) bool) []primitives.ArgumentProblem {
	if m.how.Arguments == ArgumentsUnchecked {
		return nil
	}
	return func(name string, args json.RawMessage, open func(string) bool) []primitives.ArgumentProblem {
		found := m.registry.CheckArguments(name, args, open)
		for i := range found {
			found[i].Certain = found[i].Certain && m.how.Arguments == ArgumentsRefused
		}
		if m.how.Upstream {
			found = append(found, m.registry.IgnoredUpstream(name, args)...)
		}
		return found
	}
}

// Needs are the permissions that the actions of a map need, with the names of those
// that need them. What an expression decides, an address, is seen when it runs.
func (m *Maps) needs(in *sites.Map) map[sites.Permission][]string {
	out := map[sites.Permission][]string{}
	add := func(p sites.Permission, tool string) {
		if p != "" && !slices.Contains(out[p], tool) {
			out[p] = append(out[p], tool)
		}
	}
	for i := range in.Manifest.Tools {
		t := &in.Manifest.Tools[i]
		used := []string{t.XActions.Handler}
		if x := t.XActions.Execution; x != nil {
			for _, s := range x.Steps {
				used = append(used, s.Type)
			}
		}
		if len(t.Workflow) > 0 {
			program, problems := workflow.Compile(t.Workflow, m.compiling())
			if len(problems) == 0 {
				used = append(used, program.Primitives()...)
			}
		}
		for _, name := range used {
			add(sites.PermissionFor(name), t.Name)
		}
	}
	return out
}

// Program compiles the workflow of a tool of o, once.
func (m *Maps) Program(o *Offer, tool *manifest.Tool) (*workflow.Program, *fault.Error) {
	if p, ok := o.programs.Load(tool); ok {
		return p.(*workflow.Program), nil
	}
	p, problems := workflow.Compile(tool.Workflow, m.compiling())
	if len(problems) > 0 {
		first := problems[0]
		if m.how.Upstream && first.Code == fault.UnknownPrimitive {
			first.Code = fault.InvalidWorkflow // the extension's word for it
		}
		return nil, fault.New(first.Code, "%s", first.Message).
			With("pointer", first.Pointer).With("step_id", first.StepID).With("field", first.Field)
	}
	o.programs.Store(tool, p)
	return p, nil
}
