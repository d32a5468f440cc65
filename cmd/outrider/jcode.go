package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/faces/provider/jcode"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

func (a *app) jcodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jcode",
		Short: "Let jcode's browser tool drive this runtime",
		Long: "Put the command that jcode runs for its browser tool in place, take it away, or say how things " +
			"stand: see docs/reference/jcode.md.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.jcodeInstallCommand(), a.jcodeUninstallCommand(), a.jcodeStatusCommand(), a.jcodeRunCommand())
	return cmd
}

func (a *app) jcodeInstallCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "install [-- FLAGS]",
		Short: "Put the command for jcode's browser tool in place",
		Long:  "FLAGS are flags of 'outrider provider' with which each session's background process is started.",
		Example: `  outrider jcode install
  outrider jcode install -- --upload-dir ~/uploads --maps ./sites`,
		RunE: func(_ *cobra.Command, flags []string) error {
			self, err := os.Executable()
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			if check := a.jcodeRunCommand(); check.ParseFlags(flags) != nil || check.Flags().NArg() > 0 {
				return usage("after -- stand flags of 'outrider provider'")
			}
			at, err := jcode.Install(self, flags, force)
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			if a.json {
				a.printJSON(map[string]any{
					"ok":        true,
					"installed": at.Path,
					"runs":      self,
					"flags":     append([]string{}, flags...),
				})
			} else {
				fmt.Fprintf(a.stdout, "installed %s\n", at.Path)
				fmt.Fprintln(
					a.stderr,
					"outrider: set JCODE_BROWSER_AUTO_UPDATE=0 for jcode, so that it does not replace the command",
				)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace another program that is there, and keep it beside")
	return cmd
}

func (a *app) jcodeUninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Take the command away, end the background processes, and put back what was there before",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			was, ended, err := jcode.Uninstall(cmd.Context())
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			if a.json {
				a.printJSON(map[string]any{"ok": true, "removed": was.There, "path": was.Path, "sessions_ended": ended})
			} else if was.There {
				fmt.Fprintf(a.stdout, "removed %s\n", was.Path)
			} else {
				fmt.Fprintf(a.stdout, "nothing was installed at %s\n", was.Path)
			}
			return nil
		},
	}
}

func (a *app) jcodeStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether jcode would drive this runtime, and which sessions run", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := jcode.Installed()
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			sessions := jcode.LiveSessions()
			if a.json {
				list := []map[string]any{}
				for _, s := range sessions {
					list = append(list, map[string]any{"name": s.Name, "pid": s.PID(), "socket": s.Socket()})
				}
				a.printJSON(map[string]any{
					"ok":            true,
					"path":          at.Path,
					"installed":     at.Ours,
					"other_program": at.There && !at.Ours,
					"sessions":      list,
				})
			} else {
				state := map[bool]string{true: "installed", false: "not installed"}[at.Ours]
				if at.There && !at.Ours {
					state = "another program is there"
				}
				fmt.Fprintf(a.stdout, "%s: %s\n", at.Path, state)
				for _, s := range sessions {
					fmt.Fprintf(a.stdout, "session %s: process %d, %s\n", s.Name, s.PID(), s.Socket())
				}
			}
			if !at.Ours {
				return &exit{exitFailed, nil}
			}
			return nil
		},
	}
}

func (a *app) jcodeRunCommand() *cobra.Command {
	var flags providerFlags
	cmd := &cobra.Command{
		Use: "run -- ACTION [PARAMS]", Short: "What jcode runs: one action of its browser tool", Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if err := a.jcodeFace(flags).Run(ctx, args); err != nil {
				fmt.Fprintf(a.stderr, "Error: %s\n", strings.TrimSpace(err.Error()))
				return &exit{exitFailed, nil}
			}
			return nil
		},
	}
	flags.add(cmd)
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) jcodeFace(flags providerFlags) *jcode.Face {
	f := &jcode.Face{
		Out:       a.stdout,
		Log:       a.log,
		Version:   version,
		CallLimit: a.callLimit,
		Idle:      flags.idle,
		FindBrowser: func() error {
			if a.browser.attach != "" {
				return nil
			}
			_, err := browser.Options{
				Path:        a.browser.path,
				Headed:      a.browser.headed,
				UserDataDir: a.browser.userDataDir,
				Full:        runtime.ShellLacks(a.browser.profile, nil),
			}.Find()
			return err
		},
		Serve: func(ctx context.Context, idle time.Duration, do func(context.Context, *provider.Server) error) error {
			flags.idle = idle
			return a.withProvider(ctx, a.hostSettings(), flags, do)
		},
	}
	// The flags are those of this process: they stand before the two dashes.
	if end := slices.Index(os.Args, "--"); end >= 0 {
		f.Self = os.Args[:end+1]
	}
	return f
}
