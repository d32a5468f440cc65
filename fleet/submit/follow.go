package submit

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Handlers has the callbacks of a followed submission. One goroutine calls them. Each may be nil.
type Handlers struct {
	// Record is called with each change of a job's record, and Done once, with the last.
	Record func(fleet.Record)
	Done   func(fleet.Record)
	// Event is called with what running jobs report. Some reports may be missing.
	Event func(fleet.Event)
}

// sweepEvery is how often the records of silent jobs are read and deadlines are checked. The
// number of reads in one sweep is bounded.
const (
	sweepEvery  = 2 * time.Second
	sweepAtMost = 64
	// graceful is how long after a job's deadline its worker may still record that
	// itself.
	graceful = 3 * time.Second
)

// Follow waits until every job has ended, or ctx does. The jobs may have been sent by
// another process, and may have ended already.
func Follow(ctx context.Context, q *queue.Queue, jobs []fleet.Job, handlers Handlers) error {
	if len(jobs) == 0 {
		return nil
	}
	run := jobs[0].Run
	open := make(map[string]*fleet.Job, len(jobs))
	order := make([]string, len(jobs))
	for i := range jobs {
		open[jobs[i].ID], order[i] = &jobs[i], jobs[i].ID
	}
	events := make(chan *nats.Msg, 4096)
	var sub *nats.Subscription
	var records jetstream.KeyWatcher
	defer func() {
		if sub != nil {
			_ = sub.Unsubscribe()
		}
		if records != nil {
			_ = records.Stop()
		}
	}()
	seen := uint64(0) // revision of the last record
	// With a deadline far ahead, a request that a cluster lost would be waited for until
	// then; without one it has the connection's own.
	unbounded := context.WithoutCancel(ctx)
	watch := func() error {
		err := wire.Again(ctx, func(context.Context) (err error) {
			if sub == nil {
				sub, err = q.NC.ChanSubscribe(wire.EventSubject(run, "*"), events)
				if err != nil {
					return err
				}
			}
			old := records
			if seen == 0 {
				records, err = q.Records.Watch(unbounded, run+".*")
			} else {
				records, err = q.Records.Watch(unbounded, run+".*", jetstream.ResumeFromRevision(seen+1))
			}
			if err != nil {
				records = old
			} else if old != nil {
				_ = old.Stop()
			}
			return err
		})
		if err != nil {
			return fault.Wrap(fault.TransportFailed, err, "following the submission %s", run)
		}
		return nil
	}
	// A watch notices after a while that its server is another one: the connection
	// knows at once.
	connected := q.NC.StatusChanged(nats.CONNECTED)
	defer q.NC.RemoveStatusListener(connected)
	if err := watch(); err != nil {
		return err
	}
	take := func(r fleet.Record) {
		if open[r.ID] == nil {
			return
		}
		if handlers.Record != nil {
			handlers.Record(r)
		}
		if r.Phase == fleet.Done {
			delete(open, r.ID)
			// What the job said last is read before it ends.
			for len(events) > 0 {
				handlers.event(<-events)
			}
			if handlers.Done != nil {
				handlers.Done(r)
			}
		}
	}
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	next := 0
	for len(open) > 0 {
		select {
		case e, ok := <-records.Updates():
			switch {
			case !ok && q.NC.IsClosed():
				return fault.New(fault.TransportFailed, "the connection to the fleet ended for good").
					Next("outrider fleet attach " + run + " goes on following the jobs")
			case !ok:
				records = nil
				if err := watch(); err != nil {
					return err
				}
			case e == nil:
			default:
				var r fleet.Record
				seen = e.Revision()
				if json.Unmarshal(e.Value(), &r) == nil {
					take(r)
				}
			}
		case m := <-events:
			handlers.event(m)
		case <-connected:
			if err := watch(); err != nil {
				return err
			}
		case <-sweep.C:
			for queried := 0; queried < min(sweepAtMost, len(order)) && len(open) > 0; queried++ {
				id := order[next%len(order)]
				next++
				j := open[id]
				if j == nil {
					continue
				}
				r, revision, ok, err := q.Record(ctx, run, id)
				if err != nil {
					break
				}
				if late := !j.Deadline.IsZero() && time.Since(j.Deadline) > graceful; late && r.Phase != fleet.Done {
					if !ok {
						r = fleet.Record{Run: run, ID: id, Name: j.Name, Queue: j.Queue}
					}
					r, err = q.End(ctx, r, revision, fleet.Outcome{Error: queue.Expired(*j)})
					if err != nil {
						continue // somebody else recorded something: the next sweep sees it
					}
					withdraw(ctx, q, run, id)
				}
				if r.Phase == fleet.Done {
					take(r)
				}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (h Handlers) event(m *nats.Msg) {
	var e fleet.Event
	if h.Event != nil && json.Unmarshal(m.Data, &e) == nil {
		h.Event(e)
	}
}
