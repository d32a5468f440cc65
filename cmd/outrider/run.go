package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/repair"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
)

func (a *app) runCommand() *cobra.Command {
	var action, args, artifacts, session string
	var reports reportFlags
	var at fleetFlags
	var how jobFlags
	var which caseFlags
	cmd := &cobra.Command{
		Use:   "run --action NAME [--args JSON] | run PLAN...",
		Short: "Run one site action on a page, or plans of them",
		Long: "Run one site action, or plans: files, globs, or folders with *.plan.yaml. A plan has maps, an address " +
			"to open and steps, each an\n" +
			"action, a state, a call of a primitive or check, with what is expected of it. Each case runs in a " +
			"session of its own, or in the\n" +
			"profile of --user-data-dir or --attach without --isolated. A case stops at the first step that fails; " +
			"exit code 1 when one does.\n" +
			"An action is done on the active page of the live session with -s, or where the caller's is open and no " +
			"flag asks for a\nbrowser.",
		Example: `  outrider run --open http://127.0.0.1:8080/ --maps ./map/actions.json --action contact.submit_name --args '{"name":"Ada"}' --json
  outrider run smoke.yaml --report junit=smoke.xml --artifacts out/
  outrider run 'plans/**/*.yaml' --workers 4 --grep smoke --secret PW=env:APP_PASSWORD`,
		RunE: func(cmd *cobra.Command, plans []string) error {
			out, err := reports.open(a)
			if err != nil {
				return err
			}
			if len(plans) > 0 {
				if action != "" || cmd.Flags().Changed("args") {
					return usage("run takes a plan or --action, not both")
				}
				if a.origins["session"] == fromCommandLine {
					return usage("-s is for --action: the cases of a plan run in sessions of their own")
				}
				artifacts, leave := a.artifactsFolder(artifacts)
				defer leave()
				if at.URL != "" {
					return a.runPlansOnFleet(cmd.Context(), at, how, which, plans, out, artifacts)
				}
				return a.runPlans(cmd.Context(), which, plans, out, artifacts)
			}
			if action == "" {
				return usage("run needs --action NAME or a plan")
			}
			if cmd.Flags().Changed("report") || cmd.Flags().Changed("history") {
				return usage("--report and --history are for a plan")
			}
			arguments, err := a.jsonArgument("--args", args)
			if err != nil {
				return err
			}
			artifacts, leave := a.artifactsFolder(artifacts)
			defer leave()
			return a.runAction(cmd, session, which, action, arguments, artifacts)
		},
	}
	f := cmd.Flags()
	sessionFlag(f, &session)
	f.StringVar(&action, "action", "", "name of the site action")
	f.StringVar(&args, "args", "{}", "its arguments: a JSON object, @FILE or -")
	f.StringVar(
		&artifacts, "artifacts", "",
		"directory for a screenshot taken after the action, or of each step of a plan that fails",
	)
	reports.add(f)
	at.Add(f, "run the plans there")
	at.AddVerify(f)
	how.Add(f)
	which.Add(f)
	a.addBrowserFlags(cmd)
	a.addStateFlags(cmd)
	return cmd
}

func (a *app) runAction(
	cmd *cobra.Command, session string, p caseFlags, action string, arguments json.RawMessage, artifacts string,
) error {
	o := a.runOptions(artifacts)
	s, err := a.live(cmd, session)
	if err == nil && s != nil {
		err = a.refuseOnLive("heal", "fix", "update-lock")
	}
	if err != nil {
		return err
	}
	if err := o.SetRepair(a.browser.maps, p.UpdateLock, p.Heal, p.Heal || p.Fix); err != nil {
		return err
	}
	if !p.Heal && !p.Fix {
		o.Locks = nil // it ends with what it does not find
	}
	return a.onPage(cmd, s, func(ctx context.Context, h pageHost) error {
		result := plan.Action(ctx, h, action, arguments, o)
		failed := repair.Apply(result.Repairs, p.Fix)
		if a.json {
			a.printJSON(result)
		} else {
			repair.Print(a.stderr, result.Locks, result.Repairs, p.Fix)
			if result.Error != nil {
				_ = a.ending(true, true, failed) // the action's own error decides
				return result.Error
			}
			a.printResult(result.Output)
		}
		return a.ending(result.OK, true, failed)
	})
}

func (a *app) runOptions(artifacts string) plan.Options {
	return a.optionsOfRun(a.hostSettings(), artifacts)
}

// optionsOfRun are the options of a run on a host with settings.
func (a *app) optionsOfRun(s hostSettings, artifacts string) plan.Options {
	return plan.Options{
		NewID:       uuid.NewString,
		CallTimeout: s.callLimit,
		Artifacts:   artifacts,
		Folder:      a.folder("artifacts"),
		Warn:        a.warn,
		Secrets:     s.secrets,
	}
}

// ending is verdict, with what went wrong beside the result.
func (a *app) ending(ok, complete bool, extra error) error {
	for _, err := range repair.Each(extra) {
		var f *fault.Error
		ok, complete = ok && !errors.As(err, &f), false
		a.warn(err)
	}
	return verdict(ok, complete)
}

// verdict is the exit of a verb whose result and reports have been written.
func verdict(ok, complete bool) error {
	switch {
	case !ok:
		return &exit{code: exitFailed}
	case !complete:
		return &exit{code: exitEnvironment}
	}
	return nil
}
