package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/faces/shell"
	"github.com/outrider-run/outrider/internal/owner"
	"github.com/outrider-run/outrider/internal/ownfolder"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
)

// browseGroup is the heading of the verbs of a session in the help.
const browseGroup = "browse"

// sessionEnv names the session of all commands below a process.
const sessionEnv = "OUTRIDER_SESSION"

// shellCommands are the verbs of a live session.
func (a *app) shellCommands() []*cobra.Command {
	list := []*cobra.Command{a.openCommand(), a.doCommand(), a.sessionsCommand(), a.closeCommand(), a.skillCommand()}
	for _, v := range shell.Verbs() {
		if v.Name != "open" && v.Name != "check" { // which have flags of their own, or another meaning too
			list = append(list, a.verbCommand(v))
		}
	}
	for _, cmd := range list {
		cmd.GroupID = browseGroup
	}
	return append(list, a.shellSessionCommand())
}

// shellCommand is the verb of a live session of this name; nil where there is none.
func (a *app) shellCommand(name string) *cobra.Command {
	if name == "open" || name == "check" {
		return nil
	}
	for _, v := range shell.Verbs() {
		if v.Name == name {
			cmd := a.verbCommand(v)
			cmd.GroupID = browseGroup
			return cmd
		}
	}
	return nil
}

// sessionFlag declares -s. An unnamed session is the caller's own.
func sessionFlag(f *pflag.FlagSet, name *string) {
	f.StringVarP(name, "session", "s", "", "session that others may use too (default: that of the caller)")
}

// sessionOf is the session that a command is for, and its owner where it has one.
func sessionOf(name string) (shell.Session, owner.Process, error) {
	if name == "" {
		name = os.Getenv(sessionEnv)
	}
	if name != "" {
		s, err := shell.Named(name)
		if err != nil {
			return s, owner.Process{}, &exit{exitUsage, err}
		}
		return s, owner.Process{}, nil
	}
	return shell.Own()
}

// verbCommand is one verb of a session.
func (a *app) verbCommand(v shell.Verb) *cobra.Command {
	var name string
	var given *shell.Given
	cmd := &cobra.Command{
		Use: strings.TrimSpace(v.Name + " " + v.Usage), Short: v.Short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			given.Changed(cmd.Flags().Changed)
			steps, err := v.Steps(given, words)
			if err != nil {
				return shellUsage(cmd, err)
			}
			s, _, err := sessionOf(name)
			if err != nil {
				return err
			}
			return a.runSteps(cmd.Context(), s, steps)
		},
	}
	given = v.Flags(cmd.Flags())
	sessionFlag(cmd.Flags(), &name)
	return cmd
}

func shellUsage(cmd *cobra.Command, err error) error {
	return &exit{exitUsage, &flagError{err, "outrider " + cmd.Use}}
}

// doCommand runs several commands of a session.
func (a *app) doCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "do [COMMANDS]",
		Short: "Run several commands of a session, which a semicolon or a line ends",
		Long: "Run several commands of a session in one go. They stop at the first that fails, whose number the " +
			"error says.\nWithout COMMANDS they are read from standard input.",
		Example: `  outrider do 'fill "Name" Ada; click button:Save; snapshot --changed'`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			text := "-"
			if len(words) > 0 {
				text = words[0]
			}
			read, err := a.textArgument("COMMANDS", text)
			if err != nil {
				return err
			}
			commands, err := shell.Commands(string(read))
			if err != nil {
				return &exit{exitUsage, err}
			}
			if len(commands) == 0 {
				return usage("there is no command to run")
			}
			var steps []shell.Step
			for i, words := range commands {
				more, err := shell.Parse(words)
				if err != nil {
					return usage("command %d: %w", i+1, err)
				}
				steps = append(steps, more...)
			}
			s, own, err := sessionOf(name)
			if err != nil {
				return err
			}
			if commands[0][0] == "open" && !s.Open(cmd.Context()) {
				if err := a.startSession(cmd, s, own, sessionTimes{}); err != nil {
					return err
				}
			}
			return a.runSteps(cmd.Context(), s, steps)
		},
	}
	sessionFlag(cmd.Flags(), &name)
	return cmd
}

// runSteps does steps on a session and prints what comes of each.
func (a *app) runSteps(ctx context.Context, s shell.Session, steps []shell.Step) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	err := s.Run(ctx, steps, a.showAnswer)
	var f *fault.Error
	if errors.As(err, &f) && !a.json {
		a.brief(f)
		return &exit{code: exitOf(err).code}
	}
	return err
}

// brief writes an error in the few lines that an agent reads. --json has all that is known.
func (a *app) brief(f *fault.Error) {
	line := f.Line()
	if step, ok := f.Evidence["step"]; ok {
		line = fmt.Sprintf("command %v (%v): %s", step, f.Evidence["command"], line)
	}
	fmt.Fprintln(a.stderr, "outrider: "+plain.Text(line))
	if f.NextStep != "" {
		fmt.Fprintln(a.stderr, "  next: "+plain.Text(f.NextStep))
	}
}

// showAnswer prints what came of a step: with --json its result on one line, else its text.
func (a *app) showAnswer(answer shell.Answer) error {
	result, err := answer.Take()
	var f *fault.Error
	if err != nil && !errors.As(err, &f) {
		return &exit{exitEnvironment, fault.New(fault.CapabilityUnavailable, "the file is not written: %v", err)}
	}
	if err != nil {
		return err
	}
	for _, line := range answer.Said {
		fmt.Fprintln(a.stderr, "outrider: "+line)
	}
	if a.json {
		result["ok"] = true
		a.printJSON(result)
		return nil
	}
	_, err = io.WriteString(a.stdout, strings.TrimRight(answer.Print(result), "\n")+"\n")
	return err
}

// sessionTimes are when a session ends.
type sessionTimes struct{ idle, linger time.Duration }

// openCommand opens an address in the session, which it starts.
func (a *app) openCommand() *cobra.Command {
	var name string
	var times sessionTimes
	cmd := &cobra.Command{
		Use:   "open [URL]",
		Short: "Open an address in the live session, which is started when there is none",
		Long: "Open an address in the live session of the caller, or in the one that -s names. The session is a " +
			"process of its own with a browser;\nit is started by the first open, with the flags of that open, and " +
			"ends with close, with its caller, or when nobody uses it.",
		Example: `  outrider open example.com
  outrider open http://localhost:8080 -s shop --viewport 1280x720`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			steps, err := shell.Parse(append([]string{"open"}, words...))
			if err != nil {
				return shellUsage(cmd, err)
			}
			s, own, err := sessionOf(name)
			if err != nil {
				return err
			}
			if !s.Open(cmd.Context()) {
				err = a.startSession(cmd, s, own, times)
			} else if given := a.sessionArgs(cmd); len(given) > 0 {
				flag, _, _ := strings.Cut(given[0], "=")
				err = usage("%s counts when a session is opened, and this one is open: close it first", flag)
			}
			if err != nil {
				return err
			}
			if !a.json {
				fmt.Fprintf(a.stdout, "session %s\n", s.Name)
			}
			return a.runSteps(cmd.Context(), s, steps)
		},
	}
	f := cmd.Flags()
	sessionFlag(f, &name)
	f.DurationVar(&times.idle, "idle", time.Hour, "the session ends when nobody has used it for so long")
	f.DurationVar(&times.linger, "linger", 30*time.Second, "a session without a name ends so long after its caller")
	a.addBrowserFlags(cmd)
	return cmd
}

// startSession starts the process of a session.
func (a *app) startSession(cmd *cobra.Command, s shell.Session, own owner.Process, times sessionTimes) error {
	args := []string{os.Args[0], "shell-session", "--name", s.Name}
	if s.Shared {
		args = append(args, "--shared")
	}
	if own.PID != 0 {
		args = append(args, "--owner", fmt.Sprintf("%d:%d", own.PID, own.Started))
	}
	if times.idle > 0 {
		args = append(args, "--idle", times.idle.String(), "--linger", times.linger.String())
	}
	ctx, cancel := a.bounded(cmd.Context())
	defer cancel()
	return s.Start(ctx, append(args, a.sessionArgs(cmd)...))
}

// sessionArgs are the flags of a command line that its session is started with. The session reads the environment and
// the files of the configuration itself.
func (a *app) sessionArgs(cmd *cobra.Command) []string {
	own := []string{"session", "idle", "linger", "json", "timeout"}
	var args []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if a.origins[f.Name] != fromCommandLine || slices.Contains(own, f.Name) {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+value)
			}
			return
		}
		args = append(args, "--"+f.Name+"="+f.Value.String())
	})
	return args
}

// sessionsCommand lists the live sessions.
func (a *app) sessionsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "sessions", Short: "List the live sessions of this user", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			list := shell.Sessions(ctx)
			ownfolder.Sweep("", downloadsPrefix)
			if a.json {
				a.printJSON(map[string]any{"ok": true, "sessions": append([]shell.Info{}, list...)})
				return nil
			}
			for _, s := range list {
				fmt.Fprintln(a.stdout, s.Line(time.Now(), version))
			}
			if len(list) == 0 {
				fmt.Fprintln(a.stdout, "no session is open")
			}
			return nil
		},
	}
}

// closeCommand ends live sessions.
func (a *app) closeCommand() *cobra.Command {
	var name string
	var all bool
	cmd := &cobra.Command{
		Use: "close", Short: "End the live session, its browser included", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			var names []string
			if all {
				for _, info := range shell.Sessions(ctx) {
					names = append(names, info.Name)
				}
			} else {
				s, _, err := sessionOf(name)
				if err != nil {
					return err
				}
				if !s.Open(ctx) {
					return s.NotFound()
				}
				names = []string{s.Name}
			}
			for _, name := range names {
				s, err := shell.Named(name)
				if err == nil {
					err = s.Close(ctx)
				}
				if err != nil {
					return fault.Wrap(fault.CodeOf(err), err, "closing the session %s", name)
				}
			}
			if a.json {
				a.printJSON(map[string]any{"ok": true, "closed": append([]string{}, names...)})
				return nil
			}
			for _, name := range names {
				fmt.Fprintf(a.stdout, "closed %s\n", name)
			}
			return nil
		},
	}
	sessionFlag(cmd.Flags(), &name)
	cmd.Flags().BoolVar(&all, "all", false, "every session of this user")
	return cmd
}

// setBox is check with a target: it sets a box of the live session.
func (a *app) setBox(ctx context.Context, session string, words []string) error {
	steps, err := shell.Parse(append([]string{"check"}, words...))
	if err != nil {
		return &exit{exitUsage, err}
	}
	s, _, err := sessionOf(session)
	if err != nil {
		return err
	}
	return a.runSteps(ctx, s, steps)
}

// groups are the headings of the help, and the verbs below them.
var groups = []struct {
	id, title string
	verbs     []string
}{
	{browseGroup, "Browse, in a live session (outrider help browse):", nil},
	{
		"maps", "Maps of sites:",
		[]string{"init", "record", "learn", "locators", "validate", "coverage", "state", "expr", "generate"},
	},
	{"ci", "Run and prove:", []string{"run", "check", "prove", "review", "call", "replay", "report", "trace", "demo"}},
	{"serve", "Serve agents and bridges:", []string{"mcp", "hub", "connect", "provider", "jcode"}},
	{"fleet", "Many machines:", []string{"fleet", "worker"}},
	{"more", "More:", []string{"setup", "doctor", "version", "completion", "help"}},
}

// group puts the verbs below their headings.
func group(root *cobra.Command) {
	byName := map[string]string{}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range g.verbs {
			byName[name] = g.id
		}
	}
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	for _, cmd := range root.Commands() {
		if id := byName[cmd.Name()]; id != "" {
			cmd.GroupID = id
		}
	}
}

// browseHelp is all that an agent needs, as a topic of the help.
func browseHelp() *cobra.Command {
	var b strings.Builder
	b.WriteString("A live session is a browser that stays between commands. Without -s NAME it belongs to the " +
		"caller.\n\n")
	b.WriteString("  open [URL]  close  sessions  do COMMANDS  skill\n")
	for _, v := range shell.Verbs() {
		if v.Name != "open" {
			fmt.Fprintf(&b, "  %s: %s\n", strings.TrimSpace(v.Name+" "+v.Usage), v.Short)
		}
	}
	b.WriteString("\nTARGET: a ref of a snapshot (e12), a role and a name (button:Save), the label of a field, " +
		"text=...,\nnear=..., a CSS selector (#id), or --role, --name, --label, --selector, --nth.\n" +
		"check without TARGET, state, call, run --action, learn and record save work on the live session too.\n" +
		"do takes commands with ; or a line between them and stops at the first that fails.\n" +
		"Exit code: 0 done, 1 not done, 2 wrong usage, 3 no browser. --json prints JSON.\n")
	return &cobra.Command{Use: "browse", Short: "Verbs of a live session", Long: b.String()}
}
