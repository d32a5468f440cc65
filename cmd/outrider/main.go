// Command outrider is a browser-automation runtime host: it owns Chromium tabs,
// runs declared site actions and primitives on them, and connects out to the
// bridge that an agent uses. The command line is a contract: see docs/reference/cli.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/outrider-run/outrider/cmd/outrider/early" // before what initialises
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
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

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
