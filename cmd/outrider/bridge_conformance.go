package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/conformance/bridgekit"
)

// conformanceFlags are the flags that turn connect and hub into tests of others.
type conformanceFlags struct {
	on      bool
	agent   string // of connect
	reports reportFlags
}

func (c *conformanceFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&c.on, "conformance", false, what)
	c.reports.add(cmd.Flags())
}

// check refuses flags that count with --conformance only.
func (c *conformanceFlags) check(a *app) error {
	if c.on {
		return nil
	}
	return a.refuseGiven("without --conformance", "agent", "report", "history")
}

// testBridge plays runtimes and an agent against a bridge.
func (a *app) testBridge(ctx context.Context, c *conformanceFlags, target, token string) error {
	opts, err := bridgekit.BridgeAt(target, c.agent, token)
	if err != nil {
		return usage("%w", err)
	}
	opts.OnResult = a.printCheck
	return a.conformed(c, func() (bridgekit.Report, error) { return bridgekit.Bridge(ctx, opts) })
}

// testRuntime plays a bridge against the runtime that connects first.
func (a *app) testRuntime(ctx context.Context, c *conformanceFlags, listen string) error {
	l, err := bridgekit.Listen(listen, a.log)
	if err != nil {
		return listenFailed(err, "--listen", listen)
	}
	defer l.Close()
	fmt.Fprintf(a.stderr, "waiting for a runtime at %s, or for the Chrome extension at %s\n", l.URL(), l.PairingURL())
	opts := bridgekit.RuntimeOptions{Accept: l.Accept, TextOnly: l.Polled, OnResult: a.printCheck}
	return a.conformed(c, func() (bridgekit.Report, error) { return bridgekit.Runtime(ctx, opts) })
}

// conformed runs a kit. A peer that fails a required check fails the verb.
func (a *app) conformed(c *conformanceFlags, kit func() (bridgekit.Report, error)) error {
	out, err := c.reports.open(a)
	if err != nil {
		return err
	}
	report, err := kit()
	if err != nil {
		return &exit{exitEnvironment, err}
	}
	if a.json {
		a.printJSON(report)
	} else if err := report.Summary(a.stdout); err != nil {
		return err
	}
	if !a.writeReports(out, report.Run(), "") || !report.OK {
		return &exit{exitFailed, nil}
	}
	return nil
}

func (a *app) printCheck(r bridgekit.Result) {
	if !a.json {
		fmt.Fprintln(a.stdout, r.Line())
	}
}
