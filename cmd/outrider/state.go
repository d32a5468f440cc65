package main

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/states"
)

func (a *app) stateCommand() *cobra.Command {
	var q states.Query
	var against, session string
	cmd := &cobra.Command{
		Use:   "state [NAME]",
		Short: "Read one state projection of a page",
		Long: "Read the state projection NAME that a map declares for the page: as a table for people, as the result " +
			"object with --json.\n" +
			"Without NAME the projections that the maps declare for the page are listed.\n" +
			"With --rows /LIST its items are printed, one JSON value a line.\n" +
			"With --watch the state is printed, and after it every change of it, until --timeout or an interrupt.\n" +
			"The page is the active one of the live session with -s, or where the caller's is open and no flag asks " +
			"for a browser.",
		Example: `  outrider state board.state --open http://127.0.0.1:8080/ --maps ./map/actions.json
  outrider state board.state --json ... > before.json
  outrider state board.state --diff-against before.json ...
  outrider state board.state --watch ...`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if q.Watch || q.Summary != "" || against != "" || q.Rows != nil {
					return usage("--summary, --diff-against, --rows and --watch need the NAME of a projection")
				}
				return a.withStates(cmd, session, func(ctx context.Context, r *states.Reader) error {
					return r.List(ctx)
				})
			}
			q.Name = args[0]
			if against != "" {
				text := "@" + against
				if against == "-" {
					text = "-"
				}
				raw, err := a.jsonDocument("--diff-against", text)
				if err != nil {
					return err
				}
				q.Baseline = states.Baseline(raw)
			}
			if err := q.Valid(); err != nil {
				return usage("%w", err)
			}
			return a.withStates(cmd, session, func(ctx context.Context, r *states.Reader) error {
				if err := r.Read(ctx, q); err != nil || !q.Watch {
					return err
				}
				return ended(ctx)
			})
		},
	}
	f := cmd.Flags()
	sessionFlag(f, &session)
	f.StringVar(&q.Summary, "summary", "", "print this summary in place of the state")
	f.StringVar(
		&against, "diff-against", "",
		"print what changed since FILE: a state, or what --json printed; - is standard input",
	)
	f.Func(
		"rows", "print the items of the list at this JSON `POINTER` in the state, one a line, however many there are",
		func(at string) error { q.Rows = &at; return nil },
	)
	f.IntVar(&q.MaxBytes, "max-bytes", 0, "most bytes of the state (default 48000, of which an expression gives 32000)")
	f.BoolVar(&q.Watch, "watch", false, "go on and print every change of the state")
	f.DurationVar(
		&q.Settle, "settle", 500*time.Millisecond,
		"how long the state must have kept still before it is read; 0 reads at once",
	)
	a.addBrowserFlags(cmd)
	a.addStateFlags(cmd)
	a.maxStateFlag(cmd)
	return cmd
}

func (a *app) withStates(
	cmd *cobra.Command, session string, do func(context.Context, *states.Reader) error,
) error {
	s, err := a.live(cmd, session)
	if err != nil {
		return err
	}
	return a.onPage(cmd, s, func(ctx context.Context, h pageHost) error {
		return do(ctx, &states.Reader{
			Host:        h,
			Target:      firstTab(h),
			NewID:       uuid.NewString,
			CallTimeout: a.callLimit,
			Out:         a.stdout,
			JSON:        a.json,
		})
	})
}
