package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/trace"
)

// traceCommand is the verb trace.
func (a *app) traceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "trace", Short: "Look at a recording"}
	cmd.AddCommand(&cobra.Command{
		Use:     "export RECORDING FILE.zip",
		Short:   "Write a recording as a trace that Playwright's viewer opens",
		Example: "  outrider trace export run.rec run.zip && npx playwright show-trace run.zip",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := trace.ExportFile(args[0], args[1]); err != nil {
				return &exit{exitUsage, err}
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
