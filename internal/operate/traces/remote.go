package traces

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
)

// Parent is the span of a context as a W3C traceparent, for another process to begin
// spans within it; "" for none.
func Parent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// within is ctx with the span of a traceparent. One that is none is left out.
func within(ctx context.Context, parent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

// Job begins the span of a job within the submission that parent names, and returns the
// traceparent of what the job does. The end must be called once. A nil t has none.
func (t *Traces) Job(parent, name string) (inside string, end func(fault.Code)) {
	if t == nil {
		return "", func(fault.Code) {}
	}
	ctx, end := t.Begin(within(context.Background(), parent), span.Job, name)
	return Parent(ctx), end
}

// Browser receives the calls of one browser, which runs one job after the other. A nil Browser
// does nothing.
type Browser struct {
	t   *Traces
	job atomic.Pointer[trace.SpanContext]
}

// Browser makes one; nil of a nil t.
func (t *Traces) Browser() *Browser {
	if t == nil {
		return nil
	}
	return &Browser{t: t}
}

// Listener is b for the runtime.
func (b *Browser) Listener() span.Listener {
	if b == nil {
		return nil
	}
	return b
}

// Within makes the next calls ones of the span that a traceparent names.
func (b *Browser) Within(parent string) {
	if b != nil {
		job := trace.SpanContextFromContext(within(context.Background(), parent))
		b.job.Store(&job)
	}
}

// Begin implements span.Listener.
func (b *Browser) Begin(ctx context.Context, kind span.Kind, name string) (context.Context, func(fault.Code)) {
	if job := b.job.Load(); job != nil && kind == span.Call {
		ctx = trace.ContextWithRemoteSpanContext(ctx, *job)
	}
	return b.t.Begin(ctx, kind, name)
}
