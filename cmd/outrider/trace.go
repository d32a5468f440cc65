package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/trace"
	"github.com/outrider-run/outrider/primitives/fault"
)

// exportFailed is the end of an export: an interrupt, a recording that is none, or a file that cannot be written.
func exportFailed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return &exit{exitFailed, err}
	case fault.CodeOf(err) == fault.InvalidInput:
		return &exit{exitUsage, err}
	}
	return &exit{exitEnvironment, err}
}

// traceCommand is the verb trace.
func (a *app) traceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "trace", Short: "Look at a recording"}
	cmd.AddCommand(&cobra.Command{
		Use:     "export RECORDING FILE.zip",
		Short:   "Write a recording as a trace that Playwright's viewer opens",
		Example: "  outrider trace export run.rec run.zip && npx playwright show-trace run.zip",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := trace.ExportFile(cmd.Context(), args[0], args[1]); err != nil {
				return exportFailed(cmd.Context(), err)
			}
			if a.json {
				a.printJSON(map[string]any{"ok": true, "trace": args[1]})
			} else {
				fmt.Fprintln(a.stdout, args[1])
			}
			return nil
		},
	})
	cmd.AddCommand(a.traceOpenCommand())
	return cmd
}
