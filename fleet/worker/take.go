package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
)

// lane is a lane whose jobs this worker may take.
type lane struct {
	queue.Lane
	source   int
	consumer jetstream.Consumer
	want     chan struct{} // asks for one blocking pull
}

const (
	// waitAtServer is how long a pull waits there for a job, and alive how often the server
	// says that it still has it: a cluster that chooses a leader forgets pulls.
	waitAtServer = 30 * time.Second
	alive        = 10 * time.Second
)

// take feeds the slots until ctx ends. Lanes are asked in fair order while there is
// something in one of them; then each has one pull that waits.
func (w *Worker) take(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	// Nothing is taken before all lanes are known: the first one may be the least urgent.
	var known sync.WaitGroup
	known.Add(len(w.opts.Sources))
	for i, s := range w.opts.Sources {
		ready := sync.OnceFunc(known.Done)
		all.Go(func() {
			defer ready()
			for ctx.Err() == nil {
				err := s.Queue.WatchLanes(ctx, func(l queue.Lane) { w.join(ctx, &all, i, l) }, ready)
				if ctx.Err() == nil {
					w.log.Warn("following the lanes of the queue", "error", err)
					_ = wire.Sleep(ctx, time.Second)
				}
			}
		})
	}
	known.Wait()
	for ctx.Err() == nil {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if w.poll(ctx) {
			continue
		}
		<-w.slots
		w.arm()
		select {
		case <-w.wake:
		case <-w.groups.rested():
		case <-ctx.Done():
			return
		}
	}
}

// join adds a lane that this worker can serve.
func (w *Worker) join(ctx context.Context, all *sync.WaitGroup, source int, l queue.Lane) {
	if w.opts.Runners[l.Kind] == nil || !fleet.Satisfies(w.labels(source), l.Labels) || w.groups.has(source, l.Name()) {
		return
	}
	q := w.opts.Sources[source].Queue
	var consumer jetstream.Consumer
	for {
		var err error
		consumer, err = q.Consumer(ctx, l)
		if err == nil {
			break
		}
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			err = q.Ensure(ctx, l)
		}
		if err != nil {
			w.log.Warn("joining a lane of the queue", "lane", l.Name(), "error", err)
		}
		if wire.Sleep(ctx, time.Second) != nil {
			return
		}
	}
	one := &lane{Lane: l, source: source, consumer: consumer, want: make(chan struct{}, 1)}
	w.groups.add(one, max(w.opts.Sources[source].Weight, 1))
	all.Go(func() { w.wait(ctx, one) })
	w.awake()
}

// poll takes one job that is there, in fair order. The caller has a slot, which the
// job keeps.
func (w *Worker) poll(ctx context.Context) bool {
	for _, g := range w.groups.order() {
		for _, l := range g.lanes {
			batch, err := l.consumer.FetchNoWait(1)
			if err != nil {
				continue
			}
			for m := range batch.Messages() {
				w.groups.charge(g)
				w.start(ctx, l, m)
				return true
			}
		}
		if ctx.Err() != nil {
			return false
		}
	}
	return false
}

// arm asks each lane for one pull that waits.
func (w *Worker) arm() {
	for _, g := range w.groups.order() {
		for _, l := range g.lanes {
			select {
			case l.want <- struct{}{}:
			default:
			}
		}
	}
}

// awake makes take ask again.
func (w *Worker) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// wait has one pull at the server whenever it is wanted. A job that comes when no
// slot is free goes back at once.
func (w *Worker) wait(ctx context.Context, l *lane) {
	for ctx.Err() == nil {
		it, err := l.consumer.Messages(
			jetstream.PullMaxMessages(1), jetstream.PullExpiry(waitAtServer), jetstream.PullHeartbeat(alive),
		)
		if err == nil {
			err = w.pull(ctx, l, it)
		}
		if ctx.Err() != nil {
			return
		}
		w.log.Warn("waiting for jobs", "lane", l.Name(), "error", err)
		_ = wire.Sleep(ctx, time.Second)
		w.awake() // the pull that was asked for is gone: somebody has to ask again
	}
}

func (w *Worker) pull(ctx context.Context, l *lane, it jetstream.MessagesContext) error {
	// What comes while the pull is being ended goes back too.
	defer func() {
		it.Drain()
		for {
			m, err := it.Next(jetstream.NextMaxWait(100 * time.Millisecond))
			if err != nil {
				break
			}
			_ = m.Nak()
		}
		it.Stop()
	}()
	for {
		select {
		case <-l.want:
		case <-ctx.Done():
			return nil
		}
		m, err := it.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		select {
		case w.slots <- struct{}{}:
			w.groups.chargeLane(l)
			w.start(ctx, l, m)
		default:
			_ = m.Nak()
		}
		w.awake()
	}
}

// start runs a job in the slot that the caller took.
func (w *Worker) start(ctx context.Context, l *lane, m jetstream.Msg) {
	w.busy.Add(1)
	w.jobs.Add(1)
	w.notify()
	go func() {
		defer w.jobs.Done()
		defer w.awake()
		defer func() { <-w.slots }()
		defer w.notify()
		defer w.busy.Add(-1)
		w.handle(context.WithoutCancel(ctx), l, m)
	}()
}
