package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
	"github.com/outrider-run/outrider/bridgeclient/browserbridge/backend"
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

func (a *app) connectBrowserBridge(ctx context.Context, target, token, opsAt string, flags browserBridgeFlags) error {
	if u, err := url.Parse(target); err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return usage("URL is %q: expected ws://host/path or wss://host/path", target)
	}
	if flags.idle < 0 {
		return usage("--idle is %s: expected 0s or more", flags.idle)
	}
	return a.withOperatedHost(ctx, opsAt, func(ctx context.Context, h *runtime.Host, o *ops) error {
		var reached contact
		connected := o.connection()
		client, err := browserbridge.New(browserbridge.Options{
			URL: target, Host: h, Token: token, ClientVersion: version, Block: flags.block, KeepWebDriver: flags.keepWebDriver,
			UserTabs: a.browser.attach != "", LeaveDialogs: a.browser.headed || a.browser.attach != "", Idle: flags.idle, Logger: a.log,
			OnState: func(s browserbridge.State) {
				reached.hear(s.Kind == browserbridge.Ready, s.Err)
				connected(s.Kind == browserbridge.Ready, s.Kind == browserbridge.Lost)
				a.showBridgeState(s, target)
			},
		})
		if err != nil {
			return err
		}
		defer onStopSignal(client.Stop)()
		err = client.Run(ctx)
		var refused *browserbridge.RejectedError
		if errors.As(err, &refused) {
			return &exit{exitFailed, fault.New(fault.TransportFailed, "%s", refused.Error()).Next("update this program, or pair again and give the new token")}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		return reached.ended(ctx, target)
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
	shown := "…" // one that was given is the giver's secret
	if token == "" {
		token = rand.Text()
		shown = token
	}
	var printing sync.Mutex
	show := func(v any) {
		printing.Lock()
		defer printing.Unlock()
		a.printJSON(v)
	}
	b := backend.New(backend.Options{
		Token: token, Version: "outrider " + version, Logger: a.log,
		OnEvent:      func(e json.RawMessage) { show(map[string]any{"event": e}) },
		OnConnection: func(kind string) { show(map[string]any{"client": kind}) },
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return listenFailed(err, "--listen", listen)
	}
	mux := http.NewServeMux()
	mux.Handle("/bridge", b)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	address := "ws://" + listener.Addr().String() + "/bridge"
	if a.json {
		show(map[string]any{"listening": address, "token": shown})
	} else {
		fmt.Fprintf(a.stdout, "listening on %s; connect a runtime with\n  OUTRIDER_TOKEN=%s outrider connect --dialect browser-bridge %s\nand type one action per line, such as {\"type\":\"open_tab\",\"url\":\"https://example.com/\"}\n", address, shown, address)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) })
	err = a.askActions(ctx, b, show)
	_ = server.Close()
	b.Close()
	running.Wait()
	return err
}

// askActions requests the actions of standard input, one after the other, until
// it ends.
func (a *app) askActions(ctx context.Context, b *backend.Backend, show func(any)) error {
	lines := make(chan string)
	go func() { // ends with the input; an interrupt ends the process
		defer close(lines)
		in := bufio.NewScanner(a.stdin)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	n := 0
	for {
		select {
		case <-ctx.Done():
			return ended(ctx)
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if !json.Valid([]byte(line)) {
				show(map[string]any{"error": "this is no JSON"})
				continue
			}
			n++
			if err := b.Await(ctx); err != nil { // the first may be typed before a runtime is there
				return ended(ctx)
			}
			result, err := b.Do(ctx, json.RawMessage(line))
			answer := map[string]any{"line": n}
			var refused *browserbridge.Error
			switch {
			case errors.As(err, &refused):
				answer["error"] = refused
			case err != nil:
				answer["error"] = err.Error()
			default:
				answer["result"] = result
			}
			show(answer)
		}
	}
}
