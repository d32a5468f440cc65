// Package author has the verbs that write and judge maps: init, record, learn, locators and coverage. Each is flags and
// one call; what they do is in the packages of authoring. The command adds them to its root.
package author

import (
	"context"
	"io"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/authoring/coverage"
	"github.com/outrider-run/outrider/authoring/learn"
	"github.com/outrider-run/outrider/authoring/naming"
	"github.com/outrider-run/outrider/authoring/picker"
	"github.com/outrider-run/outrider/authoring/scaffold"
	"github.com/outrider-run/outrider/evidence/mask"
	"github.com/outrider-run/outrider/evidence/record"
	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/runtime"
)

// App is what the verbs use of the command.
type App interface {
	// AddBrowserFlags adds the flags of a verb that owns a browser.
	AddBrowserFlags(cmd *cobra.Command)
	// WithHost opens a host by those flags, with addresses in place of --open where there are some.
	WithHost(ctx context.Context, addresses []string, do func(context.Context, *runtime.Host) error) error
	// OpenHost opens a host by those flags, after change has changed its options.
	OpenHost(ctx context.Context, change func(*runtime.Options) error) (h *runtime.Host, closing func(), err error)
	// Bounded applies --timeout.
	Bounded(ctx context.Context) (context.Context, context.CancelFunc)
	// Asked returns what the flags of all verbs say.
	Asked() Asked
	PrintJSON(v any)
	// Usage is an error of wrong usage, Verdict the exit of a verb whose result was written.
	Usage(format string, args ...any) error
	Verdict(ok bool) error
	// Progress says on a terminal what runs.
	Progress() *report.Progress
}

// Asked is what the flags of all verbs say.
type Asked struct {
	JSON       bool
	Headed     bool
	Maps       []string
	Version    string
	Secrets    *mask.Set
	Out, Words io.Writer
}

// Init is the verb init.
func Init(a App) *cobra.Command {
	var out string
	var force, submit bool
	cmd := &cobra.Command{
		Use:   "init URL",
		Short: "Write a first map and plan of a page",
		Long: "Write actions.json and plan.yaml of a page: its forms become actions, its lists and tables projections, its landmarks\n" +
			"and headings states, its links transitions. Everything is tried before it is written; what is ambiguous, empty or\n" +
			"fails is left out and named. On pages of this machine forms are sent; elsewhere --submit sends them.",
		Example: "  outrider init http://127.0.0.1:8080/ --out sites/127.0.0.1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := url.Parse(args[0])
			if err != nil || u.Host == "" {
				return a.Usage("init needs an address such as http://127.0.0.1:8080/, not %q", args[0])
			}
			if out == "" {
				out = u.Hostname()
			}
			o := scaffold.Options{NewID: uuid.NewString, Now: time.Now, Submit: submit || naming.Local(u.Hostname())}
			return a.WithHost(cmd.Context(), args, func(ctx context.Context, h *runtime.Host) error {
				progress := a.Progress()
				o.Progress = progress.Begin
				written, err := scaffold.InitInto(ctx, h, o, out, force)
				progress.Clear()
				if len(written.Files) > 0 && a.Asked().JSON {
					a.PrintJSON(written)
				} else if len(written.Files) > 0 {
					written.Print(a.Asked().Out)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "folder for the files (default: the name of the host)")
	f.BoolVar(&force, "force", false, "replace files that are there")
	f.BoolVar(&submit, "submit", false, "try actions that may change something on the site: send forms, click buttons")
	a.AddBrowserFlags(cmd)
	return cmd
}

// Locators is the verb locators.
func Locators(a App) *cobra.Command {
	var element string
	cmd := &cobra.Command{
		Use:   "locators URL",
		Short: "Show how elements of a page can be named, the best first",
		Long: "Rank the locators of the controls of a page, or of one element: test id, role and name, attributes, text, structure.\n" +
			"Each is tried on the page. The target is what a map would say: the best that names the element alone, and fallbacks\n" +
			"of other kinds. Ids and classes that look generated are left out.",
		Example: "  outrider locators http://127.0.0.1:8080/ --element 'form button'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithHost(cmd.Context(), args, func(ctx context.Context, h *runtime.Host) error {
				elements, err := picker.Elements(ctx, h, runtime.Target{}, element)
				if err == nil && a.Asked().JSON {
					a.PrintJSON(map[string]any{"ok": true, "elements": elements})
				} else if err == nil {
					picker.Print(a.Asked().Out, elements)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&element, "element", "", "CSS selector, or the JSON of a target of a map (default: every control)")
	a.AddBrowserFlags(cmd)
	return cmd
}

// Coverage is the verb coverage.
func Coverage(a App) *cobra.Command {
	var least int
	cmd := &cobra.Command{
		Use:   "coverage",
		Short: "Say which controls of the open pages no action of the maps reaches",
		Long: "Compare the controls of each open page with the targets of all actions of the maps. Controls in entries of a list\n" +
			"count once. Exit code 1 when a page is covered less than --least says.",
		Example: "  outrider coverage --open http://127.0.0.1:8080/ --maps ./map/actions.json --least 80",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := coverage.Read(a.Asked().Maps)
			if err != nil {
				return a.Usage("coverage needs --maps: %w", err)
			}
			return a.WithHost(cmd.Context(), nil, func(ctx context.Context, h *runtime.Host) error {
				pages, err := coverage.Of(ctx, h, files)
				if err != nil {
					return err
				}
				ok := coverage.Least(pages) >= least
				if a.Asked().JSON {
					a.PrintJSON(map[string]any{"ok": ok, "pages": pages})
				} else {
					coverage.Print(a.Asked().Out, pages)
				}
				return a.Verdict(ok)
			})
		},
	}
	cmd.Flags().IntVar(&least, "least", 0, "share of the controls of each page that actions must reach, in percent")
	a.AddBrowserFlags(cmd)
	return cmd
}

// Learn is the verb learn.
func Learn(a App) *cobra.Command {
	var o learn.Options
	var from, to int
	var out string
	cmd := &cobra.Command{
		Use:   "learn RECORDING [RECORDING]",
		Short: "Make a site action of what was recorded",
		Long: "Turn the calls of a recording into an action: what led nowhere is dropped, elements are named by their best locators,\n" +
			"values become arguments, and the end is checked. The action is run again from its start in a fresh session before it\n" +
			"is written. Of two recordings of one task only what differs becomes an argument. Exit code 1 when it does not run.",
		Example: "  outrider mcp --record task.rec\n  outrider learn task.rec --name orders.add --out maps/",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, files []string) error {
			var sessions [][]record.Call
			for _, f := range files {
				calls, err := learn.Read(f, from, to)
				if err != nil {
					return a.Usage("%w", err)
				}
				sessions = append(sessions, calls)
			}
			o.NewID, o.Now = uuid.NewString, time.Now
			return a.WithHost(cmd.Context(), nil, func(ctx context.Context, h *runtime.Host) error {
				return learn.Command(ctx, h, sessions, o, out, a.Asked().Out, a.Asked().JSON)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "name of the action (default: made of the page and the last step)")
	f.StringVar(&o.Start, "start", "", "address that the action starts from (default: where the recording begins)")
	f.IntVar(&from, "from", 0, "number of the first call, from 1")
	f.IntVar(&to, "to", 0, "number of the last call")
	f.StringVar(&out, "out", "", "storage folder to save the action in (default: print its map)")
	f.BoolVar(&o.Unproven, "unproven", false, "write the action also when it could not be run again")
	a.AddBrowserFlags(cmd)
	return cmd
}
