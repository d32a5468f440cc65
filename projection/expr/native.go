package expr

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr/jsonata"
)

// forbiddenCode is that of a builtin in Limits.Forbid; its message starts with
// the name.
const forbiddenCode = "L0006"

// nativePrograms is how many compiled expressions an engine keeps. A large map
// has a few hundred.
const nativePrograms = 512

// nativeEngine evaluates in this process, under budgets of its own: package
// jsonata never panics, never recurses without bound and obeys its context.
type nativeEngine struct {
	cache *jsonata.Cache
	bytes int64
}

func newNative(o Options) Engine {
	return &nativeEngine{cache: jsonata.NewCache(nativePrograms), bytes: o.Memory}
}

func (e *nativeEngine) Name() string { return Native }

// Close has nothing to end: the engine starts nothing.
func (e *nativeEngine) Close() error { return nil }

func (e *nativeEngine) Compile(src string) (Program, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	p, err := e.cache.Compile(src)
	if err != nil {
		return nil, nativeError(fault.InvalidExpression, err)
	}
	return &nativeProgram{engine: e, program: p}, nil
}

type nativeProgram struct {
	engine  *nativeEngine
	program *jsonata.Program
}

func (p *nativeProgram) Source() string { return p.program.Source() }

func (p *nativeProgram) Eval(ctx context.Context, in Input, l Limits) (Value, error) {
	v, _, err := p.Explain(ctx, in, l)
	return v, err
}

// parsed is a Program that knows the names in its text. Programs of the native engine are; those of blues are not.
type parsed interface {
	Named() []string
	Members() [][2]string
}

// Members is jsonata's.
func (p *nativeProgram) Members() [][2]string { return p.program.Members() }

// Named is jsonata's.
func (p *nativeProgram) Named() []string { return p.program.Named() }

// Reads reports whether an expression reads one of these members of its input by its name: "error",
// or "output.status" for a member of one. One that comes by it in another way, such as
// $lookup($, 'error'), does not.
func Reads(p Program, members ...string) bool {
	names, ok := p.(parsed)
	if !ok { // another engine keeps no tree; the language is the same
		native, err := jsonata.Compile(p.Source())
		if err != nil {
			return false
		}
		names = native
	}
	return slices.ContainsFunc(members, func(m string) bool {
		if of, member, path := strings.Cut(m, "."); path {
			return slices.Contains(names.Members(), [2]string{of, member})
		}
		return slices.Contains(names.Named(), m)
	})
}

// Warnings implements Explainer.
func (p *nativeProgram) Warnings() []Warning {
	var out []Warning
	for _, w := range p.program.Warnings() {
		out = append(out, Warning{Code: w.Code, Position: w.Position, Message: w.Message})
	}
	return out
}

// Explain implements Explainer.
func (p *nativeProgram) Explain(ctx context.Context, in Input, l Limits) (Value, Usage, error) {
	l = l.withDefaults()
	timed, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	members := make([]jsonata.Member, len(in))
	for i, m := range in {
		members[i] = jsonata.Member(m)
	}
	res, err := p.program.Eval(timed, jsonata.ObjectInput(members...), jsonata.Limits{
		Bytes:       cmp.Or(l.Memory, p.engine.bytes),
		OutputBytes: int64(l.OutputBytes),
		Forbid:      forbidden,
	})
	used := Usage{
		Steps: res.Usage.Steps, Depth: res.Usage.MaxDepth, Bytes: res.Usage.Bytes,
		RegexSteps: res.Usage.RegexSteps, OutputBytes: res.Usage.OutputBytes,
	}
	switch {
	case err == nil:
		return Value{JSON: res.JSON, Undefined: res.Undefined}, used, nil
	case ctx.Err() != nil:
		return Value{}, used, fault.Wrap(fault.Timeout, ctx.Err(), "evaluating an expression")
	case timed.Err() != nil && errors.Is(err, timed.Err()):
		return Value{}, used, overLimit("time", "did not end within "+l.Time.String()).
			With("limit_ms", l.Time.Milliseconds())
	}
	var e *jsonata.Error
	if errors.As(err, &e) && e.Budget == "output_bytes" {
		return Value{}, used, tooLarge(l.OutputBytes)
	}
	return Value{}, used, nativeError(fault.ExpressionEvaluationFailed, err)
}

// nativeError gives an error of package jsonata its place among our codes.
// code is that of an ordinary error.
func nativeError(code fault.Code, err error) *fault.Error {
	var e *jsonata.Error
	if !errors.As(err, &e) {
		return fault.Wrap(code, err, "evaluating an expression")
	}
	if e.Code == forbiddenCode {
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Message, "$"), " ")
		return disallowed(name)
	}
	if e.Budget != "" && code == fault.ExpressionEvaluationFailed {
		code = fault.ExpressionLimitExceeded
	}
	f := evaluationError(code, e.Code, e.Position, e.Token, e.Message)
	if e.Budget != "" {
		f.With("budget", e.Budget)
	}
	if e.Said != "" {
		f.With("said", e.Said)
	}
	f.Err = err
	return f
}
