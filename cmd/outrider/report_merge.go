package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/outfile"
	"github.com/outrider-run/outrider/evidence/report"
)

// reportCommand is the verb report.
func (a *app) reportCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "report", Short: "Work with reports"}
	var to reportFlags
	merge := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Join the json reports of shards into one run, in every format",
		Long: "Join the json reports of shards into one run. It prints what run --json prints of all cases, or how " +
			"many tests there are,\nand writes reports. Exit code 0: every shard was well; 1: one was not; 2: a file " +
			"is no json report.",
		Example: "  outrider report merge shards/*.json --report html=report.html,junit=report.xml",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.mergeReports(cmd.Context(), to, args) },
	}
	to.add(merge.Flags())
	cmd.AddCommand(merge)
	return cmd
}

func (a *app) mergeReports(ctx context.Context, to reportFlags, paths []string) error {
	out, err := to.open(a)
	if err != nil {
		return err
	}
	if err := out.spares(paths...); err != nil {
		return err
	}
	var runs []report.Run
	for _, path := range paths {
		content, err := outfile.Read(path, maxPast)
		if err != nil {
			return usage("%w", err)
		}
		pictures := func(path string) ([]byte, error) { return outfile.Read(path, maxPicture) }
		run, err := report.Read(content, path, pictures)
		if err != nil {
			return usage("%s: %w", path, err)
		}
		runs = append(runs, run)
	}
	if err := ctx.Err(); err != nil {
		return ended(ctx)
	}
	run := report.Merge(runs)
	if a.json {
		a.printJSON(run.Printed())
	} else {
		run.Print(a.coloured())
	}
	return verdict(run.OK, a.writeReports(out, run, ""))
}

// maxPicture bounds a picture that a report names.
const maxPicture = 32 << 20
