package projection

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Postcondition is what must be true of the page after a workflow. It is
// immutable and safe for concurrent use.
type Postcondition struct {
	projection string
	message    string
	program    expr.Program
	warnings   []manifest.Problem
}

const defaultFailureMessage = "the state after the action does not meet its postcondition"

// CompilePostcondition reads a postcondition:
//
//	{"projection"?, "verify": {"language": "jsonata", "expression"}, "failure_message"?}
//
// language and expression may also stand beside projection. The error is
// invalid_state_postcondition, or that of the expression.
func CompilePostcondition(raw json.RawMessage, engine expr.Engine) (*Postcondition, *fault.Error) {
	v, err := parseValue(raw)
	if err != nil {
		return nil, fault.New(fault.InvalidStatePostcondition, "the postcondition: %v", err)
	}
	return compilePostcondition(v, engine)
}

func compilePostcondition(v *value, engine expr.Engine) (*Postcondition, *fault.Error) {
	bad := func(format string, args ...any) *fault.Error {
		return fault.New(fault.InvalidStatePostcondition, format, args...)
	}
	if v.kind != kindObject {
		return nil, bad("a postcondition must be an object")
	}
	pc := &Postcondition{message: defaultFailureMessage}
	for name, into := range map[string]*string{"projection": &pc.projection, "failure_message": &pc.message} {
		if m := v.member(name); m.given() {
			if m.kind != kindString {
				return nil, bad("%s must be a string", name)
			}
			if m.text != "" {
				*into = m.text
			}
		}
	}
	verify, at := v, "/expression"
	if inner := v.member("verify"); inner.given() {
		if inner.kind != kindObject {
			return nil, bad("verify must be an object")
		}
		verify, at = inner, "/verify/expression"
	}
	language, expression := verify.member("language"), verify.member("expression")
	if language == nil || language.kind != kindString || language.text != "jsonata" {
		return nil, bad("the language of a postcondition must be jsonata")
	}
	if expression == nil || expression.kind != kindString || expression.text == "" {
		return nil, bad("a postcondition needs an expression")
	}
	program, err := compileExpression(engine, expression.text)
	if err != nil {
		return nil, fault.From(err)
	}
	pc.program, pc.warnings = program, warnings(program, at)
	return pc, nil
}

// Projection names the projection that gives the state; "" is the one that
// declares the postcondition.
func (pc *Postcondition) Projection() string { return pc.projection }

// Warnings lists what the expression says that usually means something else,
// with pointers relative to the postcondition.
func (pc *Postcondition) Warnings() []manifest.Problem { return pc.warnings }

// FailureMessage says what it means that the postcondition does not hold. It is
// text of the map.
func (pc *Postcondition) FailureMessage() string { return pc.message }

// Check reports whether state meets the postcondition, given the arguments of
// the action. That it does not is an answer and no error. An empty input is {}.
func (pc *Postcondition) Check(ctx context.Context, state, input json.RawMessage) (bool, *fault.Error) {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	v, err := pc.program.Eval(ctx, expr.Input{{Name: "state", JSON: state}, {Name: "input", JSON: input}},
		expr.Limits{Time: evalTime, OutputBytes: MaxExpressionBytes})
	if err != nil {
		e := *fault.From(err)
		e.Evidence = maps.Clone(e.Evidence)
		e.Err = err
		return false, e.With("pointer", "/verify/expression")
	}
	return expr.Truthy(v), nil
}
