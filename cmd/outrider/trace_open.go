package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/view"
	"github.com/outrider-run/outrider/primitives/fault"
)

// traceOpenCommand is the verb trace open.
func (a *app) traceOpenCommand() *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "open RECORDING",
		Short: "Show a recording in a browser until interrupted",
		Long: "Serve a page that shows a recording, on this machine only, until interrupted. The address has a word " +
			"that\n" +
			"nobody can guess. Scripts of recorded pages do not run in it, and it loads nothing from elsewhere.",
		Example: "  outrider trace open run.rec",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			err := view.Serve(ctx, args[0], port, func(address string) {
				if a.json {
					a.printJSON(map[string]any{"address": address})
				} else {
					fmt.Fprintln(a.stdout, address)
				}
			})
			if fault.CodeOf(err) == fault.InvalidInput {
				return &exit{exitUsage, err}
			}
			return err
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port of 127.0.0.1 (default: a free one)")
	return cmd
}
