package runtime

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type mutant struct{}

// withMutant has the page library make a mutant of the outermost document for each call below ctx, and undo it in the
// same task: see inject/prove/mutants.js. Such a call may only read.
func withMutant(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, mutant{}, id)
}

// underMutant is p as calls below ctx see it.
func underMutant(ctx context.Context, p primitives.Page) primitives.Page {
	id, _ := ctx.Value(mutant{}).(string)
	if id == "" {
		return p
	}
	return mutantPage{p, id}
}

type mutantPage struct {
	primitives.Page
	id string
}

// Call implements Page. The name of the mutant travels as the argument mutant.
func (p mutantPage) Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error {
	if frame != "" {
		return p.Page.Call(ctx, frame, fn, args, out)
	}
	b, err := json.Marshal(args)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encoding the arguments of a page call")
	}
	rest := []byte("}")
	if n := len(b); n > 2 && b[0] == '{' {
		rest = append([]byte{','}, b[1:]...)
	}
	with := append([]byte(`{"mutant":`+strconv.Quote(p.id)), rest...)
	return p.Page.Call(ctx, frame, fn, json.RawMessage(with), out)
}
