package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/faces/shell"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) checkCommand() *cobra.Command {
	var reports reportFlags
	var x plan.Expectations
	var fix, heal bool
	var artifacts, before, session string
	var at fleetFlags
	var how jobFlags
	cmd := &cobra.Command{
		Use:   "check [TARGET]",
		Short: "Check whether a page still is as its maps say",
		Long: "Run every check and diagnose every state of the maps that apply to each open page.\n" +
			"A check with a setup has its steps done first, on the page as it stands; it comes after those without.\n" +
			"Exit code 1 when a check that is more than information fails or cannot be run, when no check passed and " +
			"no state is\n" +
			"current, when the maps of the page declare no check and no state is required, and when the document's " +
			"HTTP status is\n" +
			"400 or above and not expected.\n" +
			"A page that cannot be opened or judged is broken: a result of its own, beside those of the other " +
			"pages.\n" +
			"A check that passes by a fallback, or by an element of another role or name, is drift: it is reported " +
			"with the repaired\n" +
			"target and fails with --fail-on-drift only. --update-lock remembers in actions.lock.json, beside the " +
			"map, what the\n" +
			"elements looked like that were found. When a target later finds nothing, the element that looks like it " +
			"is proposed,\n" +
			"verified, and shown as a diff of the map. A check is an assertion, so its repair is only proposed: no " +
			"flag writes it or\n" +
			"takes the check as passed. Actions are repaired by run.\n" +
			"With -s, or where the caller's live session is open and no flag asks for a browser, its active page is " +
			"judged by its maps.\n" +
			"With TARGET it checks a box of the live session: see 'outrider help browse'.",
		Example: `  outrider check --open http://127.0.0.1:8080/ --maps ./map/actions.json
  outrider check --open http://127.0.0.1:8080/ --maps sites/ --report junit=check.xml,html=check.html`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 {
				return a.setBox(cmd.Context(), session, words)
			}
			s, err := a.live(cmd, session)
			if err == nil && s != nil {
				err = a.refuseOnLive("before", "update-lock", "fix", "heal")
			}
			if err != nil {
				return err
			}
			if len(a.browser.maps) == 0 && s == nil {
				return usage("check needs --maps: an actions.json file or a storage folder")
			}
			if x.ExpectStatus != 0 && (x.ExpectStatus < 100 || x.ExpectStatus > 599) {
				return usage("--expect-status is %d: expected 100 to 599", x.ExpectStatus)
			}
			if x.Settle < 0 || x.Settle > time.Minute {
				return usage("--settle is %s: expected 0s to 1m", x.Settle)
			}
			out, err := reports.open(a)
			if err != nil {
				return err
			}
			if err := out.spares(slices.Concat(a.browser.maps, reports.history)...); err != nil {
				return err
			}
			artifacts, leave := a.artifactsFolder(artifacts)
			defer leave()
			if s != nil {
				return a.checkLive(cmd.Context(), *s, x, out, artifacts)
			}
			if at.URL != "" {
				return a.checkOnFleet(cmd.Context(), at, how, x, before, out, artifacts)
			}
			settings := a.hostSettings()
			if before != "" {
				with, end, err := a.runBefore(cmd.Context(), settings, before)
				if err != nil {
					return err
				}
				defer end()
				settings = with
			}
			if fix || heal {
				fmt.Fprintln(a.stderr, "the repairs of checks are only proposed: nothing is written, and a check "+
					"that fails fails")
			}
			return a.check(cmd.Context(), settings, x, out, artifacts)
		},
	}
	f := cmd.Flags()
	sessionFlag(f, &session)
	reports.add(f)
	f.DurationVar(
		&x.Settle, "settle", 2*time.Second, "how long to probe again while the page is not well; 0 probes once",
	)
	f.IntVar(&x.ExpectStatus, "expect-status", 0, "HTTP status that the document must have (default: any below 400)")
	listVar(f, &x.Requires, "require", "state that must be current (repeatable)")
	f.BoolVar(&x.Strict, "strict-checks", false, "a critical check that is skipped, or says nothing, fails")
	f.BoolVar(
		&x.FailOnDrift, "fail-on-drift", false,
		"a check that drifted fails: it passed by a fallback, or an element has another role or name",
	)
	f.BoolVar(
		&x.Remember, "update-lock", false,
		"remember in actions.lock.json what the elements looked like that were found",
	)
	f.BoolVar(
		&fix, "fix", false, "has no effect: the repair of an assertion is only proposed; run --fix repairs actions",
	)
	f.BoolVar(
		&heal, "heal", false, "has no effect: a check stays what it is without its repair; run --heal heals actions",
	)
	f.StringVar(
		&before, "before", "",
		"plan that runs before, such as a sign-in; then --open is opened, or the page where it ended is checked",
	)
	f.StringVar(&artifacts, "artifacts", "", "directory for a picture of each failure, with the target outlined")
	at.Add(f, "run the check there")
	at.AddVerify(f)
	how.Add(f)
	a.addBrowserFlags(cmd)
	a.addStateFlags(cmd)
	return cmd
}

func (a *app) check(
	ctx context.Context, s hostSettings, x plan.Expectations, out reports, artifacts string,
) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	o := a.checkOptions(out, artifacts)
	o.Maps = repair.FilesOf(s.maps)
	progress := a.progress()
	o.Starts = progress.Begin
	var checked plan.CheckResult
	var failed error
	h, closing, err := a.openHostAs(ctx, s, func(with *runtime.Options) error {
		with.OnOpen = o.Opened.Add
		return nil
	})
	switch {
	case err == nil:
		defer closing()
		checked = plan.Check(ctx, h, x, o)
		progress.Clear()
		failed = checked.ProposeRepairs(ctx, h, x, o)
	case exitOf(err).code != exitFailed:
		return err
	default:
		checked = plan.Unopened(s.open, err)
	}
	if err := a.checked(checked, out, artifacts, failed); err != nil {
		return err
	}
	return a.saveStorage(ctx, h)
}

// checkLive judges the active page of a live session, by its maps.
func (a *app) checkLive(
	ctx context.Context, s shell.Session, x plan.Expectations, out reports, artifacts string,
) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	l, err := s.Live(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return a.checked(plan.Check(ctx, l, x, a.checkOptions(out, artifacts)), out, artifacts, nil)
}

func (a *app) checkOptions(out reports, artifacts string) plan.Options {
	o := a.runOptions("")
	o.Evidence = out.files.ShowsScreenshots() || artifacts != ""
	return o
}

// checked shows the result of a check and writes its reports. failed is why repairs could not be proposed.
func (a *app) checked(result plan.CheckResult, out reports, artifacts string, failed error) error {
	if a.json {
		a.printJSON(result)
	} else {
		result.Print(a.coloured())
		result.PrintRepairs(a.stdout)
	}
	complete := a.writeReports(out, result.Report(), artifacts)
	return a.ending(result.OK, complete, failed)
}
