package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/bridgeclient/hub"
	"github.com/outrider-run/outrider/bridgeclient/mcp"
	"github.com/outrider-run/outrider/primitives/fault"
)

func (a *app) hubCommand() *cobra.Command {
	var listen, token, tokenFile, dialect string
	var stdio bool
	var origins []string
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Be the bridge: accept runtimes and serve agents on this machine",
		Long: "Accept runtimes on /extension and serve agents over MCP at /mcp, and over GET /health, GET /runtimes,\n" +
			"GET /mcp/tools/list and POST /mcp/tools/call, until interrupted. With --stdio one agent more speaks MCP on standard\n" +
			"input and output. It listens on loopback, refuses foreign origins and can ask for a token.",
		Example: `  outrider hub
  outrider connect ws://127.0.0.1:17345/extension --open https://example.com/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if tokenFile != "" {
				secret, err := readToken(tokenFile)
				if err != nil {
					return err
				}
				token = secret
			}
			switch dialect {
			case "actions":
			case "browser-bridge":
				return a.hubBrowserBridge(ctx, listen, token)
			default:
				return usage("--dialect is %q: expected actions or browser-bridge", dialect)
			}
			show := a.showRuntime
			if stdio {
				show = func(c hub.RuntimeChange) {
					a.log.Info("runtime "+c.Kind, "runtime_id", c.Runtime.RuntimeID, "reason", c.Reason)
				}
			}
			h, err := hub.New(hub.Options{Listen: listen, Token: token, AllowOrigins: origins, DispatchTimeout: a.callLimit, Logger: a.log, Version: version, OnRuntime: show})
			if err != nil {
				return hubFailed(err)
			}
			if err := h.Listen(); err != nil {
				return hubFailed(err)
			}
			agents, err := mcp.NewBridge(ctx, hubBridge{h}, mcp.Options{NewID: uuid.NewString, Version: version, Logger: a.log})
			if err != nil {
				return err
			}
			defer func() { _ = agents.Close(context.WithoutCancel(ctx)) }()
			h.Handle("/mcp", agents.Transport(0)) // the hub has a guard of its own
			if stdio {
				return a.hubOverStdio(ctx, h, agents)
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
	f.BoolVar(&stdio, "stdio", false, "speak MCP on standard input and output; end when the input does")
	f.StringVar(&listen, "listen", "127.0.0.1:17345", "address to listen on")
	f.StringVar(&dialect, "dialect", "actions", "actions, or browser-bridge: a backend that requests the actions typed on standard input, one JSON object per line")
	f.StringVar(&tokenFile, "token-file", "", "file that holds the token")
	f.StringVar(&token, "token", "", "bearer token that runtimes and agents must present")
	f.StringArrayVar(&origins, "allow-web-origin", nil, "web origin that may use the hub (repeatable; default: none)")
	return cmd
}

// hubOverStdio serves one agent on standard input and output beside the hub.
func (a *app) hubOverStdio(ctx context.Context, h *hub.Hub, agents *mcp.Server) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		defer stop() // a hub that cannot go on takes the agent with it
		failed = h.Run(ctx)
	})
	err := agents.ServeStdio(ctx, a.stdin, a.stdout)
	interrupted := ctx.Err() != nil && failed == nil
	stop()
	running.Wait()
	switch {
	case interrupted:
		return ended(ctx)
	case err == nil && failed != nil && !errors.Is(failed, context.Canceled):
		return hubFailed(failed)
	}
	return err
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
