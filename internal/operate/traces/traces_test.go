package traces_test

import (
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/outrider-run/outrider/internal/operate/traces"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
)

// sink is a collector of OTLP over HTTP.
type sink struct {
	mu    sync.Mutex
	names map[string]string // names of spans by their id
	up    map[string]string // id of the span around, by name
	codes map[string]string // error.type by name
	about []string          // attributes of the resource
}

func newSink(t *testing.T) (*sink, string) {
	s := &sink{names: map[string]string{}, up: map[string]string{}, codes: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unzipped
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			t.Error(err)
			return
		}
		var in collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(raw, &in); err != nil {
			t.Error(err)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, resource := range in.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				s.about = append(s.about, a.Key+"="+a.Value.GetStringValue())
			}
			for _, scope := range resource.ScopeSpans {
				for _, one := range scope.Spans {
					s.names[string(one.SpanId)] = one.Name
					s.up[one.Name] = string(one.ParentSpanId)
					for _, a := range one.Attributes {
						if a.Key == "error.type" {
							s.codes[one.Name] = a.Value.GetStringValue()
						}
					}
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	return s, server.URL
}

// path is the spans around the one of this name, the outermost first.
func (s *sink) path(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []string{name}
	for up := s.up[name]; up != ""; up = s.up[s.names[up]] {
		out = append(out, s.names[up])
	}
	slices.Reverse(out)
	return strings.Join(out, " > ")
}

// Spans are sent within each other, with the code of a failure, to the endpoint that the
// environment names.
func TestSpansAreSent(t *testing.T) {
	s, url := newSink(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("OTEL_SERVICE_NAME", "shop runtime")
	tr, err := traces.Open(t.Context(), "1.2.3", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx := span.With(context.Background(), tr.Listener())
	ctx, endCall := span.Begin(ctx, span.Call, "actions.site")
	ctx, endAction := span.Begin(ctx, span.Action, "shop.add")
	inner, endStep := span.Begin(ctx, span.Step, "save")
	_, endPrimitive := span.Begin(inner, span.Primitive, "pointer.click")
	endPrimitive(fault.New(fault.TargetNotFound, "not there"))
	endStep(nil)
	endAction(nil)
	endCall(nil)
	for _, made := range []string{"weird\"name\n{}\\ 😀", "", strings.Repeat("x", 200)} {
		_, end := span.Begin(span.With(context.Background(), tr.Listener()), span.Call, made)
		end(fault.New(fault.InvalidInput, "nothing has this name"))
	}
	closing, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := tr.Close(closing); err != nil {
		t.Fatal(err)
	}
	if got, want := s.path("primitive pointer.click"),
		"call actions.site > site_action shop.add > step save > primitive pointer.click"; got != want {
		t.Errorf("spans: %s\nwant   %s", got, want)
	}
	if got := s.codes["primitive pointer.click"]; got != "target_not_found" {
		t.Errorf("error.type is %q", got)
	}
	if got := s.codes["call unknown"]; got != "invalid_input" {
		t.Errorf("calls of names that nothing has are no spans called unknown: %v", s.codes)
	}
	if got := s.codes["step save"]; got != "" {
		t.Errorf("error.type of what did not fail is %q", got)
	}
	for _, want := range []string{"service.name=shop runtime", "service.version=1.2.3"} {
		if !slices.Contains(s.about, want) {
			t.Errorf("the resource is %q: expected %s", s.about, want)
		}
	}
}

// What a browser of a worker does is within the job, and the job within the submission of
// another process. The next job of the browser is another one.
func TestJobsAreWithinTheirSubmission(t *testing.T) {
	s, url := newSink(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	open := func() *traces.Traces {
		tr, err := traces.Open(t.Context(), "1", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	submitter, worker := open(), open()
	ctx, endSubmission := span.Begin(span.With(t.Context(), submitter.Listener()), span.Submission, "run")
	browser := worker.Browser()
	for _, name := range []string{"first", "second"} {
		inside, endJob := worker.Job(traces.Parent(ctx), name)
		browser.Within(inside)
		call, endCall := span.Begin(span.With(context.Background(), browser.Listener()), span.Call, "call-of-"+name)
		_, endStep := span.Begin(call, span.Primitive, "click-of-"+name)
		endStep(nil)
		endCall(nil)
		endJob("")
	}
	endSubmission(nil)
	closing, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, tr := range []*traces.Traces{worker, submitter} {
		if err := tr.Close(closing); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"first", "second"} {
		if got, want := s.path("primitive click-of-"+name),
			"submission run > job "+name+" > call call-of-"+name+" > primitive click-of-"+name; got != want {
			t.Errorf("spans: %s\nwant   %s", got, want)
		}
	}
}

// A job of a submitter that sends no traces is the first span of its own.
func TestJobsWithoutSubmission(t *testing.T) {
	s, url := newSink(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	tr, err := traces.Open(t.Context(), "1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{"", "00-nothing", strings.Repeat("x", 1000)} {
		inside, end := tr.Job(parent, "alone")
		if inside == "" {
			t.Errorf("the job of %q has no span", parent)
		}
		end("failed")
	}
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.path("job alone"); got != "job alone" || s.codes["job alone"] != "failed" {
		t.Errorf("spans: %s, error.type %q", got, s.codes["job alone"])
	}
	var none *traces.Traces
	inside, end := none.Job("", "nothing")
	end("")
	none.Browser().Within(inside)
	if none.Browser().Listener() != nil || inside != "" {
		t.Error("no traces have a listener")
	}
}

// Nothing is sent, and nothing runs, unless the environment asks for it.
func TestTracesAreOptIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    map[string]string
		wanted bool
	}{
		{"nothing set", nil, false},
		{"an endpoint", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, true},
		{"the exporter", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true},
		{"no exporter", map[string]string{
			"OTEL_TRACES_EXPORTER":        "none",
			"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
		}, false},
		{
			"disabled",
			map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{
				"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER",
				"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
			} {
				t.Setenv(name, c.env[name])
			}
			if got := traces.Wanted(); got != c.wanted {
				t.Errorf("Wanted() is %v", got)
			}
		})
	}
	tr, err := traces.Open(t.Context(), "1", slog.New(slog.DiscardHandler))
	if tr != nil || err != nil || tr.Listener() != nil || tr.Close(t.Context()) != nil {
		t.Errorf("Open without an endpoint: %v, %v", tr, err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := traces.Open(t.Context(), "1", slog.New(slog.DiscardHandler)); err == nil {
		t.Error("grpc is accepted, and is not served")
	}
}
