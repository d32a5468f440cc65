package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/cmd/outrider/complete"
	"github.com/outrider-run/outrider/cmd/outrider/config"
	"github.com/outrider-run/outrider/cmd/outrider/reproduce"
	"github.com/outrider-run/outrider/evidence/mask"
	"github.com/outrider-run/outrider/evidence/profiling"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/evidence/traces"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
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

// app is what every verb shares.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	json      bool
	timeout   time.Duration
	callLimit time.Duration
	logLevel  string
	logFormat string
	pprof     string
	atEnd     []func() // run in reverse order when the verb has ended
	log       *slog.Logger
	browser   browserFlags
	cdp       *os.File                               // of --cdp-log, opened once; nil before and without
	face      bool                                   // the verb serves a client, whose calls are remembered
	verb      string                                 // that runs
	secrets   *mask.Set                              // standard output and standard error show none of them
	traces    *traces.Traces                         // of what calls do; nil for none
	onCall    func(runtime.Call) func(runtime.Reply) // hears of every call of the host; nil for nobody
	origins   config.Origins                         // of the flags that were given, by their name; see configure
}

func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	secrets := &mask.Set{}
	out, words := secrets.Writer(stdout), secrets.Writer(stderr)
	defer func() { _, _ = out.Close(), words.Close() }()
	a := &app{stdin: stdin, stdout: out, stderr: words, secrets: secrets, log: slog.New(slog.DiscardHandler)}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	for _, end := range slices.Backward(a.atEnd) {
		end()
	}
	return a.report(ctx, err)
}

// report shows err, if it was not shown yet, and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	e := exitOf(err)
	if e.err != nil {
		a.showError(e)
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

func (a *app) showError(e *exit) {
	var f *fault.Error
	structured := errors.As(e.err, &f)
	if a.json && e.code != exitUsage {
		if !structured {
			f = fault.From(e.err)
			f.Message = e.err.Error()
		}
		a.printJSON(map[string]any{"ok": false, "error": f})
		return
	}
	if !structured {
		fmt.Fprintf(a.stderr, "outrider: %v\n", e.err)
		return
	}
	fmt.Fprintf(a.stderr, "outrider: %s: %s\n", f.Code, f.Message)
	for _, line := range report.EvidenceLines(f) {
		fmt.Fprintf(a.stderr, "  %s\n", line)
	}
	if f.NextStep != "" {
		fmt.Fprintf(a.stderr, "  next: %s\n", f.NextStep)
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "outrider",
		Short:         "A browser-automation runtime: declared site actions and primitives on real Chromium tabs",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
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
		return usage("%w\nrun 'outrider %s --help' for the flags", err, cmd.Name())
	})
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON, and nothing but JSON, on stdout")
	f.DurationVar(&a.timeout, "timeout", 0, "bound on the whole verb (30s, 5m); 0 is none")
	f.DurationVar(&a.callLimit, "call-timeout", 30*time.Second, "bound on one call")
	f.StringVar(&a.logLevel, "log-level", "warn", "debug, info, warn or error; logs go to stderr")
	f.StringVar(&a.logFormat, "log-format", "text", "text or json")
	f.StringVar(&a.pprof, "pprof", "", "serve profiles of this process at this PORT of 127.0.0.1, or HOST:PORT of this machine, below /debug/pprof/")
	root.AddCommand(
		a.demoCommand(), a.connectCommand(), a.hubCommand(), a.mcpCommand(), a.providerCommand(), a.jcodeCommand(), a.callCommand(), a.runCommand(), a.stateCommand(), a.checkCommand(),
		a.workerCommand(), a.fleetCommand(),
		reproduce.Trace(reproducing{a}), reproduce.Replay(reproducing{a}), a.validateCommand(), a.exprCommand(), a.setupCommand(), a.doctorCommand(), a.versionCommand(),
	)
	root.AddCommand(a.authorVerbs()...)
	complete.Verbs(root, a.mapsAtHand)
	return root
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

// cdpLog opens the file of --cdp-log, nil without it.
func (a *app) cdpLog() (io.Writer, error) {
	switch {
	case a.browser.cdpLog == "":
		return nil, nil
	case a.cdp != nil: // a worker opens a browser for each job, and all of them write here
		return a.cdp, nil
	}
	_ = os.MkdirAll(filepath.Dir(a.browser.cdpLog), 0o755) // opening the file says why it cannot be there
	f, err := os.OpenFile(a.browser.cdpLog, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, usage("--cdp-log: %w", err)
	}
	a.cdp = f
	a.atEnd = append(a.atEnd, func() { _ = f.Close() })
	return f, nil
}

// bounded applies --timeout.
func (a *app) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.timeout)
}
