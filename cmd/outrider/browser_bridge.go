package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
	"github.com/outrider-run/outrider/bridgeclient/browserbridge/backend"

	"github.com/outrider-run/outrider/internal/operate/ops"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// browserBridgeFlags are the flags of connect that only browser bridge v4 has.
type browserBridgeFlags struct {
	block         []string
	keepWebDriver bool
	idle          time.Duration
}

// maxToken bounds a token file, in bytes.
const maxToken = 64 << 10

func readToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (info.Size() > maxToken || info.IsDir()) {
		err = errors.New("this is no token")
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return "", usage("--token-file: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// nearerToken is the token of --token or of --token-file, whichever comes from
// the nearer source; the file when both come from the same.
func (a *app) nearerToken(token, file string) (string, error) {
	switch from := a.origins["token"]; {
	case file == "" || from > a.origins["token-file"]:
		return token, nil
	case token != "" && from == fromCommandLine:
		return "", usage("--token and --token-file are two tokens: give one")
	}
	return readToken(file)
}

// pairingToken is nearerToken for a secret that is not taken from an argument,
// which everybody on the machine can read.
func (a *app) pairingToken(token, file string) (string, error) {
	if token != "" && a.origins["token"] == fromCommandLine {
		return "", usage("give the pairing token with --token-file or in OUTRIDER_TOKEN, not as --token")
	}
	return a.nearerToken(token, file)
}

func (a *app) connectBrowserBridge(
	ctx context.Context, target, token string, operated opsFlags, flags browserBridgeFlags,
) error {
	if u, err := url.Parse(target); err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return usage("URL is %q: expected ws://host/path or wss://host/path", address.Shown(target))
	}
	if flags.idle < 0 {
		return usage("--idle is %s: expected 0s or more", flags.idle)
	}
	return a.withOperatedHost(ctx, a.hostSettings(), operated, func(
		ctx context.Context, h *runtime.Host, o *ops.Ops,
	) error {
		var reached contact
		connected := o.Connection()
		client, err := browserbridge.New(browserbridge.Options{
			URL:           target,
			Host:          h,
			Token:         token,
			ClientVersion: version,
			Block:         flags.block,
			KeepWebDriver: flags.keepWebDriver,
			UserTabs:      a.browser.attach != "" && !a.browser.isolated,
			LeaveDialogs:  a.browser.headed || a.browser.attach != "",
			Idle:          flags.idle,
			Logger:        a.log,
			OnState: func(s browserbridge.State) {
				reached.record(s.Kind == browserbridge.Ready, s.Err)
				connected(s.Kind == browserbridge.Ready, s.Kind == browserbridge.Lost)
				a.showBridgeState(s, address.Shown(target))
			},
		})
		if err != nil {
			return err
		}
		defer onStopSignal(client.Stop)()
		err = client.Run(ctx)
		var refused *browserbridge.RejectedError
		if errors.As(err, &refused) {
			return &exit{exitFailed, fault.New(fault.TransportFailed, "%s", refused.Error()).
				Next("update this program, or pair again and give the new token")}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		return reached.ended(ctx, address.Shown(target))
	})
}

func (a *app) showBridgeState(s browserbridge.State, target string) {
	if s.Kind == browserbridge.Rejected {
		return // the end of the verb reports it
	}
	if a.json {
		line := map[string]any{"at": time.Now().UTC().Format(time.RFC3339Nano), "state": s.Kind, "url": target}
		if s.Err != nil {
			line["error"], line["retry_in_ms"] = s.Err.Error(), s.RetryIn.Milliseconds()
		}
		a.printJSON(line)
		return
	}
	words := string(s.Kind)
	switch s.Kind {
	case browserbridge.Ready:
		words = "ready: the backend is " + s.ServerVersion
	case browserbridge.Lost:
		words = fmt.Sprintf("lost: %v; next attempt in %s", s.Err, s.RetryIn.Round(10*time.Millisecond))
	}
	fmt.Fprintf(a.stdout, "%s %s\n", strings.TrimSuffix(target, "/"), words)
}

// hubBrowserBridge is a backend to try a runtime with: it reads one action per
// line and prints responses and events, one JSON object per line.
func (a *app) hubBrowserBridge(ctx context.Context, listen, token string) error {
	err := backend.Console(ctx, listen, backend.ConsoleOptions{
		Token:   token,
		Version: "outrider " + version,
		In:      a.stdin,
		Out:     a.stdout,
		JSON:    a.json,
		Logger:  a.log,
	})
	if err != nil {
		return listenFailed(err, "--listen", listen)
	}
	return ended(ctx)
}
