package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/lint"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/plan/spec"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

func (a *app) validateCommand() *cobra.Command {
	var (
		engineName, profile string
		drafts, judge       bool
		plans               []string
		to                  string
	)
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check site maps without a browser",
		Long: "Check actions.json files, or storage folders, against every rule of schema v1: fields and types, " +
			"identifiers,\n" +
			"references, schemas, workflows, expressions, primitive names and their arguments. What is certain to be " +
			"refused in a\n" +
			"call is an error too: abstract steps, arguments and steps that nothing declares, selectors that no " +
			"browser reads,\n" +
			"and an action that two maps of a scope have for the same pages. Exit code 1 when a map is invalid.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			set, ok := quirks.Profile(profile)
			if !ok {
				return usage("--profile is %q: expected strict or extension", profile)
			}
			if to != "" && !strings.HasPrefix(to, "sarif=") {
				return usage("--report is %q: validate writes sarif=FILE", to)
			}
			how := runtime.MapsIn(set)
			how.AcceptDrafts = drafts
			how.Arguments = runtime.ArgumentsRefused
			how.Whole = true
			if set.Has(quirks.LenientArguments) {
				how.Arguments = runtime.ArgumentsCoerced
			}
			engine, err := expr.New(engineName, nil)
			if err != nil {
				return usage("--expr-engine is %q: expected native or blues", engineName)
			}
			defer engine.Close()
			_, reports := runtime.LoadMaps(files, catalog.Standard(), engine, how)
			if err := withMaps(reports); err != nil {
				return err
			}
			bad := 0
			for _, r := range reports {
				if !r.OK {
					bad++
				}
			}
			var calls []lint.Call
			for _, path := range plans {
				p, err := spec.Read(path, engine)
				if err != nil {
					return usage("--plan: %w", err)
				}
				for _, step := range p.Steps {
					calls = append(calls, lint.CallOf(step.Action, step.Args))
				}
			}
			var judged []lint.File
			if judge || to != "" {
				judged = lint.Files(reports, calls)
			}
			switch {
			case a.json && judge:
				a.printJSON(judged)
			case a.json:
				if reports == nil {
					reports = []sites.FileReport{}
				}
				a.printJSON(reports)
			default:
				for _, r := range reports {
					a.printReport(r)
				}
				for _, f := range judged {
					if !judge {
						break // only the report wants them
					}
					f.Lint.Print(a.stdout, f.Path)
				}
				fmt.Fprintf(a.stdout, "%s, %d invalid\n", report.Count(len(reports), "map"), bad)
			}
			if sarif, ok := strings.CutPrefix(to, "sarif="); ok {
				if err := lint.WriteSARIF(sarif, version, judged); err != nil {
					a.warn(err)
					return verdict(bad == 0, false)
				}
			}
			if bad > 0 {
				return &exit{code: exitFailed}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(
		&judge, "lint", false,
		"also say what could be better, with a score: postconditions, locators, states, identities, arguments",
	)
	listVar(
		cmd.Flags(), &plans, "plan",
		"plan whose calls of actions --lint looks at for arguments that never vary (repeatable)",
	)
	cmd.Flags().StringVar(&to, "report", "", "sarif=FILE: errors, warnings and what --lint says")
	cmd.Flags().BoolVar(
		&drafts, "accept-drafts", false, "read maps that deviate from schema v1 in the ways real ones do, and warn",
	)
	cmd.Flags().StringVar(
		&profile, "profile", quirks.StrictProfile,
		"strict, or extension: what the upstream extension reads or mends is a warning, not an error",
	)
	cmd.Flags().StringVar(&engineName, "expr-engine", "", "JSONata engine: native or blues (default "+expr.Default+")")
	return cmd
}

// withMaps refuses folders in which there is no map: they would count as maps that are well.
func withMaps(reports []sites.FileReport) error {
	for _, r := range reports {
		missing := func(p manifest.Problem) bool { return p.Code == fault.StorageFileNotFound }
		if slices.ContainsFunc(r.Warnings, missing) {
			return usage("the folder %s has no actions.json", r.Path)
		}
	}
	return nil
}

// printReport writes the problems of one map for people: on stderr, except for
// the verb whose data they are.
func (a *app) printReport(r sites.FileReport) {
	word := "ok"
	if !r.OK {
		word = "invalid"
	} else if len(r.Left) > 0 {
		word = "ok but for what is invalid, which cannot be used"
	}
	fmt.Fprintf(a.stderr, "%s: %s\n", r.Path, word)
	for _, p := range slices.Concat(r.Errors, r.Left) {
		fmt.Fprintf(a.stderr, "  error    %-32s %s: %s", cmp.Or(p.Pointer, "(root)"), p.Code, p.Message)
		if p.Remedy != "" {
			fmt.Fprintf(a.stderr, "; %s", p.Remedy)
		}
		fmt.Fprintln(a.stderr)
	}
	for _, p := range slices.Sorted(maps.Keys(r.Needs)) {
		given := "given by --allow-maps " + string(r.Scope) + "=" + string(p)
		if r.Scope != location.Shared && r.Scope != location.Public {
			given = "which your own maps have"
		}
		fmt.Fprintf(a.stderr, "  needs    %-32s %s\n", string(p)+", "+given+":", strings.Join(r.Needs[p], ", "))
	}
	for _, p := range r.Warnings {
		fmt.Fprintf(a.stderr, "  warning  %-32s %s: %s\n", cmp.Or(p.Pointer, "(root)"), p.Code, p.Message)
	}
}
