package runtime_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// BenchmarkKeyedCall is a click with an idempotency key beside one without, in turns: medians in milliseconds.
func BenchmarkKeyedCall(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<!doctype html><button>Go</button>"))
	}))
	b.Cleanup(s.Close)
	h := runtimetest.Open(b, runtime.Options{Open: []string{s.URL}, NewID: newID})
	var with, without []float64
	for b.Loop() {
		for _, key := range []string{"", newID()} {
			began := time.Now()
			r := h.Do(b.Context(), runtime.Call{
				ID:             newID(),
				Name:           "pointer.click",
				Arguments:      json.RawMessage(`{"locator":{"selector":"button"}}`),
				Timeout:        20 * time.Second,
				IdempotencyKey: key,
			})
			if r.Err != nil {
				b.Fatal(r.Err)
			}
			took := float64(time.Since(began).Microseconds()) / 1000
			if key == "" {
				without = append(without, took)
			} else {
				with = append(with, took)
			}
		}
	}
	slices.Sort(with)
	slices.Sort(without)
	b.ReportMetric(without[len(without)/2], "ms/without")
	b.ReportMetric(with[len(with)/2], "ms/with")
}
