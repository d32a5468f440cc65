package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"

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
				if err := a.installChromium(ctx, err); err != nil {
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

// installChromium installs Chromium where it can do so without a prompt: as
// root with apt-get. Elsewhere it returns missing, which names the command.
func (a *app) installChromium(ctx context.Context, missing error) error {
	apt, err := exec.LookPath("apt-get")
	if goruntime.GOOS != "linux" || os.Geteuid() != 0 || err != nil {
		return missing
	}
	fmt.Fprintln(a.stderr, "outrider: installing chromium with apt-get")
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "chromium", "fonts-liberation"}} {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			tail := out.Bytes()
			if len(tail) > 2000 {
				tail = tail[len(tail)-2000:]
			}
			fmt.Fprintf(a.stderr, "%s\n", tail)
			return fault.Wrap(fault.BrowserNotFound, err, "installing chromium with apt-get").Next("install Chromium by hand, or set OUTRIDER_BROWSER to its path")
		}
	}
	return nil
}
