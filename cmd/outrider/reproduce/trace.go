package reproduce

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/primitives/fault"
)

// exportFailed is the end of an export: an interrupt, a recording that is none, or a file that cannot be written.
func exportFailed(a App, ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return a.Exit(exitFailed, err)
	case fault.CodeOf(err) == fault.InvalidInput:
		return a.Exit(exitUsage, err)
	}
	return a.Exit(exitEnvironment, err)
}

// Trace is the verb trace.
func Trace(a App) *cobra.Command {
	cmd := &cobra.Command{Use: "trace", Short: "Look at a recording"}
	cmd.AddCommand(&cobra.Command{
		Use:     "export RECORDING FILE.zip",
		Short:   "Write a recording as a trace that Playwright's viewer opens",
		Example: "  outrider trace export run.rec run.zip && npx playwright show-trace run.zip",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := trace.ExportFile(cmd.Context(), args[0], args[1]); err != nil {
				return exportFailed(a, cmd.Context(), err)
			}
			if g := a.Given(); g.JSON {
				a.PrintJSON(map[string]any{"ok": true, "trace": args[1]})
			} else {
				fmt.Fprintln(g.Out, args[1])
			}
			return nil
		},
	})
	cmd.AddCommand(open(a))
	return cmd
}
