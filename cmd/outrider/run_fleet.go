package main

import (
	"context"
	"errors"
	"strings"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/internal/operate/traces"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/remote"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/span"
)

// travelling are the settings that travel with a job.
func (a *app) travelling(s hostSettings) remote.Settings {
	out := remote.Settings{
		Open:         s.open,
		Viewport:     s.viewport,
		Locale:       s.locale,
		Timezone:     s.timezone,
		Profile:      s.profile,
		Engine:       s.engine,
		AcceptDrafts: s.acceptDrafts,
		AllowOrigins: s.allowOrigins,
		BlockOrigins: s.blockOrigins,
		AllowMaps:    s.allowMaps,
		CallTimeout:  s.callLimit,
	}
	if a.origins["pacing"] != byDefault {
		out.Pacing = &s.pacing
	}
	return out
}

// workersOwn are flags that a job cannot bring: what they name is the worker's.
var workersOwn = []string{
	"browser", "headed", "attach", "isolated", "user-data-dir", "no-sandbox", "proxy",
	"upload-dir", "download-dir", "secret", "storage-state", "save-storage-state", "login",
	"insecure-origin", "record", "har", "cdp-log",
}

// onFleet sends the jobs that pack makes and shows them as they would be shown here.
func (a *app) onFleet(
	ctx context.Context, settings hostSettings, at fleetFlags, how jobFlags, out reports, show remote.Show,
	pack func(context.Context, *remote.Submission) ([]fleet.Job, error),
) (err error) {
	if err := a.refuseGiven(
		"with --fleet: what it names is the worker's, which is started with it", workersOwn...,
	); err != nil {
		return err
	}
	if err := a.refuseGiven(
		"with --fleet: maps are changed where they are, so use it without", "update-lock", "fix", "heal",
	); err != nil {
		return err
	}
	if len(settings.uploadDirs) > 0 { // of the environment or the user's file, which are for runs here too
		a.warn(errors.New("files of --upload-dir do not travel with jobs: a worker uploads from its own --upload-dir"))
	}
	for _, address := range settings.open {
		if scheme, _, _ := strings.Cut(address, ":"); strings.EqualFold(scheme, "file") {
			return usage("--open %s is a file of this machine, which a worker of a fleet does not have", address)
		}
	}
	job, err := how.Job(a)
	if err != nil {
		return err
	}
	settings.quiet = true
	// What is wrong with flags and maps is said here, as it is without a fleet.
	options, err := a.runtimeOptions(settings)
	if err != nil {
		return err
	}
	options.Engine.Close()
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	sent, err := a.sendTraces(ctx)
	if err != nil {
		return err
	}
	defer sent()
	ctx, end := span.Begin(span.With(ctx, a.traces.Listener()), span.Submission, a.verb)
	defer func() {
		failed := (*fault.Error)(nil) // a red run is none
		errors.As(err, &failed)
		end(failed)
	}()
	job.Trace = traces.Parent(ctx)
	q, err := a.openFleet(ctx, at.Options(a, "outrider run"))
	if err != nil {
		return err
	}
	defer q.Close()
	s := remote.Submission{
		Queue:        q,
		Run:          how.Run,
		Settings:     a.travelling(settings),
		Maps:         settings.maps,
		Project:      settings.projectMaps,
		Evidence:     out.files.ShowsScreenshots(),
		Artifacts:    show.Artifacts,
		Retries:      show.Retries,
		RetriesGiven: show.RetriesGiven,
		States:       how.States,
		Job:          job,
	}
	jobs, err := pack(ctx, &s)
	if fault.CodeOf(err) == fault.InvalidInput {
		return usage("%s", fault.From(err).Message)
	}
	if err != nil {
		return err
	}
	if err := submit.Send(ctx, q, jobs); err != nil {
		return err
	}
	if how.Detach {
		a.printJSONOr(map[string]any{"submission": s.Run, "jobs": len(jobs)}, "%s\n", s.Run)
		return nil
	}
	show.Cancel = true
	return a.followFleet(ctx, q, jobs, at, out, show)
}

// followFleet shows the jobs of a submission until each has ended, as a run here
// would be shown.
func (a *app) followFleet(
	ctx context.Context, q *queue.Queue, jobs []fleet.Job, at fleetFlags, out reports, show remote.Show,
) error {
	show.Progress = a.progress()
	show.Stderr = a.stderr
	show.Trusted = at.Trusted
	if !a.json {
		show.Stdout = a.coloured()
	}
	outcome, err := show.Follow(ctx, q, jobs, a.folder("artifacts"))
	if a.json {
		a.printJSON(outcome.JSON())
	}
	pictures := ""
	if show.Check {
		pictures = show.Artifacts
	}
	complete := a.writeReports(out, outcome.Report, pictures)
	if errors.Is(ctx.Err(), context.Canceled) {
		return &exit{code: exitInterrupted}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the outcome is not ok
	}
	return a.ending(outcome.OK && !(show.FailOnFlaky && outcome.Flaky()), complete && outcome.Saved, err)
}

// runPlansOnFleet reads the plans, so that what is wrong with one is said before
// anything is sent.
func (a *app) runPlansOnFleet(
	ctx context.Context, at fleetFlags, how jobFlags, p caseFlags, paths []string, out reports, artifacts string,
) error {
	if err := a.refuseGiven(
		"with --fleet: the slots of its workers are how many cases run at once", "workers",
	); err != nil {
		return err
	}
	suite, vars, closing, err := a.suite(p, paths, false)
	if err != nil {
		return err
	}
	defer closing()
	if done, err := a.idle(ctx, suite, p, out); done {
		return err
	}
	if err := (&remote.Submission{States: how.States}).Cannot(suite); err != nil {
		return usage("%w", err) // before anything of the fleet is needed
	}
	settings := a.hostSettings().withPlanMaps(suite.Maps(), false)
	show := remote.Show{
		Artifacts:    artifacts,
		FailFast:     p.FailFast,
		FailOnFlaky:  p.FailOnFlaky,
		Retries:      p.Retries,
		RetriesGiven: a.retriesGiven(),
	}
	return a.onFleet(ctx, settings, at, how, out, show, func(
		ctx context.Context, s *remote.Submission,
	) ([]fleet.Job, error) {
		s.Vars = vars
		return s.Cases(ctx, suite)
	})
}

// checkOnFleet runs a check on a worker.
func (a *app) checkOnFleet(
	ctx context.Context, at fleetFlags, how jobFlags, x plan.Expectations, before string, out reports, artifacts string,
) error {
	settings := a.hostSettings()
	var first *plan.Suite
	if before != "" {
		suite, _, closing, err := a.suite(runOnce(), []string{before}, true)
		if err != nil {
			return err
		}
		defer closing()
		first = suite
		settings = settings.withPlanMaps(suite.Maps(), true)
	}
	return a.onFleet(ctx, settings, at, how, out, remote.Show{Artifacts: artifacts, Check: true}, func(
		ctx context.Context, s *remote.Submission,
	) ([]fleet.Job, error) {
		return s.Check(ctx, x, first)
	})
}
