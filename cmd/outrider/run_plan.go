package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/authoring/mend"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

// planFlags say which cases of plans run, and how.
type planFlags struct {
	vars, durations                      []string
	varsFile, grep, grepInvert, shard    string
	workers, retries, repeat             int
	failFast, failOnFlaky, dryRun, watch bool
	updateLock, fix, heal                bool
}

func (p *planFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&p.vars, "var", nil, "variable of plans: NAME=VALUE (repeatable)")
	f.StringVar(&p.varsFile, "vars", "", "YAML or JSON file with variables of plans")
	f.StringVar(&p.grep, "grep", "", "run only cases whose name or tag matches this regular expression")
	f.StringVar(&p.grepInvert, "grep-invert", "", "leave out cases whose name or tag matches this regular expression")
	f.StringVar(&p.shard, "shard", "", "run one of several equal parts of the cases, such as 1/8")
	f.StringArrayVar(&p.durations, "durations", nil, "json report of an earlier run, by whose durations shards are balanced (repeatable)")
	f.IntVar(&p.workers, "workers", 1, "how many cases run at once, each in a session of its own")
	f.IntVar(&p.retries, "retries", 0, "how often a case that failed is run again; one that passes then is flaky")
	f.IntVar(&p.repeat, "repeat-each", 1, "run each case so many times")
	f.BoolVar(&p.failFast, "fail-fast", false, "start no more cases after one has failed")
	f.BoolVar(&p.failOnFlaky, "fail-on-flaky", false, "exit with 1 when a case is flaky")
	f.BoolVar(&p.updateLock, "update-lock", false, "remember in actions.lock.json what the elements looked like that steps of actions found")
	f.BoolVar(&p.fix, "fix", false, "write the repairs of actions into the maps")
	f.BoolVar(&p.watch, "watch", false, "run what a changed plan, map, lock file or file of data touches again, until q or an interrupt")
	f.BoolVar(&p.heal, "heal", false, "go on with a proposed target where an action is done with it; the result is healed, and its diff is shown")
	f.BoolVar(&p.dryRun, "dry-run", false, "print what would run, without a browser")
}

func (a *app) selection(p planFlags, paths []string, engine expr.Engine) (plan.Selection, error) {
	s := plan.Selection{Paths: paths, Repeat: p.repeat, Source: spec.Source{Engine: engine}}
	if p.workers < 1 || p.workers > 64 || p.retries < 0 || p.retries > 10 || p.repeat < 1 || p.repeat > 10_000 {
		return s, usage("expected --workers 1 to 64, --retries 0 to 10 and --repeat-each 1 to 10000")
	}
	var err error
	if s.Source.Vars, err = spec.ReadVars(p.varsFile, p.vars); err == nil {
		s.Source.Secrets, err = spec.SecretNames(a.browser.secrets)
	}
	if err == nil {
		s.Filter, err = schedule.NewFilter(p.grep, p.grepInvert)
	}
	if err == nil {
		s.Part, err = schedule.ParsePart(p.shard)
	}
	if err == nil {
		s.Costs, err = plan.ReadCosts(p.durations)
	}
	if err != nil {
		return s, usage("%w", err)
	}
	return s, nil
}

// suite reads the plans that are selected. closing ends what their expressions use.
func (a *app) suite(p planFlags, paths []string) (suite *plan.Suite, vars map[string]any, closing func(), err error) {
	engine, err := expr.New(a.browser.engine, nil)
	if err != nil {
		return nil, nil, nil, usage("--expr-engine is %q: expected native or blues", a.browser.engine)
	}
	s, err := a.selection(p, paths, engine)
	if err == nil {
		if suite, err = plan.Load(s); err != nil {
			err = usage("%w", err)
		} else if len(suite.Cases) == 0 {
			err = usage("no case is selected")
		}
	}
	if err != nil {
		_ = engine.Close()
		return nil, nil, nil, err
	}
	return suite, s.Source.Vars, func() { _ = engine.Close() }, nil
}

func (a *app) runPlans(ctx context.Context, p planFlags, paths []string, out reports, artifacts string) error {
	suite, _, closing, err := a.suite(p, paths)
	if err != nil {
		return err
	}
	defer closing()
	if p.dryRun {
		suite.Explain(a.stdout)
		return nil
	}
	if err := suite.Resolve(ctx, a.secrets); err != nil {
		return usage("%w", err)
	}
	profile := a.browser.inProfile()
	if profile && p.workers > 1 {
		return usage("--workers needs sessions of their own, so it does not go with --user-data-dir, nor with --attach without --isolated")
	}
	if len(a.browser.maps) == 0 {
		a.browser.maps = suite.Maps()
	}
	storage, err := plan.StorageOf(a.browser.storageState, a.browser.saveStorageState, a.browser.login)
	if err != nil {
		return usage("%w", err)
	}
	if a.browser.saveStorageState != "" && !suite.Single() {
		return usage("--save-storage-state is for one plan without data: %d cases would write the file", len(suite.Cases))
	}
	state, err := storage.Load()
	if err != nil {
		return usage("%s", fault.From(err).Message)
	}
	a.browser.storageState, a.browser.saveStorageState, a.browser.login = "", "", "" // the cases have sessions of their own
	open := ""
	if len(a.browser.open) > 0 {
		open, a.browser.open = a.browser.open[0], a.browser.open[1:]
	}
	o := a.runOptions(artifacts)
	if err := o.Mend(a.browser.maps, p.updateLock, p.heal, p.heal || p.fix); err != nil {
		return err
	}
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	r := &planRun{app: a, flags: p, paths: paths, out: out, storage: storage, profile: profile}
	h, closeHost, err := a.openHost(ctx, func(o *runtime.Options) error { r.maps = o.Maps; return nil })
	if err != nil {
		return err
	}
	defer closeHost()
	r.host = h
	r.o = plan.RunOptions{Options: o, Workers: p.workers, FailFast: p.failFast, Retries: p.retries}
	r.o.Evidence, r.o.Open, r.o.StorageState, r.o.SaveState = out.files.Pictures(), open, state, storage.To != "" && suite.Single()
	var result plan.Result
	complete := true
	if p.watch {
		result, err = r.watch(ctx)
	} else {
		result = r.cases(ctx, suite)
		complete, err = r.finish(result)
	}
	if end := a.ending(result.OK && !(p.failOnFlaky && result.Totals["flaky"] > 0), complete, err); !errors.Is(ctx.Err(), context.Canceled) {
		return end
	}
	return ended(ctx)
}

// planRun is one run of plans, or with --watch as many as there are changes.
type planRun struct {
	*app
	flags   planFlags
	paths   []string
	out     reports
	storage plan.Storage
	profile bool
	host    *runtime.Host
	maps    *runtime.Maps
	o       plan.RunOptions
}

// cases runs cases and shows them.
func (r *planRun) cases(ctx context.Context, suite *plan.Suite) plan.Result {
	o := r.o
	done := r.follow(&o, suite)
	b := plan.Isolated(r.host)
	if r.profile {
		b = plan.Shared(r.host)
	}
	result := suite.Run(ctx, b, o)
	done()
	if r.json {
		r.printJSON(result.JSON())
	} else if !suite.Single() {
		result.PrintTotals(r.stdout)
	}
	return result
}

// finish writes what a run leaves: reports, lock files, repairs, storage state.
func (r *planRun) finish(result plan.Result) (complete bool, err error) {
	var written []string
	var failed error
	if r.flags.updateLock {
		written, failed = result.UpdateLocks(r.o.Maps)
	}
	repairs := result.Repairs()
	failed = errors.Join(failed, mend.Apply(repairs, r.flags.fix))
	complete = r.writeReports(r.out, result.Report(), "")
	if !r.json {
		mend.Print(r.stdout, written, repairs, r.flags.fix)
	}
	saved := result.State()
	complete = complete && (saved != nil || !r.o.SaveState || !result.OK) // why there is none was said
	if saved != nil {
		if err := plan.SaveState(r.storage.To, saved); err != nil {
			r.warn(err)
			complete = false
		}
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

// runBefore has a plan run in the host's first tab before its addresses are opened.
func (a *app) runBefore(ctx context.Context, path string) (end func(), err error) {
	suite, _, closing, err := a.suite(planFlags{workers: 1, repeat: 1}, []string{path})
	if err != nil {
		return nil, err
	}
	err = suite.Resolve(ctx, a.secrets)
	if err != nil {
		closing()
		return nil, usage("--before: %w", err)
	}
	a.browser.maps = append(a.browser.maps, suite.Maps()...)
	a.browser.prepare = func(ctx context.Context, h *runtime.Host) error {
		result := suite.Run(ctx, plan.Shared(h), plan.RunOptions{Options: a.runOptions("")})
		if !result.OK {
			return result.Failure("--before " + path)
		}
		return nil
	}
	return closing, nil
}
