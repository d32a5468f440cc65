package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/primitives/fault"
)

// otherBuild are the arguments with which another build does the same replay.
func otherBuild(cmd *cobra.Command, log string) []string {
	args := []string{"replay", log, "--json"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "bisect-version" || f.Name == "json" {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+v)
			}
			return
		}
		args = append(args, "--"+f.Name+"="+f.Value.String())
	})
	return args
}

// replayCommand is the verb replay.
func (a *app) replayCommand() *cobra.Command {
	var c replay.Command
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Repeat the calls of a recording or a session log, and show the first whose result differs",
		Long: "Repeat the calls of LOG and show the first whose result differs: a recording (--record), the output " +
			"of runtime.session.log of the Chrome extension,\n" +
			"or a conversation with a bridge, one protocol item per line. Exit code 0: every result is as in the " +
			"log; 1: one differs; 2: the log cannot be replayed.",
		Example: `  outrider replay run.rec --offline
  outrider replay session.json --url http://127.0.0.1:8080/ --maps ./maps --profile strict`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Open = a.openHost
			c.CallTimeout = a.callLimit
			c.Secrets = a.secrets
			c.OwnMaps = len(a.browser.maps) > 0
			if a.origins["profile"] != byDefault {
				c.Profile = a.browser.profile
			}
			c.In, c.Words = a.stdin, a.people
			if !a.json {
				c.Out = a.stdout
			}
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			c.Arguments = otherBuild(cmd, args[0])
			r, verdict, err := c.Run(ctx, args[0])
			if fault.CodeOf(err) == fault.InvalidInput {
				return &exit{exitUsage, err}
			}
			if err != nil {
				return err
			}
			if a.json {
				a.printJSON(r)
			}
			switch verdict {
			case replay.Differs, replay.Ended:
				return &exit{exitFailed, nil}
			case replay.Cannot:
				return &exit{exitUsage, nil}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.URL, "url", "", "begin at this address; its origin stands for the recorded one")
	f.BoolVar(&c.Offline, "offline", false, "answer requests with those of the recording, and nothing else")
	f.IntVar(&c.Until, "until", 0, "end after so many calls")
	f.BoolVar(&c.ByOne, "step", false, "wait for Enter before each call")
	f.StringVar(&c.Fill, "fill", "", "JSON file with the values that the log does not hold")
	f.BoolVar(&c.BisectQuirks, "bisect-quirks", false, "find the quirks of the profile extension that explain the log")
	f.StringVar(
		&c.BisectVersion, "bisect-version", "",
		"replay with this build of outrider too, and show the first call that goes otherwise",
	)
	f.StringVar(
		&c.Minimise, "minimise", "",
		"write the fewest calls that still show the difference, and their pages, to this folder",
	)
	f.StringVar(&c.State, "from-state", "", "restore this storage state before the first call")
	a.addBrowserFlags(cmd)
	return cmd
}
