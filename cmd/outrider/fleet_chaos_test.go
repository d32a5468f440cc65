//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/status"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// actingSite is a page on which jobs act. It counts by itself how often each step of
// each job was done.
type actingSite struct {
	*httptest.Server
	acted chan struct{} // one for each act

	mu    sync.Mutex
	steps map[string]int
}

const actingPage = `<!doctype html><title>Act</title><link rel="icon" href="data:,"><p id="who"></p><button id="buy">Buy</button><p id="done"></p>
<script>
const row = new URLSearchParams(location.search).get('row');
who.textContent = 'row ' + row;
const act = step => fetch('/act/' + row + '/' + step, {method: 'POST'}).then(r => r.text());
buy.onclick = () => act(4).then(text => done.textContent = text);
</script>`

func newActingSite(t *testing.T) *actingSite {
	s := &actingSite{steps: map[string]int{}, acted: make(chan struct{}, 1_000_000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, actingPage)
			return
		}
		s.mu.Lock()
		s.steps[strings.TrimPrefix(r.URL.Path, "/act/")]++
		s.mu.Unlock()
		s.acted <- struct{}{}
		_, _ = io.WriteString(w, "bought")
	}))
	t.Cleanup(s.Close)
	return s
}

// Three plans: one acts, one acts and may be run again whole, one only reads.
const (
	chaosSteps = `open: ${vars.site}?row=${row.name}
steps:
  - {name: one, expect: {target: "#who", text_equals: "row ${row.name}"}}
  - {name: two, call: page.info}
`
	chaosActs = chaosSteps +
		`  - {name: three, call: page.evaluate, args: {body: "return act(3)"}, expect: "output.value.value = 'bought'"}
  - {name: four, call: pointer.click, args: {locator: {selector: "#buy"}}, expect: {target: "#done", text_equals: bought}}
  - {name: five, call: page.evaluate, args: {body: "return act(5)"}, expect: "output.value.value = 'bought'"}
`
	chaosReads = chaosSteps + `  - {name: three, call: page.info}
  - {name: four, expect: {target: "#buy", visible: true}}
  - {name: five, call: page.info}
`
)

// TestFleetChaos: four workers with real browsers are killed, stopped and cut off, and
// servers are killed, while plans run. Each case has one result, no acting step of a case
// that may not be repeated was done twice, by the count of the site, and nothing is left
// behind. OUTRIDER_FLEET_CHAOS is how many cases; with it a cluster of three servers is
// tried too, which loses one for good.
func TestFleetChaos(t *testing.T) {
	browsertest.Require(t)
	cases, full := 16, false
	if n, err := strconv.Atoi(os.Getenv("OUTRIDER_FLEET_CHAOS")); err == nil {
		cases, full = n, true
	}
	t.Run("one server", func(t *testing.T) {
		t.Parallel()
		chaos(t, cases, 1)
	})
	if full {
		t.Run("cluster", func(t *testing.T) { chaos(t, max(cases/10, 40), 3) })
	}
}

func chaos(t *testing.T, cases, servers int) {
	program, err := exec.LookPath("outrider")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	site := newActingSite(t)
	nats := newServers(t, dir, servers)
	blows := max(4, cases/25)
	t.Logf("%d cases, %d blows, %d servers", cases, blows, servers)

	// Four workers, two of them behind proxies that can be cut.
	proxies := []*fleettest.Proxy{fleettest.NewProxy(t, nats.at(0)), fleettest.NewProxy(t, nats.at(0))}
	temp, err := os.MkdirTemp("/tmp", "outrider-chaos-") // short: it has the browsers' sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	start := func(url string) *fleettest.Process {
		return fleettest.Spawn(
			t, "is ready", []string{"TMPDIR=" + temp, "OUTRIDER_FLEET=" + url},
			program, "worker", "--slots", "1", "--drain", "20s", "--timeout", "2h",
		)
	}
	urls := []string{proxies[0].URL(), proxies[1].URL(), nats.urls(), nats.urls()}
	workers := make([]*fleettest.Process, len(urls))
	for i, url := range urls {
		workers[i] = start(url)
	}

	kinds := []struct {
		name, text, rerun string
		rows              int
	}{
		{"acts", chaosActs, "fail", cases / 2},
		{"again", chaosActs, "rerun", cases / 4},
		{"reads", chaosReads, "fail", cases - cases/2 - cases/4},
	}
	began := time.Now()
	outputs, codes := make([]bytes.Buffer, len(kinds)), make([]int, len(kinds))
	// A test that runs out of time ends what it started: nothing else would.
	ctx := t.Context()
	if limit, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, limit.Add(-time.Minute))
		defer cancel()
	}
	var submitters sync.WaitGroup
	for i, kind := range kinds {
		rows := make([]map[string]string, kind.rows)
		for n := range rows {
			rows[n] = map[string]string{"name": fmt.Sprintf("%s-%04d", kind.name, n)}
		}
		raw, err := json.Marshal(rows)
		path := filepath.Join(dir, kind.name+".yaml")
		if err == nil {
			err = os.WriteFile(path, []byte("data: "+string(raw)+"\n"+kind.text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		submitters.Go(func() {
			args := []string{
				"run", path, "--fleet", nats.urls(), "--submission", kind.name, "--json", "--var",
				"site=" + site.URL + "/", "--on-loss", kind.rerun, "--tries", "100", "--timeout", "2h",
			}
			codes[i] = execute(ctx, args, strings.NewReader(""), &outputs[i], io.Discard)
		})
	}
	ended := make(chan struct{})
	go func() { submitters.Wait(); close(ended) }()

	random := rand.New(rand.NewPCG(7, uint64(cases)))
	var mends sync.WaitGroup
	defer mends.Wait()
	later := func(do func()) { mends.Go(func() { time.Sleep(queue.Lease * 6 / 5); do() }) }
	acts := 3 * (cases/2 + cases/4)
	tally := map[string]int{}
	hurt := func(n int) {
		switch n % 4 {
		case 0: // killed, and another one in its place
			i := random.IntN(len(workers))
			workers[i].Kill()
			workers[i] = start(urls[i])
			tally["killed"]++
		case 1: // stopped, and resumed after its lease
			w := workers[2+random.IntN(2)]
			w.Signal(syscall.SIGSTOP)
			later(func() { w.Signal(syscall.SIGCONT) })
			tally["stopped"]++
		case 2: // cut off
			p := proxies[random.IntN(len(proxies))]
			p.Cut()
			later(p.Restore)
			tally["cut"]++
		case 3: // twice a server; else one more is killed
			if tally["servers"] < 2 && tally["servers"]*blows/2 <= n {
				nats.hurt(t)
				tally["servers"]++
				return
			}
			workers[3].Kill()
			workers[3] = start(urls[3])
			tally["killed"]++
		}
	}
	seen, done := 0, 0
	for running := true; running; {
		select {
		case <-site.acted:
			if seen++; done < blows && seen >= (done+1)*acts/(blows+1) {
				hurt(done)
				done++
			}
		case <-ended:
			running = false
		}
	}
	took := time.Since(began)
	mends.Wait()

	counts := map[string]int{}
	for i, kind := range kinds {
		var result struct {
			Cases []struct {
				Name    string
				ID      string
				OK      bool
				Outcome string
				Error   *fault.Error
				Steps   []struct {
					Error *fault.Error
				}
			}
		}
		if err := json.Unmarshal(outputs[i].Bytes(), &result); err != nil || len(result.Cases) != kind.rows {
			t.Fatalf("%s: exit code %d, %d results of %d, %v", kind.name, codes[i], len(result.Cases), kind.rows, err)
		}
		names := map[string]bool{}
		for n, c := range result.Cases {
			if names[c.ID] {
				t.Errorf("%s has two results", c.ID)
			}
			names[c.ID] = true
			code := fault.Code("")
			if c.Error != nil {
				code = c.Error.Code
			}
			for _, s := range c.Steps {
				if s.Error != nil && code == "" {
					code = s.Error.Code
				}
			}
			counts[kind.name+" "+cmp.Or(string(code), c.Outcome)]++
			// A case that acts and lost its worker may be worker_lost; everything else is well.
			if !c.OK && (kind.name != "acts" || code != fault.WorkerLost) {
				t.Errorf("%s %d ended as %s: %v", kind.name, n, code, c.Error)
			}
			if kind.name == "reads" {
				continue
			}
			site.mu.Lock()
			for step := 3; step <= 5; step++ {
				times := site.steps[fmt.Sprintf("%s-%04d/%d", kind.name, n, step)]
				if kind.name == "acts" && times > 1 {
					t.Errorf("acts-%04d: the step %d was done %d times", n, step, times)
				}
				if c.OK && times == 0 {
					t.Errorf("%s-%04d is well, but its step %d was not done", kind.name, n, step)
				}
			}
			site.mu.Unlock()
		}
	}
	t.Logf(
		"%s for %d cases (%.1f a second); %v; %v",
		took.Round(time.Second), cases, float64(cases)/took.Seconds(), tally, counts,
	)

	// Nothing is left: no job, no lease, no browser, no file.
	q := fleettest.Open(t, nats.urls(), queue.Lease)
	waitFor(t, time.Minute, "the queue is empty", func() bool {
		info, err := q.Jobs.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
	jobs, err := status.Jobs(t.Context(), q, "")
	if err != nil || len(jobs) != cases {
		t.Errorf("the fleet lists %d jobs of %d, %v", len(jobs), cases, err)
	}
	for _, j := range jobs {
		if j.State == string(fleet.Running) || j.State == string(fleet.Acting) || j.State == string(fleet.Waiting) {
			t.Errorf("the job %s is %s", j.Job, j.State)
		}
	}
	for _, w := range workers {
		w.Signal(syscall.SIGTERM)
	}
	for _, w := range workers {
		<-w.Done
	}
	last := start(nats.urls()) // what killed ones left is removed by the next one
	last.Signal(syscall.SIGTERM)
	<-last.Done
	waitFor(t, time.Minute, "no process is left", func() bool { return len(browsersOf(temp)) == 0 })
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind in the workers' folder: %v, %v", left, err)
	}
}

// servers are the processes of the NATS server: one, or a cluster.
type servers struct {
	processes []*fleettest.Process
	addresses []string
	again     []func() *fleettest.Process
}

func (s *servers) at(i int) string { return "nats://" + s.addresses[i] }

func (s *servers) urls() string {
	var all []string
	for i, p := range s.processes {
		if p != nil {
			all = append(all, s.at(i))
		}
	}
	return strings.Join(all, ",")
}

// hurt kills a server: of a cluster the last one, for good.
func (s *servers) hurt(t *testing.T) {
	last := len(s.processes) - 1
	if s.processes[last] == nil {
		return
	}
	s.processes[last].Kill()
	if last > 0 {
		s.processes[last] = nil
		return
	}
	s.processes[0] = s.again[0]()
}

// newServers builds the program nats-server from its module and starts it.
func newServers(t *testing.T, dir string, n int) *servers {
	program := fleettest.NATS(t, dir)
	s := &servers{}
	var routes []string
	var clusters []string
	for range n {
		s.addresses, clusters = append(s.addresses, browsertest.Address(t)), append(clusters, browsertest.Address(t))
		routes = append(routes, "nats://"+clusters[len(clusters)-1])
	}
	for i := range n {
		host, port, _ := net.SplitHostPort(s.addresses[i])
		args := []string{
			"-js", "-a", host, "-p", port, "-sd", filepath.Join(dir, fmt.Sprint("data", i)), "-n", fmt.Sprint("s", i),
		}
		if n > 1 {
			args = append(
				args, "--cluster_name", "chaos", "--cluster", routes[i], "--routes", strings.Join(routes, ","),
			)
		}
		start := func() *fleettest.Process {
			c := fleettest.Spawn(t, "", nil, program, args...)
			waitFor(t, 30*time.Second, "the server listens", func() bool {
				conn, err := net.Dial("tcp", s.addresses[i])
				if err == nil {
					err = conn.Close()
				}
				return err == nil
			})
			return c
		}
		s.processes, s.again = append(s.processes, start()), append(s.again, start)
	}
	// A cluster answers when it has chosen a leader.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waitFor(t, time.Minute, "the servers keep what is written", func() bool { return fleettest.Ready(ctx, s.urls()) })
	return s
}
