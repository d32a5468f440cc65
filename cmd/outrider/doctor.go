package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/runtime/doctor"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works here and what does not, with the fix for each",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			ctx, stop := context.WithTimeout(ctx, time.Minute)
			defer stop()
			options, err := a.runtimeOptions(a.hostSettings())
			if err != nil {
				return err
			}
			defer options.Engine.Close()
			checks := doctor.Examine(ctx, options)
			bad := slices.ContainsFunc(checks, func(c doctor.Check) bool { return !c.OK })
			if a.json {
				a.printJSON(map[string]any{"ok": !bad, "checks": checks})
			} else {
				for _, c := range checks {
					c.Print(a.stdout)
				}
			}
			return verdict(true, !bad)
		},
	}
	a.addBrowserFlags(cmd)
	return cmd
}
