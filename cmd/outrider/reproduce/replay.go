// Package reproduce has the verbs that repeat and show what was recorded, replay and trace: their flags and
// one call each. What they do is in evidence/replay and evidence/trace. The command adds them to its root.
package reproduce

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/outrider-run/outrider/evidence/mask"
	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// App is what the verbs use of the command.
type App interface {
	// AddBrowserFlags adds the flags of a verb that owns a browser.
	AddBrowserFlags(cmd *cobra.Command)
	// OpenHost opens a host by those flags, after change has changed its options.
	OpenHost(ctx context.Context, change func(*runtime.Options) error) (h *runtime.Host, closing func(), err error)
	// Given returns what the flags of all verbs say.
	Given() Given
	PrintJSON(v any)
	// Bounded applies --timeout.
	Bounded(ctx context.Context) (context.Context, context.CancelFunc)
	// Exit is the error of an exit code; err is shown unless it is nil.
	Exit(code int, err error) error
}

// Given is what the flags of all verbs say.
type Given struct {
	JSON        bool
	Profile     string // "" when it was not given
	Maps        bool
	CallTimeout time.Duration
	Secrets     *mask.Set
	In          io.Reader
	Out, Words  io.Writer
}

// Exit codes of the contract.
const (
	exitFailed = 1
	exitUsage  = 2
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

// Replay is the verb replay.
func Replay(a App) *cobra.Command {
	var c replay.Command
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Repeat the calls of a recording or a session log, and show the first whose result differs",
		Long: "Repeat the calls of LOG and show the first whose result differs: a recording (--record), the output of runtime.session.log of the Chrome extension,\n" +
			"or a conversation with a bridge, one protocol item per line. Exit code 0: every result is as in the log; 1: one differs; 2: the log cannot be replayed.",
		Example: `  outrider replay run.rec --offline
  outrider replay session.json --url http://127.0.0.1:8080/ --maps ./maps --profile strict`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g := a.Given()
			c.Open, c.CallTimeout, c.Secrets, c.OwnMaps, c.Profile = a.OpenHost, g.CallTimeout, g.Secrets, g.Maps, g.Profile
			c.In, c.Words = g.In, g.Words
			if !g.JSON {
				c.Out = g.Out
			}
			ctx, cancel := a.Bounded(cmd.Context())
			defer cancel()
			c.Arguments = otherBuild(cmd, args[0])
			r, verdict, err := c.Run(ctx, args[0])
			if fault.CodeOf(err) == fault.InvalidInput {
				return a.Exit(exitUsage, err)
			}
			if err != nil {
				return err
			}
			if g.JSON {
				a.PrintJSON(r)
			}
			switch verdict {
			case replay.Differs, replay.Ended:
				return a.Exit(exitFailed, nil)
			case replay.Cannot:
				return a.Exit(exitUsage, nil)
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
	f.StringVar(&c.BisectVersion, "bisect-version", "", "replay with this build of outrider too, and show the first call that goes otherwise")
	f.StringVar(&c.Minimise, "minimise", "", "write the fewest calls that still show the difference, and their pages, to this folder")
	f.StringVar(&c.State, "from-state", "", "restore this storage state before the first call")
	a.AddBrowserFlags(cmd)
	return cmd
}
