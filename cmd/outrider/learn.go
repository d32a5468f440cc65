package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// learnCommand is the verb learn.
func (a *app) learnCommand() *cobra.Command {
	var o learn.Options
	var from, to, calls int
	var out, session string
	cmd := &cobra.Command{
		Use:   "learn [RECORDING] [RECORDING]",
		Short: "Make a site action of what was recorded",
		Long: "Turn the calls of a recording into an action: what led nowhere is dropped, elements are named by " +
			"their best locators,\n" +
			"values become arguments, and the end is checked. The action is run again from its start in a fresh " +
			"session before it\n" +
			"is written. Of two recordings of one task only what differs becomes an argument. Exit code 1 when it " +
			"does not run.",
		Example: "  outrider mcp --record task.rec\n  outrider learn task.rec --name orders.add --out maps/",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				return a.learnLive(cmd, session, o, calls, out)
			}
			if err := a.refuseGiven("with a recording", "session", "calls"); err != nil {
				return err
			}
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
	sessionFlag(f, &session)
	f.IntVar(&calls, "calls", 0, "without a recording: so many of the session's last calls (default: all)")
	f.StringVar(&o.Name, "name", "", "name of the action (default: made of the page and the last step)")
	f.StringVar(&o.Start, "start", "", "address that the action starts from (default: where the recording begins)")
	f.IntVar(&from, "from", 0, "number of the first call, from 1")
	f.IntVar(&to, "to", 0, "number of the last call")
	f.StringVar(&out, "out", "", "storage folder to save the action in (default: print its map)")
	f.BoolVar(&o.Unproven, "unproven", false, "write the action also when it could not be run again")
	a.addBrowserFlags(cmd)
	return cmd
}

// longestLearning bounds learning from a live session, which runs the action again and again.
const longestLearning = 5 * time.Minute

// learnLive learns from what a live session has done.
func (a *app) learnLive(cmd *cobra.Command, session string, o learn.Options, calls int, out string) error {
	if err := a.refuseGiven("without a recording", "from", "to", "unproven"); err != nil {
		return err
	}
	s, err := a.live(cmd, session)
	if err != nil {
		return err
	}
	if s == nil {
		return usage("learn needs a recording, or a live session that has done something: see outrider open")
	}
	return a.onPage(cmd, s, func(ctx context.Context, h pageHost) error {
		arguments, err := json.Marshal(learn.Ask{Mode: "learn", Name: o.Name, Start: o.Start, Calls: calls})
		if err != nil {
			return err
		}
		reply := h.Do(ctx, runtime.Call{
			ID:        uuid.NewString(),
			Target:    firstTab(h),
			Name:      runtime.SiteTool,
			Arguments: arguments,
			Timeout:   longestLearning,
		})
		if reply.Err != nil {
			return reply.Err
		}
		var learned learn.Learned
		if err := json.Unmarshal(reply.Output, &learned); err != nil {
			return fault.Wrap(fault.Internal, err, "reading what was learned")
		}
		return learned.Show(out, a.stdout, a.json)
	})
}
