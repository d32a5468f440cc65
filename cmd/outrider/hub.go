package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/leased"
	"github.com/outrider-run/outrider/faces/mcp"

	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/internal/operate/ops"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/plain"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/span"
)

// hubFlags are the flags of the verb hub.
type hubFlags struct {
	listen, token, tokenFile, dialect, storageRoot, payloads string
	profile                                                  string
	ops                                                      opsFlags
	inline                                                   int
	stdio, extensions, fixtures                              bool
	origins, maps                                            []string
	kit                                                      conformanceFlags
	fleet                                                    fleetFlags
	fleetRuntimes                                            int
}

func (a *app) hubCommand() *cobra.Command {
	var x hubFlags
	cmd := &cobra.Command{
		Use:   "hub",
		Short: "Be the bridge: accept runtimes and serve agents on this machine",
		Long: "Accept runtimes on /extension and serve agents over MCP at /mcp, and over GET /health, GET " +
			"/runtimes,\n" +
			"GET /mcp/tools/list and POST /mcp/tools/call, until interrupted. With --stdio one agent more speaks MCP " +
			"on standard\n" +
			"input and output. It listens on loopback, refuses foreign origins and can ask for a token. " +
			"The Chrome extension is\n" +
			"admitted by the pairing address that the hub prints: paste it into the extension's bridge address.",
		Example: `  outrider hub
  outrider connect ws://127.0.0.1:17345/extension --open https://example.com/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if err := a.checkHub(ctx, &x); err != nil {
				return err
			}
			switch {
			case x.dialect == "browser-bridge":
				return a.hubBrowserBridge(ctx, x.listen, x.token)
			case x.kit.on:
				return a.testRuntime(ctx, &x.kit, x.listen)
			}
			return a.serveHub(ctx, &x)
		},
	}
	f := cmd.Flags()
	x.fleet.Add(f, "some of its browsers are runtimes of this hub")
	x.fleet.AddNeeds(f)
	f.IntVar(&x.fleetRuntimes, "fleet-runtimes", 1, "--fleet: how many; one that is lost is replaced")
	x.ops.add(cmd)
	x.kit.add(cmd, "test the runtime that connects instead: play a bridge, and print a table of checks")
	f.BoolVar(&x.stdio, "stdio", false, "speak MCP on standard input and output; end when the input does")
	f.StringVar(&x.listen, "listen", "127.0.0.1:17345", "address to listen on")
	f.StringVar(&x.dialect, "dialect", "actions", "actions, or browser-bridge: a backend that requests the actions "+
		"typed on standard input, one JSON object per line")
	f.StringVar(&x.profile, "profile", quirks.StrictProfile,
		"strict, or extension: a call that names none of several runtimes goes to the active one, as at the "+
			"upstream bridge")
	f.StringVar(&x.tokenFile, "token-file", "", "file that holds the token")
	f.StringVar(&x.token, "token", "", "bearer token that runtimes and agents must present")
	f.BoolVar(
		&x.extensions, "allow-extension", false, "admit Chrome extensions without the pairing address, on https pages",
	)
	f.StringVar(
		&x.storageRoot, "storage-root", "",
		"storage folder of maps for the runtimes, and for actions.site of those that do not know it",
	)
	f.IntVar(
		&x.inline, "payload-inline-limit", 50_000,
		"bytes from which on the result of an agent over MCP goes to a file, except pictures; 0 is never",
	)
	f.BoolVar(&x.fixtures, "conformance-fixtures", false, "add what the public conformance scenarios ask for")
	_ = f.MarkHidden("conformance-fixtures")
	f.StringVar(
		&x.payloads, "payload-dir", "", "folder for those files (default: one of the user's cache, emptied at the end)",
	)
	listVar(
		f, &x.maps, "maps",
		"an actions.json file or a storage folder for actions.site of runtimes that do not know it (repeatable)",
	)
	addTrustFlag(f, &a.browser.trustProject)
	listVar(f, &x.origins, "allow-web-origin", "web origin that may use the hub (repeatable; default: none)")
	return cmd
}

// checkHub refuses flags that do not fit, before anything starts, and finds the token.
func (a *app) checkHub(ctx context.Context, x *hubFlags) error {
	if err := checkAddress(ctx, "--listen", x.listen); err != nil {
		return err
	}
	if err := x.kit.check(a); err != nil {
		return err
	}
	var err error
	x.token, err = a.nearerToken(x.token, x.tokenFile)
	if err != nil {
		return err
	}
	switch x.dialect {
	case "actions":
	case "browser-bridge":
		return a.refuseGiven(
			"with --dialect browser-bridge",
			"stdio", "allow-web-origin",
			"allow-extension", "storage-root",
			"maps", "ops",
			"drain-timeout", "payload-dir",
			"payload-inline-limit", "conformance",
		)
	default:
		return usage("--dialect is %q: expected actions or browser-bridge", x.dialect)
	}
	if _, known := quirks.Profile(x.profile); !known {
		return usage("--profile is %q: expected strict or extension", x.profile)
	}
	if x.kit.on {
		return nil
	}
	if info, err := os.Stat(x.storageRoot); x.storageRoot != "" && (err != nil || !info.IsDir()) {
		return usage("--storage-root is %q: there is no such folder", x.storageRoot)
	}
	if a.origins["maps"] == fromProjectFile {
		// They travel with calls, and a runtime takes what its hub sends for the caller's own.
		trusted, err := a.trustsProject()
		if err != nil {
			return usage("%w", err)
		}
		if !trusted {
			return usage("%s names maps, which a hub sends to its runtimes as the caller's own: if they are yours, "+
				"say so by --trust-project, "+
				"OUTRIDER_TRUST_PROJECT=true, or the folder under trusted_projects in your "+
				"config.yaml", projectFile)
		}
	}
	for _, m := range x.maps {
		if _, err := os.Stat(m); err != nil {
			return usage("--maps is %q: there is no such file or folder", m)
		}
	}
	return nil
}

// serveHub is the hub until ctx ends.
func (a *app) serveHub(ctx context.Context, x *hubFlags) error {
	o := newOps("the hub does not listen")
	h, err := hub.New(a.hubOptions(ctx, x, o))
	if err != nil {
		return hubRefused(err, x.listen, x.token)
	}
	stop, err := a.serveOps(ctx, o, x.ops.address)
	if err != nil {
		return err
	}
	defer stop()
	if err := h.Listen(); err != nil {
		return listenFailed(err, "--listen", x.listen)
	}
	agents, err := mcp.NewBridge(ctx, hubBridge{h}, mcp.Options{
		NewID:    uuid.NewString,
		Version:  version,
		Fixtures: x.fixtures,
		Logger:   a.log,
	})
	if err != nil {
		return err
	}
	defer func() { _ = agents.Close(context.WithoutCancel(ctx)) }()
	h.Handle("/mcp", agents.Transport(0)) // the hub has a guard of its own
	o.Metrics.Gauge("outrider_hub_runtimes", "Runtimes that are connected.", func() float64 {
		return float64(len(h.Runtimes()))
	})
	for pattern, handler := range o.Routes() {
		h.Handle(pattern, handler)
	}
	o.WaitFor("")
	a.showHub(h, x.stdio)
	ctx, end := o.Draining(ctx, x.ops.drain, func() {})
	defer end()
	if x.fleet.URL != "" {
		q, err := a.openFleet(ctx, x.fleet.Options(a, "outrider hub"))
		if err != nil {
			return err
		}
		defer q.Close()
		leasing, stop := context.WithCancel(ctx)
		defer leased.Keep(leasing, h, x.fleetRuntimes, func(ctx context.Context) (*session.Pipe, error) {
			return a.lease(ctx, q, x.fleet, leased.Bridge, leased.Options{})
		}, a.log)()
		defer stop()
	}
	if x.stdio {
		return a.hubOverStdio(ctx, h, agents)
	}
	if err := h.Run(ctx); err != nil && ctx.Err() == nil {
		return listenFailed(err, "--listen", x.listen)
	}
	return ended(ctx)
}

// hubOptions are the hub as the flags want it, counted by o.
func (a *app) hubOptions(ctx context.Context, x *hubFlags, o *ops.Ops) hub.Options {
	show := a.showRuntime
	if x.stdio { // standard output is the protocol's
		show = func(c hub.RuntimeChange) {
			a.log.Info("runtime "+c.Kind, "runtime_id", c.Runtime.RuntimeID, "reason", c.Reason)
		}
	}
	changes := o.Metrics.Counter(
		"outrider_hub_runtime_changes_total", "Runtimes that came, changed and went, by what happened.", "kind",
	)
	return hub.Options{
		Listen:          x.listen,
		Token:           x.token,
		Strict:          x.profile == quirks.StrictProfile,
		AllowOrigins:    x.origins,
		AllowExtensions: x.extensions,
		StorageRoot:     x.storageRoot,
		Maps:            x.maps,
		PayloadFolder:   payloadFolder(x.payloads, x.inline),
		PayloadLimit:    x.inline,
		KeepPayloads:    x.payloads != "",
		DispatchTimeout: a.callLimit,
		Logger:          a.log,
		Version:         version,
		OnRuntime:       func(c hub.RuntimeChange) { changes(c.Kind); show(c) },
		OnCall: func(name string) func(hub.ToolResult) {
			answered := o.Call(name)
			_, sent := span.Begin(span.With(ctx, a.traces.Listener()), span.Call, name)
			return func(r hub.ToolResult) { answered(r.Code()); sent(r.Err()) }
		},
	}
}

// showHub says where the hub is, and what to give to the browser extension. With
// stdio standard output is the protocol's.
func (a *app) showHub(h *hub.Hub, stdio bool) {
	runtimes := "ws://" + h.Addr() + "/extension"
	if a.json && !stdio {
		a.printJSON(map[string]any{"listening": h.Addr(), "extension": runtimes, "pairing": h.PairingURL()})
		return
	}
	out := a.stdout
	if stdio {
		out = a.stderr
	}
	fmt.Fprintf(out, "listening on http://%s, runtimes connect to %s\n", h.Addr(), runtimes)
	fmt.Fprintf(out, "the Chrome extension connects to %s\n", h.PairingURL())
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
		return listenFailed(failed, "--listen", h.Addr())
	}
	return err
}

// checkAddress refuses what cannot be an address to listen on, before anything
// starts.
func checkAddress(ctx context.Context, flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(ctx, "tcp", port)
	}
	if err != nil {
		return usage("%s is %q: expected HOST:PORT, such as 127.0.0.1:17345", flag, address)
	}
	return nil
}

// hubRefused names the flag that hub.New refuses. New opens nothing, so it can be
// queried once more, without the origins.
func hubRefused(err error, listen, token string) error {
	flag := "--allow-web-origin"
	if _, err := hub.New(hub.Options{Listen: listen, Token: token}); err != nil {
		flag = "--listen"
	}
	f := fault.From(err)
	message := f.Message
	if f.NextStep != "" {
		message += ": " + f.NextStep
	}
	return usage("%s: %s", flag, message)
}

// listenFailed maps an address that cannot be listened on to the exit code for an
// unfit environment. flag is the one that gives another; "" when there is none.
func listenFailed(err error, flag, address string) error {
	var op *net.OpError
	if !errors.As(err, &op) {
		return err
	}
	f := fault.New(fault.TransportFailed, "listening on %s: %v", address, op.Err)
	if flag != "" {
		f = f.Next("choose another address with " + flag)
	}
	return &exit{exitEnvironment, f}
}

// showRuntime prints one line per runtime that is added, changes or is removed.
func (a *app) showRuntime(c hub.RuntimeChange) {
	if a.json {
		a.printJSON(map[string]any{
			"runtime":    c.Kind,
			"reason":     c.Reason,
			"runtime_id": c.Runtime.RuntimeID,
			"url":        c.Runtime.URL,
			"title":      c.Runtime.Title,
		})
		return
	}
	line := fmt.Sprintf("%s %s %s", c.Kind, c.Runtime.RuntimeID, c.Runtime.URL)
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	fmt.Fprintln(a.stdout, plain.Line(line)) // the runtime says its id and address itself
}
