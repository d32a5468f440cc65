// Package worker takes jobs of fleets, as many at once as it has slots, and has each
// run by the Runner that it was given. It knows neither plans nor browsers, and does
// not judge results. The command runs one; tests run many without a browser.
//
// # Holding a job
//
// A worker that takes a job writes its name into the job's record. It says every
// third of the lease that the job is still being run, and asks whether the record is
// still its own. When it is not, or when nobody answered for as long as a lease, the
// job's context ends: another worker may have it.
package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/presence"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Result is what a runner made of a job.
type Result struct {
	OK    bool
	JSON  json.RawMessage
	Files map[string][]byte
	Err   error // why the job could not be run
}

// Runner runs the jobs of one kind. It is called by several goroutines, one for
// each slot. When ctx ends it returns soon, with what it has.
type Runner interface {
	Run(ctx context.Context, j fleet.Job, to Reporter) Result
}

// Reporter is how a running job reaches its fleet.
type Reporter interface {
	// Act is called before each thing that cannot be done twice. When it returns an
	// error the thing must not be done: the job may be somebody else's.
	Act(ctx context.Context, s fleet.Step) error
	// Step says where the job is, Text what it says to people. Neither waits.
	Step(s fleet.Step)
	Text(text string)
	// File reads one of the job's files.
	File(ctx context.Context, name string) ([]byte, error)
	// Tenant is the name of the job's source.
	Tenant() string
}

// Source is a fleet, or one tenant of it, whose jobs the worker takes.
type Source struct {
	Queue  *queue.Queue
	Name   string // of the tenant, "" for the only one
	Weight int    // share among the sources; 0 is 1
	// Labels are those that the worker has for this source only.
	Labels map[string]string
	// Sign signs results; nil leaves them unsigned.
	Sign func(data []byte) string
	// Quota is what the source may use; nil is no bound.
	Quota Quota
}

// Quota bounds what the jobs of a source use, over all workers.
type Quota interface {
	// Begin is called before a job is taken. It says no while as many run as may, and
	// returns an error of code quota_exceeded when the source has used up what it has.
	// The holder calls renew now and then, and end once.
	Begin(ctx context.Context) (renew func(context.Context), end func(
		context.Context, time.Duration,
	), ok bool, err error)
}

// Options configure a worker.
type Options struct {
	Sources []Source
	// Runners by kind of job.
	Runners map[string]Runner
	// Slots is how many jobs run at once.
	Slots int
	// Self is what the worker says of itself, without what changes.
	Self fleet.Worker
	// Drain bounds how long running jobs may go on after the worker is stopped. Default 30 s.
	Drain time.Duration
	// Changed is called after each change. It may be nil, and must not block.
	Changed func(Status)
	// OnEnd is called with how each job ended: ok, failed, cancelled, lost or given_back. It
	// may be nil.
	OnEnd  func(how string, took time.Duration)
	Logger *slog.Logger
	// Held is how many sessions the worker holds; may be nil.
	Held func() int
}

// Status is what a worker is doing.
type Status struct {
	Busy, Slots int
	Draining    bool
}

// NewID makes a worker's id: the machine's name, and random so that a worker that
// is started again is another one.
func NewID() string {
	host, _ := os.Hostname()
	host = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, cmp.Or(host, "worker"))
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return host[:min(len(host), 40)] + "-" + hex.EncodeToString(b[:])
}

// Worker takes jobs. Make it with New; Run may be called once.
type Worker struct {
	opts    Options
	log     *slog.Logger
	slots   chan struct{} // holds one token for each job that runs
	wake    chan struct{}
	changed []chan struct{} // of each source's presence

	busy     atomic.Int64
	draining atomic.Bool
	jobs     sync.WaitGroup
	taking   context.Context // ends when the worker takes no more jobs
	stop     context.CancelFunc

	mu      sync.Mutex
	running map[string]*active // by source and key of the job
	groups  fairness
}

// New makes a worker.
func New(o Options) *Worker {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Slots = max(o.Slots, 1)
	o.Drain = cmp.Or(o.Drain, 30*time.Second)
	o.Self.ID = cmp.Or(o.Self.ID, NewID())
	o.Self.Contract = fleet.Contract
	o.Self.Oldest = fleet.OldestContract
	o.Self.Slots = o.Slots
	o.Self.Since = time.Now().UTC()
	for kind := range o.Runners {
		o.Self.Kinds = append(o.Self.Kinds, kind)
	}
	w := &Worker{
		opts:    o,
		log:     o.Logger.With("component", "worker"),
		slots:   make(chan struct{}, o.Slots),
		wake:    make(chan struct{}, 1),
		running: map[string]*active{},
	}
	w.taking, w.stop = context.WithCancel(context.Background())
	for range o.Sources {
		w.changed = append(w.changed, make(chan struct{}, 1))
	}
	return w
}

// ID is the worker's id.
func (w *Worker) ID() string { return w.opts.Self.ID }

// Drain stops the worker from taking jobs. The worker ends when its running jobs have ended.
func (w *Worker) Drain() {
	if !w.draining.Swap(true) {
		w.stop()
		w.notify()
	}
}

// Run takes jobs until ctx ends or Drain is called. Then it lets running jobs end,
// for as long as Options.Drain; gives back those that did nothing yet; and returns
// when everything that it started has ended.
func (w *Worker) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, w.Drain)()
	defer w.stop()
	living, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()

	var beside sync.WaitGroup
	defer beside.Wait()
	defer leave()
	var subs []*nats.Subscription
	for i, s := range w.opts.Sources {
		var sub *nats.Subscription
		err := wire.Again(ctx, func(context.Context) (err error) {
			if sub == nil {
				sub, err = s.Queue.NC.Subscribe(wire.ControlSubject(w.ID(), "*"), func(m *nats.Msg) { w.control(i, m) })
				if err != nil {
					return err
				}
			}
			return s.Queue.NC.FlushTimeout(wire.RequestTimeout)
		})
		if err != nil {
			return err
		}
		subs = append(subs, sub)
		beside.Go(func() {
			presence.Announce(living, s.Queue.Store, w.ID(), func() fleet.Worker { return w.describe(i) }, w.changed[i])
		})
	}
	w.take(w.taking)
	w.finish()
	for _, s := range subs {
		_ = s.Unsubscribe()
	}
	return nil
}

// finish waits for the running jobs, and ends those that take too long.
func (w *Worker) finish() {
	ended := make(chan struct{})
	go func() {
		w.jobs.Wait()
		close(ended)
	}()
	limit := time.NewTimer(w.opts.Drain)
	defer limit.Stop()
	select {
	case <-ended:
		return
	case <-limit.C:
	}
	w.log.Warn("jobs did not end in time while the worker drains", "jobs", w.busy.Load(), "limit", w.opts.Drain)
	w.mu.Lock()
	for _, a := range w.running {
		a.cancel(errDrained)
	}
	w.mu.Unlock()
	<-ended
}

// labels are those that the worker has for a source.
func (w *Worker) labels(source int) map[string]string {
	own := w.opts.Sources[source].Labels
	if len(own) == 0 {
		return w.opts.Self.Labels
	}
	all := maps.Clone(own)
	maps.Copy(all, w.opts.Self.Labels)
	return all
}

// describe is what the worker says of itself to a source.
func (w *Worker) describe(source int) fleet.Worker {
	self := w.opts.Self
	self.Labels = w.labels(source)
	self.Busy, self.Draining = int(w.busy.Load()), w.draining.Load()
	if w.opts.Held != nil {
		self.Held = w.opts.Held()
	}
	self.Load, self.MemoryMB = machine.load()
	return self
}

// notify makes the worker announce itself soon.
func (w *Worker) notify() {
	for _, c := range w.changed {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	if w.opts.Changed != nil {
		w.opts.Changed(Status{Busy: int(w.busy.Load()), Slots: w.opts.Slots, Draining: w.draining.Load()})
	}
}

// Answer is what a worker replies on its control subjects.
type Answer struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// Acquire takes a slot for something else than a job of a source, such as a session, and
// what the source's quota has for it. The error is queue_full while no slot is free, and
// quota_exceeded when the source has used up what it has. release is called once.
func (w *Worker) Acquire(ctx context.Context, source Source) (release func(), err error) {
	if w.draining.Load() {
		return nil, fault.New(fault.QueueFull, "worker %s is draining", w.ID())
	}
	select {
	case w.slots <- struct{}{}:
	default:
		return nil, fault.New(fault.QueueFull, "worker %s has no free slot", w.ID())
	}
	w.busy.Add(1)
	w.notify()
	end := func() {}
	release = sync.OnceFunc(func() {
		end()
		w.busy.Add(-1)
		<-w.slots
		w.notify()
		w.awake()
	})
	if source.Quota == nil {
		return release, nil
	}
	began := time.Now()
	renew, done, ok, err := source.Quota.Begin(ctx)
	if err == nil && !ok {
		err = fault.New(fault.QueueFull, "all slots of tenant %s are taken", source.Name)
	}
	if err != nil {
		release()
		return nil, err
	}
	holding, stop := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for wire.Sleep(holding, source.Queue.Lease/3) == nil {
			renew(holding)
		}
	})
	end = func() {
		stop()
		renewing.Wait()
		done(context.WithoutCancel(ctx), time.Since(began))
	}
	return release, nil
}

// control answers what others ask this worker.
func (w *Worker) control(source int, m *nats.Msg) {
	what := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	var answer Answer
	switch what {
	case "holds":
		answer.OK = w.holds(source, string(m.Data))
	case "cancel":
		w.mu.Lock()
		a := w.running[place(source, string(m.Data))]
		w.mu.Unlock()
		if a != nil {
			a.cancel(errCancelled)
			answer.OK = true
		} else {
			answer.Error = "this worker does not run the job"
		}
	case "drain":
		w.Drain()
		answer.OK = true
	case "ping":
		answer.OK = true
	default:
		return // of a session
	}
	raw, err := json.Marshal(answer)
	if err == nil && m.Reply != "" {
		_ = m.Respond(raw)
	}
}

func (w *Worker) holds(source int, key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[place(source, key)] != nil
}

// alive asks the worker in a record whether it still runs the job. One that was
// killed is told at once by the server, one that hangs by its silence.
func (w *Worker) alive(source int, q *queue.Queue) func(ctx context.Context, r fleet.Record) bool {
	return func(ctx context.Context, r fleet.Record) bool {
		if r.Worker == w.ID() {
			return w.holds(source, r.Run+"."+r.ID)
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		m, err := q.NC.RequestWithContext(ctx, wire.ControlSubject(r.Worker, "holds"), []byte(r.Run+"."+r.ID))
		if err != nil {
			return false
		}
		var a Answer
		return json.Unmarshal(m.Data, &a) == nil && a.OK
	}
}

// place names a job of a source.
func place(source int, key string) string { return strconv.Itoa(source) + "/" + key }

// Why the context of a job ends.
var (
	errCancelled = errors.New("cancelled by the fleet")
	errDrained   = errors.New("the worker was told to end")
	errLeaseLost = errors.New("the lease was lost")
)
