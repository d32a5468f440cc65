package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) checkCommand() *cobra.Command {
	var reports string
	var settle time.Duration
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check whether a page still is as its maps say",
		Long: "Run every check and diagnose every state of the maps that apply to each open page.\n" +
			"A check with a setup has its steps done first, on the page as it stands; it comes after those without.\n" +
			"Exit code 1 when a check that is more than information fails or cannot be run, or when there is nothing to check.\n" +
			"A check that passes by a fallback is drift: it is reported with the repaired target and does not fail.",
		Example: `  outrider check --open http://127.0.0.1:8080/ --maps ./map/actions.json
  outrider check --open http://127.0.0.1:8080/ --maps sites/ --report junit=check.xml,html=check.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(a.browser.maps) == 0 {
				return usage("check needs --maps: an actions.json file or a storage folder")
			}
			if settle < 0 || settle > time.Minute {
				return usage("--settle is %s: expected 0s to 1m", settle)
			}
			files, err := report.ParseFiles(reports)
			if err != nil {
				return usage("%w", err)
			}
			return a.withHost(cmd.Context(), func(ctx context.Context, h *runtime.Host) error { return a.check(ctx, h, settle, files) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&reports, "report", "", "files to write, as junit=FILE,json=FILE,html=FILE")
	f.DurationVar(&settle, "settle", 2*time.Second, "how long to look again while a check fails; 0 looks once")
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) check(ctx context.Context, h *runtime.Host, settle time.Duration, files report.Files) error {
	checked, err := plan.Check(ctx, h, settle, a.runOptions(""))
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(checked)
	} else {
		for _, p := range checked.Pages {
			p.Print(a.stdout)
		}
	}
	complete := a.writeReports(files, checked.Report)
	if checked.Declared == 0 {
		a.warn(errors.New("nothing was checked: no map that applies to the page declares checks or states"))
	}
	return verdict(checked.OK, complete)
}
