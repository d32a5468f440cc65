package backend

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
)

// ConsoleOptions configure Console.
type ConsoleOptions struct {
	// Token is the pairing token; "" makes one, which is shown.
	Token   string
	Version string
	// In has one action per line. Out gets responses and events, one JSON object
	// per line, after an introduction that is for people unless JSON.
	In     io.Reader
	Out    io.Writer
	JSON   bool
	Logger *slog.Logger
}

// Console is a backend to try a runtime with by hand. It listens at an address until
// the input or ctx ends, which is no error.
func Console(ctx context.Context, listen string, o ConsoleOptions) error {
	token, shown := o.Token, "…" // one that was given is the giver's secret
	if token == "" {
		token = rand.Text()
		shown = token
	}
	var printing sync.Mutex
	show := func(v any) {
		printing.Lock()
		defer printing.Unlock()
		enc := json.NewEncoder(o.Out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			o.Logger.Warn("writing to the console", "error", err)
		}
	}
	b := New(Options{
		Token: token, Version: o.Version, Logger: o.Logger,
		OnEvent:      func(e json.RawMessage) { show(map[string]any{"event": e}) },
		OnConnection: func(kind string) { show(map[string]any{"client": kind}) },
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/bridge", b)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	address := "ws://" + listener.Addr().String() + "/bridge"
	if o.JSON {
		show(map[string]any{"listening": address, "token": shown})
	} else {
		fmt.Fprintf(o.Out, "listening on %s; connect a runtime with\n  OUTRIDER_TOKEN=%s outrider connect --dialect "+
			"browser-bridge %s\nand type one action per line, such as {\"type\":\"open_tab\","+
			"\"url\":\"https://example.com/\"}\n", address, shown, address)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) })
	b.doLines(ctx, o.In, show)
	_ = server.Close()
	b.Close()
	running.Wait()
	return nil
}

// doLines requests the actions of in, one after the other, until it or ctx ends.
func (b *Backend) doLines(ctx context.Context, in io.Reader, show func(any)) {
	lines := make(chan string)
	go func() { // ends with the input; an interrupt ends the process
		defer close(lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, 16<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	n := 0
	for {
		select {
		case <-ctx.Done():
			return
		case line, ok := <-lines:
			if !ok {
				return
			}
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			if !json.Valid([]byte(line)) {
				show(map[string]any{"error": "this is no JSON"})
				continue
			}
			n++
			if err := b.Await(ctx); err != nil { // the first may be typed before a runtime is there
				return
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
