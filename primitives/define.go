package primitives

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
)

// Primitive is a record and its handler. It is immutable and safe for
// concurrent use.
type Primitive struct {
	name   string
	record func() *Record // decoded when it is first asked for: all of them cost what a process takes to start
	input  reflect.Type
	run    func(ctx context.Context, p Page, args json.RawMessage) (any, error)
	checks func() (*checks, error)
}

// checks are the compiled checks of one primitive. Compiling costs about a
// millisecond, so it waits for the first call.
type checks struct {
	in, out *schema.Schema
	fields  *arguments.Declared
	effects bool // the argument effects is ours, not the handler's
	// plain remembers arguments that were right as they were.
	plain *schema.Alike
	// loose is in without the choices of members that the extension takes as they
	// are; in itself where there are none.
	loose *schema.Schema
}

// Define binds a handler to the record <family>/<name>.json. It reads no file: when
// the record is first asked for, one that is missing or does not decode panics, which
// only a test can meet.
//
// The handler gets arguments that match the input schema, decoded into In with
// unknown members refused. It returns Out, which must match the output schema;
// json.RawMessage passes what the page library answered. An error with a code
// becomes the result's error; see Failed for a flat result that reports its
// own failure.
func Define[In, Out any](name string, h func(ctx context.Context, p Page, in In) (Out, error)) *Primitive {
	read := sync.OnceValue(func() *Record {
		text, err := recordFile(name)
		if err != nil {
			panic(fmt.Sprintf("primitive %s has no record: %v", name, err))
		}
		record, err := parseRecord(text)
		if err != nil {
			panic(fmt.Sprintf("primitive %s: %v", name, err))
		}
		return record
	})
	return &Primitive{
		name:   name,
		record: read,
		input:  reflect.TypeFor[In](),
		run: func(ctx context.Context, p Page, args json.RawMessage) (any, error) {
			var in In
			if err := arguments.DecodeStrict(args, &in); err != nil {
				if e := fault.From(err); e.Code == fault.InvalidInput {
					return nil, e // what a schema cannot say, such as a locator in a locator
				}
				// The schema has let them pass, so the two disagree.
				return nil, fault.Translate(fault.InvalidInput, err, "the arguments cannot be decoded")
			}
			return h(ctx, p, in)
		},
		checks: sync.OnceValues(func() (*checks, error) {
			record := read()
			in, err := schema.Compile(record.InputSchema)
			if err != nil {
				return nil, fmt.Errorf("input schema of %s: %w", name, err)
			}
			out, err := schema.Compile(record.OutputSchema)
			if err != nil {
				return nil, fmt.Errorf("output schema of %s: %w", name, err)
			}
			fields, err := arguments.DeclaredBy(record.InputSchema)
			if err != nil {
				return nil, fmt.Errorf("input schema of %s: %w", name, err)
			}
			loose := in
			if open := withoutChoices(record.InputSchema); open != nil {
				loose, err = schema.Compile(open)
				if err != nil {
					return nil, fmt.Errorf("input schema of %s: %w", name, err)
				}
			}
			return &checks{in, out, fields, record.Acts && !record.ownEffects, in.Alike(), loose}, nil
		}),
	}
}

// withoutChoices is an input schema without the enumerations of members marked
// x_upstream "any"; nil where there are none.
func withoutChoices(input json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	var whole map[string]any
	if json.Unmarshal(input, &s) != nil || json.Unmarshal(input, &whole) != nil {
		return nil
	}
	found := false
	for name, property := range s.Properties {
		if property["x_upstream"] == "any" {
			found = true
			delete(property, "enum")
			whole["properties"].(map[string]any)[name] = property
		}
	}
	if !found {
		return nil
	}
	out, err := json.Marshal(whole)
	if err != nil {
		return nil
	}
	return out
}

// Record returns the primitive's record, which is shared: do not change it.
func (p *Primitive) Record() *Record { return p.record() }

// Failed marks err as the failure of a flat primitive that ran and says so in
// its own payload: the result carries both. A workflow step has the payload as
// its output; a direct caller gets err alone, whose evidence should say as much.
func Failed(err *fault.Error) error { return &failed{err} }

type failed struct{ err *fault.Error }

func (f *failed) Error() string { return f.err.Error() }
func (f *failed) Unwrap() error { return f.err }
