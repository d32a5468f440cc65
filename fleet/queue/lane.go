// Package queue keeps the jobs of a fleet and the one record of each: who may take
// it, who holds it, how it ended. It runs no job and shows nothing. Workers take
// from it, submissions put into it, and both judge a lost holder by its rules.
//
// # Why there is a record beside the queue
//
// The queue delivers a job at least once, and its acknowledgement fences nothing:
// that of a late holder is taken although the job was given to another one. So
// holding a job means having written its record last, and every write names the
// revision that it replaces. A holder whose revision is not the last one any more
// has lost the job, whatever the queue tells it.
package queue

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Lane is a line of jobs that the same workers may take: one queue, one priority,
// one set of labels.
type Lane struct {
	Queue    string            `json:"queue"`
	Priority fleet.Priority    `json:"priority"`
	Labels   map[string]string `json:"labels,omitempty"`
	Kind     string            `json:"kind"`
}

// LaneOf is the lane of a job.
func LaneOf(j fleet.Job) Lane {
	return Lane{Queue: j.Queue, Priority: j.Priority, Labels: j.Labels, Kind: j.Kind}
}

// Name is the lane's name in subjects: queue, priority, kind, labels.
func (l Lane) Name() string {
	labels := "any"
	if len(l.Labels) > 0 {
		sum := sha256.Sum256([]byte(fleet.LabelText(l.Labels)))
		labels = strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
	}
	return l.Queue + "." + string(l.Priority) + "." + l.Kind + "." + labels
}

// durable is the name of the lane's consumer.
func (l Lane) durable() string { return strings.ReplaceAll(l.Name(), ".", "__") }

// Lease is for how long a worker holds a job without a sign of life, unless the
// fleet was made with another one.
const Lease = 10 * time.Second

// Queue is the queue of a fleet.
type Queue struct {
	*wire.Store
	// Lease of the lanes that this program makes.
	Lease time.Duration

	mu    sync.Mutex
	lanes map[string]bool
}

// New is the queue in a store.
func New(s *wire.Store) *Queue {
	return &Queue{Store: s, Lease: Lease, lanes: map[string]bool{}}
}

// Ensure makes a lane that is not there, so that jobs can wait in it and workers
// find it.
func (q *Queue) Ensure(ctx context.Context, l Lane) error {
	name := l.Name()
	q.mu.Lock()
	known := q.lanes[name]
	q.mu.Unlock()
	if known {
		return nil
	}
	config := jetstream.ConsumerConfig{
		Durable:       l.durable(),
		FilterSubject: wire.LaneFilter(name),
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       q.Lease,
		// How often a job may be tried is in its record: a limit here would leave it
		// in the stream, where nobody hears of it.
		MaxDeliver: -1,
		// Both count over all workers together.
		MaxAckPending: 1_000_000,
		MaxWaiting:    100_000,
	}
	if err := wire.Again(ctx, func(ctx context.Context) error {
		_, err := q.Jobs.CreateConsumer(ctx, config)
		return err
	}); err != nil && !errors.Is(err, jetstream.ErrConsumerExists) {
		return fault.New(fault.TransportFailed, "making the lane %s of the queue: %v", name, err)
	}
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := wire.Again(ctx, func(ctx context.Context) error {
		_, err := q.Lanes.Create(ctx, name, raw)
		return err
	}); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fault.New(fault.TransportFailed, "announcing the lane %s of the queue: %v", name, err)
	}
	q.mu.Lock()
	q.lanes[name] = true
	q.mu.Unlock()
	return nil
}

// Consumer is what the workers of a lane share.
func (q *Queue) Consumer(ctx context.Context, l Lane) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	return q.Jobs.Consumer(ctx, l.durable())
}

// WatchLanes calls seen with each lane that there is, then ready, then seen with each
// that is made later, until ctx ends.
func (q *Queue) WatchLanes(ctx context.Context, seen func(Lane), ready func()) error {
	// Without a deadline the request has the connection's own: a cluster may lose it.
	w, err := q.Lanes.WatchAll(context.WithoutCancel(ctx), jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return context.Cause(ctx)
			}
			if e == nil {
				ready()
				continue
			}
			var l Lane
			if err := json.Unmarshal(e.Value(), &l); err != nil || l.Name() != e.Key() ||
				!slices.Contains(fleet.Priorities, l.Priority) {
				q.Log().Warn("a lane of the queue cannot be read", "lane", e.Key())
				continue
			}
			seen(l)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
