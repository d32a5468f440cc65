package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/repair"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/leased"
	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/faces/startinghost"

	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) mcpCommand() *cobra.Command {
	var address, tools, tokenFile, join string
	var operated opsFlags
	var httpOptions mcp.HTTPOptions
	var siteTools, fixtures, heal, keepLogins bool
	var at fleetFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Be a runtime and an MCP server in one process",
		Long: "Serve the Model Context Protocol on standard input and output, or with --http over streamable HTTP.\n" +
			"The catalog is small: actions_site, tabs, snapshot, act, read, wait, screenshot. --tools adds " +
			"primitives as tools.",
		Example: `  outrider mcp --maps ./sites --open https://example.com/
  outrider mcp --http 127.0.0.1:17346 --token-file token --tools 'pointer.*,cookie.*'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			if join != "" {
				return a.joinSession(ctx, cmd, join, joinOptions{Tools: tools, SiteTools: siteTools})
			}
			if at.URL != "" {
				return a.relay(ctx, at, leased.MCP, leased.Options{Tools: tools, SiteTools: siteTools})
			}
			var err error
			httpOptions.Token, err = a.nearerToken(httpOptions.Token, tokenFile)
			if err != nil {
				return err
			}
			if address != "" {
				if err := checkAddress(ctx, "--http", address); err != nil {
					return err
				}
				// The rule is the hub's, whose New opens nothing.
				if _, err := hub.New(hub.Options{Listen: address, Token: httpOptions.Token}); err != nil {
					return usage(
						"--http: %s: give --token-file or --token, or listen on 127.0.0.1", fault.From(err).Message,
					)
				}
			}
			o := newOps("the browser is starting")
			stop, err := a.serveOps(ctx, o, operated.address)
			if err != nil {
				return err
			}
			defer stop()
			settings := a.hostSettings()
			settings.face = true
			settings.onCall = o.OnCall
			options, err := a.readingOptions(settings)
			if err != nil {
				return err
			}
			defer options.Engine.Close()
			// An agent's navigation waits until the page has fetched what it shows.
			options.Browser.RecordNetwork = true
			var opened atomic.Pointer[runtime.Host]
			host := startinghost.Open(ctx, options, func(h *runtime.Host) { // what watches ends with the host
				o.Metrics.Watch(h)
				opened.Store(h)
			})
			o.WaitFunc(host.WaitsFor)
			ctx, end := o.Draining(ctx, operated.drain, func() {
				if h := opened.Load(); h != nil {
					h.RefuseCalls()
				}
			})
			defer end()
			defer a.close(ctx, "the browser", host.Close)
			if err := options.Ready(); err != nil {
				return err
			}
			var logins mcp.Logins
			if keepLogins {
				logins = plan.Logins{}
			}
			var served mcp.Host = host
			if heal {
				served = repair.RepairingHost{Host: host, Given: a.browser.maps}
			}
			server, err := mcp.New(ctx, mcp.Options{
				Logins:      logins,
				Host:        served,
				NewID:       uuid.NewString,
				Version:     version,
				Tools:       tools,
				SiteTools:   siteTools,
				CallTimeout: a.callLimit,
				Fixtures:    fixtures,
				Logger:      a.log,
				Failed: func() *fault.Error {
					_, err := host.Started()
					return err
				},
				// a browser that cannot start has said so to the calls
				Ready: func(ctx context.Context) { _, _ = host.Wait(ctx) },
			})
			if err != nil {
				return usage("%w", err)
			}
			defer a.close(ctx, "the MCP sessions", within(10*time.Second, server.Close))
			if address != "" {
				if _, err := host.Wait(ctx); err != nil {
					return err
				}
				return a.serveMCP(ctx, address, server.Handler(httpOptions))
			}
			if err := server.ServeStdio(ctx, a.stdin, a.stdout); err != nil && ctx.Err() == nil {
				return err
			}
			return ended(ctx)
		},
	}
	f := cmd.Flags()
	at.Add(f, "the browser is one of its workers'")
	at.AddNeeds(f)
	f.StringVar(
		&address, "http", "", "serve streamable HTTP at /mcp of this address instead of standard input and output",
	)
	f.StringVar(
		&join, "join", "", "name of a live session of the shell to serve on standard input and output",
	)
	f.StringVar(&tools, "tools", "core", "core, all, or names of primitives with * as a wildcard, separated by commas")
	f.BoolVar(&siteTools, "site-tools", false, "offer the actions of the active page's site as tools of their own")
	f.BoolVar(
		&heal, "heal", false,
		"site actions go on with the element that looks like one that is not found; the result says healed",
	)
	f.BoolVar(
		&keepLogins, "keep-logins", false,
		"let clients keep what a session has stored under a name, and begin sessions with it: the files of --login",
	)
	f.StringVar(&httpOptions.Token, "token", "", "bearer token that clients must present (HTTP)")
	f.StringVar(&tokenFile, "token-file", "", "file that holds the token")
	listVar(
		f, &httpOptions.AllowHosts, "allow-host",
		"host name, beside loopback, by which clients reach the server (repeatable)",
	)
	listVar(
		f, &httpOptions.AllowOrigins, "allow-web-origin",
		"web origin whose pages may use the server (repeatable; default: none)",
	)
	f.BoolVar(&fixtures, "conformance-fixtures", false, "add what the public conformance scenarios ask for")
	_ = f.MarkHidden("conformance-fixtures")
	operated.add(cmd)
	a.limitFlags(cmd)
	a.addBrowserFlags(cmd)
	a.browser.recording.AddRecent(cmd.Flags())
	return cmd
}

// close closes what a verb has opened, also when ctx has ended.
func (a *app) close(ctx context.Context, what string, closer func(context.Context) error) {
	if err := closer(context.WithoutCancel(ctx)); err != nil {
		a.log.Warn("closing "+what, "error", err)
	}
}

// within bounds how long closing something takes.
func within(most time.Duration, closer func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return closer(ctx)
	}
}

// serveMCP serves handler at /mcp until ctx ends.
func (a *app) serveMCP(ctx context.Context, address string, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return listenFailed(err, "--http", address)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	if a.json {
		a.printJSON(map[string]any{
			"listening": listener.Addr().String(),
			"mcp":       "http://" + listener.Addr().String() + "/mcp",
		})
	} else {
		fmt.Fprintf(a.stdout, "serving MCP at http://%s/mcp\n", listener.Addr())
	}
	var stopping sync.WaitGroup
	stop := context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer cancel()
		if server.Shutdown(closing) != nil {
			_ = server.Close() // streams that stay open on purpose
		}
		stopping.Done()
	})
	stopping.Add(1)
	err = server.Serve(listener)
	if stop() {
		stopping.Done()
	}
	stopping.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return ended(ctx)
	}
	return err
}
