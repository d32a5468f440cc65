package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/internal/operate/ops"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) connectCommand() *cobra.Command {
	var token, tokenFile, dialect string
	var operated opsFlags
	var noEvents bool
	var bridge browserBridgeFlags
	var kit conformanceFlags
	cmd := &cobra.Command{
		Use:   "connect URL",
		Short: "Be a runtime for a bridge until interrupted",
		Long: "Connect to a bridge as a runtime of the Actions Bridge Protocol and serve its calls until " +
			"interrupted.\n" +
			"URL is ws://... or wss://..., http://... or https://... for HTTP polling where a relay lets no " +
			"WebSocket through,\n" +
			"or stdio: for one JSON item per line on standard input and output;\n" +
			"with stdio: the process ends when standard input closes and every accepted call has been answered.",
		Example: `  OUTRIDER_TOKEN=... outrider connect --dialect browser-bridge wss://agent.example.com/bridge --block-domain bank.example.com
  outrider connect ws://127.0.0.1:17345/extension --open https://example.com/ --maps ./sites
  printf '%s\n' '{"type":"action_call","call_id":"1","name":"page.info","arguments":{}}' | outrider connect stdio: --open http://127.0.0.1:8080/`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := args[0]
			if err := kit.check(a); err != nil {
				return err
			}
			switch dialect {
			case "actions":
				if len(bridge.block) > 0 { // from anywhere: what somebody wants blocked is not passed over
					return usage("--block-domain has no effect with --dialect actions: block hosts with --block-origin")
				}
				if err := a.refuseGiven("with --dialect actions", "idle", "keep-webdriver"); err != nil {
					return err
				}
				var err error
				token, err = a.nearerToken(token, tokenFile)
				if err != nil {
					return err
				}
			case "browser-bridge":
				if err := a.refuseGiven("with --dialect browser-bridge", "no-events", "conformance"); err != nil {
					return err
				}
				secret, err := a.pairingToken(token, tokenFile)
				if err != nil {
					return err
				}
				return a.connectBrowserBridge(cmd.Context(), target, secret, operated, bridge)
			default:
				return usage("--dialect is %q: expected actions or browser-bridge", dialect)
			}
			if kit.on {
				ctx, cancel := a.bounded(cmd.Context())
				defer cancel()
				return a.testBridge(ctx, &kit, target, token)
			}
			stdio := target == "stdio:" || target == "stdio"
			if !stdio {
				if u, err := url.Parse(target); err != nil ||
					!slices.Contains([]string{"ws", "wss", "http", "https"}, u.Scheme) || u.Host == "" {
					return usage("URL is %q: expected ws://host/path, wss://host/path, http://host/path, "+
						"https://host/path or stdio:", address.Shown(target))
				}
			} else {
				target = "stdio:"
			}
			settings := a.hostSettings()
			settings.watchMaps = true
			return a.withOperatedHost(cmd.Context(), settings, operated, func(
				ctx context.Context, h *runtime.Host, o *ops.Ops,
			) error {
				var reached contact
				connected := o.Connection()
				return a.serve(ctx, &reached, bridgeclient.Options{
					URL:      target,
					Dialect:  actionsbridge.New(nil),
					Host:     h,
					Logger:   a.log,
					Token:    token,
					Stdin:    a.stdin,
					Stdout:   a.stdout,
					NoEvents: noEvents,
					OnState: func(s bridgeclient.State) {
						reached.record(s.Kind == bridgeclient.Connected, s.Err)
						connected(s.Kind == bridgeclient.Ready, s.Kind == bridgeclient.Lost)
						a.showState(s, address.Shown(target), stdio)
					},
				})
			})
		},
	}
	cmd.Flags().StringVar(&token, "token", "", "bearer token for the bridge")
	f := cmd.Flags()
	kit.add(cmd, "test the bridge at URL instead: play runtimes and an agent, and print a table of checks")
	f.StringVar(
		&kit.agent, "agent", "", "conformance: address of the bridge's HTTP side (default: http(s)://HOST of URL)",
	)
	f.StringVar(
		&dialect, "dialect", "actions", "actions (Actions Bridge Protocol) or browser-bridge (browser bridge v4)",
	)
	f.StringVar(&tokenFile, "token-file", "", "file that holds the token")
	listVar(
		f, &bridge.block, "block-domain",
		"browser-bridge: domain on which nothing is done, subdomains included (repeatable)",
	)
	f.BoolVar(
		&bridge.keepWebDriver, "keep-webdriver", false,
		"browser-bridge: leave navigator.webdriver as the browser has it",
	)
	f.DurationVar(
		&bridge.idle, "idle", 0, "browser-bridge: end the sessions when nothing was asked for so long; 0 is never",
	)
	cmd.Flags().BoolVar(
		&noEvents, "no-events", false,
		"send no dom_event items (the upstream bridge prints them on its standard output); announcements still go",
	)
	operated.add(cmd)
	a.limitFlags(cmd)
	a.addBrowserFlags(cmd)
	a.browser.recording.AddRecent(cmd.Flags())
	return cmd
}

// withOperatedHost is withHost for a face that answers at --ops, from before its
// browser starts until it is closed. An interrupt ends what do gets when calls that run
// have been answered, or after --drain-timeout.
func (a *app) withOperatedHost(
	ctx context.Context, s hostSettings, operated opsFlags, do func(context.Context, *runtime.Host, *ops.Ops) error,
) error {
	o := newOps("the browser is starting")
	stop, err := a.serveOps(ctx, o, operated.address)
	if err != nil {
		return err
	}
	defer stop()
	s.face = true
	s.onCall = o.OnCall
	return a.withHost(ctx, s, func(ctx context.Context, h *runtime.Host) error {
		defer o.Metrics.Watch(h)()
		o.WaitFor("there is no connection to the bridge")
		ctx, end := o.Draining(ctx, operated.drain, h.RefuseCalls)
		defer end()
		return do(ctx, h, o)
	})
}

func (a *app) serve(ctx context.Context, reached *contact, options bridgeclient.Options) error {
	client, err := bridgeclient.New(&options)
	if err != nil {
		return err
	}
	if err := client.Run(ctx); err != nil && ctx.Err() == nil {
		if fault.CodeOf(err) == fault.TransportFailed {
			return &exit{exitEnvironment, err}
		}
		return err
	}
	return reached.ended(ctx, address.Shown(options.URL))
}

// ended is the outcome of a verb that runs until somebody ends it: an interrupt
// has its own exit code, the end of --timeout or of the input is success.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &exit{code: exitInterrupted}
	}
	return nil
}

// contact remembers whether a connection was ever made, and why the last attempt
// failed.
type contact struct {
	mu   sync.Mutex
	made bool
	last error
}

func (c *contact) record(made bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = c.made || made
	if err != nil {
		c.last = err
	}
}

// ended is the outcome of a verb that serves a bridge: a --timeout that ends
// before there was any connection is no success.
func (c *contact) ended(ctx context.Context, target string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ended(ctx); err != nil || ctx.Err() == nil || c.made {
		return err
	}
	why := "the first attempt had not ended"
	if c.last != nil {
		why = "the last attempt: " + c.last.Error()
	}
	return &exit{exitEnvironment, fault.New(
		fault.TransportFailed, "no connection to %s within --timeout; %s", target, why,
	).Next("see that the bridge runs at this address, or give it more time with --timeout")}
}

// showState prints one line per change of the connection, on stdout unless the
// protocol itself is there.
func (a *app) showState(s bridgeclient.State, target string, stdio bool) {
	if a.json && !stdio {
		line := map[string]any{"at": time.Now().UTC().Format(time.RFC3339Nano), "state": s.Kind, "url": target}
		if s.Err != nil {
			line["error"] = s.Err.Error()
			line["retry_in_ms"] = s.RetryIn.Milliseconds()
		}
		a.printJSON(line)
		return
	}
	words := string(s.Kind)
	switch s.Kind {
	case bridgeclient.Ready:
		words = fmt.Sprintf("ready: announced %d tab(s)", s.Tabs)
	case bridgeclient.Lost:
		words = fmt.Sprintf("lost: %v; next attempt in %s", s.Err, s.RetryIn.Round(10*time.Millisecond))
	}
	if stdio {
		a.log.Info("bridge " + words)
		return
	}
	fmt.Fprintf(a.stdout, "%s %s\n", strings.TrimSuffix(target, "/"), words)
}
