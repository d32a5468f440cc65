package main

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/outrider-run/outrider/faces/leased"

	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/plan/remote"
)

// sessionServers serve the sessions of a worker, by kind.
func (a *app) sessionServers(from worker.Source, r *remote.Runner) map[string]session.Server {
	face := leased.Face{NewID: uuid.NewString, Version: version, Logger: a.log}
	out := map[string]session.Server{}
	for _, kind := range leased.Kinds {
		out[kind] = r.Session(from.Queue, from.Name, func(
			ctx context.Context, h remote.Host, options json.RawMessage, stream io.ReadWriteCloser,
		) error {
			return face.Serve(ctx, kind, h.Host, options, stream)
		})
	}
	return out
}

// leaseWithin is how long a verb waits for a session when it has no --timeout.
const leaseWithin = time.Minute

// lease takes a session from a fleet.
func (a *app) lease(
	ctx context.Context, q *queue.Queue, at fleetFlags, kind string, o leased.Options,
) (*session.Pipe, error) {
	s := a.hostSettings()
	s.quiet = true
	if s.profile != "" { // the hub has no such flags
		checked, err := a.runtimeOptions(s)
		if err != nil {
			return nil, err
		}
		_ = checked.Engine.Close()
	}
	labels, err := at.Labels(a)
	if err != nil {
		return nil, err
	}
	o.Timeout = a.callLimit
	options, err := remote.PackSession(ctx, q, a.travelling(s), s.maps, s.projectMaps, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, leaseWithin)
	defer cancel()
	p, w, err := session.Lease(ctx, q.Store, kind, labels, options)
	if err != nil {
		return nil, &exit{exitEnvironment, err}
	}
	a.log.Info("leased a session", "kind", kind, "worker", w.ID)
	return p, nil
}

// relay serves a protocol on standard input and output from a session of a fleet.
func (a *app) relay(ctx context.Context, at fleetFlags, kind string, o leased.Options) error {
	if err := a.refuseGiven("with --fleet: what it is about is the worker's", append(
		workersOwn[:len(workersOwn):len(workersOwn)], "http",
		"socket", "ops",
		"allow-cdp", "heal",
		"isolated", "trace",
		"recent", "max-tabs",
		"tab-memory", "max-state",
		"keep-logins", "drain-timeout",
		"token", "token-file",
		"allow-host", "allow-web-origin",
	)...); err != nil {
		return err
	}
	q, err := a.openFleet(ctx, at.Options(a, "outrider "+kind))
	if err != nil {
		return err
	}
	defer q.Close()
	p, err := a.lease(ctx, q, at, kind, o)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if err := session.Relay(ctx, p, a.stdin, a.stdout, leased.Lost(kind)); err != nil {
		return &exit{exitEnvironment, err}
	}
	return ended(ctx)
}
