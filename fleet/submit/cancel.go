package submit

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/primitives/fault"
)

// answerWithin is how long the worker of a job may take to say that it cancels it.
const answerWithin = 2 * time.Second

// Cancel ends a job, wherever it is, and says whether it had not ended before. A running job
// gets a request to end, and records its outcome itself. If its worker does not answer, the job
// is recorded as cancelled, which takes it from that worker.
func Cancel(ctx context.Context, q *queue.Queue, run, id string) (did bool, err error) {
	for {
		r, revision, ok, err := q.Record(ctx, run, id)
		if err != nil || ok && r.Phase == fleet.Done {
			return false, err
		}
		o := fleet.Outcome{Error: fault.New(fault.Cancelled, "the job was cancelled before it ran")}
		if ok && r.Phase != fleet.Waiting {
			if requestCancel(ctx, q, r) {
				return true, nil
			}
			o.Error = fault.New(
				fault.Cancelled,
				"the job was cancelled; its worker %s did not answer, so what it did last is not known", r.Worker,
			).With("last_step", r.Step)
		}
		if !ok {
			if !queued(ctx, q, run, id) {
				return false, fault.New(fault.UnknownJob, "there is no job %s.%s", run, id)
			}
			r = fleet.Record{Run: run, ID: id}
		}
		_, err = q.End(ctx, r, revision, o)
		if errors.Is(err, queue.ErrLost) {
			continue
		}
		if err == nil {
			withdraw(ctx, q, run, id)
		}
		return err == nil, err
	}
}

// cancelsAtOnce is how many jobs are cancelled beside each other: each takes several round
// trips, and a worker may take its time to answer.
const cancelsAtOnce = 32

// CancelAll is Cancel for many jobs. heard is called once for each job with its outcome, never
// twice at the same time.
func CancelAll(ctx context.Context, q *queue.Queue, jobs []fleet.Job, reports func(j fleet.Job, did bool, err error)) {
	var all sync.WaitGroup
	var subscription sync.Mutex
	places := make(chan struct{}, cancelsAtOnce)
	for _, j := range jobs {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			did, err := Cancel(ctx, q, j.Run, j.ID)
			subscription.Lock()
			defer subscription.Unlock()
			reports(j, did, err)
		})
	}
	all.Wait()
}

// Withdraw ends a job that nobody has begun, and says whether it did.
func Withdraw(ctx context.Context, q *queue.Queue, j fleet.Job) (did bool, err error) {
	o := fleet.Outcome{Error: fault.New(fault.Cancelled, "the job was withdrawn before it ran")}
	_, err = q.End(ctx, fleet.Record{Run: j.Run, ID: j.ID, Name: j.Name, Queue: j.Queue}, 0, o)
	if errors.Is(err, queue.ErrLost) {
		return false, nil
	}
	if err == nil {
		withdraw(ctx, q, j.Run, j.ID)
	}
	return err == nil, err
}

// requestCancel reports whether the worker of a job confirmed that the job is to end. It is a request of
// its own, since a caller that gives up a request cannot say so.
func requestCancel(ctx context.Context, q *queue.Queue, r fleet.Record) bool {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	m, err := q.NC.RequestWithContext(ctx, wire.ControlSubject(r.Worker, "cancel"), []byte(r.Run+"."+r.ID))
	var a worker.Answer
	return err == nil && json.Unmarshal(m.Data, &a) == nil && a.OK
}

// anyLane stands for the four parts of a lane's name.
const anyLane = "*.*.*.*"

func queued(ctx context.Context, q *queue.Queue, run, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	_, err := q.Jobs.GetLastMsgForSubject(ctx, wire.JobSubject(anyLane, run, id))
	return err == nil
}

// withdraw takes a job that has ended out of the queue. One that stays is found to
// have ended by the worker that gets it.
func withdraw(ctx context.Context, q *queue.Queue, run, id string) {
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	if m, err := q.Jobs.GetLastMsgForSubject(ctx, wire.JobSubject(anyLane, run, id)); err == nil {
		_ = q.Jobs.DeleteMsg(ctx, m.Sequence)
	}
}

// Drain requests that a worker takes no more jobs. Whether it starts again is up to its
// supervisor.
func Drain(ctx context.Context, q *queue.Queue, id string) error {
	if !fleet.ValidName(id) {
		return fault.New(fault.InvalidInput, "the worker is %q: expected its id", id)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	_, err := q.NC.RequestWithContext(ctx, wire.ControlSubject(id, "drain"), nil)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fault.New(fault.RuntimeNotFound, "the fleet has no worker %s", id).
			Next("outrider fleet status lists the workers")
	case err != nil:
		return fault.Wrap(fault.TransportFailed, err, "telling worker %s to drain", id)
	}
	return nil
}
