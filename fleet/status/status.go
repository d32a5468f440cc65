// Package status reads what a fleet is doing: its workers, its queues, its jobs, what
// they said. It changes nothing but what Purge is asked to remove. The verbs below
// outrider fleet print it, and metrics are made of it.
package status

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/outrider-run/outrider/evidence/report"
	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/presence"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Fleet is what a fleet is doing.
type Fleet struct {
	Server   string         `json:"server"`
	Cluster  string         `json:"cluster,omitempty"`
	Contract int            `json:"contract"`
	Workers  []fleet.Worker `json:"workers"`
	Lanes    []Lane         `json:"lanes"`
	Waiting  uint64         `json:"waiting"`
	Running  int            `json:"running"`
	Slots    int            `json:"slots"`
	Busy     int            `json:"busy"`
}

// Lane is one line of jobs. Served says that a worker that is there may take them.
type Lane struct {
	Queue    string            `json:"queue"`
	Priority fleet.Priority    `json:"priority"`
	Labels   map[string]string `json:"labels,omitempty"`
	Kind     string            `json:"kind"`
	Waiting  uint64            `json:"waiting"`
	Running  int               `json:"running"`
	Served   bool              `json:"served"`
}

// Read looks at a fleet.
func Read(ctx context.Context, q *queue.Queue) (Fleet, error) {
	f := Fleet{
		Server:   q.NC.ConnectedServerName(),
		Cluster:  q.NC.ConnectedClusterName(),
		Contract: fleet.Contract,
		Workers:  []fleet.Worker{},
		Lanes:    []Lane{},
	}
	workers, err := presence.List(ctx, q.Store)
	if err != nil {
		return f, unreadable(err)
	}
	for _, w := range workers {
		f.Slots, f.Busy = f.Slots+w.Slots, f.Busy+w.Busy
		f.Workers = append(f.Workers, w)
	}
	known, stop := context.WithCancel(ctx)
	defer stop()
	var lanes []queue.Lane
	if err := q.WatchLanes(known, func(l queue.Lane) { lanes = append(lanes, l) }, stop); err != nil &&
		ctx.Err() != nil {
		return f, unreadable(err)
	}
	for _, l := range lanes {
		one := Lane{Queue: l.Queue, Priority: l.Priority, Labels: l.Labels, Kind: l.Kind}
		if c, err := q.Consumer(ctx, l); err == nil {
			info := c.CachedInfo()
			one.Waiting, one.Running = info.NumPending, info.NumAckPending
		}
		one.Served = slices.ContainsFunc(workers, func(w fleet.Worker) bool {
			return !w.Draining && slices.Contains(w.Kinds, l.Kind) && fleet.Satisfies(w.Labels, l.Labels)
		})
		f.Waiting, f.Running = f.Waiting+one.Waiting, f.Running+one.Running
		f.Lanes = append(f.Lanes, one)
	}
	slices.SortFunc(f.Lanes, func(a, b Lane) int {
		return cmp.Or(
			strings.Compare(a.Queue, b.Queue),
			cmp.Compare(slices.Index(fleet.Priorities, a.Priority), slices.Index(fleet.Priorities, b.Priority)),
			strings.Compare(fleet.LabelText(a.Labels), fleet.LabelText(b.Labels)),
		)
	})
	return f, nil
}

func unreadable(err error) error {
	return fault.Wrap(fault.TransportFailed, err, "reading the state of the fleet")
}

// Print shows it for people.
func (f Fleet) Print(w io.Writer) {
	fmt.Fprintf(
		w, "%s, %d of %s busy, %s waiting\n", report.Count(len(f.Workers), "worker"),
		f.Busy, report.Count(f.Slots, "slot"), report.Count(int(f.Waiting), "job"),
	)
	if len(f.Workers) > 0 {
		rows := [][]string{{"worker", "slots", "load", "memory", "version", "since", "labels"}}
		for _, x := range f.Workers {
			state := fmt.Sprintf("%d/%d", x.Busy, x.Slots)
			if x.Draining {
				state += " draining"
			}
			if !fleet.Understands(x.Contract) {
				state += " contract " + strconv.Itoa(x.Contract)
			}
			rows = append(rows, []string{
				x.ID, state, fmt.Sprintf("%.1f", x.Load), fmt.Sprintf("%d MiB", x.MemoryMB),
				x.Version, ago(x.Since), fleet.LabelText(x.Labels),
			})
		}
		table(w, rows)
	}
	if len(f.Lanes) > 0 {
		rows := [][]string{{"queue", "priority", "waiting", "running", "needs", ""}}
		for _, l := range f.Lanes {
			note := ""
			if !l.Served && l.Waiting > 0 {
				note = "no worker that is here may take these"
			}
			rows = append(rows, []string{
				l.Queue, string(l.Priority), strconv.FormatUint(l.Waiting, 10),
				strconv.Itoa(l.Running), fleet.LabelText(l.Labels), note,
			})
		}
		table(w, rows)
	}
}

// table writes rows whose cells may come from other machines.
func table(w io.Writer, rows [][]string) {
	fmt.Fprintln(w)
	for _, row := range rows {
		for i := range row {
			row[i] = report.Shorten(report.Printable(row[i]), 60)
		}
	}
	report.Aligned(w, "", rows)
}

func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return time.Since(t).Truncate(time.Second).String()
}

// Job is one job in lists.
type Job struct {
	Job     string    `json:"job"` // submission and id
	Name    string    `json:"name,omitempty"`
	State   string    `json:"state"` // queued, running, acting, waiting, ok, failed, or an error code
	Queue   string    `json:"queue,omitempty"`
	Worker  string    `json:"worker,omitempty"`
	Try     int       `json:"try,omitempty"`
	Step    string    `json:"step,omitempty"`
	At      time.Time `json:"at,omitzero"`
	TookMS  int64     `json:"duration_ms,omitempty"`
	Because string    `json:"because,omitempty"`
}

// Jobs lists the jobs of a submission, or of all with run "": those that ended, run
// or wait, the newest submission last.
func Jobs(ctx context.Context, q *queue.Queue, run string) ([]Job, error) {
	pattern := cmp.Or(run, "*") + ".*"
	seen := map[string]bool{}
	out := []Job{}
	w, err := q.Records.Watch(ctx, pattern, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, unreadable(err)
	}
	defer func() { _ = w.Stop() }()
	for done := false; !done; {
		select {
		case e, ok := <-w.Updates():
			done = !ok || e == nil
			if done {
				break
			}
			var r fleet.Record
			if json.Unmarshal(e.Value(), &r) == nil {
				seen[e.Key()] = true
				out = append(out, ofRecord(r))
			}
		case <-ctx.Done():
			return nil, unreadable(context.Cause(ctx))
		}
	}
	info, err := q.Jobs.Info(ctx, jetstream.WithSubjectFilter(wire.JobSubject("*.*.*.*", cmp.Or(run, "*"), "*")))
	if err != nil {
		return nil, unreadable(err)
	}
	for subject := range info.State.Subjects {
		parts := strings.Split(subject, ".")
		if key := strings.Join(parts[len(parts)-2:], "."); !seen[key] {
			out = append(out, Job{Job: key, State: "queued", Queue: parts[2]})
		}
	}
	slices.SortFunc(out, func(a, b Job) int { return strings.Compare(a.Job, b.Job) })
	return out, nil
}

func ofRecord(r fleet.Record) Job {
	j := Job{
		Job:    r.Run + "." + r.ID,
		Name:   r.Name,
		State:  string(r.Phase),
		Queue:  r.Queue,
		Worker: r.Worker,
		Try:    r.Try,
		At:     r.At,
	}
	if r.Step != nil {
		j.Step = r.Step.Name
	}
	if o := r.Outcome; r.Phase == fleet.Done && o != nil {
		j.TookMS = o.DurationMS
		switch {
		case o.Error != nil:
			j.State, j.Because = string(o.Error.Code), o.Error.Message
		case o.OK:
			j.State = "ok"
		default:
			j.State = "failed"
		}
	}
	return j
}

// PrintJobs shows jobs for people.
func PrintJobs(w io.Writer, jobs []Job) {
	rows := [][]string{{"job", "state", "name", "worker", "try", "step", "took", ""}}
	for _, j := range jobs {
		try, took := "", ""
		if j.Try > 0 {
			try = strconv.Itoa(j.Try)
		}
		if j.TookMS > 0 {
			took = (time.Duration(j.TookMS) * time.Millisecond).String()
		}
		rows = append(rows, []string{j.Job, j.State, j.Name, j.Worker, try, j.Step, took, j.Because})
	}
	for _, row := range rows {
		for i := range row {
			row[i] = report.Shorten(report.Printable(row[i]), 80)
		}
	}
	report.Aligned(w, "", rows)
}

// Submission are the jobs of a submission as they can be followed, those that nobody
// has a record of first read from the queue.
func Submission(ctx context.Context, q *queue.Queue, run string) ([]fleet.Job, error) {
	if !fleet.ValidName(run) {
		return nil, fault.New(
			fault.InvalidInput, "the submission is %q: expected 1 to 64 letters, digits, - and _", run,
		)
	}
	listed, err := Jobs(ctx, q, run)
	if err != nil {
		return nil, err
	}
	if len(listed) == 0 {
		return nil, fault.New(fault.UnknownJob, "the fleet has no submission %s", run).
			Next("outrider fleet jobs lists what there is")
	}
	var out []fleet.Job
	for _, l := range listed {
		j := fleet.Job{Run: run, ID: strings.TrimPrefix(l.Job, run+"."), Name: cmp.Or(l.Name, l.Job), Queue: l.Queue}
		if m, err := q.Jobs.GetLastMsgForSubject(ctx, wire.JobSubject("*.*.*.*", run, j.ID)); err == nil {
			var whole fleet.Job
			if json.Unmarshal(m.Data, &whole) == nil && whole.Key() == j.Key() {
				j = whole
			}
		}
		out = append(out, j)
	}
	return out, nil
}

// Events calls heard with what a submission's jobs reported, or one job of it, in
// order, up to now.
func Events(ctx context.Context, q *queue.Queue, run, id string, heard func(fleet.Event)) error {
	stream, err := q.JS.Stream(ctx, wire.EventsStream)
	if err != nil {
		return unreadable(err)
	}
	c, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{wire.EventSubject(run, cmp.Or(id, "*"))},
	})
	if err != nil {
		return unreadable(err)
	}
	info, err := c.Info(ctx)
	if err != nil {
		return unreadable(err)
	}
	for left := info.NumPending; left > 0; {
		batch, err := c.Fetch(int(min(left, 256)), jetstream.FetchMaxWait(wire.RequestTimeout))
		if err != nil {
			return unreadable(err)
		}
		got := uint64(0)
		for m := range batch.Messages() {
			got++
			var e fleet.Event
			if json.Unmarshal(m.Data(), &e) == nil {
				heard(e)
			}
		}
		if got == 0 {
			return unreadable(cmp.Or(batch.Error(), errors.New("events are missing")))
		}
		left -= min(got, left)
	}
	return nil
}

// Purge removes what the fleet knows of a submission that has ended. Its objects
// expire by themselves, since jobs share them.
func Purge(ctx context.Context, q *queue.Queue, run string) (int, error) {
	jobs, err := Submission(ctx, q, run)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		r, _, ok, err := q.Record(ctx, j.Run, j.ID)
		if err != nil {
			return 0, err
		}
		if !ok || r.Phase != fleet.Done {
			return 0, fault.New(fault.InvalidInput, "the job %s has not ended", j.Key()).
				Next("outrider fleet cancel " + run)
		}
	}
	for i, j := range jobs {
		if err := q.Records.Purge(ctx, j.Key()); err != nil {
			return i, unreadable(err)
		}
	}
	stream, err := q.JS.Stream(ctx, wire.EventsStream)
	if err == nil {
		err = stream.Purge(ctx, jetstream.WithPurgeSubject(wire.EventSubject(run, "*")))
	}
	if err != nil {
		return len(jobs), unreadable(err)
	}
	return len(jobs), nil
}
