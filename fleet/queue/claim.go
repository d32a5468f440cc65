package queue

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// ErrLost means that the job is somebody else's.
var ErrLost = wire.ErrLost

// Claim is a job that this worker holds, until somebody writes its record.
type Claim struct {
	queue *Queue

	mu       sync.Mutex // held while the record is read or written
	record   fleet.Record
	revision uint64
}

// Verdict says what follows for a job that was delivered.
type Verdict int

const (
	// Taken: the caller holds the job.
	Taken Verdict = iota
	// Finished: its outcome is recorded, so the delivery is of no use.
	Finished
	// HeldByOther: another worker has it and may be well.
	HeldByOther
)

// Taking is how an attempt to take a job ended.
type Taking struct {
	Verdict Verdict
	Claim   *Claim       // of Taken
	Record  fleet.Record // of the others: what is there
	// Recorded says that this attempt recorded the outcome: the job expired, or was
	// lost for good.
	Recorded bool
}

// Take tries to make the job the worker's. fresh says that the queue delivers it for the first
// time, so most likely there is no record yet. alive reports whether the worker that holds the
// job still runs.
func (q *Queue) Take(
	ctx context.Context, j fleet.Job, worker string, fresh bool, alive func(ctx context.Context, r fleet.Record) bool,
) (Taking, error) {
	for ; ; fresh = false {
		var old fleet.Record
		var revision uint64
		if !fresh {
			var err error
			old, revision, _, err = q.Record(ctx, j.Run, j.ID)
			if err != nil {
				return Taking{}, err
			}
		}
		switch {
		case old.Phase == fleet.Done:
			return Taking{Verdict: Finished, Record: old}, nil
		case (old.Phase == fleet.Running || old.Phase == fleet.Acting) && alive(ctx, old):
			return Taking{Verdict: HeldByOther, Record: old}, nil
		}
		next, over := succeed(j, old, worker, time.Now(), func() *fleet.Step { return q.lastStep(ctx, j, old.Try) })
		c := &Claim{queue: q, record: old, revision: revision}
		switch err := c.write(ctx, next); {
		case errors.Is(err, ErrLost):
			continue
		case err != nil:
			return Taking{}, err
		case over:
			return Taking{Verdict: Finished, Record: c.record, Recorded: true}, nil
		}
		return Taking{Verdict: Taken, Claim: c}, nil
	}
}

// succeed is what the record of a job becomes when a worker takes it after what is
// there: a new try, or, when there can be none, an outcome.
func succeed(
	j fleet.Job, old fleet.Record, worker string, now time.Time, lastStep func() *fleet.Step,
) (next fleet.Record, over bool) {
	next = fleet.Record{
		Contract: fleet.Contract,
		Run:      j.Run,
		ID:       j.ID,
		Name:     j.Name,
		Queue:    j.Queue,
		Phase:    fleet.Running,
		Try:      old.Try + 1,
		Worker:   worker,
		Losses:   old.Losses,
		BeganAt:  now.UTC(),
	}
	end := func(f *fault.Error) (fleet.Record, bool) {
		next.Phase = fleet.Done
		next.Try = old.Try
		next.Worker = old.Worker
		next.Step = old.Step
		next.BeganAt = old.BeganAt
		next.Outcome = &fleet.Outcome{Error: f}
		return next, true
	}
	if old.Phase == fleet.Running || old.Phase == fleet.Acting {
		loss := fleet.Loss{Worker: old.Worker, Try: old.Try, Reason: "its lease ended", Step: old.Step, At: now.UTC()}
		if seen := lastStep(); seen != nil {
			loss.Step = seen
		}
		next.Losses = append(next.Losses, loss)
	}
	if old.Phase == fleet.Acting && j.OnLoss != fleet.RerunOnLoss {
		return end(Lost(next.Losses))
	}
	if len(next.Losses) >= j.Tries {
		return end(fault.New(
			fault.JobPoisoned, "%d workers were lost while they ran this job, and it has no tries left",
			len(next.Losses),
		).With("losses", next.Losses))
	}
	if !j.Deadline.IsZero() && now.After(j.Deadline) {
		return end(Expired(j))
	}
	return next, false
}

// Lost is the error of a job whose worker was lost after it had begun to act.
func Lost(losses []fleet.Loss) *fault.Error {
	last := losses[len(losses)-1]
	f := fault.New(fault.WorkerLost, "worker %s was lost after the job had begun to act", last.Worker).
		With("losses", losses)
	if last.Step != nil {
		f.Message += ", and the last step that was seen is " + last.Step.Name
		f = f.With("last_step", last.Step)
	}
	return f.Next(
		"see on the site whether the step was done; a job that may be repeated whole declares it with --on-loss rerun",
	)
}

// Expired is the error of a job whose deadline passed.
func Expired(j fleet.Job) *fault.Error {
	return fault.New(fault.JobExpired, "the job's deadline passed before it ended").
		With("deadline", j.Deadline.UTC().Format(time.RFC3339))
}

// lastStep is the last step that a try of the job reported.
func (q *Queue) lastStep(ctx context.Context, j fleet.Job, try int) *fleet.Step {
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	events, err := q.JS.Stream(ctx, wire.EventsStream)
	if err != nil {
		return nil
	}
	m, err := events.GetLastMsgForSubject(ctx, wire.EventSubject(j.Run, j.ID))
	if err != nil {
		return nil
	}
	var e fleet.Event
	if json.Unmarshal(m.Data, &e) != nil || e.Try != try {
		return nil
	}
	return e.Step
}

// get reads a record, again while the server cannot be reached.
func (q *Queue) get(ctx context.Context, key string) (e jetstream.KeyValueEntry, err error) {
	err = wire.Again(ctx, func(ctx context.Context) (err error) { e, err = q.Records.Get(ctx, key); return err })
	return e, err
}

// Record reads the record of a job; false when there is none.
func (q *Queue) Record(ctx context.Context, run, id string) (fleet.Record, uint64, bool, error) {
	var r fleet.Record
	e, err := q.get(ctx, run+"."+id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return r, 0, false, nil
	}
	if err != nil {
		return r, 0, false, fault.Wrap(fault.TransportFailed, err, "reading the record of job %s.%s", run, id)
	}
	if err := json.Unmarshal(e.Value(), &r); err != nil {
		return r, 0, false, fault.Wrap(fault.Internal, err, "reading the record of job %s.%s", run, id)
	}
	return r, e.Revision(), true, nil
}

// End records an outcome for a job that the caller does not hold: it was cancelled
// or it expired. It is ErrLost when the record changed meanwhile.
func (q *Queue) End(ctx context.Context, r fleet.Record, revision uint64, o fleet.Outcome) (fleet.Record, error) {
	c := &Claim{queue: q, record: r, revision: revision}
	r.Contract = fleet.Contract
	r.Phase = fleet.Done
	r.Outcome = &o
	err := c.write(ctx, r)
	return c.record, err
}

// write replaces the record. mu is held, or the claim is nobody else's yet.
func (c *Claim) write(ctx context.Context, next fleet.Record) error {
	next.Write, next.At = nuid.Next(), time.Now().UTC()
	raw, err := fleet.Encode(next)
	if err != nil {
		return err
	}
	revision, err := wire.Put(ctx, c.queue.Records, next.Run+"."+next.ID, raw, c.revision, func(there []byte) bool {
		var r fleet.Record
		return json.Unmarshal(there, &r) == nil && r.Write == next.Write
	})
	if err != nil {
		return err
	}
	c.record, c.revision = next, revision
	return nil
}

// Try is the number of this try, from 1.
func (c *Claim) Try() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record.Try
}

// Act records that the job begins to change something. After it returned nil, no
// other worker runs the job again, unless its author allows it.
func (c *Claim) Act(ctx context.Context, s fleet.Step) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.record
	next.Phase, next.Step = fleet.Acting, &s
	return c.write(ctx, next)
}

// Finish records the outcome. It is ErrLost when the job is not the caller's any
// more; then the outcome counts for nothing.
func (c *Claim) Finish(ctx context.Context, o fleet.Outcome) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.record
	next.Phase, next.Outcome = fleet.Done, &o
	return c.write(ctx, next)
}

// GiveBack records that another worker may take the job, which did nothing yet.
func (c *Claim) GiveBack(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.record
	next.Phase, next.Step = fleet.Waiting, nil
	next.Try-- // this one does not count
	return c.write(ctx, next)
}

// Holds asks the server whether the job is still the caller's. A write of the caller may be
// under way; limit counts from its end.
func (c *Claim) Holds(ctx context.Context, limit time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e, err := c.queue.Records.Get(ctx, c.record.Run+"."+c.record.ID)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return ErrLost
	case err != nil:
		return err
	case e.Revision() != c.revision:
		return ErrLost
	}
	return nil
}
