// Package fleettest has what tests of a fleet need: a server, workers that act on
// nothing but a count, a proxy that cuts connections. It runs no browser. Tests of the
// packages of the fleet and of the command use it.
package fleettest

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
)

// Kind is the kind of the jobs that Site runs.
const Kind = "simulated"

// Server starts a server that ends with the test.
func Server(t testing.TB) *server.Server {
	t.Helper()
	return ServerAt(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "data"))
}

// ServerAt starts a server at an address with a data folder.
func ServerAt(t testing.TB, listen, data string) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{Listen: listen, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Open connects to a fleet whose leases are as long as lease.
func Open(t testing.TB, url string, lease time.Duration) *queue.Queue {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	link, err := wire.Dial(ctx, wire.Options{URL: url, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	s, err := wire.Open(ctx, link, wire.Keep{})
	if err != nil {
		t.Fatal(err)
	}
	q := queue.New(s)
	q.Lease = lease
	return q
}

// Task is the payload of a simulated job.
type Task struct {
	Steps int           `json:"steps"`
	Acts  bool          `json:"acts"`  // the last step acts
	Takes time.Duration `json:"takes"` // each step
	Fails bool          `json:"fails"` // its result is not well
	Hangs bool          `json:"hangs"` // until it is told to end
	Panic bool          `json:"panic"` // the runner fails
	Big   int           `json:"big"`   // bytes of its result
}

// Job makes a job.
func Job(run, id string, task Task) fleet.Job {
	raw, err := json.Marshal(task)
	if err != nil {
		panic(err)
	}
	return fleet.Job{Run: run, ID: id, Kind: Kind, Payload: raw}
}

// Site is what simulated jobs act on. It counts by itself, as the server of a real
// site would.
type Site struct {
	mu     sync.Mutex
	acts   map[string]int
	runs   map[string]int
	OnStep func(job string, step int) // hears of each step before it is done; may be nil
}

// Acts is how often jobs acted, by job.
func (s *Site) Acts(job string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acts[job]
}

// Runs is how often a job was begun.
func (s *Site) Runs(job string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[job]
}

func (s *Site) count(m *map[string]int, job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[job]++
}

// Run implements worker.Runner.
func (s *Site) Run(ctx context.Context, j fleet.Job, to worker.Reporter) worker.Result {
	var task Task
	if err := json.Unmarshal(j.Payload, &task); err != nil {
		return worker.Result{Err: err}
	}
	s.count(&s.runs, j.Key())
	if task.Panic {
		return worker.Result{Err: errors.New("the runner failed")}
	}
	for i := range task.Steps {
		step := fleet.Step{Name: "step", Number: i + 1, Of: task.Steps}
		to.Step(step)
		if s.OnStep != nil {
			s.OnStep(j.Key(), i+1)
		}
		if err := wire.Sleep(ctx, task.Takes); err != nil {
			return worker.Result{Err: err}
		}
		if task.Acts && i == task.Steps-1 {
			if err := to.Act(ctx, step); err != nil {
				return worker.Result{Err: err}
			}
			s.count(&s.acts, j.Key())
		}
	}
	if task.Hangs {
		<-ctx.Done()
	}
	raw, err := json.Marshal(map[string]any{"job": j.Key(), "fill": make([]byte, task.Big)})
	return worker.Result{OK: !task.Fails, JSON: raw, Err: err}
}

// Start starts a worker on a fleet. What it returns drains it and waits.
func Start(t testing.TB, q *queue.Queue, site worker.Runner, o worker.Options) (w *worker.Worker, stop func()) {
	t.Helper()
	if o.Sources == nil {
		o.Sources = []worker.Source{{Queue: q}}
	}
	o.Runners = map[string]worker.Runner{Kind: site}
	w = worker.New(o)
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			w.Drain()
			if err := <-done; err != nil {
				t.Errorf("the worker: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return w, stop
}

// Ready reports whether a fleet's servers keep what is written: a cluster does when it has
// chosen its leaders.
func Ready(ctx context.Context, url string) bool {
	link, err := wire.Dial(ctx, wire.Options{URL: url})
	if err != nil {
		return false
	}
	defer link.Close()
	_, err = wire.Open(ctx, link, wire.Keep{})
	return err == nil
}
