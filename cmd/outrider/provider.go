package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/leased"
	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/faces/startinghost"
	"github.com/outrider-run/outrider/internal/background"

	"github.com/outrider-run/outrider/primitives/fault"
)

// providerFlags are those of the verbs that serve the provider protocol.
type providerFlags struct {
	allowCDP bool
	idle     time.Duration
}

func (p *providerFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(
		&p.allowCDP, "allow-cdp", false,
		"offer cdp.send: any command of the DevTools protocol, past every rule of the runtime",
	)
	f.DurationVar(&p.idle, "session-idle", 30*time.Minute, "close a session that nobody has used for so long")
}

func (a *app) providerCommand() *cobra.Command {
	var flags providerFlags
	var socket string
	var conformance bool
	var at fleetFlags
	cmd := &cobra.Command{
		Use:   "provider [--socket PATH] | provider --conformance -- CMD [ARGS]",
		Short: "Serve the browser provider protocol 0.1, one JSON object per line",
		Long: "Serve the browser provider protocol 0.1 on standard input and output, or with --socket on a Unix " +
			"socket.\n" +
			"With --conformance the arguments are a command that starts a provider, ours or another: " +
			"it is put through the\n" +
			"scenarios of docs/reference/provider-conformance.md, and the tier it reaches is printed with the " +
			"reasons. Exit code 0 is certified.",
		Example: `  outrider provider
  outrider provider --socket "$XDG_RUNTIME_DIR/outrider.sock"
  outrider provider --conformance -- outrider provider`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if conformance {
				return a.runConformance(ctx, args)
			}
			if len(args) > 0 {
				return usage("unexpected argument %q: a command goes with --conformance", args[0])
			}
			if at.URL != "" {
				return a.relay(ctx, at, leased.Provider, leased.Options{Idle: flags.idle})
			}
			settings := a.hostSettings()
			settings.face = true
			return a.withProvider(ctx, settings, flags, func(ctx context.Context, s *provider.Server) error {
				if socket != "" {
					return a.serveSocket(ctx, socket, s)
				}
				if err := s.Serve(ctx, a.stdin, a.stdout, "stdio-json"); err != nil && ctx.Err() == nil {
					return err
				}
				return ended(ctx)
			})
		},
	}
	f := cmd.Flags()
	at.Add(f, "the browser is one of its workers'")
	at.AddNeeds(f)
	f.StringVar(&socket, "socket", "", "serve any number of clients on a Unix socket at this path instead")
	f.BoolVar(&conformance, "conformance", false, "test the provider that the arguments start, and print its tier")
	flags.add(cmd)
	a.addBrowserFlags(cmd)
	a.browser.recording.AddRecent(cmd.Flags())
	return cmd
}

// withProvider runs serve with a provider whose browser starts in the
// background, and closes both afterwards.
func (a *app) withProvider(
	ctx context.Context, s hostSettings, flags providerFlags, serve func(context.Context, *provider.Server) error,
) error {
	options, err := a.readingOptions(s)
	if err != nil {
		return err
	}
	defer options.Engine.Close()
	host := startinghost.Open(ctx, options, nil)
	defer a.close(ctx, "the browser", host.Close)
	if err := options.Ready(); err != nil {
		return err
	}
	server, err := provider.New(ctx, provider.Options{
		Host:              host,
		NewID:             uuid.NewString,
		Version:           version,
		Attached:          a.browser.attach != "",
		PersistentProfile: a.browser.inProfile(),
		Uploads:           len(options.Browser.UploadDirs) > 0,
		Downloads:         options.Browser.DownloadDir != "",
		AllowCDP:          flags.allowCDP,
		DetectBrowser: func() *fault.Error {
			if a.browser.attach != "" {
				return nil
			}
			_, err := options.Browser.Find()
			return fault.From(err)
		},
		CallTimeout: a.callLimit,
		SessionIdle: flags.idle,
		Logger:      a.log,
	})
	if err != nil {
		return err
	}
	defer a.close(ctx, "the provider's sessions", within(10*time.Second, server.Close))
	return serve(ctx, server)
}

// serveSocket serves every client of a socket until ctx ends.
func (a *app) serveSocket(ctx context.Context, path string, s *provider.Server) error {
	l, err := background.ListenUnix(ctx, path)
	if err != nil {
		return &exit{exitEnvironment, err}
	}
	defer func() { _ = os.Remove(path) }()
	if a.json {
		a.printJSON(map[string]any{"listening": path})
	} else {
		fmt.Fprintf(a.stdout, "serving the provider protocol on %s\n", path)
	}
	background.ServeClients(ctx, l, func(ctx context.Context, c net.Conn) {
		if err := s.Serve(ctx, c, c, "unix-socket-json"); err != nil && ctx.Err() == nil {
			a.log.Debug("a client of the socket ended", "error", err)
		}
	})
	return ended(ctx)
}
