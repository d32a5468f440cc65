// Package traces sends what calls do as OpenTelemetry traces, to where the standard
// environment variables of OTLP say. It sends nothing unless they do, and nothing of
// what pages show or callers write but names of actions and steps. The command makes one
// for each process and passes it to the runtime.
package traces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
)

// Traces receives spans and sends them. A nil one does nothing.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Wanted reports whether the environment asks for traces.
func Wanted() bool {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false
	}
	switch os.Getenv("OTEL_TRACES_EXPORTER") {
	case "none":
		return false
	case "otlp":
		return true
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// protocols are those of OTEL_EXPORTER_OTLP_PROTOCOL that are served.
var protocols = []string{"", "http/protobuf"}

// Open reads the environment and starts to send; nil when no traces are configured. Close sends
// what is left.
func Open(ctx context.Context, version string, log *slog.Logger) (*Traces, error) {
	if !Wanted() {
		return nil, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if p := os.Getenv(name); !slices.Contains(protocols, p) {
			return nil, fmt.Errorf("%s is %q: expected http/protobuf", name, p)
		}
	}
	client, err := newClient()
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", "outrider"), attribute.String("service.version", version),
		),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // the environment comes before our name
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("sending traces", "error", err) }))
	t := &Traces{provider: sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))}
	t.tracer = t.provider.Tracer("github.com/outrider-run/outrider", trace.WithInstrumentationVersion(version))
	return t, nil
}

// Listener is t for the runtime; nil when there is nothing to send to.
func (t *Traces) Listener() span.Listener {
	if t == nil {
		return nil
	}
	return t
}

// Close sends what is left, within ctx.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// roles are the OpenTelemetry span kinds of those that are not internal.
var roles = map[span.Kind]trace.SpanKind{
	span.Call:       trace.SpanKindServer,
	span.Submission: trace.SpanKindProducer,
	span.Job:        trace.SpanKindConsumer,
}

// Unknown is the name of a call whose caller made a name that nothing here has.
const Unknown = "unknown"

// callName is what names of primitives, of calls and of actions look like.
var callName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,99}$`)

// Begin implements span.Listener.
func (t *Traces) Begin(ctx context.Context, kind span.Kind, name string) (context.Context, func(fault.Code)) {
	if (kind == span.Call || kind == span.Primitive) && !callName().MatchString(name) {
		name = Unknown
	}
	options := []trace.SpanStartOption{trace.WithAttributes(attribute.String("outrider."+string(kind), name))}
	if role, ok := roles[kind]; ok {
		options = append(options, trace.WithSpanKind(role))
	}
	ctx, s := t.tracer.Start(ctx, string(kind)+" "+name, options...)
	return ctx, func(code fault.Code) {
		if code != "" {
			s.SetAttributes(attribute.String("error.type", string(code)))
			s.SetStatus(codes.Error, string(code))
		}
		s.End()
	}
}
