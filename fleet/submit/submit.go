// Package submit puts jobs into a fleet's queue, follows them until each has ended,
// and cancels them. It runs nothing and does not read results. The verbs that send
// work to a fleet use it, and a submission can be followed from another process.
package submit

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// NewRun makes the name of a submission. Later ones sort behind earlier ones.
func NewRun() string {
	var b [12]byte
	ms := time.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (8 * (5 - i)))
	}
	_, _ = rand.Read(b[6:]) // never fails
	return strings.ToLower(encoding.EncodeToString(b[:]))
}

var encoding = base32.HexEncoding.WithPadding(base32.NoPadding)

// inFlight is how many jobs are sent before the first must be acknowledged.
const inFlight = 512

// Send puts jobs into the queue. A job whose name is known already is not queued
// again: it can be followed as if it had been. Send goes on until ctx ends while
// the server cannot be reached.
func Send(ctx context.Context, q *queue.Queue, jobs []fleet.Job) error {
	for i := range jobs {
		if err := jobs[i].Prepare(time.Now()); err != nil {
			return err
		}
		if err := q.Ensure(ctx, queue.LaneOf(jobs[i])); err != nil {
			return err
		}
	}
	for len(jobs) > 0 {
		n := min(len(jobs), inFlight)
		if err := sendAll(ctx, q, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// sendAll sends some jobs at once, and those that were not acknowledged one by one:
// each has an id, so one that was stored all the same is not stored twice.
func sendAll(ctx context.Context, q *queue.Queue, jobs []fleet.Job) error {
	acks := make([]jetstream.PubAckFuture, len(jobs))
	for i, j := range jobs {
		m, err := message(j)
		if err != nil {
			return err
		}
		acks[i], _ = q.JS.PublishMsgAsync(m, jetstream.WithMsgID(j.Key()), jetstream.WithExpectStream(wire.JobsStream))
	}
	for i, j := range jobs {
		if acks[i] != nil {
			select {
			case <-acks[i].Ok():
				continue
			case <-acks[i].Err():
			case <-ctx.Done():
				return fault.Wrap(fault.TransportFailed, context.Cause(ctx), "sending jobs to the fleet")
			}
		}
		if err := sendOne(ctx, q, j); err != nil {
			return err
		}
	}
	return nil
}

// errQueueFull is the server's code for a stream that takes no more messages.
const errQueueFull jetstream.ErrorCode = 10077

func sendOne(ctx context.Context, q *queue.Queue, j fleet.Job) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		m, err := message(j)
		if err != nil {
			return err
		}
		one, cancel := context.WithTimeout(ctx, wire.RequestTimeout)
		_, err = q.JS.PublishMsg(one, m, jetstream.WithMsgID(j.Key()), jetstream.WithExpectStream(wire.JobsStream))
		cancel()
		if err == nil {
			return nil
		}
		var api *jetstream.APIError
		switch {
		case errors.As(err, &api) && api.ErrorCode == errQueueFull:
			return fault.New(fault.QueueFull, "the fleet's queue takes no more jobs: %s", api.Description).
				Next("wait until jobs have ended, or start more workers")
		case errors.Is(err, nats.ErrMaxPayload):
			return fault.New(fault.PayloadTooLarge, "the job %s is too large for the fleet's server", j.Key())
		}
		if gone := wire.Sleep(ctx, wait); gone != nil {
			return fault.Wrap(fault.TransportFailed, errors.Join(gone, err), "sending the job %s to the fleet", j.Key())
		}
	}
}

func message(j fleet.Job) (*nats.Msg, error) {
	raw, err := json.Marshal(j)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding a job")
	}
	return &nats.Msg{Subject: wire.JobSubject(queue.LaneOf(j).Name(), j.Run, j.ID), Data: raw}, nil
}
