package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const slotLoads, slotWait = 12, 300 * time.Millisecond

// BenchmarkSlots is jobs whose pages answer after 300 ms, on one worker: of-linear says how
// much faster more slots are than one. Beside them as many browsers load the same pages for
// the least CDP messages that any driver needs: floor-of-linear is theirs, so it says what the machine
// has for browsers, and of-floor is the rate of the jobs by that of the floor.
func BenchmarkSlots(b *testing.B) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slotWait)
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><link rel="icon" href="data:,"><p>late</p>`)
	}))
	b.Cleanup(site.Close)
	path := filepath.Join(b.TempDir(), "slow.yaml")
	err := os.WriteFile(path, []byte("steps:\n"+strings.Repeat("  - {open: "+site.URL+"}\n", slotLoads)), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	one, oneFloor := 0.0, 0.0
	for _, slots := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprint("slots=", slots), func(b *testing.B) {
			jobs, floor := slotWorker(b, path, slots), slotFloor(b, site.URL, slots)
			jobs("warm", slots) // browsers are there
			floor(slots)
			n := 0
			rate := 0.0
			bare := 0.0
			for b.Loop() {
				n++
				rate, bare = jobs(fmt.Sprint("run", n), 2*slots), floor(2*slots)
			}
			if slots == 1 {
				one, oneFloor = rate, bare
			}
			b.ReportMetric(rate, "jobs/s")
			b.ReportMetric(rate/bare, "of-floor")
			if one > 0 {
				b.ReportMetric(rate/one/float64(slots), "of-linear")
				b.ReportMetric(bare/oneFloor/float64(slots), "floor-of-linear")
			}
		})
	}
}

// slotWorker starts a worker and returns what runs jobs on it: their rate in a second.
func slotWorker(b *testing.B, path string, slots int) func(run string, jobs int) float64 {
	q := fleettest.Open(b, fleettest.Server(b).URL(), queue.Lease)
	all := &browsers{tb: b}
	r, err := NewRunner(Options{Temp: b.TempDir(), NewID: uuid.NewString, Browsers: slots, Open: all.open})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Close)
	w := worker.New(worker.Options{
		Sources: []worker.Source{{Queue: q}},
		Slots:   slots,
		Runners: map[string]worker.Runner{Kind: r},
	})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = w.Run(ctx) })
	b.Cleanup(func() { stop(); running.Wait() })
	return func(run string, jobs int) float64 {
		suite, err := plan.Load(plan.Selection{
			Source: spec.Source{Engine: runtimetest.Engine(b)},
			Paths:  []string{path},
			Part:   schedule.Part{Index: 1, Of: 1},
			Repeat: jobs,
		})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		sub := Submission{Queue: q, Run: run, Settings: Settings{CallTimeout: time.Minute}}
		sent, err := sub.Cases(b.Context(), suite)
		if err == nil {
			err = submit.Send(b.Context(), q, sent)
		}
		var ended []Ended
		if err == nil {
			ended, err = Follow(b.Context(), q, sent, View{}, false)
		}
		if o := Merge(ended, began); err != nil || !o.OK {
			b.Fatalf("%v, %v", err, o.JSON())
		}
		return float64(jobs) / time.Since(began).Seconds()
	}
}

// slotFloor starts a browser for each slot, without anything of this project but the
// connection, and returns what does the work of so many jobs in them: their rate in a second.
func slotFloor(b *testing.B, url string, slots int) func(jobs int) float64 {
	var clients []floorClient
	for range slots {
		loaded := make(chan struct{}, slotLoads)
		client, _, _ := browsertest.Minimal(b, func(_, method, _ []byte) {
			if string(method) == "Page.loadEventFired" {
				loaded <- struct{}{}
			}
		})
		clients = append(clients, floorClient{client, loaded})
	}
	return func(jobs int) float64 {
		next := make(chan struct{}, jobs)
		for range jobs {
			next <- struct{}{}
		}
		close(next)
		began := time.Now()
		errs := make(chan error, slots)
		for _, c := range clients {
			go func() { errs <- c.work(b.Context(), url, next) }()
		}
		var err error
		for range clients {
			err = errors.Join(err, <-errs)
		}
		if err != nil {
			b.Fatal(err)
		}
		return float64(jobs) / time.Since(began).Seconds()
	}
}

type floorClient struct {
	client *cdp.Client
	loaded chan struct{}
}

// work does jobs until none is left: a context, a tab in it, and its loads.
func (c floorClient) work(ctx context.Context, url string, next <-chan struct{}) error {
	for range next {
		var made struct{ BrowserContextID, TargetID, SessionID string }
		if err := c.client.Do(
			ctx, "", "Target.createBrowserContext", map[string]any{"disposeOnDetach": true}, &made,
		); err != nil {
			return err
		}
		in := map[string]any{"browserContextId": made.BrowserContextID}
		if err := c.client.Do(
			ctx, "", "Target.createTarget",
			map[string]any{"url": "about:blank", "newWindow": true, "browserContextId": made.BrowserContextID}, &made,
		); err != nil {
			return err
		}
		if err := c.client.Do(
			ctx, "", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made,
		); err != nil {
			return err
		}
		if err := c.client.Do(ctx, made.SessionID, "Page.enable", nil, nil); err != nil {
			return err
		}
		for range slotLoads {
			if err := c.client.Do(ctx, made.SessionID, "Page.navigate", map[string]any{"url": url}, nil); err != nil {
				return err
			}
			select {
			case <-c.loaded:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := c.client.Do(ctx, "", "Target.disposeBrowserContext", in, nil); err != nil {
			return err
		}
	}
	return nil
}
