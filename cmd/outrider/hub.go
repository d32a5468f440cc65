package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/bridgeclient/hub"
	"github.com/outrider-run/outrider/primitives/fault"
)

func (a *app) hubCommand() *cobra.Command {
	var listen, token string
	var origins []string
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Be the bridge: accept runtimes and serve agents on this machine",
		Long: "Accept runtimes on /extension and serve agents over GET /health, GET /runtimes, GET /mcp/tools/list and\n" +
			"POST /mcp/tools/call until interrupted. It listens on loopback, refuses foreign origins and can ask for a token.",
		Example: `  outrider hub
  outrider connect ws://127.0.0.1:17345/extension --open https://example.com/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			h, err := hub.New(hub.Options{Listen: listen, Token: token, AllowOrigins: origins, DispatchTimeout: a.callLimit, Logger: a.log, Version: version, OnRuntime: a.showRuntime})
			if err != nil {
				return hubFailed(err)
			}
			if err := h.Listen(); err != nil {
				return hubFailed(err)
			}
			if a.json {
				a.printJSON(map[string]any{"listening": h.Addr(), "extension": "ws://" + h.Addr() + "/extension"})
			} else {
				fmt.Fprintf(a.stdout, "listening on http://%s, runtimes connect to ws://%s/extension\n", h.Addr(), h.Addr())
			}
			if err := h.Run(ctx); err != nil && ctx.Err() == nil {
				return hubFailed(err)
			}
			return ended(ctx)
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:17345", "address to listen on")
	f.StringVar(&token, "token", "", "bearer token that runtimes and agents must present")
	f.StringArrayVar(&origins, "allow-web-origin", nil, "web origin that may use the hub (repeatable; default: none)")
	return cmd
}

// hubFailed maps a taken port to the exit code for an unfit environment.
func hubFailed(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return &exit{exitEnvironment, fault.New(fault.TransportFailed, "listening on %s: %v", op.Addr, op.Err).Next("choose another address with --listen")}
	}
	return err
}

// showRuntime prints one line per runtime that comes, changes or goes.
func (a *app) showRuntime(c hub.RuntimeChange) {
	if a.json {
		a.printJSON(map[string]any{"runtime": c.Kind, "reason": c.Reason, "runtime_id": c.Runtime.RuntimeID, "url": c.Runtime.URL, "title": c.Runtime.Title})
		return
	}
	line := fmt.Sprintf("%s %s %s", c.Kind, c.Runtime.RuntimeID, c.Runtime.URL)
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	fmt.Fprintln(a.stdout, line)
}
