package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/outrider-run/outrider/cmd/outrider/config"
	"github.com/outrider-run/outrider/cmd/outrider/fleetverbs"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/plan/remote"
	"github.com/outrider-run/outrider/plan/schedule"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/projection/expr"
)

// settings are the browser's flags that travel with a job.
func (a *app) settings() remote.Settings {
	b := &a.browser
	s := remote.Settings{
		Open: b.open, Viewport: b.viewport, Locale: b.locale, Timezone: b.timezone, Profile: b.profile, Engine: b.engine, AcceptDrafts: b.acceptDrafts,
		AllowOrigins: b.allowOrigins, BlockOrigins: b.blockOrigins, AllowMaps: b.allowMaps, CallTimeout: a.callLimit,
	}
	if a.origins["pacing"] != config.ByDefault {
		s.Pacing = &b.pacing
	}
	return s
}

// onFleet runs works on a fleet and shows them as they would be shown here.
func (a *app) onFleet(ctx context.Context, at fleetverbs.Flags, how fleetverbs.JobFlags, works []remote.Work, out reports, artifacts string) error {
	if err := a.refuseGiven("with --fleet: they are the worker's", "browser", "headed", "attach", "user-data-dir", "no-sandbox", "proxy", "upload-dir", "download-dir", "secret", "storage-state", "save-storage-state", "login"); err != nil {
		return err
	}
	job, err := how.Job(a.fleetEnv())
	if err != nil {
		return err
	}
	a.browser.noSandbox = true         // no browser starts here
	options, err := a.runtimeOptions() // what is wrong with flags and maps is said here, as it is without a fleet
	if err != nil {
		return err
	}
	options.Engine.Close()
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	q, err := a.fleetEnv().Open(ctx, at.Options(a.fleetEnv(), "outrider run"))
	if err != nil {
		return err
	}
	defer q.Close()
	s := remote.Submission{Queue: q, Run: how.Run, Settings: a.settings(), Evidence: out.files.Pictures(), Artifacts: artifacts != "", Job: job}
	jobs, err := s.Pack(ctx, works)
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
	return a.followFleet(ctx, q, jobs, at.Trusted, out, artifacts, true)
}

// followFleet shows the jobs of a submission until each has ended, as a run here
// would be shown. cancel says that the jobs end with this process's interrupt.
func (a *app) followFleet(ctx context.Context, q *queue.Queue, jobs []fleet.Job, trusted func(fleet.Record) error, out reports, artifacts string, cancel bool) error {
	progress := a.progress()
	to := a.coloured()
	view := remote.View{
		Trusted: trusted,
		Step:    func(job string, s fleet.Step) { progress.Begin(job+": "+s.Name, s.Number, s.Of) },
		Note:    func(text string) { progress.Clear(); fmt.Fprintf(a.stderr, "outrider: %s\n", text) },
	}
	if !a.json {
		view.Text = func(job, text string) { progress.Clear(); fmt.Fprint(to, text) }
		view.Done = func(e remote.Ended) {
			progress.Clear()
			fmt.Fprint(to, e.Answer.Printed)
			if f := e.Error; f != nil {
				fmt.Fprintf(to, "failed   %s\n         %s: %s\n", report.Printable(e.Record.Name), f.Code, report.Printable(f.Message))
			}
		}
	}
	ended, err := remote.Follow(ctx, q, jobs, view, cancel)
	progress.Clear()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	all := report.Run{OK: len(ended) == len(jobs)}
	results := make([]json.RawMessage, 0, len(ended))
	for _, e := range ended {
		if artifacts != "" {
			if err := e.Save(ctx, q, a.folder("artifacts"), artifacts); err != nil {
				a.warn(fmt.Errorf("no artifacts: %w", err))
			}
		}
		results = append(results, e.Answer.Result)
		all = remote.Merge(all, e)
	}
	if a.json && len(jobs) == 1 && len(results) == 1 {
		a.printJSON(results[0])
	} else if a.json {
		a.printJSON(map[string]any{"ok": all.OK, "submission": jobs[0].Run, "results": results})
	}
	complete := a.writeReports(out, all, "")
	if errors.Is(ctx.Err(), context.Canceled) {
		return &exit{code: exitInterrupted}
	}
	return verdict(all.OK, complete)
}

// runPlansOnFleet reads the plans, so that what is wrong with one is said before
// anything is sent.
func (a *app) runPlansOnFleet(ctx context.Context, at fleetverbs.Flags, how fleetverbs.JobFlags, paths []string, out reports, artifacts string) error {
	engine, err := expr.New(a.browser.engine, nil)
	if err != nil {
		return usage("--expr-engine is %q: expected native or blues", a.browser.engine)
	}
	defer engine.Close()
	var works []remote.Work
	for _, path := range paths {
		suite, err := plan.Load(plan.Selection{Source: spec.Source{Engine: engine}, Paths: []string{path}, Part: schedule.Part{Index: 1, Of: 1}})
		if err == nil {
			err = suite.StandsAlone()
		}
		if err != nil {
			return usage("%w", err)
		}
		work := remote.Work{Path: path, Maps: a.browser.maps}
		if len(work.Maps) == 0 {
			work.Maps = suite.Maps()
		}
		works = append(works, work)
	}
	return a.onFleet(ctx, at, how, works, out, artifacts)
}
