package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

func (a *app) setupCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Find or install Chromium and say which",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			found, err := launch.Find(path)
			if errors.Is(err, fault.BrowserNotFound) && path == "" {
				if err := launch.Install(ctx, err, a.stderr); err != nil {
					return err
				}
				found, err = launch.Find("")
			}
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(map[string]any{"ok": true, "path": found.Path, "source": found.Source})
				return nil
			}
			fmt.Fprintln(a.stdout, found.Path)
			return nil
		},
	}
	cmd.Flags().StringVar(&path, "browser", "", "path of Chrome or Chromium to check instead of searching")
	return cmd
}
