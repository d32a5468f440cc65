package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) runCommand() *cobra.Command {
	var action, args, artifacts string
	var reports reportFlags
	var at fleetFlags
	var how jobFlags
	cmd := &cobra.Command{
		Use:   "run --action NAME [--args JSON] | run PLAN",
		Short: "Run one site action on a page, or a plan of them",
		Long: "Run one site action, or the steps of PLAN: a YAML or JSON file with maps, an address to open and steps, each an action, a state, a call of a\n" +
			"primitive or check, with expect as JSONata over its result. A plan stops at the first step that fails; exit code 1.",
		Example: `  outrider run --open http://127.0.0.1:8080/ --maps ./map/actions.json --action contact.submit_name --args '{"name":"Ada"}' --json
  outrider run smoke.yaml --report junit=smoke.xml --artifacts out/`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, plans []string) error {
			out, err := reports.open(a)
			if err != nil {
				return err
			}
			if len(plans) == 1 {
				if action != "" || cmd.Flags().Changed("args") {
					return usage("run takes a plan or --action, not both")
				}
				if at.url != "" {
					return a.runPlansOnFleet(cmd.Context(), at, how, plans, out, artifacts)
				}
				return a.runPlan(cmd.Context(), plans[0], out, artifacts)
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
			return a.runAction(cmd.Context(), action, arguments, artifacts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&action, "action", "", "name of the site action")
	f.StringVar(&args, "args", "{}", "its arguments: a JSON object, @FILE or -")
	f.StringVar(&artifacts, "artifacts", "", "directory for a screenshot taken after the action, or of each step of a plan that fails")
	reports.add(f)
	at.add(f, "run the plans there")
	how.add(f)
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) runAction(ctx context.Context, action string, arguments json.RawMessage, artifacts string) error {
	return a.withHost(ctx, func(ctx context.Context, h *runtime.Host) error {
		result := plan.Action(ctx, h, action, arguments, a.runOptions(artifacts))
		switch {
		case a.json:
			a.printJSON(result)
			if !result.OK {
				return &exit{code: exitFailed}
			}
		case result.Error != nil:
			return result.Error
		default:
			a.printResult(result.Output)
		}
		return nil
	})
}

func (a *app) runPlan(ctx context.Context, path string, out reports, artifacts string) error {
	engine, err := expr.New(a.browser.engine, nil)
	if err != nil {
		return usage("--expr-engine is %q: expected native or blues", a.browser.engine)
	}
	defer engine.Close()
	p, err := plan.Read(path, engine)
	if err != nil {
		return usage("%w", err)
	}
	if len(a.browser.maps) == 0 {
		a.browser.maps = p.Maps
	}
	if len(a.browser.open) == 0 && p.Open != "" {
		a.browser.open = []string{p.Open}
	}
	return a.withHost(ctx, func(ctx context.Context, h *runtime.Host) error {
		o := a.runOptions(artifacts)
		o.Evidence = out.files.Pictures()
		progress := a.progress()
		o.Starts = progress.Begin
		if !a.json {
			to := a.coloured()
			o.OnStep = func(r plan.StepResult) {
				progress.Clear()
				r.Print(to)
			}
		}
		result := p.Run(ctx, h, o)
		progress.Clear()
		if a.json {
			a.printJSON(result)
		}
		complete := a.writeReports(out, p.Report(result), "")
		if errors.Is(ctx.Err(), context.Canceled) {
			return ended(ctx)
		}
		return verdict(result.OK, complete)
	})
}

func (a *app) runOptions(artifacts string) plan.Options {
	return plan.Options{NewID: uuid.NewString, CallTimeout: a.callLimit, Artifacts: artifacts, Folder: a.folder("artifacts"), Warn: a.warn}
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
