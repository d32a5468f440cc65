// Package leased serves faces on sessions of a fleet. It has what a worker serves on the stream
// of a session, the answer to a client whose session is lost, and the code that keeps runtimes
// of a fleet at a hub. It leases nothing itself and opens no browser. The verbs worker, mcp,
// provider and hub use it.
package leased

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/faces/provider"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Kinds of sessions: the protocol on the stream.
const (
	MCP      = "mcp"
	Provider = "provider"
	Bridge   = "bridge"
)

// Kinds are all of them.
var Kinds = []string{MCP, Provider, Bridge}

// Options are the flags of a face that travel with a session.
type Options struct {
	Tools     string        `json:"tools,omitempty"`
	SiteTools bool          `json:"site_tools,omitempty"`
	Idle      time.Duration `json:"idle,omitempty"`
	Timeout   time.Duration `json:"call_timeout,omitempty"`
}

// Face is a worker's end of sessions.
type Face struct {
	NewID   func() string
	Version string
	Logger  *slog.Logger
}

// Serve serves on a stream what the verb of the kind's name serves on standard input
// and output, until the stream ends.
func (f Face) Serve(
	ctx context.Context, kind string, h *runtime.Host, face json.RawMessage, stream io.ReadWriteCloser,
) error {
	var o Options
	if err := json.Unmarshal(face, &o); err != nil {
		return fault.New(fault.InvalidInput, "the options of the session cannot be read: %v", err)
	}
	switch kind {
	case MCP:
		s, err := mcp.New(ctx, mcp.Options{
			Host:        h,
			NewID:       f.NewID,
			Version:     f.Version,
			Tools:       o.Tools,
			SiteTools:   o.SiteTools,
			CallTimeout: o.Timeout,
			Logger:      f.Logger,
		})
		if err != nil {
			return err
		}
		defer f.close(ctx, s.Close)
		return s.ServeStdio(ctx, stream, stream)
	case Provider:
		s, err := provider.New(ctx, provider.Options{
			Host:          h,
			NewID:         f.NewID,
			Version:       f.Version,
			CallTimeout:   o.Timeout,
			SessionIdle:   o.Idle,
			Logger:        f.Logger,
			DetectBrowser: func() *fault.Error { return nil }, // it runs
		})
		if err != nil {
			return err
		}
		defer f.close(ctx, s.Close)
		return s.Serve(ctx, stream, stream, "stdio-json")
	}
	c, err := bridgeclient.New(&bridgeclient.Options{
		URL:     "stdio:",
		Dialect: actionsbridge.New(nil),
		Host:    h,
		Logger:  f.Logger,
		Stdin:   stream,
		Stdout:  stream,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func (f Face) close(ctx context.Context, shut func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := shut(ctx); err != nil {
		f.Logger.Warn("closing a session", "error", err)
	}
}

// Lost is the answer to a request that was under way when its session was lost.
func Lost(kind string) func(id json.RawMessage, why *fault.Error) any {
	if kind == Provider {
		return func(id json.RawMessage, why *fault.Error) any {
			return map[string]any{
				"protocol_version": provider.ProtocolVersion,
				"id":               id,
				"ok":               false,
				"error": provider.Failure{
					Code:      provider.BrowserNotRunning,
					Message:   why.Message,
					Retryable: true,
					Details:   map[string]any{"code": why.Code},
				},
			}
		}
	}
	return func(id json.RawMessage, why *fault.Error) any {
		return map[string]any{
			"jsonrpc": "2.0",
			"id":      id,
			"error":   map[string]any{"code": -32000, "message": why.Message, "data": why},
		}
	}
}

// retry is how long to wait after a runtime could not be leased.
const retry = time.Second

// Keep keeps n runtimes of a fleet at a hub until ctx ends; one that is lost is
// replaced. What it returns waits for them.
func Keep(
	ctx context.Context, h *hub.Hub, n int, lease func(context.Context) (*session.Pipe, error), log *slog.Logger,
) (wait func()) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := keep(ctx, h, lease); err != nil && ctx.Err() == nil {
					log.Warn("a runtime of the fleet", "error", err)
					_ = wire.Sleep(ctx, retry)
				}
			}
		})
	}
	return all.Wait
}

func keep(ctx context.Context, h *hub.Hub, lease func(context.Context) (*session.Pipe, error)) error {
	p, err := lease(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	conn, err := bridgeclient.Dial(ctx, &bridgeclient.Options{URL: "stdio:", Stdin: p, Stdout: p})
	if err != nil {
		return err
	}
	defer conn.Abort()
	if !h.Attach(conn) {
		return context.Canceled
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return nil
	}
	if err := p.Err(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
