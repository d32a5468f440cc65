package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/outrider-run/outrider/authoring/repair"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// reader reads plans.
func (a *app) reader(p caseFlags, paths []string, engine expr.Engine) caseReader {
	profile, _ := quirks.Profile(a.browser.profile) // an unknown one is refused with the other flags
	return caseReader{
		Flags:   p,
		Paths:   paths,
		Secrets: a.browser.secrets,
		Maps:    a.browser.maps,
		Engine:  engine,
		MapsAs:  a.browser.mapsAs(profile),
	}
}

// suite reads the plans that are selected. closing ends what their expressions use.
func (a *app) suite(
	p caseFlags, paths []string, before bool,
) (suite *plan.Suite, vars map[string]any, closing func(), err error) {
	engine, err := expr.New(a.browser.engine, nil)
	if err != nil {
		return nil, nil, nil, usage("--expr-engine is %q: expected native or blues", a.browser.engine)
	}
	r := a.reader(p, paths, engine)
	r.MoreMaps = before
	suite, vars, err = r.Load()
	if err != nil {
		_ = engine.Close()
		return nil, nil, nil, usage("%w", err)
	}
	open := ""
	if len(a.browser.open) > 0 && !before {
		open = a.browser.open[0]
	}
	if err := suite.CheckOpens(open); err != nil {
		_ = engine.Close()
		return nil, nil, nil, usage("%w", err)
	}
	return suite, vars, func() { _ = engine.Close() }, nil
}

// sparesInputs refuses to write over what the cases read.
func (a *app) sparesInputs(suite *plan.Suite, out reports) error {
	read := slices.Concat(a.browser.maps, suite.Maps())
	for _, c := range suite.Cases {
		read = append(read, slices.Concat(c.Files(), c.Data(), c.Routed())...)
	}
	slices.Sort(read)
	read = slices.Compact(read)
	if err := out.spares(read...); err != nil {
		return err
	}
	to := a.browser.saveStorageState
	for _, path := range read {
		if to != "" && sameFile(to, path) {
			return usage("--save-storage-state %s would be written over %s, which the run reads", to, path)
		}
	}
	return nil
}

// resolve reads the secrets of plans, after those of --secret, which come before them.
func (a *app) resolve(ctx context.Context, suite *plan.Suite) (*plan.Secrets, error) {
	if err := a.readSecrets(ctx); err != nil {
		return nil, err
	}
	resolved := plan.NewSecrets(a.secrets)
	if err := resolved.Resolve(ctx, suite); err != nil {
		return nil, usage("%w", err)
	}
	return resolved, nil
}

// idle ends what needs no browser: a dry run, and a shard without cases, whose reports are empty.
func (a *app) idle(ctx context.Context, suite *plan.Suite, p caseFlags, out reports) (done bool, err error) {
	none, _ := suite.Nothing()
	switch {
	case p.DryRun:
		if would := suite.Explain(); a.json {
			a.printJSON(would)
		} else {
			would.Print(a.stdout)
		}
		return true, nil
	case none == "" || p.Watch:
		return false, nil
	}
	result := suite.Run(ctx, nil, plan.RunOptions{})
	if a.printJSONOr(result.JSON(), "%s\n", none); a.json {
		fmt.Fprintf(a.stderr, "outrider: %s\n", none)
	}
	return true, verdict(true, a.writeReports(out, result.Report(), ""))
}

func (a *app) runPlans(ctx context.Context, p caseFlags, paths []string, out reports, artifacts string) error {
	suite, _, closing, err := a.suite(p, paths, false)
	if err != nil {
		return err
	}
	defer closing()
	if err := a.sparesInputs(suite, out); err != nil {
		return err
	}
	if done, err := a.idle(ctx, suite, p, out); done {
		return err
	}
	resolved, err := a.resolve(ctx, suite)
	if err != nil {
		return err
	}
	profile := a.browser.inProfile()
	if profile && p.Workers > 1 {
		return usage("--workers needs sessions of their own, so it does not go with --user-data-dir, nor with " +
			"--attach without --isolated")
	}
	settings := a.hostSettings().withPlanMaps(suite.Maps(), false)
	if settings.saveStorageState != "" && !suite.Single() {
		return usage(
			"--save-storage-state is for one plan without data: %d cases would write the file", len(suite.Cases),
		)
	}
	settings, begins, err := beginnings(settings)
	if err != nil {
		return err
	}
	o := a.runOptions(artifacts)
	if err := o.SetRepair(settings.maps, p.UpdateLock, p.Heal, p.Heal || p.Fix); err != nil {
		return err
	}
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	r := &planRun{
		app:      a,
		flags:    p,
		paths:    paths,
		given:    settings.maps,
		out:      out,
		storage:  begins.storage,
		profile:  profile,
		resolved: resolved,
	}
	defer r.apps(ctx, suite)()
	h, closeHost, err := a.openHostAs(ctx, settings, func(o *runtime.Options) error {
		r.maps = o.Maps
		// Each case has tabs of its own. A browser with windows would end with the last of them.
		o.NoFirstTab = !profile && !o.Browser.Headed
		o.Browser.NoSpareRenderer = true // a case has few documents, and a context of its own
		return nil
	})
	if err != nil {
		return err
	}
	defer closeHost()
	r.host = h
	r.o = plan.RunOptions{
		Options:      o,
		Workers:      p.Workers,
		FailFast:     p.FailFast,
		Retries:      p.Retries,
		RetriesGiven: a.retriesGiven(),
	}
	r.o.Evidence = out.files.ShowsScreenshots()
	r.o.Open = begins.open
	r.o.UpdateSnapshots = p.UpdateSnapshots
	r.o.StorageState = begins.state
	r.o.SaveState = begins.storage.To != "" && suite.Single()
	var result plan.RunResult
	complete := true
	if p.Watch {
		result, err = r.watch(ctx)
	} else {
		result = r.round(ctx, suite)
		complete, err = r.finish(result)
	}
	end := a.ending(result.OK && !(p.FailOnFlaky && result.Totals["flaky"] > 0), complete, err)
	if !errors.Is(ctx.Err(), context.Canceled) {
		return end
	}
	return ended(ctx)
}

// retriesGiven reports whether the user gave --retries, which then comes before a plan's own.
func (a *app) retriesGiven() bool { return a.origins["retries"] != byDefault }

// planRun is one run of plans, or with --watch as many as there are changes.
type planRun struct {
	*app
	flags   caseFlags
	paths   []string
	given   []string // the maps of the command line, or of the plans
	out     reports
	storage plan.Storage
	profile bool
	// resolved has the secrets of plans, over the rounds of a watch.
	resolved *plan.Secrets
	served   *plan.Apps
	host     *runtime.Host
	maps     *runtime.Maps
	o        plan.RunOptions
}

// apps starts what the plans serve, before the browser: it ends last.
func (r *planRun) apps(ctx context.Context, suite *plan.Suite) (stop func()) {
	r.served = r.newApps()
	r.served.Start(ctx, suite)
	return r.served.Stop
}

// newApps has the programs of plans, none of which runs yet.
func (a *app) newApps() *plan.Apps {
	return plan.NewApps(a.secrets, func(text string) { fmt.Fprintf(a.stderr, "outrider: %s\n", text) })
}

// round runs cases and shows them.
func (r *planRun) round(ctx context.Context, suite *plan.Suite) plan.RunResult {
	r.served.Start(ctx, suite) // those of plans that changed, and those that ended
	o := r.o
	o.Apps = r.served
	done := r.follow(&o, suite)
	b := plan.Isolated(r.host)
	if r.profile {
		b = plan.Shared(r.host)
	}
	result := suite.Run(ctx, b, o)
	done()
	if r.json {
		r.printJSON(result.JSON())
	} else if suite.Single() {
		result.Cases[0].PrintQuarantine(r.stdout, "")
	} else {
		result.PrintTotals(r.stdout)
	}
	return result
}

// finish writes what a run leaves: reports, lock files, repairs, storage state.
func (r *planRun) finish(result plan.RunResult) (complete bool, err error) {
	var written []string
	var failed error
	if r.flags.UpdateLock {
		written, failed = result.UpdateLocks(r.o.Maps)
	}
	repairs := result.Repairs()
	failed = errors.Join(failed, repair.Apply(repairs, r.flags.Fix))
	complete = r.writeReports(r.out, result.Report(), "")
	if !r.json {
		repair.Print(r.stdout, written, repairs, r.flags.Fix)
	}
	saved := result.State()
	complete = complete && (saved != nil || !r.o.SaveState || !result.OK) // why there is none was said
	switch {
	case saved != nil:
		for _, what := range plan.LeftOut(saved) {
			r.warn(errors.New(what))
		}
		if err := plan.SaveState(r.storage.To, saved); err != nil {
			r.warn(err)
			complete = false
		}
	case r.o.SaveState && !result.OK:
		r.warn(fmt.Errorf("the storage state is not saved: the plan failed, and %s stays as it was", r.storage.To))
	}
	return complete, failed
}

// follow shows a run while it goes on: of one case its steps, of several the cases.
func (a *app) follow(o *plan.RunOptions, suite *plan.Suite) (done func()) {
	progress, to := a.progress(), a.coloured()
	if suite.Single() {
		o.Starts = progress.Begin
		if !a.json {
			o.OnStep = func(r plan.StepResult) {
				progress.Clear()
				r.Print(to)
			}
		}
		return progress.Clear
	}
	progress.Begin("", 0, len(suite.Cases))
	o.OnCase = func(c plan.CaseResult, n, of int) {
		progress.Clear()
		if !a.json {
			c.Print(to)
		}
		progress.Begin(fmt.Sprintf("%s done", c.Name), n, of)
	}
	return progress.Clear
}

// runBefore are settings by which a plan runs in the host's first tab before its addresses are opened.
func (a *app) runBefore(ctx context.Context, s hostSettings, path string) (with hostSettings, end func(), err error) {
	suite, _, closing, err := a.suite(runOnce(), []string{path}, true)
	if err != nil {
		return s, nil, err
	}
	_, err = a.resolve(ctx, suite)
	if err != nil {
		closing()
		return s, nil, err
	}
	s = s.withPlanMaps(suite.Maps(), true)
	apps := a.newApps()
	s.prepare = func(ctx context.Context, h *runtime.Host) error {
		apps.Start(ctx, suite)
		o := a.runOptions("")
		o.Apps = apps
		result := suite.Run(ctx, plan.Shared(h), plan.RunOptions{Options: o})
		if err := result.Failure("--before " + path); err != nil {
			return err
		}
		if !result.OK {
			return fault.New(fault.HandlerFailed, "--before %s failed, and none of its steps says why", path)
		}
		return nil
	}
	return s, func() {
		apps.Stop()
		closing()
	}, nil
}
