package primitives

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/outrider-run/outrider/primitives/arguments"
)

// Input returns the type that p decodes its arguments into.
func (p *Primitive) Input() reflect.Type { return p.input }

// Primitives returns the primitives of r, sorted by name.
func (r *Registry) Primitives() []*Primitive {
	var out []*Primitive
	for _, n := range r.names {
		out = append(out, r.byName[n])
	}
	return out
}

// Compile compiles the schemas of p.
func (p *Primitive) Compile() error {
	_, err := p.checks()
	return err
}

// RecordText returns the text of a record file.
var RecordText = recordFile

// BreaksSchema reports whether the check of a call refuses arguments.
func BreaksSchema(r *Registry, name string, args json.RawMessage) bool {
	c, err := r.byName[name].checks()
	if err != nil {
		panic(err)
	}
	_, _, wrong := c.prepare(args, false)
	return wrong != nil
}

// RefusedArguments is BreaksSchema, and what their decoding refuses.
func RefusedArguments(r *Registry, name string, args json.RawMessage) bool {
	p := r.byName[name]
	c, err := p.checks()
	if err != nil {
		panic(err)
	}
	args, _, wrong := c.prepare(args, false)
	return wrong != nil || arguments.DecodeStrict(args, reflect.New(p.input).Interface()) != nil
}

// WatchEffects begins a watch around an action with these arguments, and returns the context that the action gets.
func WatchEffects(ctx context.Context, p Page, args []byte) (guarded context.Context, end func()) {
	w := watchEffects(ctx, p, findsFirst(args))
	return w.guard(ctx), func() { w.await(ctx) }
}
