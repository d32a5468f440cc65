// Package span lets somebody hear what a call does, as spans within each other: the
// submission and the job of a fleet, the call, its site action, the steps, the primitives. It keeps and sends nothing.
// The runtime and its rooms begin spans; internal/operate/traces hears of them.
package span

import (
	"context"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Kind says what a span is about.
type Kind string

const (
	Submission Kind = "submission" // of jobs to a fleet
	Job        Kind = "job"

	Call      Kind = "call"
	Action    Kind = "site_action"
	Step      Kind = "step"
	Primitive Kind = "primitive"
)

// Listener hears of each span that begins. What it returns hears of the end, with the
// code of the failure, "" for none, and may not block. The context is that of the spans
// within it.
type Listener interface {
	Begin(ctx context.Context, kind Kind, name string) (context.Context, func(fault.Code))
}

type key struct{}

// With makes l hear of the spans that begin in the context. A nil l is nobody.
func With(ctx context.Context, l Listener) context.Context {
	if l == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, l)
}

// Begin begins a span. The end must be called once.
func Begin(ctx context.Context, kind Kind, name string) (context.Context, func(*fault.Error)) {
	l, ok := ctx.Value(key{}).(Listener)
	if !ok {
		return ctx, func(*fault.Error) {}
	}
	ctx, end := l.Begin(ctx, kind, name)
	return ctx, func(err *fault.Error) {
		if err == nil {
			end("")
			return
		}
		end(err.Code)
	}
}
