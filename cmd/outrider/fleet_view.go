package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/status"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/primitives/fault"
)

// fleetVerb is a verb below fleet: it connects and calls do.
func (a *app) fleetVerb(
	use, short string, args cobra.PositionalArgs, do func(ctx context.Context, q *queue.Queue, args []string) error,
) *cobra.Command {
	var at fleetFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			at.URL = cmp.Or(at.URL, "nats://127.0.0.1:4222")
			q, err := a.openFleet(ctx, at.Options(a, "outrider fleet"))
			if err != nil {
				return err
			}
			defer q.Close()
			return do(ctx, q, args)
		},
	}
	at.Add(cmd.Flags(), "default: nats://127.0.0.1:4222")
	return cmd
}

// fleetViewVerbs are the verbs that look at a fleet and end what it runs.
func (a *app) fleetViewVerbs() []*cobra.Command {
	var every time.Duration
	var state string
	top := a.fleetVerb("top", "Show what the fleet is doing, again and again until interrupted", cobra.NoArgs, func(
		ctx context.Context, q *queue.Queue, _ []string,
	) error {
		for {
			f, err := status.Read(ctx, q)
			if err != nil {
				return err
			}
			if isTerminal(a.stdout) && !a.json {
				fmt.Fprint(a.stdout, "\x1b[H\x1b[2J")
			}
			a.showFleet(f)
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return ended(ctx)
			}
		}
	})
	top.Flags().DurationVar(&every, "every", 2*time.Second, "how often")
	jobs := a.fleetVerb("jobs [SUBMISSION]", "List jobs: waiting, running and ended", cobra.MaximumNArgs(1), func(
		ctx context.Context, q *queue.Queue, args []string,
	) error {
		all, err := status.Jobs(ctx, q, strings.Join(args, ""))
		if err != nil {
			return err
		}
		some := []status.Job{}
		for _, j := range all {
			if state == "" || j.State == state {
				some = append(some, j)
			}
		}
		if a.json {
			a.printJSON(some)
			return nil
		}
		status.PrintJobs(a.stdout, some)
		return nil
	})
	jobs.Flags().StringVar(
		&state, "state", "", "only those in this state: queued, running, acting, waiting, ok, failed, or an error code",
	)
	return []*cobra.Command{
		a.fleetVerb("status", "Show workers and queues", cobra.NoArgs, func(
			ctx context.Context, q *queue.Queue, _ []string,
		) error {
			f, err := status.Read(ctx, q)
			if err == nil {
				a.showFleet(f)
			}
			return err
		}),
		top, jobs,
		a.fleetVerb("logs SUBMISSION[.JOB]", "Print what jobs reported, up to now", cobra.ExactArgs(1), func(
			ctx context.Context, q *queue.Queue, args []string,
		) error {
			run, id, _ := strings.Cut(args[0], ".")
			return status.Events(ctx, q, run, id, a.showFleetEvent)
		}),
		a.fleetVerb(
			"cancel SUBMISSION[.JOB]", "End the jobs of a submission, or one of them, queued or running",
			cobra.ExactArgs(1), a.cancelJobs,
		),
		a.fleetVerb(
			"drain WORKER", "Tell a worker to take no more jobs and to end when those that run have ended",
			cobra.ExactArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
				if err := submit.Drain(ctx, q, args[0]); err != nil {
					return err
				}
				a.printOr(map[string]any{"ok": true, "worker": args[0]}, "%s drains\n", args[0])
				return nil
			},
		),
		a.fleetVerb("purge SUBMISSION", "Forget a submission that has ended", cobra.ExactArgs(1), func(
			ctx context.Context, q *queue.Queue, args []string,
		) error {
			n, err := status.Purge(ctx, q, args[0])
			if err == nil {
				a.printOr(map[string]any{"ok": true, "jobs": n}, "%d jobs forgotten\n", n)
			}
			return err
		}),
	}
}

func (a *app) showFleet(f status.Fleet) {
	if a.json {
		a.printJSON(f)
		return
	}
	f.Print(a.stdout)
}

func (a *app) showFleetEvent(ev fleet.Event) {
	if a.json {
		a.printJSON(ev)
		return
	}
	text := strings.TrimRight(ev.Text, "\n")
	if ev.Step != nil {
		text = strings.TrimSpace(fmt.Sprintf("[%d/%d] %s", ev.Step.Number, ev.Step.Of, ev.Step.Name))
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(
			a.stdout, "%s %s try %d %-6s %s\n",
			ev.At.Format("15:04:05.000"), ev.ID, ev.Try, ev.Kind, report.Printable(line),
		)
	}
}

// cancelJobs cancels each job that has not ended.
func (a *app) cancelJobs(ctx context.Context, q *queue.Queue, args []string) error {
	run, id, one := strings.Cut(args[0], ".")
	jobs := []fleet.Job{{Run: run, ID: id}}
	if !one {
		var err error
		jobs, err = status.Submission(ctx, q, run)
		if err != nil {
			return err
		}
	}
	n := 0
	var failed error
	submit.CancelAll(ctx, q, jobs, func(_ fleet.Job, did bool, err error) {
		if errors.Is(err, fault.UnknownJob) && !one {
			return // it ended and was purged meanwhile
		}
		failed = errors.Join(failed, err)
		if did {
			n++
		}
	})
	if failed == nil {
		a.printOr(map[string]any{"ok": true, "cancelled": n}, "%d cancelled\n", n)
	}
	return failed
}

// printOr prints v as JSON, or a text.
func (a *app) printOr(v any, format string, args ...any) {
	if a.json {
		a.printJSON(v)
		return
	}
	fmt.Fprintf(a.stdout, format, args...)
}
