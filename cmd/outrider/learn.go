package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/runtime"
)

// learnCommand is the verb learn.
func (a *app) learnCommand() *cobra.Command {
	var o learn.Options
	var from, to int
	var out string
	cmd := &cobra.Command{
		Use:   "learn RECORDING [RECORDING]",
		Short: "Make a site action of what was recorded",
		Long: "Turn the calls of a recording into an action: what led nowhere is dropped, elements are named by " +
			"their best locators,\n" +
			"values become arguments, and the end is checked. The action is run again from its start in a fresh " +
			"session before it\n" +
			"is written. Of two recordings of one task only what differs becomes an argument. Exit code 1 when it " +
			"does not run.",
		Example: "  outrider mcp --record task.rec\n  outrider learn task.rec --name orders.add --out maps/",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, files []string) error {
			var sessions [][]record.Call
			for _, f := range files {
				calls, err := learn.Read(f, from, to)
				if err != nil {
					return usage("%w", err)
				}
				sessions = append(sessions, calls)
			}
			o.NewID, o.Now = uuid.NewString, time.Now
			return a.withHost(cmd.Context(), a.hostSettings(), func(ctx context.Context, h *runtime.Host) error {
				return learn.Command(ctx, h, sessions, o, out, a.stdout, a.json)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "name of the action (default: made of the page and the last step)")
	f.StringVar(&o.Start, "start", "", "address that the action starts from (default: where the recording begins)")
	f.IntVar(&from, "from", 0, "number of the first call, from 1")
	f.IntVar(&to, "to", 0, "number of the last call")
	f.StringVar(&out, "out", "", "storage folder to save the action in (default: print its map)")
	f.BoolVar(&o.Unproven, "unproven", false, "write the action also when it could not be run again")
	a.addBrowserFlags(cmd)
	return cmd
}
