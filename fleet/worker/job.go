package worker

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// active is a job that runs here.
type active struct {
	worker *Worker
	source Source
	job    fleet.Job
	claim  *queue.Claim
	try    int
	cancel context.CancelCauseFunc

	acting   sync.Mutex
	acted    bool
	sureTill atomic.Int64 // Unix nanoseconds until which no other worker can have the job
}

// Bounds of what a worker does about a job beside running it.
const (
	takeWithin   = 30 * time.Second
	recordWithin = 2 * time.Minute
	// unknownContract is after which time another worker is offered a job that this
	// one cannot read.
	unknownContract = 2 * time.Second
	// quotaRest is for how long a source is left alone whose slots are all taken.
	quotaRest = 250 * time.Millisecond
)

// handle does everything about one delivery of a job.
func (w *Worker) handle(ctx context.Context, l *lane, m jetstream.Msg) {
	source := w.opts.Sources[l.source]
	var j fleet.Job
	if err := json.Unmarshal(m.Data(), &j); err != nil || !fleet.ValidName(j.Run) || !fleet.ValidName(j.ID) ||
		j.Kind != l.Kind {
		w.log.Warn("a job of the queue cannot be read", "lane", l.Name(), "subject", m.Subject())
		_ = m.TermWithReason("not a job")
		return
	}
	if !fleet.Understands(j.Contract) {
		w.log.Warn("a job needs another version of this program", "job", j.Key(), "contract", j.Contract)
		_ = m.NakWithDelay(unknownContract)
		return
	}
	deliveries := uint64(1)
	if meta, err := m.Metadata(); err == nil {
		deliveries = meta.NumDelivered
	}
	if deliveries > 1 {
		w.log.Debug("a job is delivered again", "job", j.Key(), "deliveries", deliveries)
	}
	renewSlot := func(context.Context) {}
	var exceeded error
	if source.Quota != nil {
		began := time.Now()
		again, end, ok, err := source.Quota.Begin(ctx)
		switch {
		case errors.Is(err, fault.QuotaExceeded):
			exceeded = err
		case err != nil || !ok:
			// Others have jobs: this source is not asked again for a moment.
			w.groups.rest(l.source, quotaRest)
			_ = m.NakWithDelay(quotaRest)
			return
		default:
			renewSlot = again
			defer func() { end(ctx, time.Since(began)) }()
		}
	}
	// The lease runs from when the server delivered, which was before this.
	taken := time.Now()
	took, cancel := context.WithTimeout(ctx, takeWithin)
	taking, err := source.Queue.Take(took, j, w.ID(), deliveries == 1, w.alive(l.source, source.Queue))
	cancel()
	switch {
	case err != nil:
		w.log.Warn("taking a job", "job", j.Key(), "error", err)
		_ = m.Nak()
		return
	case taking.Verdict == queue.Finished:
		if taking.Recorded {
			w.ended("lost", 0)
		}
		_ = m.Ack()
		return
	case taking.Verdict == queue.HeldByOther:
		_ = m.NakWithDelay(source.Queue.Lease)
		return
	}
	if exceeded != nil {
		record, done := context.WithTimeout(ctx, takeWithin)
		defer done()
		if taking.Claim.Finish(record, fleet.Outcome{Error: fault.From(exceeded)}) == nil {
			_ = m.Ack()
		}
		w.ended("failed", 0)
		return
	}
	w.run(ctx, source, l.source, j, m, taking.Claim, taken, renewSlot)
}

// run runs a job that this worker holds, and records how it ended.
func (w *Worker) run(
	ctx context.Context, source Source, index int, j fleet.Job, m jetstream.Msg,
	claim *queue.Claim, taken time.Time, renewSlot func(context.Context),
) {
	limit := taken.Add(j.Timeout)
	why := error(fault.New(fault.Timeout, "the job did not end within its timeout of %s", j.Timeout))
	if !j.Deadline.IsZero() && j.Deadline.Before(limit) {
		limit, why = j.Deadline, queue.Expired(j)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithDeadlineCause(ctx, limit, why)
	defer stop()
	a := &active{
		worker: w,
		source: source,
		job:    j,
		claim:  claim,
		try:    claim.Try(),
		cancel: cancel,
	}
	a.sureTill.Store(taken.Add(source.Queue.Lease).UnixNano())
	key := place(index, j.Key())
	w.mu.Lock()
	w.running[key] = a
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.running, key)
		w.mu.Unlock()
	}()

	var beating sync.WaitGroup
	beat, quiet := context.WithCancel(ctx)
	beating.Go(func() { a.heartbeat(beat, m, renewSlot) })
	a.event("begins", nil, w.ID())
	result := a.do(ctx)
	cause := context.Cause(ctx)
	quiet()
	beating.Wait()

	record, done := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer done()
	a.record(record, m, result, cause, time.Since(taken))
}

// do has the runner run the job.
func (a *active) do(ctx context.Context) Result {
	j := a.job
	payload, err := a.source.Queue.Payload(ctx, j)
	if err != nil {
		return Result{Err: err}
	}
	j.Payload, j.PayloadAt = payload, nil
	return a.worker.opts.Runners[j.Kind].Run(ctx, j, a)
}

// record writes the outcome, unless the job is somebody else's.
func (a *active) record(ctx context.Context, m jetstream.Msg, r Result, cause error, took time.Duration) {
	w, q := a.worker, a.source.Queue
	o := fleet.Outcome{OK: r.OK && r.Err == nil && cause == nil, DurationMS: took.Milliseconds()}
	how := "ok"
	if !o.OK {
		how = "failed"
	}
	switch {
	case errors.Is(cause, errLeaseLost):
		w.log.Warn("a job was given to another worker while it ran here", "job", a.job.Key())
		w.ended("lost", took)
		return
	case errors.Is(cause, errDrained) && !a.hasActed():
		if err := a.claim.GiveBack(ctx); err == nil {
			_ = m.Nak()
		}
		w.ended("given_back", took)
		return
	case errors.Is(cause, errDrained):
		o.Error = fault.New(fault.WorkerLost, "worker %s was told to end, and the job had begun to act", w.ID())
	case errors.Is(cause, errCancelled):
		how, o.Error = "cancelled", fault.New(fault.Cancelled, "the job was cancelled while it ran")
	case cause != nil:
		o.Error = fault.From(cause)
	case r.Err != nil:
		o.Error = fault.From(r.Err)
	}
	err := q.PackResult(ctx, &o, r.JSON)
	for name, data := range r.Files {
		if err != nil {
			break
		}
		var at fleet.Object
		at, err = q.Upload(ctx, data)
		if err == nil {
			if o.Files == nil {
				o.Files = map[string]fleet.Object{}
			}
			o.Files[name] = at
		}
	}
	if err != nil {
		o = fleet.Outcome{Error: fault.From(err), DurationMS: o.DurationMS}
		how = "failed"
	}
	if a.source.Sign != nil {
		o.Signature = a.source.Sign(queue.Signed(a.job.Key(), o))
	}
	switch err := a.claim.Finish(ctx, o); {
	case errors.Is(err, queue.ErrLost):
		w.log.Warn("the result of a job came too late: it is another worker's", "job", a.job.Key())
		how = "lost"
	case err != nil:
		w.log.Error("the result of a job could not be recorded", "job", a.job.Key(), "error", err)
		how = "lost"
	default:
		// An acknowledgement that is lost costs one more delivery, which finds the
		// record.
		_ = m.Ack()
	}
	w.ended(how, took)
}

func (w *Worker) ended(how string, took time.Duration) {
	if w.opts.OnEnd != nil {
		w.opts.OnEnd(how, took)
	}
}

// heartbeat keeps the lease until ctx ends. The queue's own answer to a heartbeat
// says yes for a job that was given away, so the record is asked as well.
func (a *active) heartbeat(ctx context.Context, m jetstream.Msg, renewSlot func(context.Context)) {
	lease := a.source.Queue.Lease
	every := time.NewTicker(lease / 3)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		renewSlot(ctx)
		sent := time.Now()
		err := m.InProgress()
		if err == nil {
			err = a.claim.Holds(ctx, lease/3)
		}
		switch {
		case err == nil:
			a.sureTill.Store(sent.Add(lease).UnixNano())
		case errors.Is(err, queue.ErrLost), !a.sure(0):
			a.cancel(errLeaseLost)
			return
		}
	}
}

// sure reports whether the job cannot be another worker's for some time to come.
func (a *active) sure(margin time.Duration) bool {
	return time.Now().Add(margin).UnixNano() < a.sureTill.Load()
}

func (a *active) hasActed() bool {
	a.acting.Lock()
	defer a.acting.Unlock()
	return a.acted
}

// Act implements Reporter. The first time it is a write that only the holder of the
// job can make; later the lease is enough.
func (a *active) Act(ctx context.Context, s fleet.Step) error {
	a.acting.Lock()
	defer a.acting.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if a.acted {
		if !a.sure(0) {
			a.cancel(errLeaseLost)
			return fault.New(
				fault.LeaseLost, "the lease of this job could not be renewed, so another worker may have it",
			)
		}
		return nil
	}
	if err := a.claim.Act(ctx, s); err != nil {
		if errors.Is(err, queue.ErrLost) {
			a.cancel(errLeaseLost)
		}
		return fault.Wrap(fault.LeaseLost, err, "recording that the job begins to act")
	}
	a.acted = true
	return nil
}

// Step implements Reporter.
func (a *active) Step(s fleet.Step) { a.event("step", &s, "") }

// longestText bounds what one event says.
const longestText = 64 << 10

// Text implements Reporter.
func (a *active) Text(text string) { a.event("text", nil, text[:min(len(text), longestText)]) }

// event reports something. It is not acknowledged: an event that is lost costs a
// line of progress.
func (a *active) event(kind string, s *fleet.Step, text string) {
	raw, err := fleet.Encode(fleet.Event{
		Run:  a.job.Run,
		ID:   a.job.ID,
		Try:  a.try,
		At:   time.Now().UTC(),
		Kind: kind,
		Step: s,
		Text: text,
	})
	if err == nil {
		_ = a.source.Queue.NC.Publish(wire.EventSubject(a.job.Run, a.job.ID), raw)
	}
}

// File implements Reporter.
func (a *active) File(ctx context.Context, name string) ([]byte, error) {
	o, ok := a.job.Files[name]
	if !ok {
		return nil, fault.New(fault.AssetNotFound, "the job has no file %q", name)
	}
	return a.source.Queue.Download(ctx, o)
}

// Tenant implements Reporter.
func (a *active) Tenant() string { return a.source.Name }
