package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/asyncwriter"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/internal/operate/profiling"
	"github.com/outrider-run/outrider/internal/operate/traces"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
)

// Exit codes of the contract.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitEnvironment = 3
	exitInterrupted = 130
)

// exit is an error that ends the process with a code. Its error has been shown
// to the user when it is nil.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return &exit{exitUsage, fmt.Errorf(format, args...)} }

// app is shared by all verbs.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	people io.Writer // standard error for a dialogue, which no log format changes

	json      bool
	timeout   time.Duration
	callLimit time.Duration
	logLevel  string
	logFormat string
	pprof     string
	lost      *losses  // what could not be written
	atEnd     []func() // run in reverse order when the verb has ended
	log       *slog.Logger
	browser   browserFlags   // nobody changes them once they are read; see hostSettings
	verb      string         // that runs
	secrets   *mask.Set      // standard output and standard error show none of them
	traces    *traces.Traces // of what calls do; nil for none
	origins   valueOrigins   // of the flags that were given, by their name; see configure

	secretsRead   sync.Once
	secretsFailed error
}

// longestWrite is how long standard output may take for one write after the end of a verb has come.
const longestWrite = 2 * time.Second

func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	secrets := &mask.Set{}
	printed := asyncwriter.New(stdout)
	defer context.AfterFunc(ctx, func() { printed.Drain(longestWrite) })()

	lost := &losses{}
	a := &app{stdin: stdin, secrets: secrets, log: slog.New(slog.DiscardHandler), lost: lost}
	out := secrets.Writer(&output{to: printed, lost: lost, gone: func() {
		if !slices.Contains(endThemselves, a.verb) {
			cancel() // nobody hears it any more
		}
	}})
	words := secrets.Writer(stderr)
	defer func() { _ = words.Close() }()
	a.stdout = out
	a.stderr, a.people = words, words

	root := a.root(args)
	printVersion := root.Flags().BoolP("version", "v", false, "version for outrider")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *printVersion {
			fmt.Fprint(a.stdout, versionText(wantsJSON(args)))
			return nil
		}
		return cmd.Help()
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	a.json = a.json || a.verb == "" && wantsJSON(args) // what is wrong may stand before --json
	for _, end := range slices.Backward(a.atEnd) {
		end()
	}
	code := a.report(ctx, err)
	printed.Drain(longestWrite)
	_ = out.Close() // its error is one of the losses
	for _, err := range lost.end() {
		a.warn(err)
		if code == exitDone {
			code = exitEnvironment
		}
	}
	if lines, ok := a.stderr.(*logLines); ok {
		lines.flush()
	}
	return code
}

// services are the verbs that run until somebody ends them. SIGTERM is a good end for them.
var services = []string{"connect", "hub", "mcp", "provider", "jcode", "worker", "up", "shell-session"}

// endThemselves are verbs that go on when nobody reads what they print: they write reports, and
// end by themselves.
var endThemselves = []string{"run", "check", "prove", "review", "replay", "init", "coverage", "conformance"}

// report shows err, if it was not shown yet, and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	e := exitOf(err)
	if e.err != nil {
		a.showError(e)
	}
	if e.code == exitInterrupted && e.err == nil && slices.Contains(services, a.verb) &&
		errors.Is(context.Cause(ctx), terminated{}) {
		return exitDone
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) && e.code != exitUsage {
		return exitInterrupted
	}
	return e.code
}

// exitOf is an error with the code that the process ends with.
func exitOf(err error) *exit {
	var e *exit
	if errors.As(err, &e) {
		return e
	}
	var f *fault.Error
	switch code := fault.CodeOf(err); {
	case code == fault.BrowserNotFound, code == fault.BrowserFailed:
		return &exit{exitEnvironment, err}
	case code == fault.Internal && !errors.As(err, &f):
		return &exit{exitUsage, err} // cobra's own: unknown verb or flag
	}
	return &exit{exitFailed, err}
}

// flagError is a command line that could not be read.
type flagError struct {
	err  error
	help string // the next step
}

func (e *flagError) Error() string { return e.err.Error() + "\n" + e.help }

func (e *flagError) Unwrap() error { return e.err }

// wantsJSON reports whether a command line or the environment asks for JSON, also where the command line
// cannot be read to its end.
func wantsJSON(args []string) bool {
	json, err := strconv.ParseBool(os.Getenv("OUTRIDER_JSON"))
	if err != nil {
		json = false
	}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		value, given := strings.CutPrefix(arg, "--json=")
		if arg == "--json" {
			value, given = "true", true
		}
		if on, err := strconv.ParseBool(value); given && err == nil {
			json = on
		}
	}
	return json
}

// structuredOf is an error as --json shows it.
func structuredOf(e *exit) *fault.Error {
	var f *fault.Error
	if errors.As(e.err, &f) {
		return f
	}
	if e.code != exitUsage {
		f = fault.From(e.err)
		f.Message = e.err.Error()
		return f
	}
	var unread *flagError
	if errors.As(e.err, &unread) {
		return fault.New(fault.InvalidInput, "%s", unread.err.Error()).Next(unread.help)
	}
	return fault.New(fault.InvalidInput, "%s", e.err.Error())
}

// showError writes an error on standard error, or with --json as an object on standard output. Wrong usage
// is told on both: who reads the terminal of a job looks there.
func (a *app) showError(e *exit) {
	if a.json {
		a.printJSON(map[string]any{"ok": false, "error": structuredOf(e)})
		if e.code != exitUsage {
			return
		}
	}
	var f *fault.Error
	isFault := errors.As(e.err, &f)
	if lines, ok := a.stderr.(*logLines); ok {
		f = structuredOf(e)
		lines.log.Error(plain.Text(f.Message), "code", f.Code, "evidence", f.Evidence, "next_step", f.NextStep)
		return
	}
	if !isFault {
		fmt.Fprintf(a.stderr, "outrider: %v\n", e.err)
		return
	}
	fmt.Fprintf(a.stderr, "outrider: %s\n", f.Line())
	for _, line := range report.EvidenceLines(f) {
		fmt.Fprintf(a.stderr, "  %s\n", line)
	}
	if f.NextStep != "" {
		fmt.Fprintf(a.stderr, "  next: %s\n", f.NextStep)
	}
}

// root is the command with its verbs: of a verb of a live session with that one alone, for it should be over at once.
// args are read again by it.
func (a *app) root(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "outrider",
		Short:         "A browser-automation runtime: declared site actions and primitives on real Chromium tabs",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.HasParent() {
				return nil // help and version need no configuration
			}
			a.verb = cmd.Name()
			if err := a.configure(cmd); err != nil {
				return err
			}
			if err := a.openLog(); err != nil {
				return err
			}
			return a.servePprof()
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exit{exitUsage, &flagError{err, fmt.Sprintf("run '%s --help' for the flags", cmd.CommandPath())}}
	})
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON, and nothing but JSON, on stdout")
	f.DurationVar(&a.timeout, "timeout", 0, "bound on the whole verb (30s, 5m); 0 is none")
	f.DurationVar(&a.callLimit, "call-timeout", 30*time.Second, "bound on one call")
	f.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error; logs go to stderr")
	f.StringVar(&a.logFormat, "log-format", "text", "text or json")
	f.StringVar(
		&a.pprof, "pprof", "",
		"serve profiles of this process at this PORT of 127.0.0.1, or HOST:PORT of this machine, below /debug/pprof/",
	)
	if len(args) > 0 {
		if cmd := a.shellCommand(args[0]); cmd != nil {
			root.AddCommand(cmd)
			completeVerbs(root, a.mapsAtHand)
			group(root)
			return root
		}
	}
	root.AddCommand(
		a.demoCommand(), a.connectCommand(), a.hubCommand(), a.mcpCommand(), a.providerCommand(),
		a.jcodeCommand(), a.callCommand(), a.runCommand(), a.stateCommand(), a.checkCommand(),
		a.workerCommand(), a.fleetCommand(),
		a.traceCommand(), a.reportCommand(), a.replayCommand(), a.validateCommand(), a.exprCommand(),
		a.proveCommand(), a.reviewCommand(),
		a.setupCommand(), a.doctorCommand(), a.versionCommand(),
	)
	root.AddCommand(a.initCommand(), a.recordCommand(), a.learnCommand(), a.locatorsCommand(), a.coverageCommand())
	root.AddCommand(a.generateCommand())
	root.AddCommand(a.shellCommands()...)
	root.AddCommand(browseHelp())
	completeVerbs(root, a.mapsAtHand)
	refuseUnknown(root)
	group(root)
	return root
}

// refuseUnknown has commands that only hold others refuse a word that is none of them, and help one
// that is no command. Without a word they print their help.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = func(_ *cobra.Command, words []string) error {
				found, rest, err := root.Find(words)
				if err != nil || len(rest) > 0 {
					return unknownCommand(found, rest[0])
				}
				return nil
			}
			continue
		}
		if cmd.Runnable() || !cmd.HasSubCommands() {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 {
				return unknownCommand(cmd, words[0])
			}
			return nil
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

func unknownCommand(in *cobra.Command, word string) error {
	text := fmt.Sprintf("unknown command %q for %q", word, in.CommandPath())
	in.SuggestionsMinimumDistance = 2 // cobra sets it only where it suggests by itself
	if near := in.SuggestionsFor(word); len(near) > 0 {
		text += ": did you mean " + strings.Join(near, " or ") + "?"
	}
	help := fmt.Sprintf("run '%s --help' for the commands", in.CommandPath())
	return &exit{exitUsage, &flagError{errors.New(text), help}}
}

func (a *app) openLog() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return usage("--log-level is %q: expected debug, info, warn or error", a.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		a.log = slog.New(slog.NewTextHandler(a.stderr, options))
	case "json":
		a.log = slog.New(slog.NewJSONHandler(a.stderr, options))
		a.stderr = &logLines{log: slog.New(slog.NewJSONHandler(a.stderr, nil))}
	default:
		return usage("--log-format is %q: expected text or json", a.logFormat)
	}
	return nil
}

func (a *app) servePprof() error {
	if a.pprof == "" {
		return nil
	}
	at, stop, err := profiling.Serve(a.pprof)
	if err != nil {
		return usage("--pprof: %w", err)
	}
	a.atEnd = append(a.atEnd, stop)
	fmt.Fprintf(a.stderr, "outrider: profiles at http://%s/debug/pprof/\n", at)
	return nil
}

// bounded applies --timeout.
func (a *app) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.timeout)
}
