//go:build unix

package fleet_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/server"
	"github.com/outrider-run/outrider/fleet/status"
	"github.com/outrider-run/outrider/fleet/submit"
	"github.com/outrider-run/outrider/fleet/wire"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// This program is also the server and the workers of the chaos test, as processes
// that can be killed.
func TestMain(m *testing.M) {
	switch os.Getenv("FLEET_TEST_IS") {
	case "server":
		beServer()
	case "worker":
		beWorker()
	case "member":
		beMember()
	default:
		os.Exit(m.Run())
	}
}

func beServer() {
	if _, err := server.Start(context.Background(), server.Options{
		Listen: os.Getenv("FLEET_TEST_LISTEN"),
		Data:   os.Getenv("FLEET_TEST_DATA"),
	}); err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

func beWorker() {
	ctx := context.Background()
	link, err := wire.Dial(ctx, wire.Options{URL: os.Getenv("FLEET_TEST_URL")})
	var s *wire.Store
	if err == nil {
		s, err = wire.Open(ctx, link, wire.Keep{})
	}
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
	q := queue.New(s)
	q.Lease = chaosLease
	w := worker.New(worker.Options{
		Sources: []worker.Source{{Queue: q}},
		Slots:   8,
		Runners: map[string]worker.Runner{fleettest.Kind: distant(os.Getenv("FLEET_TEST_SITE"))},
	})
	fmt.Println("ready")
	_ = w.Run(ctx)
}

const chaosLease = time.Second

// distant is a runner whose steps are requests to a site that counts them.
type distant string

func (d distant) Run(ctx context.Context, j fleet.Job, to worker.Reporter) worker.Result {
	var task fleettest.Task
	if err := json.Unmarshal(j.Payload, &task); err != nil {
		return worker.Result{Err: err}
	}
	for i := range task.Steps {
		step := fleet.Step{Name: "step " + strconv.Itoa(i+1), Number: i + 1, Of: task.Steps}
		to.Step(step)
		if err := wire.Sleep(ctx, task.Takes); err != nil {
			return worker.Result{Err: err}
		}
		if !task.Acts || i < 2 { // the first steps read
			continue
		}
		if err := to.Act(ctx, step); err != nil {
			return worker.Result{Err: err}
		}
		r, err := http.NewRequestWithContext(
			ctx, http.MethodPost, fmt.Sprintf("%s/%s/%d", string(d), j.Key(), i+1), nil,
		)
		if err == nil {
			var answer *http.Response
			answer, err = http.DefaultClient.Do(r)
			if err == nil {
				err = answer.Body.Close()
			}
		}
		if err != nil {
			return worker.Result{Err: err}
		}
	}
	return worker.Result{OK: true, JSON: json.RawMessage(`{}`)}
}

// spawn starts this program as what env says, which prints ready.
func spawn(t *testing.T, env ...string) *fleettest.Process {
	t.Helper()
	return fleettest.Spawn(t, "ready", env, os.Args[0], "-test.run=^$")
}

// TestChaos: workers are killed, stopped and cut off, and the server is killed and
// started again, while jobs run. Each job has exactly one result, and the site on
// which they act sees no step of theirs twice. OUTRIDER_FLEET_CHAOS is how many jobs.
func TestChaos(t *testing.T) {
	number := 300
	if n, err := strconv.Atoi(os.Getenv("OUTRIDER_FLEET_CHAOS")); err == nil {
		number = n
	}
	rounds := max(3, number/100)
	var mu sync.Mutex
	steps := map[string]int{}
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		steps[strings.TrimPrefix(r.URL.Path, "/")]++
	}))
	defer site.Close()
	at, data := browsertest.Address(t), filepath.Join(t.TempDir(), "data")
	serverEnv := []string{"FLEET_TEST_IS=server", "FLEET_TEST_LISTEN=" + at, "FLEET_TEST_DATA=" + data}
	nats := spawn(t, serverEnv...)
	url := "nats://" + at
	q := fleettest.Open(t, url, chaosLease)

	var jobs []fleet.Job
	for i := range number {
		j := fleettest.Job("chaos", fmt.Sprintf("%05d", i), fleettest.Task{
			Steps: 5,
			Acts:  i%4 != 0,
			Takes: 4 * time.Millisecond,
		})
		j.Tries = 100
		if i%4 == 1 {
			j.OnLoss = fleet.RerunOnLoss
		}
		jobs = append(jobs, j)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(number)*50*time.Millisecond)
	defer cancel()
	if err := submit.Send(ctx, q, jobs); err != nil {
		t.Fatal(err)
	}
	proxies := []*fleettest.Proxy{fleettest.NewProxy(t, url), fleettest.NewProxy(t, url)}
	var workers []*fleettest.Process
	start := func(through string) *fleettest.Process {
		return spawn(t, "FLEET_TEST_IS=worker", "FLEET_TEST_URL="+through, "FLEET_TEST_SITE="+site.URL)
	}
	for i := range 4 {
		through := url
		if i < len(proxies) {
			through = proxies[i].URL()
		}
		workers = append(workers, start(through))
	}

	ends := make(chan fleet.Record, number)
	followed := make(chan error, 1)
	go func() {
		followed <- submit.Follow(ctx, q, jobs, submit.Handlers{Done: func(r fleet.Record) { ends <- r }})
	}()
	random := rand.New(rand.NewPCG(1, 2))
	got := map[string]fleet.Record{}
	var mends sync.WaitGroup
	later := func(do func()) { mends.Go(func() { time.Sleep(chaosLease * 3 / 2); do() }) } // longer than a lease
	hurt := 0
	for len(got) < number {
		select {
		case r := <-ends:
			if _, twice := got[r.ID]; twice {
				t.Fatalf("job %s has two results", r.ID)
			}
			got[r.ID] = r
		case err := <-followed:
			show(t, q)
			t.Fatalf("%d of %d jobs have ended: %v", len(got), number, err)
		}
		if len(got) < (hurt+1)*number/(5*rounds) || hurt == 4*rounds {
			continue
		}
		switch hurt++; hurt % 4 {
		case 0: // killed, and another one in its place
			i := 2 + random.IntN(2)
			workers[i].Kill()
			workers[i] = start(url)
		case 1: // stopped, and resumed after its lease
			p := workers[2+random.IntN(2)]
			p.Signal(syscall.SIGSTOP)
			later(func() { p.Signal(syscall.SIGCONT) })
		case 2: // cut off
			p := proxies[random.IntN(len(proxies))]
			p.Cut()
			later(p.Restore)
		case 3: // the server too, every other time
			if hurt%8 == 3 {
				nats.Kill()
				nats = spawn(t, serverEnv...)
			}
		}
	}
	mends.Wait()
	if err := <-followed; err != nil {
		t.Fatal(err)
	}
	tally := map[string]int{}
	for i, j := range jobs {
		r := got[j.ID]
		tally[cmp.Or(string(code(r)), "ok")]++
		acts := i%4 != 0
		mu.Lock()
		for step := 3; step <= 5; step++ {
			switch n := steps[fmt.Sprintf("%s/%d", j.Key(), step)]; {
			case n > 1 && j.OnLoss == fleet.FailOnLoss:
				t.Errorf("job %s: step %d was done %d times", j.ID, step, n)
			case n == 0 && acts && r.Outcome.OK:
				t.Errorf("job %s is well, but its step %d was not done", j.ID, step)
			}
		}
		mu.Unlock()
		if c := code(r); c != "" && (c != fault.WorkerLost || !acts || j.OnLoss == fleet.RerunOnLoss) {
			t.Errorf("job %s: %q: %v", j.ID, c, r.Outcome.Error)
		}
	}
	t.Logf("%d blows; %v", hurt, tally)
	// What was recorded stays so, and the queue is empty.
	again := follow(t, ctx, q, jobs)
	for id, r := range again {
		if r.Write != got[id].Write {
			t.Errorf("job %s: its result changed", id)
		}
	}
	wait(t, "the queue is empty", func() bool {
		info, err := q.Jobs.Info(ctx)
		return err == nil && info.State.Msgs == 0
	})
}

// show logs what a fleet is doing.
func show(t *testing.T, q *queue.Queue) {
	f, err := status.Read(context.Background(), q)
	var text strings.Builder
	f.Print(&text)
	jobs, listing := status.Jobs(context.Background(), q, "")
	status.PrintJobs(&text, slices.DeleteFunc(slices.Clone(jobs), func(j status.Job) bool { return j.State == "ok" }))
	states := map[string]int{}
	for _, j := range jobs {
		states[j.State]++
	}
	info, _ := q.Jobs.Info(context.Background())
	t.Logf("%s %v %v\nrecords and queue: %v, stream: %+v", text.String(), err, listing, states, info.State)
}

// TestAServerOfTheirOwn: everything works on the program nats-server, built from its
// module, through its restart.
func TestAServerOfTheirOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it links a program")
	}
	program := fleettest.NATS(t, t.TempDir())
	at, data := browsertest.Address(t), t.TempDir()
	host, port, _ := net.SplitHostPort(at)
	start := func() *exec.Cmd {
		cmd := exec.Command(program, "-js", "-a", host, "-p", port, "-sd", data, "--user", "ci", "--pass", "secret")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait(t, "the server listens", func() bool {
			c, err := net.Dial("tcp", at)
			if err == nil {
				err = c.Close()
			}
			return err == nil
		})
		return cmd
	}
	nats := start()
	stop := func() { _, _ = nats.Process.Kill(), nats.Wait() }
	defer func() { stop() }()
	if _, err := wire.Dial(
		t.Context(), wire.Options{URL: "nats://ci:wrong@" + at},
	); !errors.Is(err, fault.PermissionDenied) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong password: %v", err)
	}
	url := "nats://ci:secret@" + at
	q := fleettest.Open(t, url, time.Second)
	site := &fleettest.Site{}
	jobs := []fleet.Job{
		fleettest.Job("x", "1", fleettest.Task{Steps: 1, Acts: true}),
		fleettest.Job("x", "2", fleettest.Task{Steps: 1}),
	}
	if err := submit.Send(t.Context(), q, jobs); err != nil {
		t.Fatal(err)
	}
	stop()
	nats = start()
	fleettest.Start(t, fleettest.Open(t, url, time.Second), site, worker.Options{Slots: 2})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for id, r := range follow(t, ctx, q, jobs) {
		if !r.Outcome.OK {
			t.Errorf("%s: %v", id, r.Outcome.Error)
		}
	}
	if site.Acts("x.1") != 1 {
		t.Errorf("the job acted %d times", site.Acts("x.1"))
	}
}
