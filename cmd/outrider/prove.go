package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/plan"
)

// proveFlags are the flags of prove alone.
type proveFlags struct {
	minScore int
	budget   string
}

func (a *app) proveCommand() *cobra.Command {
	var reports reportFlags
	which := runOnce()
	var how proveFlags
	cmd := &cobra.Command{
		Use:   "prove PLAN... | prove --maps PATH --open URL",
		Short: "Say what plans would not notice",
		Long: "Run plans, and after each step change the page as a person could notice it: another text, a missing\n" +
			"or doubled item, swapped labels, a control that is disabled or does nothing. A change is undone before\n" +
			"the page goes on. Where no expectation of the plan notices one, an assertion that does is printed,\n" +
			"ready to paste: it was run, fails on the change and holds on the page, in a second run too. Answers of\n" +
			"500 and other pages are runs of their own, only on this machine or where the plan says\n" +
			"repeatable: true. The score is the part of the changes that is noticed.",
		Example: `  outrider prove smoke.plan.yaml
  outrider prove plans/ --min-score 80 --report junit=prove.xml,html=prove.html`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			out, err := reports.open(a)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				if len(a.browser.maps) == 0 || len(a.browser.open) == 0 {
					return usage("prove needs a plan, or --maps and --open")
				}
				file, remove, err := checksPlan()
				if err != nil {
					return err
				}
				defer remove()
				paths = []string{file}
			}
			return a.provePlans(cmd.Context(), which, how, paths, out)
		},
	}
	f := cmd.Flags()
	reports.add(f)
	listVar(f, &which.vars, "var", "variable of plans: NAME=VALUE (repeatable)")
	f.StringVar(&which.VarsFile, "vars", "", "YAML or JSON file with variables of plans")
	f.StringVar(&which.grep, "grep", "", "prove only cases whose name or tag matches this regular expression")
	f.IntVar(&how.minScore, "min-score", 0, "exit with 1 when the score of a case is below, in percent")
	f.StringVar(
		&how.budget, "budget", "3x", "how often the time of a plan its proof may take; what is left out is said",
	)
	a.addBrowserFlags(cmd)
	a.addStateFlags(cmd)
	return cmd
}

// checksPlan is a plan whose one step is every check of the page's maps.
func checksPlan() (file string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "outrider-prove-")
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, "checks.plan.yaml")
	return file, func() { _ = os.RemoveAll(dir) }, os.WriteFile(file, []byte("steps: [{check: true}]\n"), 0o600)
}

func (a *app) provePlans(ctx context.Context, p caseFlags, how proveFlags, paths []string, out reports) error {
	times, suffixed := strings.CutSuffix(how.budget, "x")
	budget, err := strconv.ParseFloat(times, 64)
	if within := budget >= 2 && budget <= 100; err != nil || !suffixed || !within {
		return usage("--budget is %q: expected 2x to 100x", how.budget)
	}
	if how.minScore < 0 || how.minScore > 100 {
		return usage("--min-score is %d: expected 0 to 100", how.minScore)
	}
	return a.judge(ctx, p, paths, out, func(
		ctx context.Context, suite *plan.Suite, b plan.Browser, o plan.Options,
	) error {
		progress := a.progress()
		o.Starts = progress.Begin
		proofs := suite.Prove(ctx, b, plan.ProveOptions{Options: o, Budget: budget})
		progress.Clear()
		return a.proved(ctx, proofs, how.minScore, out)
	})
}

// proved shows proofs and writes their reports.
func (a *app) proved(ctx context.Context, proofs []plan.Proof, minScore int, out reports) error {
	run := plan.ProofReport(proofs, minScore)
	if a.json {
		a.printJSON(run.Result)
	} else {
		for _, one := range proofs {
			one.Print(a.coloured(), minScore)
		}
	}
	complete := a.writeReports(out, run, "")
	if err := ended(ctx); err != nil {
		return err
	}
	return verdict(run.OK, complete)
}
