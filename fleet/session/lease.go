package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/presence"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// what is the last part of the subject at which a worker is asked for a session.
const what = "session"

// sessionRequest is the request for a session.
type sessionRequest struct {
	Contract int             `json:"contract"`
	Kind     string          `json:"kind"`
	Session  string          `json:"session"`
	Options  json.RawMessage `json:"options,omitempty"`
}

// answer is a worker's reply to it.
type answer struct {
	OK    bool         `json:"ok"`
	Full  bool         `json:"full,omitempty"` // no slot is free: the code of Error, for callers of before it had one
	Error *fault.Error `json:"error,omitempty"`
}

func subjects(id string) (caller, worker string) {
	return wire.Prefix + ".session." + id + ".caller", wire.Prefix + ".session." + id + ".worker"
}

// Lease takes a session of a kind from the least loaded worker that has the labels,
// and waits for one until ctx ends.
func Lease(
	ctx context.Context, s *wire.Store, kind string, labels map[string]string, options json.RawMessage,
) (*Pipe, fleet.Worker, error) {
	var reason error
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		workers, err := presence.List(ctx, s)
		if err != nil && (reason == nil || ctx.Err() == nil) { // that the time is over is not why there is none
			reason = err
		}
		workers = slices.DeleteFunc(workers, func(w fleet.Worker) bool {
			return w.Draining || !slices.Contains(w.Sessions, kind) || !fleet.Satisfies(w.Labels, labels) ||
				w.Oldest > fleet.Contract || !fleet.Understands(w.Contract)
		})
		slices.SortFunc(workers, func(a, b fleet.Worker) int {
			return cmp.Or(cmp.Compare(a.Busy*max(b.Slots, 1), b.Busy*max(a.Slots, 1)), cmp.Compare(a.Load, b.Load))
		})
		if err == nil && len(workers) == 0 {
			reason = fault.New(
				fault.RuntimeNotFound, "the fleet has no worker that serves sessions of the kind %s%s",
				kind, with(labels),
			)
		}
		for _, w := range workers {
			p, err := request(s, w, kind, options)
			if err == nil {
				return p, w, nil
			}
			reason = err
			f := new(fault.Error)
			if errors.As(err, &f) && f.Code != fault.QueueFull && f.Code != fault.TransportFailed {
				return nil, w, err // another worker would say the same
			}
		}
		if wire.Sleep(ctx, wait) != nil {
			return nil, fleet.Worker{}, fault.Wrap(fault.RuntimeNotReady, reason, "waiting for a session of the fleet")
		}
	}
}

// with is what labels add to a description of a worker.
func with(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	var list []string
	for name, value := range labels {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return " and has " + strings.Join(list, ", ")
}

// request asks one worker.
func request(s *wire.Store, w fleet.Worker, kind string, options json.RawMessage) (*Pipe, error) {
	id := nuid.Next()
	mine, theirs := subjects(id)
	p, err := newPipe(s.NC, mine, theirs)
	if err != nil {
		return nil, fault.New(fault.TransportFailed, "making a session: %v", err)
	}
	raw, err := fleet.Encode(sessionRequest{Contract: fleet.Contract, Kind: kind, Session: id, Options: options})
	if err != nil {
		return nil, err
	}
	m, err := s.NC.Request(wire.ControlSubject(w.ID, what), raw, beatWithin)
	var a answer
	if err == nil {
		err = json.Unmarshal(m.Data, &a)
	}
	switch {
	case err != nil:
		err = fault.New(fault.TransportFailed, "asking worker %s for a session: %v", w.ID, err)
	case a.Error != nil:
		err = a.Error
	case a.Full:
		err = fault.New(fault.QueueFull, "worker %s has no free slot", w.ID)
	}
	if err != nil {
		_ = p.Close()
		return nil, err
	}
	p.start()
	return p, nil
}

// Server is what a worker does with a session: it serves the stream until it ends. An error
// before the first read is sent to the caller.
type Server func(ctx context.Context, options json.RawMessage, stream io.ReadWriteCloser) error

// Offer answers requests for sessions until ctx ends, then waits for those that run, whose
// contexts end with it. acquire takes what a session needs. Its error is sent to the caller,
// which tries another worker when the code is queue_full.
func Offer(
	ctx context.Context, q *queue.Queue, worker string,
	acquire func(context.Context) (release func(), err error), servers map[string]Server, log *slog.Logger,
) error {
	var running sync.WaitGroup
	defer running.Wait()
	asks := make(chan *nats.Msg, 64)
	var sub *nats.Subscription
	err := wire.Again(ctx, func(context.Context) (err error) {
		if sub == nil {
			sub, err = q.NC.ChanSubscribe(wire.ControlSubject(worker, what), asks)
			if err != nil {
				return err
			}
		}
		return q.NC.FlushTimeout(wire.RequestTimeout)
	})
	if sub != nil {
		defer func() { _ = sub.Unsubscribe() }()
	}
	if err != nil {
		return err
	}
	for {
		select {
		case m := <-asks:
			running.Go(func() {
				a, run := accept(ctx, q, m.Data, acquire, servers, log)
				raw, err := fleet.Encode(a)
				if err == nil {
					err = m.Respond(raw)
				}
				if run != nil {
					if err != nil {
						log.Warn("answering a request for a session", "error", err)
					}
					run()
				}
			})
		case <-ctx.Done():
			return nil
		}
	}
}

func accept(
	ctx context.Context, q *queue.Queue, raw []byte,
	acquire func(context.Context) (func(), error), servers map[string]Server, log *slog.Logger,
) (answer, func()) {
	var in sessionRequest
	if err := json.Unmarshal(raw, &in); err != nil || !fleet.ValidName(in.Session) {
		return answer{Error: fault.New(fault.InvalidInput, "the request for a session cannot be read")}, nil
	}
	serve := servers[in.Kind]
	if serve == nil || !fleet.Understands(in.Contract) {
		return answer{Error: fault.New(
			fault.CapabilityUnavailable, "this worker serves no sessions of the kind %s, contract %d",
			in.Kind, in.Contract,
		)}, nil
	}
	release, err := acquire(ctx)
	if err != nil {
		f := fault.From(err)
		return answer{Error: f, Full: f.Code == fault.QueueFull}, nil
	}
	theirs, mine := subjects(in.Session)
	p, err := newPipe(q.NC, mine, theirs)
	if err != nil {
		release()
		return answer{Error: fault.New(fault.TransportFailed, "making a session: %v", err)}, nil
	}
	return answer{OK: true}, func() {
		defer release()
		p.start()
		session, cancel := p.Context(ctx)
		err := serve(session, in.Options, p)
		cancel()
		_ = p.Close()
		if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
			log.Info("a session ended", "kind", in.Kind, "error", err)
		}
	}
}
