package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/cmd/outrider/gcstart"
	"github.com/outrider-run/outrider/internal/operate/ops"
	"github.com/outrider-run/outrider/internal/operate/traces"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

// opsFlag adds --ops to a verb that runs until it is interrupted.
func opsFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(
		address, "ops", "", "serve /healthz, /readyz and /metrics (Prometheus) at this PORT of 127.0.0.1, or HOST:PORT",
	)
}

// opsFlags are those of the verbs that serve calls until they are interrupted.
type opsFlags struct {
	address string
	drain   time.Duration
}

func (o *opsFlags) add(cmd *cobra.Command) {
	opsFlag(cmd, &o.address)
	cmd.Flags().DurationVar(
		&o.drain, "drain-timeout", 0, "how long an interrupt waits for calls that were accepted; 0 cancels them",
	)
}

// defaultMaxTabs is more than anybody works with, and few enough that a page which opens windows
// without end does not take the machine.
const defaultMaxTabs = 50

// limitFlags are the flags of what pages may take.
func (a *app) limitFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(
		&a.browser.maxTabs, "max-tabs", defaultMaxTabs, "how many tabs there may be, popups included; 0 is any number",
	)
	f.StringVar(
		&a.browser.tabMemory, "tab-memory", "",
		"how much memory scripts and document of a tab may hold, such as 512MB (default: any)",
	)
	a.maxStateFlag(cmd)
}

func (a *app) maxStateFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.browser.maxState, "max-state", "16MB", "how much of a page one call may read for a state")
}

// limits reads them.
func (a *app) limits(b *browserFlags) (l runtime.Limits, err error) {
	l.Tabs = b.maxTabs
	if a.origins["max-tabs"] == byDefault && b.maxTabs > 0 {
		l.Tabs = max(l.Tabs, len(b.open)) // who names more tabs than the default wants them
	} else if b.maxTabs < 0 || b.maxTabs > 0 && b.maxTabs < len(b.open) {
		return l, usage("--max-tabs is %d: expected 0, or at least the number of tabs that --open opens", b.maxTabs)
	}
	l.TabMemory, err = parseBytes(b.tabMemory)
	if err != nil {
		return l, usage("--tab-memory is %w", err)
	}
	l.StateBytes, err = parseBytes(b.maxState)
	if err != nil || l.StateBytes > 1<<30 {
		return l, usage("--max-state is %q: expected 1MB to 1GB", b.maxState)
	}
	return l, nil
}

// sendTraces sends what calls do to where the environment says, until stop.
func (a *app) sendTraces(ctx context.Context) (stop func(), err error) {
	t, err := traces.Open(ctx, version, a.log)
	if err != nil {
		return nil, usage("traces: %w", err)
	}
	a.traces = t
	return func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := t.Close(closing); err != nil {
			a.log.Warn("sending the last traces", "error", err)
		}
	}, nil
}

// newOps is for the verbs that serve until they are interrupted.
func newOps(waiting string) *ops.Ops {
	gcstart.Lasting()
	return ops.New(version, append(catalog.Standard().Names(), runtime.SiteTool), waiting)
}

// serveOps serves o at the address of --ops, and sends traces, until stop; "" is no
// address.
func (a *app) serveOps(ctx context.Context, o *ops.Ops, address string) (stop func(), err error) {
	sent, err := a.sendTraces(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			sent()
		}
	}()
	if address != "" {
		address, err = opsAddress(ctx, address)
		if err != nil {
			return nil, err
		}
	}
	at, closes, err := o.Serve(ctx, address, a.log)
	if err != nil {
		return nil, listenFailed(err, "--ops", address)
	}
	if at != "" {
		fmt.Fprintf(a.stderr, "outrider: health and metrics at http://%s\n", at)
	}
	return func() {
		closes()
		sent()
	}, nil
}

// opsAddress reads --ops: a port alone is one of this machine only.
func opsAddress(ctx context.Context, address string) (string, error) {
	port := strings.TrimPrefix(address, ":")
	if _, err := strconv.ParseUint(port, 10, 16); err == nil {
		return "127.0.0.1:" + port, nil
	}
	if err := checkAddress(ctx, "--ops", address); err != nil {
		return "", usage("--ops is %q: expected PORT or HOST:PORT, such as 9464 or 0.0.0.0:9464", address)
	}
	return address, nil
}
