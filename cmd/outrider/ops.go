package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/ops"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime"
)

// opsFlag adds --ops to a verb that runs until it is interrupted.
func opsFlag(cmd *cobra.Command, address *string) {
	cmd.Flags().StringVar(address, "ops", "", "serve /healthz, /readyz and /metrics (Prometheus) at this PORT of 127.0.0.1, or HOST:PORT")
}

func newOps(waiting string) *ops.Ops {
	return ops.New(version, append(catalog.Standard().Names(), runtime.SiteTool), waiting)
}

// serveOps serves o at the address of --ops until stop; "" is no address.
func (a *app) serveOps(ctx context.Context, o *ops.Ops, address string) (stop func(), err error) {
	if address != "" {
		if address, err = opsAddress(ctx, address); err != nil {
			return nil, err
		}
	}
	at, stop, err := o.Serve(ctx, address, a.log)
	if err != nil {
		return nil, listenFailed(err, "--ops", address)
	}
	if at != "" {
		fmt.Fprintf(a.stderr, "outrider: health and metrics at http://%s\n", at)
	}
	return stop, nil
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
