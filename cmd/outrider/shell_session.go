package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/faces/shell"
	"github.com/outrider-run/outrider/faces/startinghost"
	"github.com/outrider-run/outrider/faces/tools"
	"github.com/outrider-run/outrider/internal/owner"
	"github.com/outrider-run/outrider/internal/ownfolder"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// shellSessionCommand is the process of a live session.
func (a *app) shellSessionCommand() *cobra.Command {
	var name, of string
	var shared bool
	var times sessionTimes
	cmd := &cobra.Command{
		Use: "shell-session", Short: "The process of a live session", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := shell.Named(name)
			if err != nil {
				return err
			}
			s.Shared = shared
			var own owner.Process
			if of != "" {
				if _, err := fmt.Sscanf(of, "%d:%d", &own.PID, &own.Started); err != nil {
					return usage("--owner: %w", err)
				}
			}
			return a.serveSession(cmd.Context(), s, own, times)
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "name of the session")
	f.BoolVar(&shared, "shared", false, "others may use it too")
	f.StringVar(&of, "owner", "", "PID:START of the process that it ends with")
	f.DurationVar(&times.idle, "idle", time.Hour, "it ends when nobody has used it for so long")
	f.DurationVar(&times.linger, "linger", 30*time.Second, "it ends so long after its owner")
	a.addBrowserFlags(cmd)
	a.browser.recording.AddRecent(f)
	return cmd
}

// downloadsPrefix begins the names of folders with the downloads of a session.
const downloadsPrefix = "outrider-downloads-"

// serveSession serves a live session until it ends.
func (a *app) serveSession(ctx context.Context, s shell.Session, own owner.Process, times sessionTimes) error {
	unlock, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	a.atEnd = append(a.atEnd, unlock) // after all else: who closes the session waits for it
	settings := a.hostSettings()
	settings.face = true
	if settings.downloadDir == "" { // what a command asks for is copied from here
		folder, remove, err := ownfolder.New("", downloadsPrefix)
		if err != nil {
			return err
		}
		defer remove()
		settings.downloadDir = folder
	}
	if len(settings.uploadDirs) == 0 {
		if at, err := os.Getwd(); err == nil && at != filepath.Dir(at) {
			settings.uploadDirs = []string{at}
		}
	}
	options, err := a.readingOptions(settings)
	if err != nil {
		return err
	}
	defer options.Engine.Close()
	options.Browser.RecordNetwork = true
	var opened atomic.Pointer[runtime.Host]
	host := startinghost.Open(ctx, options, func(h *runtime.Host) { opened.Store(h) })
	defer a.close(ctx, "the browser", host.Close)
	if err := options.Ready(); err != nil {
		return err
	}
	set := tools.New(ctx, tools.Options{
		Host:        host,
		NewID:       uuid.NewString,
		CallTimeout: a.callLimit,
		SessionIdle: 2 * times.idle,
		Logins:      plan.Logins{},
		Logger:      a.log,
		Failed: func() *fault.Error {
			_, err := host.Started()
			return err
		},
	})
	defer a.close(ctx, "the tools", within(10*time.Second, set.Close))
	server := &shell.Server{
		Set:   set,
		Host:  host,
		NewID: uuid.NewString,
		MCP:   a.joining(host),
		Routes: &plan.Routing{Set: func(ctx context.Context, rules []*browser.Route) error {
			h, err := host.Wait(ctx)
			if err != nil {
				return err
			}
			return h.Route(ctx, nil, rules)
		}},
		Logins:  plan.Logins{},
		Session: s,
		Version: version,
		Owner:   own,
		Linger:  times.linger,
		Idle:    times.idle,
		Log:     a.log,
		Tabs: func() []runtime.TabStatus {
			if h := opened.Load(); h != nil {
				return h.Tabs()
			}
			return nil
		},
	}
	err = server.Serve(ctx, func() { fmt.Fprintf(a.stdout, "session %s\n", s.Name) })
	if err != nil {
		return err
	}
	return ended(ctx)
}
