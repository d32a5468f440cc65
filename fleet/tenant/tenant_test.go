package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/fleet/tenant"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/primitives/fault"
)

const text = `
workers: file:workers.txt
tenants:
  flood: {password: file:flood.txt, weight: 1}
  small: {password: file:small.txt, weight: 1}
  tight: {password: file:small.txt, slots: 2}
  spent: {password: file:small.txt, minutes_per_day: 1}
`

// site is a server with the tenants of text, and its worker's sources.
func site(t *testing.T) (base string, f *tenant.File) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"t.yaml":      text,
		"workers.txt": "w\n",
		"flood.txt":   "f",
		"small.txt":   "s",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := tenant.Read(t.Context(), filepath.Join(dir, "t.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), server.Options{
		Listen: "127.0.0.1:0",
		Data:   filepath.Join(dir, "data"),
		Users:  f.Users(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.URL(), f
}

func as(base, user, password string) string {
	return strings.Replace(base, "nats://", "nats://"+user+":"+password+"@", 1)
}

// sources are those of a worker that serves every tenant.
func sources(t *testing.T, base string, f *tenant.File) []worker.Source {
	t.Helper()
	all, closeAll, err := f.Sources(t.Context(), wire.Options{URL: base})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	return all
}

// TestTenantsDoNotSeeEachOther is a table of attempts.
func TestTenantsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	base, _ := site(t)
	small := fleettest.Open(t, as(base, "small", "s"), queue.Lease)
	job := fleettest.Job("mine", "1", fleettest.Task{})
	if err := submit.Send(t.Context(), small, []fleet.Job{job}); err != nil {
		t.Fatal(err)
	}
	secret, err := small.Upload(t.Context(), []byte("what only small knows"))
	if err != nil {
		t.Fatal(err)
	}
	other := fleettest.Open(t, as(base, "flood", "f"), queue.Lease)
	heard := make(chan *nats.Msg, 10)
	sub, err := other.NC.ChanSubscribe(">", heard)
	if err == nil {
		err = other.NC.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := small.NC.Publish(wire.EventSubject("mine", "1"), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := small.NC.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, attempt := range map[string]func() error{
		"cancelling its job": func() error { _, err := submit.Cancel(t.Context(), other, "mine", "1"); return err },
		"reading its record": func() error {
			_, _, ok, err := other.Record(t.Context(), "mine", "1")
			if err == nil && !ok {
				err = errors.New("there is none")
			}
			return err
		},
		"reading its object": func() error { _, err := other.Download(t.Context(), secret); return err },
		"taking its job from the queue": func() error {
			_, err := other.Jobs.GetLastMsgForSubject(t.Context(), wire.JobSubject("*.*.*.*", "mine", "1"))
			return err
		},
		"being a worker with its own password": func() error {
			_, err := wire.Dial(t.Context(), wire.Options{URL: as(base, "worker-small", "f")})
			return err
		},
		"being the other tenant": func() error {
			_, err := wire.Dial(t.Context(), wire.Options{URL: as(base, "small", "f")})
			return err
		},
		"being nobody": func() error { _, err := wire.Dial(t.Context(), wire.Options{URL: base}); return err },
	} {
		if attempt() == nil {
			t.Errorf("%s succeeded", name)
		}
	}
	_ = sub.Unsubscribe()
	for len(heard) > 0 {
		if m := <-heard; strings.HasPrefix(m.Subject, wire.Prefix+".") {
			t.Errorf("the other tenant heard %s", m.Subject)
		}
	}
	if ok, err := small.Jobs.GetLastMsgForSubject(t.Context(), wire.JobSubject("*.*.*.*", "mine", "1")); err != nil ||
		ok == nil {
		t.Errorf("its job is not there any more: %v", err)
	}
}

// TestAFloodDoesNotKeepOthersWaiting: one tenant has 200 jobs in the queue when the
// other sends 10; these are done within twice their number of turns.
func TestAFloodDoesNotKeepOthersWaiting(t *testing.T) {
	t.Parallel()
	base, f := site(t)
	flood := fleettest.Open(t, as(base, "flood", "f"), queue.Lease)
	small := fleettest.Open(t, as(base, "small", "s"), queue.Lease)
	send := func(q *queue.Queue, run string, n int) []fleet.Job {
		var jobs []fleet.Job
		for i := range n {
			jobs = append(jobs, fleettest.Job(run, fmt.Sprint(i), fleettest.Task{Steps: 1}))
		}
		if err := submit.Send(t.Context(), q, jobs); err != nil {
			t.Fatal(err)
		}
		return jobs
	}
	send(flood, "flood", 200)
	ten := send(small, "small", 10)
	var mu sync.Mutex
	var order []string
	site := &fleettest.Site{OnStep: func(job string, _ int) { mu.Lock(); order = append(order, job); mu.Unlock() }}
	fleettest.Start(t, nil, site, worker.Options{Sources: sources(t, base, f), Slots: 1})
	if err := submit.Follow(t.Context(), small, ten, submit.Handlers{}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	turns, done := 0, 0
	for turns < len(order) && done < len(ten) { // the worker goes on after the last of them
		if strings.HasPrefix(order[turns], "small.") {
			done++
		}
		turns++
	}
	if done < len(ten) || turns > 30 {
		t.Errorf("%d of the ten jobs needed %d turns: expected about 20", done, turns)
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	base, f := site(t)
	tight := fleettest.Open(t, as(base, "tight", "s"), queue.Lease)
	spent := fleettest.Open(t, as(base, "spent", "s"), queue.Lease)
	var running, most atomic.Int64
	count := runner(func(ctx context.Context, _ fleet.Job, _ worker.Reporter) worker.Result {
		now := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		return worker.Result{OK: wire.Sleep(ctx, 30*time.Millisecond) == nil}
	})
	for range 2 { // two workers with four slots each
		fleettest.Start(t, nil, count, worker.Options{Sources: sources(t, base, f), Slots: 4})
	}
	var jobs []fleet.Job
	for i := range 12 {
		j := fleettest.Job("tight", fmt.Sprint(i), fleettest.Task{})
		j.Priority = fleet.Priorities[i%3] // three lanes
		jobs = append(jobs, j)
	}
	if err := submit.Send(t.Context(), tight, jobs); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := submit.Follow(ctx, tight, jobs, submit.Handlers{}); err != nil {
		t.Fatal(err)
	}
	if n := most.Load(); n > 2 || n == 0 {
		t.Errorf("%d jobs of a tenant with two slots ran at once", n)
	}

	link, err := wire.Dial(ctx, wire.Options{URL: must(f.WorkerURL(base, ""))})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	quotas, err := tenant.OpenQuotas(ctx, link)
	if err != nil {
		t.Fatal(err)
	}
	_, end, ok, err := quotas.Of("spent", f.Tenants["spent"]).Begin(ctx)
	if err != nil || !ok {
		t.Fatalf("beginning the first job: %v, %v", ok, err)
	}
	end(ctx, time.Hour)
	last := []fleet.Job{fleettest.Job("spent", "1", fleettest.Task{})}
	if err := submit.Send(ctx, spent, last); err != nil {
		t.Fatal(err)
	}
	if err := submit.Follow(ctx, spent, last, submit.Handlers{Done: func(r fleet.Record) {
		if r.Outcome.Error == nil || r.Outcome.Error.Code != fault.QuotaExceeded {
			t.Errorf("a job beyond the minutes: %+v", r.Outcome)
		}
	}}); err != nil {
		t.Fatal(err)
	}
}

// TestQuotasOfSessions: what is no job takes of a tenant's quota as jobs do.
func TestQuotasOfSessions(t *testing.T) {
	t.Parallel()
	base, f := site(t)
	all := sources(t, base, f)
	of := func(name string) worker.Source {
		i := slices.IndexFunc(all, func(s worker.Source) bool { return s.Name == name })
		all[i].Queue.Lease = 300 * time.Millisecond // its slots are renewed every third of that
		return all[i]
	}
	w, _ := fleettest.Start(t, nil, &fleettest.Site{}, worker.Options{Sources: all, Slots: 4})
	take := func(name string, want fault.Code) func() {
		t.Helper()
		release, err := w.Acquire(t.Context(), of(name))
		if fault.CodeOf(err) != want && (err != nil || want != "") {
			t.Fatalf("a session of %s: got %v, want %q", name, err, want)
		}
		return release
	}
	first, second := take("tight", ""), take("tight", "")
	take("tight", fault.QueueFull)
	take("small", "")()
	first()
	third := take("tight", "")
	second()
	third()

	link, err := wire.Dial(t.Context(), wire.Options{URL: must(f.WorkerURL(base, ""))})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	quotas, err := tenant.OpenQuotas(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	_, end, _, err := quotas.Of("spent", f.Tenants["spent"]).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	end(t.Context(), time.Hour)
	take("spent", fault.QuotaExceeded)
	for range 4 { // all slots of the worker are free again
		defer take("small", "")()
	}
	take("small", fault.QueueFull)
}

type runner func(ctx context.Context, j fleet.Job, to worker.Reporter) worker.Result

func (f runner) Run(ctx context.Context, j fleet.Job, to worker.Reporter) worker.Result {
	return f(ctx, j, to)
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	first, err := tenant.OpenSigner(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := tenant.OpenSigner(path)
	if err != nil || again.Public != first.Public {
		t.Fatalf("the key is made again: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info.Mode(), err)
	}
	o := fleet.Outcome{OK: true, Result: []byte(`{"a":1}`)}
	o.Signature = again.Sign(queue.Signed("r.1", o))
	other, err := tenant.OpenSigner(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	changed := o
	changed.OK = false
	for _, c := range []struct {
		name string
		keys []string
		job  string
		o    fleet.Outcome
		ok   bool
	}{
		{"as it was signed", []string{other.Public, first.Public}, "r.1", o, true},
		{"of another job", []string{first.Public}, "r.2", o, false},
		{"with another verdict", []string{first.Public}, "r.1", changed, false},
		{"by a key that is not trusted", []string{other.Public}, "r.1", o, false},
		{"not at all", []string{first.Public}, "r.1", fleet.Outcome{OK: true}, false},
	} {
		if err := tenant.Verify(c.keys, queue.Signed(c.job, c.o), c.o.Signature); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAFileThatIsOdd(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"":                                 "expected at least one",
		"tenants: {a: {pasword: x}}":       "field pasword not found",
		"workers: plain\ntenants: {a: {}}": "workers: ",
		"workers: env:HOME\ntenants: {workers: {password: env:HOME}}":      `the name "workers"`,
		"workers: env:HOME\ntenants: {a: {password: env:HOME, slots: -1}}": "no negative numbers",
	} {
		path := filepath.Join(t.TempDir(), "t.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tenant.Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", content, err, want)
		}
	}
}
