package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

// jcode runs an executable at a fixed place for each action of its browser tool.
// What is put there is a script that runs this binary.

const jcodeMark = "# Outrider's command-line face for jcode; written by: outrider jcode install"

func (a *app) jcodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jcode",
		Short: "Let jcode's browser tool drive this runtime",
		Long:  "Put the command that jcode runs for its browser tool in place, take it away, or say how things stand: see docs/reference/provider.md.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.jcodeInstallCommand(), a.jcodeUninstallCommand(), a.jcodeStatusCommand(), a.jcodeRunCommand())
	return cmd
}

// jcodeExecutable is where jcode looks for its browser command.
func jcodeExecutable() (string, error) {
	home := os.Getenv("JCODE_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", &exit{exitEnvironment, err}
		}
		home = filepath.Join(user, ".jcode")
	}
	return filepath.Join(home, "browser", "browser"), nil
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
			path, err := jcodeExecutable()
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return &exit{exitEnvironment, err}
			}
			if check := a.jcodeRunCommand(); check.ParseFlags(flags) != nil || check.Flags().NArg() > 0 {
				return usage("after -- stand flags of 'outrider provider'")
			}
			if there, ours := jcodeInstalled(path); there && !ours && !force {
				return &exit{exitEnvironment, fmt.Errorf("%s is another program; --force replaces it and keeps it as %s", path, filepath.Base(path)+".before-outrider")}
			} else if there && !ours {
				if err := os.Rename(path, path+".before-outrider"); err != nil {
					return &exit{exitEnvironment, err}
				}
			}
			if err := installScript(path, self, flags); err != nil {
				return &exit{exitEnvironment, err}
			}
			if a.json {
				a.printJSON(map[string]any{"ok": true, "installed": path, "runs": self, "flags": append([]string{}, flags...)})
			} else {
				fmt.Fprintf(a.stdout, "installed %s\n", path)
				fmt.Fprintln(a.stderr, "outrider: set JCODE_BROWSER_AUTO_UPDATE=0 for jcode, so that it does not replace the command")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace another program that is there, and keep it beside")
	return cmd
}

// installScript writes the script in one step: jcode may be running.
func installScript(path, self string, flags []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n%s\nexec %s jcode run", jcodeMark, shellWord(self))
	for _, f := range flags {
		b.WriteString(" " + shellWord(f))
	}
	b.WriteString(` -- "$@"` + "\n")
	fresh := path + "." + uuid.NewString()[:8]
	if err := os.WriteFile(fresh, []byte(b.String()), 0o755); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// shellWord quotes a word for sh.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// jcodeInstalled reports whether there is a browser command, and whether it is
// ours.
func jcodeInstalled(path string) (there, ours bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist), false
	}
	return true, bytes.Contains(content[:min(len(content), 4096)], []byte(jcodeMark))
}

func (a *app) jcodeUninstallCommand() *cobra.Command {
	return &cobra.Command{
		Use: "uninstall", Short: "Take the command away, end the background processes, and put back what was there before", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := jcodeExecutable()
			if err != nil {
				return err
			}
			there, ours := jcodeInstalled(path)
			if there && !ours {
				return &exit{exitEnvironment, fmt.Errorf("%s is another program and stays", path)}
			}
			if there {
				if err := os.Remove(path); err != nil {
					return &exit{exitEnvironment, err}
				}
			}
			if _, err := os.Stat(path + ".before-outrider"); err == nil {
				if err := os.Rename(path+".before-outrider", path); err != nil {
					return &exit{exitEnvironment, err}
				}
			}
			ended := 0
			for _, s := range liveSessions() {
				if s.end(cmd.Context()) == nil {
					ended++
				}
			}
			if a.json {
				a.printJSON(map[string]any{"ok": true, "removed": there, "path": path, "sessions_ended": ended})
			} else if there {
				fmt.Fprintf(a.stdout, "removed %s\n", path)
			} else {
				fmt.Fprintf(a.stdout, "nothing was installed at %s\n", path)
			}
			return nil
		},
	}
}

func (a *app) jcodeStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether jcode would drive this runtime, and which sessions run", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := jcodeExecutable()
			if err != nil {
				return err
			}
			there, ours := jcodeInstalled(path)
			sessions := liveSessions()
			if a.json {
				list := []map[string]any{}
				for _, s := range sessions {
					list = append(list, map[string]any{"name": s.name, "pid": s.pid(), "socket": s.socket()})
				}
				a.printJSON(map[string]any{"ok": true, "path": path, "installed": ours, "other_program": there && !ours, "sessions": list})
			} else {
				state := map[bool]string{true: "installed", false: "not installed"}[ours]
				if there && !ours {
					state = "another program is there"
				}
				fmt.Fprintf(a.stdout, "%s: %s\n", path, state)
				for _, s := range sessions {
					fmt.Fprintf(a.stdout, "session %s: process %d, %s\n", s.name, s.pid(), s.socket())
				}
			}
			if !ours {
				return &exit{exitFailed, nil}
			}
			return nil
		},
	}
}
