// Package fleetverbs has the flags of a fleet and the verbs that look at one. It holds
// no logic of jobs, and starts no browser and no worker. The command outrider puts it
// together with its own verbs.
package fleetverbs

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Flags say which fleet, and as whom.
type Flags struct {
	URL string

	creds, nkey, ca, cert, key, domain string
	verify, needs                      []string
}

// Trusted checks the signature of a result, when keys were given.
func (x *Flags) Trusted(r fleet.Record) error {
	if len(x.verify) == 0 {
		return nil
	}
	if err := tenant.Verify(x.verify, queue.Signed(r.Run+"."+r.ID, *r.Outcome), r.Outcome.Signature); err != nil {
		return fault.New(fault.PermissionDenied, "the result of job %s.%s is not to be believed: %v", r.Run, r.ID, err)
	}
	return nil
}

// Add adds the flags; what says what the fleet is for.
func (x *Flags) Add(f *pflag.FlagSet, what string) {
	f.StringVar(&x.URL, "fleet", "", "address of a fleet, such as nats://127.0.0.1:4222: "+what)
	f.StringVar(&x.creds, "fleet-creds", "", "NATS credentials file for the fleet")
	f.StringVar(&x.nkey, "fleet-nkey", "", "file with the nkey seed for the fleet")
	f.StringVar(&x.domain, "fleet-domain", "", "JetStream domain of the fleet, when its address is that of a leaf node")
	f.StringVar(&x.ca, "fleet-ca", "", "PEM file of the authority that signed the fleet's certificate")
	f.StringVar(&x.cert, "fleet-cert", "", "PEM file of the client's certificate")
	f.StringVar(&x.key, "fleet-key", "", "PEM file of its key")
}

// AddNeeds adds the labels that the worker of a session must have.
func (x *Flags) AddNeeds(f *pflag.FlagSet) {
	f.StringArrayVar(&x.needs, "needs", nil, "--fleet: label that the worker must have, NAME=VALUE (repeatable)")
}

// Labels are what AddNeeds gives.
func (x *Flags) Labels(e Env) (map[string]string, error) {
	labels, err := fleet.ParseLabels(x.needs)
	if err != nil {
		return nil, e.Usage("--needs: %s", fault.From(err).Message)
	}
	return labels, nil
}

// AddVerify adds the keys that results must be signed by.
func (x *Flags) AddVerify(f *pflag.FlagSet) {
	f.StringArrayVar(&x.verify, "verify-key", nil, "public key of a worker's --sign-key: results that none of these signed are refused (repeatable)")
}

// Env is what the verbs need of the command.
type Env struct {
	Stdout io.Writer
	JSON   *bool // says that standard output is JSON
	Log    func() *slog.Logger
	// Bounded applies the bound on the whole verb.
	Bounded func(context.Context) (context.Context, context.CancelFunc)
	// Usage and Unfit are errors with the exit codes of wrong usage and of an unfit
	// environment; Ended is how a verb ends that runs until it is interrupted.
	Usage func(format string, args ...any) error
	Unfit func(error) error
	Ended func(context.Context) error
	// Terminal says that people look at standard output.
	Terminal func() bool
	// Print writes JSON.
	Print func(any)
}

// Open connects to the fleet. A fleet that cannot be reached is an unfit environment.
func (e Env) Open(ctx context.Context, o wire.Options) (*queue.Queue, error) {
	link, err := wire.Dial(ctx, o)
	if err != nil {
		return nil, e.Refused(err)
	}
	store, err := wire.Open(ctx, link, wire.Keep{})
	if err != nil {
		link.Close()
		return nil, e.Refused(err)
	}
	return queue.New(store), nil
}

// Options are those of a connection of this name.
func (x *Flags) Options(e Env, name string) wire.Options {
	return wire.Options{URL: x.URL, Credentials: x.creds, NKey: x.nkey, Domain: x.domain, CA: x.ca, Cert: x.cert, Key: x.key, Name: name, Logger: e.Log()}
}

// Refused gives an error of the connection its exit code.
func (e Env) Refused(err error) error {
	if fault.CodeOf(err) == fault.InvalidInput {
		return e.Usage("--fleet: %s", fault.From(err).Message)
	}
	return e.Unfit(err)
}

// JobFlags say how the fleet is to treat a job.
type JobFlags struct {
	Run    string // name of the submission
	Detach bool
	States bool // files of storage state may travel

	queue, priority, onLoss string
	needs                   []string
	deadline, limit         time.Duration
	tries                   int
}

// Add adds the flags.
func (x *JobFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&x.queue, "queue", fleet.DefaultQueue, "--fleet: queue for the jobs; queues get equal shares of the workers")
	f.StringVar(&x.priority, "priority", string(fleet.Normal), "--fleet: high, normal or low, within the queue")
	f.StringArrayVar(&x.needs, "needs", nil, "--fleet: label that a worker must have, NAME=VALUE (repeatable)")
	f.DurationVar(&x.deadline, "deadline", 0, "--fleet: jobs that have not ended after so long expire, queued or not; 0 is never")
	f.DurationVar(&x.limit, "job-timeout", fleet.DefaultTimeout, "--fleet: bound on one run of one job")
	f.IntVar(&x.tries, "tries", fleet.DefaultTries, "--fleet: how many workers may be lost under a job")
	f.StringVar(&x.onLoss, "on-loss", string(fleet.FailOnLoss), "--fleet: fail, or rerun: when a worker is lost under a job that had begun to act")
	f.StringVar(&x.Run, "submission", "", "--fleet: name of the submission; the same name again follows it instead of running it twice")
	f.BoolVar(&x.States, "send-storage-state", false, "--fleet: send files of storage state that plans begin with: their cookies are then in the fleet's object store")
	f.BoolVar(&x.Detach, "detach", false, "--fleet: print the submission's name and do not wait")
}

// Job is the part of a job that the flags say.
func (x *JobFlags) Job(e Env) (fleet.Job, error) {
	labels, err := fleet.ParseLabels(x.needs)
	if err != nil {
		return fleet.Job{}, e.Usage("--needs: %s", fault.From(err).Message)
	}
	j := fleet.Job{
		Run: "check", ID: "flags", Kind: "flags", Queue: x.queue, Priority: fleet.Priority(x.priority), Labels: labels,
		Timeout: x.limit, Tries: x.tries, OnLoss: fleet.OnLoss(x.onLoss),
	}
	if x.Run != "" {
		j.Run = x.Run
	}
	if err := j.Prepare(time.Now()); err != nil {
		return j, e.Usage("%s", fault.From(err).Message)
	}
	if x.deadline > 0 {
		j.Deadline = time.Now().Add(x.deadline).UTC()
	}
	return j, nil
}
