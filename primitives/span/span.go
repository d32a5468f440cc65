// Package span reports what a call does as nested spans: the submission and the job of a fleet, the call, its site
// action, the steps, the primitives. It keeps and sends nothing. The runtime and its rooms begin spans;
// internal/operate/traces receives them.
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

// Listener is called when a span begins. The function that it returns is called at the end,
// with the code of the failure or "", and may not block. The context is that of the spans
// within it.
type Listener interface {
	Begin(ctx context.Context, kind Kind, name string) (context.Context, func(fault.Code))
}

type key struct{}

// With has l called for each span that begins in the context. A nil l changes nothing.
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
