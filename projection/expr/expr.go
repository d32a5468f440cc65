// Package expr is the one door to expressions. Maps carry JSONata and are not trusted:
// an expression is compiled when its map loads and evaluated under limits that hold
// whatever it does. It knows no page and no map. Projections, workflows and plans call
// it.
//
// Two engines exist behind one interface: native, our own evaluator in package
// expr/jsonata, and blues, jsonata-go in a worker process.
package expr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Engine compiles expressions. It is safe for concurrent use. Close ends what
// the engine started and waits for it.
type Engine interface {
	Name() string
	// Compile parses src. The error is an invalid_expression fault with
	// position and JSONata code in its evidence, or
	// disallowed_expression_function.
	Compile(src string) (Program, error)
	Close() error
}

// Program is a compiled expression. It is immutable and safe for concurrent
// use.
type Program interface {
	Source() string
	// Eval evaluates the expression over input. Errors carry
	// expression_evaluation_failed (the JSONata code is in the evidence as
	// jsonata_code), expression_output_too_large, expression_limit_exceeded,
	// disallowed_expression_function, or the code of ctx.
	Eval(ctx context.Context, input Input, limits Limits) (Value, error)
}

// Member is one top-level member of an expression's input. A member that is
// undefined is left out.
type Member struct {
	Name string
	JSON json.RawMessage
}

// Input is the root object that an expression sees. Members keep their order;
// an engine decodes only those that the expression reads.
type Input []Member

// JSON returns the input as one object.
func (in Input) JSON() json.RawMessage {
	n := 2
	for _, m := range in {
		n += len(m.Name) + len(m.JSON) + 4
	}
	b := make([]byte, 0, n)
	b = append(b, '{')
	for i, m := range in {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(m.Name)
		b = append(append(append(b, name...), ':'), m.JSON...)
	}
	return append(b, '}')
}

// ParseInput reads an object as the input of an expression, its members in order.
func ParseInput(data []byte) (Input, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, errors.New("it does not start with {")
	}
	var out Input
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, Member{Name: name.(string), JSON: v})
	}
	_, err := dec.Token()
	return out, err
}

// Limits bounds one evaluation. A zero field means the default.
type Limits struct {
	Time        time.Duration // default 1 s
	OutputBytes int           // UTF-8 bytes of the value's JSON; default 16,000
	// Memory is how many bytes the native engine may allocate; default that of its options. The blues engine's
	// workers have theirs.
	Memory int64
}

// Value is the outcome of an evaluation: JSON text, or undefined. The text
// shares no memory with the input, which the caller may reuse.
type Value struct {
	JSON      json.RawMessage // nil when Undefined
	Undefined bool
}
