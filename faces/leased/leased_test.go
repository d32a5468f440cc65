package leased_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/leased"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

func TestMain(m *testing.M) {
	launch.MaybeSupervise()
	expr.MaybeWorker()
	m.Run()
}

// BenchmarkHubCallThroughFleet calls page.info by a hub: of a runtime that has connected to it, and of one that it
// leased from a fleet, in turns. added-ms is what the fleet adds at the median.
func BenchmarkHubCallThroughFleet(b *testing.B) {
	browsertest.Require(b)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>One</title><p>one")
	}))
	b.Cleanup(site.Close)
	h, err := hub.New(hub.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Listen(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	b.Cleanup(func() { cancel(); all.Wait() })
	all.Go(func() { _ = h.Run(ctx) })

	runtimeOf := func(begin func(*runtime.Host)) string {
		b.Helper()
		known := len(h.Runtimes())
		host := runtimetest.Open(b, runtime.Options{Open: []string{site.URL}})
		begin(host)
		browsertest.Eventually(b, time.Minute, "another runtime at the hub", func() bool {
			return len(h.Runtimes()) > known
		})
		rows := h.Runtimes()
		slices.SortFunc(rows, func(a, b hub.Runtime) int { return int(a.ConnectedAtMS - b.ConnectedAtMS) })
		return rows[len(rows)-1].RuntimeID
	}
	direct := runtimeOf(func(host *runtime.Host) {
		c, err := bridgeclient.New(&bridgeclient.Options{
			URL:     "ws://" + h.Addr() + "/extension",
			Dialect: actionsbridge.New(nil),
			Host:    host,
			Logger:  slog.New(slog.DiscardHandler),
		})
		if err != nil {
			b.Fatal(err)
		}
		all.Go(func() { _ = c.Run(ctx) })
	})
	server := fleettest.Server(b)
	through := runtimeOf(func(host *runtime.Host) {
		face := leased.Face{NewID: runtimetest.NewID, Version: "bench", Logger: slog.New(slog.DiscardHandler)}
		offered := fleettest.Open(b, server.URL(), queue.Lease)
		w, _ := fleettest.Start(b, offered, &fleettest.Site{}, worker.Options{
			Slots: 1,
			Self:  fleet.Worker{Sessions: leased.Kinds},
		})
		acquire := func(ctx context.Context) (func(), error) { return w.Acquire(ctx, worker.Source{Queue: offered}) }
		serve := func(ctx context.Context, _ json.RawMessage, stream io.ReadWriteCloser) error {
			return face.Serve(ctx, leased.Bridge, host, json.RawMessage(`{}`), stream)
		}
		all.Go(func() {
			_ = session.Offer(
				ctx, offered, w.ID(), acquire, map[string]session.Server{leased.Bridge: serve},
				slog.New(slog.DiscardHandler),
			)
		})
		caller := fleettest.Open(b, server.URL(), queue.Lease)
		all.Go(leased.Keep(ctx, h, 1, func(ctx context.Context) (*session.Pipe, error) {
			p, _, err := session.Lease(ctx, caller.Store, leased.Bridge, nil, nil)
			return p, err
		}, slog.New(slog.DiscardHandler)))
	})

	if direct == through {
		b.Fatal("both are one runtime")
	}
	times := map[string][]time.Duration{}
	for b.Loop() {
		for _, id := range []string{direct, through} {
			began := time.Now()
			if r := h.Call(ctx, hub.ToolCall{Name: "page.info", TargetRuntimeID: id}); !r.OK {
				b.Fatalf("%s", r.Error)
			}
			times[id] = append(times[id], time.Since(began))
		}
	}
	median := func(id string) float64 {
		slices.Sort(times[id])
		return float64(times[id][len(times[id])/2].Microseconds()) / 1e3
	}
	b.ReportMetric(median(direct), "direct-ms")
	b.ReportMetric(median(through), "fleet-ms")
	b.ReportMetric(median(through)-median(direct), "added-ms")
}
