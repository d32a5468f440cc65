package traces_test

import (
	"context"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/operate/traces"
	"github.com/outrider-run/outrider/primitives/span"
)

// sendOne sends one span, as the environment says.
func sendOne(t *testing.T) error {
	t.Helper()
	var warned strings.Builder
	tr, err := traces.Open(t.Context(), "1", slog.New(slog.NewTextHandler(&warned, nil)))
	if err != nil {
		return err
	}
	_, end := span.Begin(span.With(context.Background(), tr.Listener()), span.Call, "page.title")
	end(nil)
	closing, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = tr.Close(closing)
	t.Log(warned.String())
	return err
}

// The standard variables say what is sent, and those of traces come first.
func TestVariablesOfTheClient(t *testing.T) {
	var got []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, strings.Join([]string{
			r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Encoding"),
		}, " "))
		if len(got) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", authority)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=of all")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Bearer%20of-traces,x-tenant=a")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/base")
	if err := sendOne(t); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", server.URL+"/as/it/stands")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "none")
	if err := sendOne(t); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/base/v1/traces Bearer of-traces gzip", // refused for the moment
		"/base/v1/traces Bearer of-traces gzip",
		"/as/it/stands Bearer of-traces ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("requests:\n%q\nwant\n%q", got, want)
	}
}

// What cannot be read is refused at the start, and no error has a value of a header.
func TestVariablesThatCannotBeRead(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":    "collector:4318",
		"OTEL_EXPORTER_OTLP_HEADERS":     "=s3cret",
		"OTEL_EXPORTER_OTLP_TIMEOUT":     "10s",
		"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere/ca.pem",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
			t.Setenv(name, value)
			err := sendOne(t)
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		})
	}
}
