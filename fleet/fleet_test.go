package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/presence"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// outcomes runs jobs to their end and returns their last records.
func outcomes(t testing.TB, q *queue.Queue, jobs []fleet.Job) map[string]fleet.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := submit.Send(ctx, q, jobs); err != nil {
		t.Fatal(err)
	}
	return follow(t, ctx, q, jobs)
}

func follow(t testing.TB, ctx context.Context, q *queue.Queue, jobs []fleet.Job) map[string]fleet.Record {
	t.Helper()
	out := map[string]fleet.Record{}
	if err := submit.Follow(ctx, q, jobs, submit.Handlers{Done: func(r fleet.Record) {
		if _, twice := out[r.ID]; twice {
			t.Errorf("job %s ended twice", r.ID)
		}
		out[r.ID] = r
	}}); err != nil {
		t.Fatalf("following %d jobs, %d have ended: %v", len(jobs), len(out), err)
	}
	return out
}

func code(r fleet.Record) fault.Code {
	if r.Outcome == nil || r.Outcome.Error == nil {
		return ""
	}
	return r.Outcome.Error.Code
}

func TestAJobRunsAndItsResultComesBack(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	site := &fleettest.Site{}
	fleettest.Start(t, fleettest.Open(t, s.URL(), time.Second), site, worker.Options{Slots: 2})
	jobs := []fleet.Job{
		fleettest.Job("a", "reads", fleettest.Task{Steps: 3}),
		fleettest.Job("a", "acts", fleettest.Task{Steps: 2, Acts: true}),
		fleettest.Job("a", "fails", fleettest.Task{Steps: 1, Fails: true}),
		fleettest.Job("a", "panics", fleettest.Task{Panic: true}),
		fleettest.Job("a", "big", fleettest.Task{Steps: 1, Big: 1 << 20}),
	}
	got := outcomes(t, q, jobs)
	for id, want := range map[string]struct {
		ok   bool
		code fault.Code
	}{
		"reads":  {true, ""},
		"acts":   {true, ""},
		"fails":  {false, ""},
		"panics": {false, fault.Internal},
		"big":    {true, ""},
	} {
		if r := got[id]; r.Outcome.OK != want.ok || code(r) != want.code || r.Try != 1 {
			t.Errorf("%s: got ok %v, code %q, try %d", id, r.Outcome.OK, code(r), r.Try)
		}
	}
	if r := got["big"].Outcome; r.ResultAt == nil || r.Result != nil {
		t.Error("a result of 1 MiB is in the record")
	} else if raw, err := q.Result(t.Context(), r); err != nil || len(raw) < 1<<20 {
		t.Errorf("reading the result: %d bytes, %v", len(raw), err)
	}
	if n := site.Acts("a.acts"); n != 1 {
		t.Errorf("the job acted %d times", n)
	}
	// The same submission again is the same: nothing runs twice.
	again := outcomes(t, q, jobs)
	if len(again) != len(jobs) || site.Runs("a.reads") != 1 || again["acts"].Write != got["acts"].Write {
		t.Errorf("sent again: %d results, the first job ran %d times", len(again), site.Runs("a.reads"))
	}
}

// TestALostWorker: a worker whose connection is cut loses its job within its lease.
// A job that only read is run by another; one that had begun to act is not.
func TestALostWorker(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	proxy := fleettest.NewProxy(t, s.URL())
	first := &fleettest.Site{}
	_, stopLost := fleettest.Start(
		t, fleettest.Open(t, proxy.URL(), time.Second), first, worker.Options{Slots: 3, Drain: time.Millisecond},
	)

	jobs := []fleet.Job{
		fleettest.Job("l", "reads", fleettest.Task{Steps: 1, Hangs: true}),
		fleettest.Job("l", "acts", fleettest.Task{Steps: 1, Acts: true, Hangs: true}),
		fleettest.Job("l", "rerun", fleettest.Task{Steps: 1, Acts: true, Hangs: true}),
	}
	jobs[2].OnLoss = fleet.RerunOnLoss
	if err := submit.Send(t.Context(), q, jobs); err != nil {
		t.Fatal(err)
	}
	wait(t, "all three run, two have acted", func() bool {
		return first.Runs("l.reads") == 1 && first.Acts("l.acts") == 1 && first.Acts("l.rerun") == 1
	})
	proxy.Cut()
	second := &fleettest.Site{}
	// Jobs that hang do so on the second worker as well: they are cancelled there.
	_, _ = fleettest.Start(t, fleettest.Open(t, s.URL(), time.Second), second, worker.Options{Slots: 3})
	wait(t, "the second worker runs what may be run again", func() bool {
		return second.Runs("l.reads") == 1 && second.Acts("l.rerun") == 1
	})
	began := time.Now()
	for _, id := range []string{"reads", "rerun"} {
		if did, err := submit.Cancel(t.Context(), q, "l", id); err != nil || !did {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := follow(t, ctx, q, jobs)
	if took := time.Since(began); took > 10*time.Second { // jobs that hang never end by themselves
		t.Errorf("cancelling took %s", took)
	}
	if r := got["acts"]; code(r) != fault.WorkerLost || second.Runs("l.acts") != 0 || len(r.Losses) != 1 ||
		r.Losses[0].Step == nil || r.Losses[0].Step.Name != "step" {
		t.Errorf(
			"the job that had acted: code %q, run again %d times, losses %+v", code(r), second.Runs("l.acts"), r.Losses,
		)
	}
	for _, id := range []string{"reads", "rerun"} {
		if r := got[id]; code(r) != fault.Cancelled || r.Try != 2 || len(r.Losses) != 1 {
			t.Errorf("%s: code %q, try %d, losses %+v", id, code(r), r.Try, r.Losses)
		}
	}
	// The worker that was cut off comes back: what it has to say counts for nothing.
	proxy.Restore()
	stopLost()
	for id, r := range follow(t, ctx, q, jobs) {
		if r.Write != got[id].Write {
			t.Errorf("%s: its record changed after it had ended", id)
		}
	}
}

func TestAJobThatTakesWorkersDownEnds(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	j := fleettest.Job("p", "poison", fleettest.Task{Steps: 1, Hangs: true})
	j.Tries = 2
	if err := submit.Send(t.Context(), q, []fleet.Job{j}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		site := &fleettest.Site{}
		proxy := fleettest.NewProxy(t, s.URL())
		_, _ = fleettest.Start(
			t, fleettest.Open(t, proxy.URL(), time.Second), site, worker.Options{Drain: time.Millisecond},
		)
		wait(t, "it runs", func() bool { return site.Runs("p.poison") == 1 })
		proxy.Cut()
		t.Cleanup(proxy.Restore) // before the worker is stopped
	}
	last := &fleettest.Site{}
	fleettest.Start(t, fleettest.Open(t, s.URL(), time.Second), last, worker.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := follow(t, ctx, q, []fleet.Job{j})["poison"]
	if code(r) != fault.JobPoisoned || len(r.Losses) != 2 || last.Runs("p.poison") != 0 {
		t.Errorf(
			"got %q after %d losses; the third worker ran it %d times", code(r), len(r.Losses), last.Runs("p.poison"),
		)
	}
}

// Many jobs are cancelled beside each other, each once.
func TestCancelOfMany(t *testing.T) {
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	const many = 100
	jobs := make([]fleet.Job, many)
	for i := range jobs {
		jobs[i] = fleettest.Job("many", "j"+strconv.Itoa(i), fleettest.Task{Steps: 1})
	}
	if err := submit.Send(t.Context(), q, jobs); err != nil {
		t.Fatal(err)
	}
	for round, want := range []int{many, 0} {
		got := 0
		submit.CancelAll(t.Context(), q, jobs, func(j fleet.Job, did bool, err error) {
			if err != nil {
				t.Errorf("%s: %v", j.Key(), err)
			}
			if did {
				got++
			}
		})
		if got != want {
			t.Errorf("round %d: %d were cancelled, want %d", round, got, want)
		}
	}
}

func TestCancelAndExpiry(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	jobs := []fleet.Job{
		fleettest.Job("c", "queued", fleettest.Task{Steps: 1}), fleettest.Job("c", "late", fleettest.Task{Steps: 1}),
	}
	jobs[1].Deadline = time.Now().Add(100 * time.Millisecond)
	if err := submit.Send(t.Context(), q, jobs); err != nil {
		t.Fatal(err)
	}
	if _, err := submit.Cancel(t.Context(), q, "c", "queued"); err != nil {
		t.Fatal(err)
	}
	if _, err := submit.Cancel(t.Context(), q, "c", "nothing"); !errors.Is(err, fault.UnknownJob) {
		t.Errorf("cancelling what is not there: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got := follow(t, ctx, q, jobs) // nobody works: who follows sees to the deadline
	if code(got["queued"]) != fault.Cancelled || code(got["late"]) != fault.JobExpired {
		t.Errorf("got %q and %q", code(got["queued"]), code(got["late"]))
	}
	if info, err := q.Jobs.Info(ctx); err != nil || info.State.Msgs != 0 {
		t.Errorf("the queue still has %d jobs, %v", info.State.Msgs, err)
	}
}

func TestLabelsAndPriorities(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	var jobs []fleet.Job
	for i, p := range []fleet.Priority{fleet.Low, fleet.Normal, fleet.High} {
		for n := range 3 {
			j := fleettest.Job("o", fmt.Sprintf("%s%d", p, n), fleettest.Task{Steps: 1})
			j.Priority = p
			_ = i
			jobs = append(jobs, j)
		}
	}
	elsewhere := fleettest.Job("o", "elsewhere", fleettest.Task{Steps: 1})
	elsewhere.Labels = map[string]string{"region": "eu"}
	jobs = append(jobs, elsewhere)
	if err := submit.Send(t.Context(), q, jobs); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []string
	site := &fleettest.Site{OnStep: func(job string, _ int) { mu.Lock(); order = append(order, job); mu.Unlock() }}
	fleettest.Start(t, fleettest.Open(t, s.URL(), time.Second), site, worker.Options{Slots: 1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	follow(t, ctx, q, jobs[:9])
	want := "[o.high0 o.high1 o.high2 o.normal0 o.normal1 o.normal2 o.low0 o.low1 o.low2]"
	if got := fmt.Sprint(order); got != want {
		t.Errorf("got the order %s, want %s", got, want)
	}
	if site.Runs("o.elsewhere") != 0 {
		t.Error("a worker without the label took the job")
	}
	there := &fleettest.Site{}
	fleettest.Start(t, fleettest.Open(t, s.URL(), time.Second), there, worker.Options{
		Self: fleet.Worker{Labels: map[string]string{"region": "eu", "more": "1"}},
	})
	if r := follow(t, ctx, q, jobs[9:])["elsewhere"]; !r.Outcome.OK || there.Runs("o.elsewhere") != 1 {
		t.Errorf("the worker with the label: %+v", r.Outcome)
	}
}

// TestDrain: a worker that is told to end finishes what acts, gives back the rest,
// and leaves the list.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), 10*time.Second)
	site := &fleettest.Site{}
	w, stop := fleettest.Start(
		t, fleettest.Open(t, s.URL(), 10*time.Second), site, worker.Options{Slots: 2, Drain: 200 * time.Millisecond},
	)
	jobs := []fleet.Job{
		fleettest.Job("d", "reads", fleettest.Task{Steps: 1, Hangs: true}),
		fleettest.Job("d", "acts", fleettest.Task{Steps: 1, Acts: true, Hangs: true}),
	}
	if err := submit.Send(t.Context(), q, jobs); err != nil {
		t.Fatal(err)
	}
	wait(t, "both run", func() bool { return site.Runs("d.reads") == 1 && site.Acts("d.acts") == 1 })
	wait(t, "the worker says that it is busy", func() bool {
		all, err := presence.List(t.Context(), q.Store)
		return err == nil && len(all) == 1 && all[0].ID == w.ID() && all[0].Busy == 2
	})
	stop()
	if all, err := presence.List(t.Context(), q.Store); err != nil || len(all) != 0 {
		t.Errorf("after the worker left: %+v, %v", all, err)
	}
	began := time.Now()
	next := &fleettest.Site{}
	fleettest.Start(t, fleettest.Open(t, s.URL(), 10*time.Second), next, worker.Options{Slots: 2})
	wait(t, "another worker runs what was given back", func() bool { return next.Runs("d.reads") == 1 })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the job that was given back came after %s, as if its lease had to end", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := submit.Cancel(ctx, q, "d", "reads"); err != nil {
		t.Fatal(err)
	}
	got := follow(t, ctx, q, jobs)
	if r := got["reads"]; r.Try != 1 || len(r.Losses) != 0 {
		t.Errorf("what was given back counts as a try: %+v", r)
	}
	if code(got["acts"]) != fault.WorkerLost {
		t.Errorf("the one that had acted: %q", code(got["acts"]))
	}
}

// TestAnIdleWorkerWhosePullWasLost: nothing but a pull connects a worker without jobs to
// the queue. One that ends, as in a cluster that is choosing a leader, is made again.
func TestAnIdleWorkerWhosePullWasLost(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	q := fleettest.Open(t, s.URL(), time.Second)
	fleettest.Start(t, fleettest.Open(t, s.URL(), time.Second), &fleettest.Site{}, worker.Options{Slots: 1})
	wait(t, "the worker is there", func() bool {
		all, err := presence.List(t.Context(), q.Store)
		return err == nil && len(all) == 1
	})
	j := fleettest.Job("idle", "after", fleettest.Task{Steps: 1})
	if err := j.Prepare(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := q.Ensure(t.Context(), queue.LaneOf(j)); err != nil {
		t.Fatal(err)
	}
	lanes := q.Jobs.ListConsumers(t.Context())
	for c := range lanes.Info() {
		waiting := func() bool {
			lane, err := q.Jobs.Consumer(t.Context(), c.Name)
			return err == nil && lane.CachedInfo().NumWaiting == 1
		}
		wait(t, "the worker waits for jobs", waiting)
		if err := q.Jobs.DeleteConsumer(t.Context(), c.Name); err != nil {
			t.Fatal(err)
		}
	}
	// Another submitter makes the lane again.
	if r := outcomes(t, fleettest.Open(t, s.URL(), time.Second), []fleet.Job{j})["after"]; !r.Outcome.OK {
		t.Error(r.Outcome.Error)
	}
}

// wait waits for something that has no event.
func wait(t testing.TB, what string, there func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !there(); {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
