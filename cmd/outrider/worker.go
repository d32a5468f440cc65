package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/bridgeclient/leased"
	"github.com/outrider-run/outrider/cmd/outrider/fleetverbs"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/plan/remote"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// workerFlags are those of the verbs that run a worker.
type workerFlags struct {
	slots  int
	labels []string
	drain  time.Duration
	opsAt  string
	// tenants is the file of those who share the fleet, signKey that of the key.
	tenants, signKey string
}

func (x *workerFlags) add(f *pflag.FlagSet) {
	f.IntVar(&x.slots, "slots", max(1, goruntime.NumCPU()), "how many jobs run at once, each with a browser")
	f.StringArrayVar(&x.labels, "label", nil, "label of this worker, NAME=VALUE (repeatable)")
	f.StringVar(&x.tenants, "tenants", "", "file of the tenants that share the fleet: see docs/how-to/share-a-fleet.md")
	f.StringVar(&x.signKey, "sign-key", "", "file with the key that signs results; made when it is not there, and its public part printed")
	f.DurationVar(&x.drain, "drain", 30*time.Second, "how long running jobs may go on after SIGTERM")
}

func (a *app) workerCommand() *cobra.Command {
	var at fleetverbs.Flags
	var flags workerFlags
	cmd := &cobra.Command{
		Use:   "worker --fleet URL",
		Short: "Offer this machine's browsers to a fleet until interrupted",
		Long: "Take jobs from the queues of a fleet and run each in a browser of its own, --slots at once, until interrupted.\n" +
			"SIGTERM drains: no more jobs are taken, those that run may end within --drain, and what was not begun goes back.\n" +
			"Jobs bring their plan and maps. Secrets that they name are those of this worker: give --secret here.",
		Example: `  outrider worker --fleet nats://10.0.0.5:4222 --slots 4 --label region=eu`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if at.URL == "" {
				return usage("worker needs --fleet URL: the address of the fleet whose jobs it takes")
			}
			sources, closeAll, err := a.sources(ctx, at.Options(a.fleetEnv(), "outrider worker"), flags)
			if err != nil {
				return err
			}
			defer closeAll()
			return a.work(ctx, sources, flags)
		},
	}
	at.Add(cmd.Flags(), "whose jobs are run here")
	flags.add(cmd.Flags())
	opsFlag(cmd, &flags.opsAt)
	a.addBrowserFlags(cmd)
	return cmd
}

// sources connects to a fleet, or to each tenant of it.
func (a *app) sources(ctx context.Context, o wire.Options, flags workerFlags) ([]worker.Source, func(), error) {
	if flags.tenants == "" {
		q, err := a.fleetEnv().Open(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		return []worker.Source{{Queue: q}}, q.Close, nil
	}
	file, err := tenant.Read(ctx, flags.tenants)
	if err != nil {
		return nil, nil, usage("--tenants: %w", err)
	}
	all, closeAll, err := file.Sources(ctx, o)
	if err != nil {
		return nil, nil, a.fleetEnv().Refused(err)
	}
	return all, closeAll, nil
}

// work takes jobs from a fleet until ctx ends.
func (a *app) work(ctx context.Context, sources []worker.Source, flags workerFlags) error {
	if flags.signKey != "" {
		signer, err := tenant.OpenSigner(flags.signKey)
		if err != nil {
			return usage("--sign-key: %w", err)
		}
		for i := range sources {
			sources[i].Sign = signer.Sign
		}
		fmt.Fprintf(a.stderr, "outrider: results are signed by %s\n", signer.Public)
	}
	labels, err := fleet.ParseLabels(flags.labels)
	if err != nil {
		return usage("--label: %s", fault.From(err).Message)
	}
	if flags.slots < 1 || flags.slots > 1000 {
		return usage("--slots is %d: expected 1 to 1000", flags.slots)
	}
	options, err := a.runtimeOptions() // refuses flags that no job could run with
	if err != nil {
		return err
	}
	options.Engine.Close()
	o := newOps("")
	count := o.Metrics.Counter("outrider_fleet_jobs_total", "Jobs that ended here, by how.", "how")
	stop, err := a.serveOps(ctx, o, flags.opsAt)
	if err != nil {
		return err
	}
	defer stop()
	a.onCall = o.OnCall
	runner := remote.Runner{Open: a.openJob, NewID: uuid.NewString}
	w := worker.New(worker.Options{
		Sources: sources, Slots: flags.slots, Drain: flags.drain, Logger: a.log,
		Runners: map[string]worker.Runner{remote.Kind: runner},
		Self:    fleet.Worker{Version: version, Host: device(), Labels: labels, Profile: a.browser.profile, Sessions: leased.Kinds},
		OnEnd: func(how string, took time.Duration) {
			count(how)
			a.log.Info("job ended", "how", how, "took", took)
		},
	})
	a.printJSONOr(map[string]any{"worker": w.ID(), "slots": flags.slots}, "worker %s is ready, slots: %d\n", w.ID(), flags.slots)
	sessions, endSessions := context.WithCancel(ctx)
	var offering sync.WaitGroup
	for _, s := range sources {
		offering.Go(func() {
			if err := session.Offer(sessions, s.Queue, w.ID(), w.Acquire, a.sessionServers(s.Queue, runner), a.log); err != nil {
				a.log.Warn("offering sessions", "error", err)
			}
		})
	}
	defer offering.Wait()
	defer endSessions()
	if err := w.Run(ctx); err != nil {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // drained: what a service manager asked for
	}
	return ended(ctx)
}

// openJob opens a browser for one job: with the worker's flags, and what the job may
// say beside them.
func (a *app) openJob(ctx context.Context, s remote.Settings, maps []string) (remote.Host, error) {
	own := *a // the flags of one job are not those of the next
	b := &own.browser
	if len(s.AllowOrigins) > 0 && len(b.allowOrigins) > 0 {
		for _, origin := range s.AllowOrigins {
			if !slices.Contains(b.allowOrigins, origin) {
				return nil, fault.New(fault.PermissionDenied, "the job wants to reach %s, which is none of the origins that this worker allows", origin)
			}
		}
	}
	if len(s.AllowMaps) > 0 && !slices.Equal(s.AllowMaps, b.allowMaps) {
		return nil, fault.New(fault.PermissionDenied, "the job asks for --allow-maps, which this worker does not grant").Next("start the worker with the same --allow-maps")
	}
	if len(s.AllowOrigins) > 0 {
		b.allowOrigins = s.AllowOrigins
	}
	b.blockOrigins = slices.Concat(b.blockOrigins, s.BlockOrigins)
	if len(maps) > 0 {
		b.maps = maps
	}
	b.open, b.engine, b.acceptDrafts = s.Open, s.Engine, s.AcceptDrafts
	b.viewport, b.locale, b.timezone = cmp.Or(s.Viewport, b.viewport), cmp.Or(s.Locale, b.locale), cmp.Or(s.Timezone, b.timezone)
	b.profile = cmp.Or(s.Profile, b.profile)
	b.noSandbox = b.noSandbox || os.Geteuid() == 0 // said when the worker started
	if s.CallTimeout > 0 {
		own.callLimit = s.CallTimeout
	}
	options, err := own.runtimeOptions()
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "the job's settings: %v", err)
	}
	if s.Pacing != nil {
		options.Pacing = s.Pacing
	}
	h, err := runtime.Open(ctx, options)
	if err != nil {
		options.Engine.Close()
		return nil, err
	}
	return jobHost{h, options.Engine.Close}, nil
}

// jobHost is the host of one job, which closes its expression engine too.
type jobHost struct {
	*runtime.Host
	closeEngine func() error
}

func (h jobHost) Close(ctx context.Context) error {
	defer func() { _ = h.closeEngine() }()
	return h.Host.Close(ctx)
}
