package expr

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// bluesEngine evaluates with jsonata-go in worker processes: it can overflow
// the stack, which ends its process, it cannot be interrupted, and it mixes
// values between concurrent evaluations. One process per evaluation at a time,
// with an address-space limit, killed when it overruns, contains all three.
//
// It is not jsonata-js. Constructs that it gets wrong without saying so are
// refused when they can be seen in the text, see rewriteForBlues; the rest of
// the differences stay.
type bluesEngine struct {
	pool *pool
}

func newBlues(o Options) (Engine, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 256 << 20
	}
	p, err := newPool(o.Workers, o.Memory)
	if err != nil {
		return nil, err
	}
	return &bluesEngine{pool: p}, nil
}

func (e *bluesEngine) Name() string { return Blues }

func (e *bluesEngine) Close() error { return e.pool.close() }

func (e *bluesEngine) Compile(src string) (Program, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	text, err := rewriteForBlues(src)
	if err != nil {
		return nil, err
	}
	// The parser runs in a worker as well: it is recursive and nobody has
	// shown that it always ends.
	rep, _, err := e.pool.do(e.pool.ctx, request{Op: opCompile, Source: text}, nil, compileTime)
	if errors.Is(err, fault.ExpressionLimitExceeded) {
		return nil, fault.New(fault.InvalidExpression, "the expression is too complicated to parse").
			With("budget", "parse")
	}
	if err != nil {
		return nil, err
	}
	if rep.Kind == kindError {
		return nil, evaluationError(fault.InvalidExpression, rep.JSONataCode, rep.Position, rep.Token, rep.Message)
	}
	return &bluesProgram{engine: e, source: src, text: text}, nil
}

const compileTime = 2 * time.Second

type bluesProgram struct {
	engine *bluesEngine
	source string
	text   string // source as blues is to read it
}

func (p *bluesProgram) Source() string { return p.source }

func (p *bluesProgram) Eval(ctx context.Context, in Input, l Limits) (Value, error) {
	l = l.withDefaults()
	rep, body, err := p.engine.pool.do(
		ctx, request{Op: opEval, Source: p.text, Output: l.OutputBytes}, in.JSON(), l.Time,
	)
	if err != nil {
		return Value{}, err
	}
	switch rep.Kind {
	case kindValue:
		return Value{JSON: json.RawMessage(body)}, nil
	case kindUndefined:
		return Value{Undefined: true}, nil
	case kindTooLarge:
		return Value{}, tooLarge(l.OutputBytes)
	case kindForbidden:
		return Value{}, disallowed(rep.Token)
	}
	return Value{}, evaluationError(
		fault.ExpressionEvaluationFailed, rep.JSONataCode, rep.Position, rep.Token, rep.Message,
	)
}
