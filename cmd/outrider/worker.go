package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/leased"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/operate/ops"
	"github.com/outrider-run/outrider/plan/remote"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) workerCommand() *cobra.Command {
	var at fleetFlags
	var flags workerFlags
	cmd := &cobra.Command{
		Use:   "worker --fleet URL",
		Short: "Offer this machine's browsers to a fleet until interrupted",
		Long: "Take jobs from the queues of a fleet and run each in a browser of its own, --slots at once, until " +
			"interrupted.\n" +
			"SIGTERM drains: no more jobs are taken, those that run may end within --drain, and what was not begun " +
			"goes back.\n" +
			"Jobs bring their plan and maps. Secrets that they name are those of this worker: give --secret here.",
		Example: `  outrider worker --fleet nats://10.0.0.5:4222 --slots 4 --label region=eu`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if at.URL == "" {
				return usage("worker needs --fleet URL: the address of the fleet whose jobs it takes")
			}
			return a.work(ctx, at.Options(a, "outrider worker"), flags)
		},
	}
	at.Add(cmd.Flags(), "whose jobs are run here")
	flags.Add(cmd.Flags())
	opsFlag(cmd, &flags.OpsAt)
	a.addBrowserFlags(cmd)
	return cmd
}

// work takes jobs from a fleet until ctx ends.
func (a *app) work(ctx context.Context, at wire.Options, flags workerFlags) error {
	options, err := a.runtimeOptions(a.hostSettings()) // refuses flags that no job could run with
	if err != nil {
		return err
	}
	options.Engine.Close()
	offer, err := flags.Connect(ctx, a, at, a.secrets, len(a.browser.secrets) > 0, a.stderr)
	if err != nil {
		return err
	}
	defer offer.Close()
	o := newOps("")
	count := o.Metrics.Counter("outrider_fleet_jobs_total", "Jobs that ended here, by how.", "how")
	stop, err := a.serveOps(ctx, o, flags.OpsAt)
	if err != nil {
		return err
	}
	defer stop()
	runner, err := remote.NewRunner(remote.Options{
		Open:     a.jobOpener(offer, o),
		NewID:    uuid.NewString,
		Browsers: flags.Slots,
		Trace:    a.traces.Job,
	})
	if err != nil {
		return err
	}
	defer runner.Close()
	for i, s := range offer.Sources {
		offer.Sources[i].Labels = remote.SecretLabels(offer.Secrets(s.Name).Names())
	}
	w := worker.New(worker.Options{
		Sources: offer.Sources,
		Slots:   flags.Slots,
		Drain:   flags.Drain,
		Logger:  a.log,
		Runners: map[string]worker.Runner{remote.Kind: runner},
		Self: fleet.Worker{
			Version:  version,
			Host:     device(),
			Labels:   offer.Labels,
			Profile:  a.browser.profile,
			Sessions: leased.Kinds,
		},
		OnEnd: func(how string, took time.Duration) {
			count(how)
			a.log.Info("job ended", "how", how, "took", took)
		},
	})
	a.printJSONOr(
		map[string]any{"worker": w.ID(), "slots": flags.Slots}, "worker %s is ready, slots: %d\n", w.ID(), flags.Slots,
	)
	sessions, endSessions := context.WithCancel(ctx)
	var offering sync.WaitGroup
	for _, s := range offer.Sources {
		offering.Go(func() {
			acquire := func(ctx context.Context) (func(), error) { return w.Acquire(ctx, s) }
			if err := session.Offer(
				sessions, s.Queue, w.ID(), acquire, a.sessionServers(s, runner), a.log,
			); err != nil {
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

// jobOpener opens a browser for a job: with the worker's flags, and what the job may say
// beside them.
func (a *app) jobOpener(offer *workerOffer, o *ops.Ops) func(context.Context, remote.Request) (remote.Host, error) {
	return func(ctx context.Context, r remote.Request) (remote.Host, error) {
		secrets := offer.Secrets(r.Tenant)
		if r.Secrets != nil {
			var err error
			secrets, err = secrets.Grant(r.Secrets)
			if err != nil {
				return remote.Host{}, err
			}
		}
		settings := a.hostSettings()
		settings.secrets = secrets
		settings.onCall = o.OnCall
		settings.quiet = true // said when the worker started
		settings, err := jobSettings(settings, r)
		if err != nil {
			return remote.Host{}, err
		}
		return a.openJob(ctx, r, settings)
	}
}

// jobSettings are the settings of a job: those of the worker, with what the job may say beside them.
func jobSettings(s hostSettings, r remote.Request) (hostSettings, error) {
	job := r.Settings
	for _, address := range job.Open {
		scheme, _, _ := strings.Cut(address, ":")
		if slices.Contains([]string{"file", "chrome"}, strings.ToLower(strings.TrimSpace(scheme))) {
			return s, fault.New(
				fault.PermissionDenied, "the job wants to open %s: expected http or https", fault.Clip(address, 200),
			)
		}
	}
	if len(job.AllowOrigins) > 0 && len(s.allowOrigins) > 0 {
		for _, origin := range job.AllowOrigins {
			if !slices.Contains(s.allowOrigins, origin) {
				return s, fault.New(
					fault.PermissionDenied,
					"the job wants to reach %s, which is none of the origins that this worker allows", origin,
				)
			}
		}
	}
	if len(job.AllowMaps) > 0 && !slices.Equal(job.AllowMaps, s.allowMaps) {
		return s, fault.New(
			fault.PermissionDenied, "the job asks for --allow-maps, which this worker does not grant",
		).Next("start the worker with the same --allow-maps")
	}
	if len(job.AllowOrigins) > 0 {
		s.allowOrigins = job.AllowOrigins
	}
	s.blockOrigins = slices.Concat(s.blockOrigins, job.BlockOrigins)
	if len(r.Maps) > 0 {
		s.maps, s.projectMaps = r.Maps, r.Project
	}
	s.prepare = r.Prepare
	s.open = job.Open
	s.engine = job.Engine
	s.acceptDrafts = job.AcceptDrafts
	s.viewport = cmp.Or(job.Viewport, s.viewport)
	s.locale = cmp.Or(job.Locale, s.locale)
	s.timezone = cmp.Or(job.Timezone, s.timezone)
	s.profile = cmp.Or(job.Profile, s.profile)
	s.callLimit = cmp.Or(max(job.CallTimeout, 0), s.callLimit)
	return s, nil
}

func (a *app) openJob(ctx context.Context, r remote.Request, s hostSettings) (remote.Host, error) {
	options, err := a.runtimeOptions(s)
	if err != nil {
		return remote.Host{}, fault.New(fault.InvalidInput, "the job's settings: %v", err)
	}
	if r.Settings.Pacing != nil {
		options.Pacing = r.Settings.Pacing
	}
	heard := a.traces.Browser()
	options.Spans, options.OnOpen = heard.Listener(), r.OnOpen
	h, err := runtime.Open(ctx, options)
	if err != nil {
		options.Engine.Close()
		return remote.Host{}, err
	}
	return remote.Host{
		Host:    h,
		Secrets: s.secrets,
		Within:  heard.Within,
		Done:    func() { _ = options.Engine.Close() },
	}, nil
}
