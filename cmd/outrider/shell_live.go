package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/faces/shell"
	"github.com/outrider-run/outrider/plan"
	"github.com/outrider-run/outrider/runtime"
)

// pageHost is what verbs that work on one page need: a host of their own, or a live session.
type pageHost interface {
	plan.Host
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
}

// ownBrowserFlags are the flags that ask for another browser than that of a live session.
var ownBrowserFlags = sync.OnceValue(func() []string {
	cmd := &cobra.Command{}
	probe := &app{}
	probe.addBrowserFlags(cmd)
	probe.addStateFlags(cmd)
	probe.limitFlags(cmd)
	names := []string{"fleet"}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
})

// liveSession is the live session that a verb is for: the one that -s names, or that of the caller where it is open and
// no flag asks for another browser. It is nil where the verb has a browser of its own.
func (a *app) liveSession(cmd *cobra.Command, name string) (*shell.Session, error) {
	named := a.origins["session"] == fromCommandLine
	other := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if a.origins[f.Name] == fromCommandLine && slices.Contains(ownBrowserFlags(), f.Name) {
			other = f.Name
		}
	})
	if named && other != "" {
		return nil, usage("--%s is for a browser of its own, and -s for a live session: give one of them", other)
	}
	if other != "" || a.origins["fleet"] != byDefault {
		return nil, nil
	}
	s, _, err := sessionOf(name)
	if err != nil {
		if name == "" {
			err = nil // no parent stays, so there is no session of the caller
		}
		return nil, err
	}
	if s.Open(cmd.Context()) {
		return &s, nil
	}
	if named {
		return nil, s.NotFound()
	}
	return nil, nil
}

// live is liveSession for a verb that says so.
func (a *app) live(cmd *cobra.Command, name string) (*shell.Session, error) {
	s, err := a.liveSession(cmd, name)
	if s != nil {
		fmt.Fprintf(a.stderr, "outrider: on the live session %s\n", s.Name)
	}
	return s, err
}

// refuseOnLive refuses flags that a live session does not know.
func (a *app) refuseOnLive(flags ...string) error {
	return a.refuseGiven("on a live session", flags...)
}

// onPage does something with the page of a live session, or with the first page of a browser of its own.
func (a *app) onPage(cmd *cobra.Command, s *shell.Session, do func(context.Context, pageHost) error) error {
	if s == nil {
		return a.withHost(cmd.Context(), a.hostSettings(), func(ctx context.Context, h *runtime.Host) error {
			return do(ctx, h)
		})
	}
	ctx, cancel := a.bounded(cmd.Context())
	defer cancel()
	l, err := s.Live(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	until, stop := l.Until(ctx)
	defer stop()
	err = do(until, l)
	if lost := l.Lost(); lost != nil {
		return lost
	}
	return err
}
