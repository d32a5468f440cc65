// Package presence says which workers a fleet has. A worker announces itself until it
// leaves; one that falls silent expires. It does not say whether a worker still holds
// a job, which only the job's record can. Workers, sessions and the verbs that show a
// fleet use it.
package presence

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/wire"
)

// Announce keeps the worker's entry until ctx ends, then removes it. describe is called for
// each announcement, of which there is one every third of the bucket's time to live. Between
// two of them one more follows a change: a thousand workers with short jobs would write
// thousands of entries a second, each of which is old when it is read. That a worker drains is
// told at once.
func Announce(ctx context.Context, s *wire.Store, id string, describe func() fleet.Worker, changed <-chan struct{}) {
	every := 3 * time.Second
	if status, err := s.Workers.Status(ctx); err == nil && status.TTL() > 0 {
		every = status.TTL() / 3
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	early, draining := true, false
	announce := func() {
		w := describe()
		draining = w.Draining
		put(ctx, s, id, w)
	}
	announce()
	for {
		select {
		case <-tick.C:
			early = true
		case <-changed:
			if !early && describe().Draining == draining {
				continue
			}
			early = false
			// Many changes at once are one announcement.
			if wire.Sleep(ctx, min(every, 250*time.Millisecond)) != nil {
				leave(ctx, s, id)
				return
			}
		case <-ctx.Done():
			leave(ctx, s, id)
			return
		}
		announce()
	}
}

// put uses Put, which renews the bucket's time to live; a time to live of the key
// itself would be dropped by it.
func put(ctx context.Context, s *wire.Store, id string, w fleet.Worker) {
	w.At = time.Now().UTC()
	raw, err := json.Marshal(w)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
	defer cancel()
	if _, err := s.Workers.Put(ctx, id, raw); err != nil && ctx.Err() == nil {
		s.Log().Warn("announcing this worker", "error", err)
	}
}

func leave(ctx context.Context, s *wire.Store, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := s.Workers.Delete(ctx, id); err != nil {
		s.Log().Debug("taking this worker off the list", "error", err)
	}
}

// List is the workers that are there, by id.
func List(ctx context.Context, s *wire.Store) ([]fleet.Worker, error) {
	w, err := s.Workers.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Stop() }()
	var out []fleet.Worker
	for {
		select {
		case e, ok := <-w.Updates():
			if !ok || e == nil {
				sortByID(out)
				return out, nil
			}
			var one fleet.Worker
			if json.Unmarshal(e.Value(), &one) == nil {
				out = append(out, one)
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func sortByID(workers []fleet.Worker) {
	slices.SortFunc(workers, func(a, b fleet.Worker) int { return strings.Compare(a.ID, b.ID) })
}
