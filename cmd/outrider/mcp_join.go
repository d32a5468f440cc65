package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/faces/shell"
	"github.com/outrider-run/outrider/faces/startinghost"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
)

// joinOptions are what a client of MCP asks of the session that it joins.
type joinOptions struct {
	Tools     string `json:"tools,omitempty"`
	SiteTools bool   `json:"site_tools,omitempty"`
}

// joinFlags are the flags of mcp that --join knows; the others are those of a browser or a server of its own.
var joinFlags = []string{
	"join", "tools", "site-tools", "json", "timeout", "log-level", "log-format", "pprof",
}

// joinSession serves MCP from a live session.
func (a *app) joinSession(ctx context.Context, cmd *cobra.Command, name string, o joinOptions) error {
	var other []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(joinFlags, f.Name) {
			other = append(other, f.Name)
		}
	})
	if err := a.refuseGiven("with --join: the session has a browser", other...); err != nil {
		return err
	}
	s, err := shell.Named(name)
	if err != nil {
		return &exit{exitUsage, err}
	}
	options, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := s.Join(ctx, options, a.stdin, a.stdout); err != nil && ctx.Err() == nil {
		return err
	}
	return ended(ctx)
}

// joining makes what serves a client of MCP on the host of a live session.
func (a *app) joining(host *startinghost.Host) func(context.Context, json.RawMessage) (shell.ServeMCP, error) {
	return func(ctx context.Context, options json.RawMessage) (shell.ServeMCP, error) {
		var o joinOptions
		if err := json.Unmarshal(options, &o); err != nil {
			return nil, fault.Wrap(fault.InvalidInput, err, "the options of a client of MCP")
		}
		server, err := mcp.New(ctx, mcp.Options{
			Logins:      plan.Logins{},
			Host:        host,
			NewID:       uuid.NewString,
			Version:     version,
			Tools:       o.Tools,
			SiteTools:   o.SiteTools,
			CallTimeout: a.callLimit,
			Logger:      a.log,
			Failed: func() *fault.Error {
				_, err := host.Started()
				return err
			},
			Ready: func(ctx context.Context) { _, _ = host.Wait(ctx) },
		})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, in io.Reader, out io.Writer) error {
			err := server.ServeStdio(ctx, in, out)
			a.close(ctx, "the MCP session", within(10*time.Second, server.Close))
			return err
		}, nil
	}
}
