package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/runtime"
)

func (a *app) replayCommand() *cobra.Command {
	var o replay.Options
	var fill, state string
	var step bool
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Repeat the calls of a recording or a session log, and show the first whose result differs",
		Long: "Repeat the calls of LOG and show the first whose result differs: a recording (--record), the output of runtime.session.log of the Chrome extension,\n" +
			"or a conversation with a bridge, one protocol item per line. Exit code 0: every result is as in the log; 1: one differs; 2: the log cannot be replayed.",
		Example: `  outrider replay run.rec --offline
  outrider replay session.json --url http://127.0.0.1:8080/ --maps ./maps --profile strict`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := replay.Read(args[0])
			if err != nil {
				return &exit{exitUsage, err}
			}
			defer l.Close()
			if err := a.replayOptions(&o, l, fill, state); err != nil {
				return err
			}
			if step {
				lines := bufio.NewReader(a.stdin)
				o.Step = func(n int, c replay.Call) error {
					fmt.Fprintf(a.stderr, "next: %d %s %s (Enter) ", n, c.Name, c.Arguments)
					if _, err := lines.ReadString('\n'); err != nil && err != io.EOF { //nolint:errorlint // as bufio returns it
						return err
					}
					return nil
				}
			}
			return a.replay(cmd.Context(), l, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.URL, "url", "", "begin at this address; its origin stands for the recorded one")
	f.BoolVar(&o.Offline, "offline", false, "answer requests with those of the recording, and nothing else")
	f.IntVar(&o.Until, "until", 0, "end after so many calls")
	f.BoolVar(&step, "step", false, "wait for Enter before each call")
	f.StringVar(&fill, "fill", "", "JSON file with the values that the log does not hold")
	f.StringVar(&state, "from-state", "", "restore this storage state before the first call")
	a.addBrowserFlags(cmd)
	return cmd
}

func (a *app) replay(ctx context.Context, l *replay.Log, o replay.Options) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	if !a.json {
		o.OnCall = func(c replay.CallResult) { c.Print(a.stdout) }
	}
	r, err := replay.Play(ctx, l, o)
	if err != nil {
		return err
	}
	if a.json {
		a.printJSON(r)
	} else {
		r.Print(a.stdout)
	}
	return map[string]error{replay.Differs: &exit{code: exitFailed}, replay.Cannot: &exit{code: exitUsage}}[r.Verdict]
}

// openHost opens a host by the flags after change has changed its options. close ends it.
func (a *app) openHost(ctx context.Context, change func(*runtime.Options) error) (*runtime.Host, func(), error) {
	options, err := a.runtimeOptions()
	if err != nil {
		return nil, nil, err
	}
	if err := change(&options); err != nil {
		_ = options.Engine.Close()
		return nil, nil, err
	}
	h, err := runtime.Open(ctx, options)
	if err != nil {
		_ = options.Engine.Close()
		return nil, nil, err
	}
	return h, func() {
		if err := h.Close(context.WithoutCancel(ctx)); err != nil {
			a.log.Warn("closing the browser", "error", err)
		}
		_ = options.Engine.Close()
	}, nil
}
