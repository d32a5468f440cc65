package main

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// fleetFlags say which fleet, and as whom.
type fleetFlags struct {
	URL string

	creds, nkey, ca, cert, key, domain string
	verify, needs                      []string
}

// Trusted checks the signature of a result, when keys were given.
func (x *fleetFlags) Trusted(r fleet.Record) error {
	if len(x.verify) == 0 {
		return nil
	}
	if err := tenant.Verify(x.verify, queue.Signed(r.Run+"."+r.ID, *r.Outcome), r.Outcome.Signature); err != nil {
		return fault.New(fault.PermissionDenied, "the result of job %s.%s is not to be believed: %v", r.Run, r.ID, err)
	}
	return nil
}

// Add adds the flags; what says what the fleet is for.
func (x *fleetFlags) Add(f *pflag.FlagSet, what string) {
	f.StringVar(&x.URL, "fleet", "", "address of a fleet, such as nats://127.0.0.1:4222: "+what)
	f.StringVar(&x.creds, "fleet-creds", "", "NATS credentials file for the fleet")
	f.StringVar(&x.nkey, "fleet-nkey", "", "file with the nkey seed for the fleet")
	f.StringVar(&x.domain, "fleet-domain", "", "JetStream domain of the fleet, when its address is that of a leaf node")
	f.StringVar(&x.ca, "fleet-ca", "", "PEM file of the authority that signed the fleet's certificate")
	f.StringVar(&x.cert, "fleet-cert", "", "PEM file of the client's certificate")
	f.StringVar(&x.key, "fleet-key", "", "PEM file of its key")
}

// AddNeeds adds the labels that the worker of a session must have.
func (x *fleetFlags) AddNeeds(f *pflag.FlagSet) {
	listVar(f, &x.needs, "needs", "--fleet: label that the worker must have, NAME=VALUE (repeatable)")
}

// Labels returns the labels of the flags that AddNeeds adds.
func (x *fleetFlags) Labels(a *app) (map[string]string, error) {
	labels, err := fleet.ParseLabels(x.needs)
	if err != nil {
		return nil, usage("--needs: %s", fault.From(err).Message)
	}
	return labels, nil
}

// AddVerify adds the keys that results must be signed by.
func (x *fleetFlags) AddVerify(f *pflag.FlagSet) {
	listVar(
		f, &x.verify, "verify-key",
		"public key of a worker's --sign-key: results that none of these signed are refused (repeatable)",
	)
}

// openFleet connects to the fleet. A fleet that cannot be reached is an unfit environment.
func (a *app) openFleet(ctx context.Context, o wire.Options) (*queue.Queue, error) {
	link, err := wire.Dial(ctx, o)
	if err != nil {
		return nil, a.fleetRefused(err)
	}
	store, err := wire.Open(ctx, link, wire.Keep{})
	if err != nil {
		link.Close()
		return nil, a.fleetRefused(err)
	}
	return queue.New(store), nil
}

// Options are those of a connection of this name.
func (x *fleetFlags) Options(a *app, name string) wire.Options {
	return wire.Options{
		URL:         x.URL,
		Credentials: x.creds,
		NKey:        x.nkey,
		Domain:      x.domain,
		CA:          x.ca,
		Cert:        x.cert,
		Key:         x.key,
		Name:        name,
		Logger:      a.log,
	}
}

// fleetRefused gives an error of the connection its exit code.
func (a *app) fleetRefused(err error) error {
	if fault.CodeOf(err) == fault.InvalidInput {
		return usage("--fleet: %s", fault.From(err).Message)
	}
	return &exit{exitEnvironment, err}
}

// jobFlags say how the fleet is to treat a job.
type jobFlags struct {
	Run    string // name of the submission
	Detach bool
	States bool // files of storage state may travel

	queue, priority, onLoss string
	needs                   []string
	deadline, limit         time.Duration
	tries                   int
}

// Add adds the flags.
func (x *jobFlags) Add(f *pflag.FlagSet) {
	f.StringVar(
		&x.queue, "queue", fleet.DefaultQueue, "--fleet: queue for the jobs; queues get equal shares of the workers",
	)
	f.StringVar(&x.priority, "priority", string(fleet.Normal), "--fleet: high, normal or low, within the queue")
	listVar(f, &x.needs, "needs", "--fleet: label that a worker must have, NAME=VALUE (repeatable)")
	f.DurationVar(
		&x.deadline, "deadline", 0, "--fleet: jobs that have not ended after so long expire, queued or not; 0 is never",
	)
	f.DurationVar(&x.limit, "job-timeout", fleet.DefaultTimeout, "--fleet: bound on one run of one job")
	f.IntVar(&x.tries, "tries", fleet.DefaultTries, "--fleet: how many workers may be lost under a job")
	f.StringVar(
		&x.onLoss, "on-loss", string(fleet.FailOnLoss),
		"--fleet: fail, or rerun: when a worker is lost under a job that had begun to act",
	)
	f.StringVar(
		&x.Run, "submission", "",
		"--fleet: name of the submission; the same name again follows it instead of running it twice",
	)
	f.BoolVar(&x.States, "send-storage-state", false, "--fleet: send files of storage state that plans begin with: "+
		"their cookies are then in the fleet's object store")
	f.BoolVar(&x.Detach, "detach", false, "--fleet: print the submission's name and do not wait")
}

// Job is the part of a job that the flags say.
func (x *jobFlags) Job(a *app) (fleet.Job, error) {
	labels, err := fleet.ParseLabels(x.needs)
	if err != nil {
		return fleet.Job{}, usage("--needs: %s", fault.From(err).Message)
	}
	j := fleet.Job{
		Run:      "check",
		ID:       "flags",
		Kind:     "flags",
		Queue:    x.queue,
		Priority: fleet.Priority(x.priority),
		Labels:   labels,
		Timeout:  x.limit,
		Tries:    x.tries,
		OnLoss:   fleet.OnLoss(x.onLoss),
	}
	if x.Run != "" {
		j.Run = x.Run
	}
	if err := j.Prepare(time.Now()); err != nil {
		return j, usage("%s", fault.From(err).Message)
	}
	if x.deadline > 0 {
		j.Deadline = time.Now().Add(x.deadline).UTC()
	}
	return j, nil
}
