package bridgekit_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/conformance/bridgekit"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// Our runtime with a real page, over each way to connect.
func TestOurRuntimeConforms(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Cart</title><h1>Cart</h1>"))
	}))
	defer site.Close()
	host := runtimetest.Open(t, runtime.Options{Open: []string{site.URL + "/"}})
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			l, err := bridgekit.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			client, err := bridgeclient.New(&bridgeclient.Options{
				URL: strings.Replace(l.URL(), "ws:", scheme+":", 1), Dialect: actionsbridge.New(nil), Host: host,
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = client.Run(ctx) })
			defer running.Wait()
			defer cancel()
			opts := bridgekit.RuntimeOptions{Accept: l.Accept, TextOnly: l.Polled}
			if scheme == "http" {
				// What is about the page is the same.
				opts.Only = func(id string) bool {
					if strings.HasPrefix(id, "probe") || strings.HasPrefix(id, "poll") {
						return true
					}
					return slices.Contains(
						[]string{"call", "hydration", "reconnect", "output-kept", "unknown-items"}, id,
					)
				}
			}
			r, err := bridgekit.Runtime(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Results {
				if c.Outcome != bridgekit.Passed {
					t.Error(c.Line())
				}
			}
			if !r.OK || !strings.HasPrefix(r.Peer, "outrider") {
				t.Errorf("%v %q", r.OK, r.Peer)
			}
		})
	}
}
