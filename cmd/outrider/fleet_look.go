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
func (a *app) fleetVerb(use, short string, args cobra.PositionalArgs, do func(ctx context.Context, q *queue.Queue, args []string) error) *cobra.Command {
	var at fleetFlags
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.bounded(cmd.Context())
			defer cancel()
			at.url = cmp.Or(at.url, "nats://127.0.0.1:4222")
			q, err := at.open(ctx, a, "outrider fleet")
			if err != nil {
				return err
			}
			defer q.Close()
			return do(ctx, q, args)
		},
	}
	at.add(cmd.Flags(), "default: nats://127.0.0.1:4222")
	return cmd
}

func (a *app) fleetLook() []*cobra.Command {
	var every time.Duration
	var state string
	var out reportFlags
	var artifacts string
	top := a.fleetVerb("top", "Show what the fleet is doing, again and again until interrupted", cobra.NoArgs, func(ctx context.Context, q *queue.Queue, _ []string) error {
		for {
			f, err := status.Read(ctx, q)
			if err != nil {
				return err
			}
			if terminal(a.stdout) && !a.json {
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
	jobs := a.fleetVerb("jobs [SUBMISSION]", "List jobs: waiting, running and ended", cobra.MaximumNArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
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
	jobs.Flags().StringVar(&state, "state", "", "only those in this state: queued, running, acting, waiting, ok, failed, or an error code")
	var at fleetFlags
	attach := a.fleetVerb("attach SUBMISSION", "Follow a submission to its end, as the run that sent it would", cobra.ExactArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
		files, err := out.open(a)
		if err != nil {
			return err
		}
		jobs, err := status.Submission(ctx, q, args[0])
		if err != nil {
			return err
		}
		return a.followFleet(ctx, q, jobs, at.trusted, files, artifacts, false)
	})
	out.add(attach.Flags())
	at.addVerify(attach.Flags())
	attach.Flags().StringVar(&artifacts, "artifacts", "", "directory for the pictures that jobs made")
	return []*cobra.Command{
		a.fleetVerb("status", "Show workers and queues", cobra.NoArgs, func(ctx context.Context, q *queue.Queue, _ []string) error {
			f, err := status.Read(ctx, q)
			if err == nil {
				a.showFleet(f)
			}
			return err
		}),
		top, jobs, attach,
		a.fleetVerb("logs SUBMISSION[.JOB]", "Print what jobs reported, up to now", cobra.ExactArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
			run, id, _ := strings.Cut(args[0], ".")
			return status.Events(ctx, q, run, id, a.showEvent)
		}),
		a.fleetVerb("cancel SUBMISSION[.JOB]", "End the jobs of a submission, or one of them, queued or running", cobra.ExactArgs(1), a.fleetCancel),
		a.fleetVerb("drain WORKER", "Tell a worker to take no more jobs and to end when those that run have ended", cobra.ExactArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
			if err := submit.Drain(ctx, q, args[0]); err != nil {
				return err
			}
			a.printJSONOr(map[string]any{"ok": true, "worker": args[0]}, "%s drains\n", args[0])
			return nil
		}),
		a.fleetVerb("purge SUBMISSION", "Forget a submission that has ended", cobra.ExactArgs(1), func(ctx context.Context, q *queue.Queue, args []string) error {
			n, err := status.Purge(ctx, q, args[0])
			if err == nil {
				a.printJSONOr(map[string]any{"ok": true, "jobs": n}, "%d jobs forgotten\n", n)
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

func (a *app) showEvent(e fleet.Event) {
	if a.json {
		a.printJSON(e)
		return
	}
	text := strings.TrimRight(e.Text, "\n")
	if e.Step != nil {
		text = strings.TrimSpace(fmt.Sprintf("[%d/%d] %s", e.Step.Number, e.Step.Of, e.Step.Name))
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(a.stdout, "%s %s try %d %-6s %s\n", e.At.Format("15:04:05.000"), e.ID, e.Try, e.Kind, report.Printable(line))
	}
}

// fleetCancel cancels each job that has not ended.
func (a *app) fleetCancel(ctx context.Context, q *queue.Queue, args []string) error {
	run, id, one := strings.Cut(args[0], ".")
	jobs := []fleet.Job{{Run: run, ID: id}}
	if !one {
		var err error
		if jobs, err = status.Submission(ctx, q, run); err != nil {
			return err
		}
	}
	n := 0
	var failed error
	for _, j := range jobs {
		did, err := submit.Cancel(ctx, q, j.Run, j.ID)
		if errors.Is(err, fault.UnknownJob) && !one {
			continue // it ended and was purged meanwhile
		}
		if failed = errors.Join(failed, err); did {
			n++
		}
	}
	if failed == nil {
		a.printJSONOr(map[string]any{"ok": true, "cancelled": n}, "%d cancelled\n", n)
	}
	return failed
}
