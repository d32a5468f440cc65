package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

func (a *app) setupCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Find or install Chromium and the headless shell, and say which is used",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if path == "" && os.Getenv(launch.PathEnv) == "" {
				if err := a.installBrowsers(ctx); err != nil {
					return err
				}
			}
			found, err := launch.Find(path, "")
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(map[string]any{
					"ok": true, "path": found.Path, "kind": found.Kind(), "source": found.Source,
				})
				return nil
			}
			fmt.Fprintln(a.stdout, found.Path)
			return nil
		},
	}
	cmd.Flags().StringVar(
		&path, "browser", "", "shell, chromium or a path: say where it is instead of what a run would take",
	)
	return cmd
}

// installBrowsers installs what is missing of Chromium and the headless shell. The shell is no must.
func (a *app) installBrowsers(ctx context.Context) error {
	_, err := launch.Find(launch.Chromium, "")
	if errors.Is(err, fault.BrowserNotFound) {
		err = launch.Install(ctx, err, a.stderr)
	}
	if _, missing := launch.Find(launch.Shell, ""); missing != nil {
		launch.InstallShell(ctx, a.stderr)
		return err
	}
	return nil // the shell is enough where Chromium cannot be installed
}
