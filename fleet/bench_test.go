//go:build unix

package fleet_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
)

// BenchmarkDispatch has simulated workers, each with a connection of its own, take
// jobs of one step that act on nothing. Server, workers and submitter are one process.
func BenchmarkDispatch(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) {
			s := fleettest.Server(b)
			q := fleettest.Open(b, s.URL(), queue.Lease)
			site := &fleettest.Site{}
			slots := max(1, 64/n)
			began := time.Now()
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					fleettest.Start(b, fleettest.Open(b, s.URL(), queue.Lease), site, worker.Options{Slots: slots})
				})
			}
			all.Wait()
			jobs := make([]fleet.Job, b.N)
			for i := range jobs {
				jobs[i] = fleettest.Job("bench", fmt.Sprint(i), fleettest.Task{Steps: 1})
			}
			b.ResetTimer()
			used := cpu()
			followed := make(chan error, 1)
			go func() { followed <- submit.Follow(context.Background(), q, jobs, submit.Handlers{}) }()
			if err := submit.Send(context.Background(), q, jobs); err != nil {
				b.Fatal(err)
			}
			if err := <-followed; err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			used = cpu() - used
			b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/job")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			// How many cores the run was given: below two, jobs/s is of a machine that
			// others used.
			b.ReportMetric(used.Seconds()/b.Elapsed().Seconds(), "cores")
			if status, err := q.Workers.Status(context.Background()); err == nil {
				if kv, ok := status.(*jetstream.KeyValueBucketStatus); ok {
					b.ReportMetric(float64(kv.StreamInfo().State.LastSeq)/time.Since(began).Seconds(), "presence/s")
				}
			}
			b.ReportMetric(float64(peak())/float64(1<<20), "MiB")
		})
	}
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the largest memory that this process had.
func peak() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss << 10
}

// BenchmarkOverhead is one job at a time: from sending it to having its result, which
// a worker that waits for it makes at once.
func BenchmarkOverhead(b *testing.B) {
	s := fleettest.Server(b)
	q := fleettest.Open(b, s.URL(), queue.Lease)
	fleettest.Start(b, fleettest.Open(b, s.URL(), queue.Lease), &fleettest.Site{}, worker.Options{Slots: 1})
	run := 0
	for b.Loop() {
		run++
		jobs := []fleet.Job{fleettest.Job(fmt.Sprint("one", run), "1", fleettest.Task{Steps: 1, Acts: true})}
		if err := submit.Send(b.Context(), q, jobs); err != nil {
			b.Fatal(err)
		}
		if err := submit.Follow(b.Context(), q, jobs, submit.Handlers{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(run)/1000, "ms/job")
}
