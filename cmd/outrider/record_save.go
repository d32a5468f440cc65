package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/recent"
	"github.com/outrider-run/outrider/internal/background"
	"github.com/outrider-run/outrider/primitives/fault"
)

// recordSaveCommand is the verb record save.
func (a *app) recordSaveCommand() *cobra.Command {
	var pid int
	var session string
	save := &cobra.Command{
		Use:   "save [FILE]",
		Short: "Write what a running mcp, connect, provider or live session did lately as a recording",
		Long: "Write what the live session of the caller, or a running mcp, connect or provider of this user, did in " +
			"the\nlast half hour as a recording, for replay and trace. FILE must not be there yet; without one " +
			"the name has the time.",
		Example: `  outrider record save bug.rec
  outrider replay bug.rec`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if pid == 0 {
				s, err := a.live(cmd, session)
				if err != nil {
					return err
				}
				if s != nil {
					info, err := s.Info(ctx)
					if err != nil {
						return err
					}
					pid = info.PID
				}
			}
			path := "outrider-" + time.Now().Format("20060102-150405") + ".rec"
			if len(args) > 0 {
				path = args[0]
			}
			saved, err := recent.SaveFrom(ctx, background.Folder(), pid, path)
			if code := fault.CodeOf(err); code == fault.InvalidInput || code == fault.TargetNotFound {
				return &exit{exitUsage, err}
			}
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(saved)
			} else {
				fmt.Fprintf(
					a.stdout, "%s: %d calls, %d failed, of the last %s\n", saved.Path, saved.Calls,
					saved.Failed, (time.Duration(saved.Since) * time.Millisecond).Round(time.Second),
				)
			}
			return nil
		},
	}
	sessionFlag(save.Flags(), &session)
	save.Flags().IntVar(&pid, "pid", 0, "the process, when several run")
	return save
}
