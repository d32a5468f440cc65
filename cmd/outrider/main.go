// Command outrider is a browser-automation runtime host: it owns Chromium tabs,
// runs declared site actions and primitives on them, and connects out to the
// bridge that an agent uses. The command line is a contract: see docs/reference/cli.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/outrider-run/outrider/cmd/outrider/gcstart" // before what initialises
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/browser/launch"
)

func main() {
	// Both re-execute this binary: the supervisor of the browser, and the worker
	// that evaluates expressions for the blues engine.
	launch.MaybeSupervise()
	expr.MaybeWorker()

	if len(brokenPipe) > 0 { // none would be all signals
		signal.Notify(make(chan os.Signal, 1), brokenPipe...) // a write says so; the program goes on
	}
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings()...)
	go func() {
		received := <-signals
		signal.Stop(signals) // a second signal ends the process at once
		if received == syscall.SIGTERM {
			stop(terminated{})
			return
		}
		stop(context.Canceled)
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// terminated is the cause of an end that somebody asked for by SIGTERM, as what runs services does.
type terminated struct{}

func (terminated) Error() string { return "terminated" }

// Is makes it an interrupt for all who do not look closer.
func (terminated) Is(target error) bool { return target == context.Canceled }

// endings are the signals after which the program closes everything and writes its reports.
// A program that was started to outlive its terminal, by nohup, does.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	for _, s := range hangUps {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}
