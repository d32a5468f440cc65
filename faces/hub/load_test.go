package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
)

// loadFor is how long TestManyRuntimesAndAgents goes on, and OUTRIDER_LOAD another
// length, such as 10m. From a minute on browsers take part, and are killed.
const loadFor = 4 * time.Second

// loadRuntimes are without a browser, and loadBrowsers with one.
const (
	loadRuntimes = 50
	loadBrowsers = 3
	loadAgents   = 20
)

// What a call may end with besides success: its runtime was away, or went away.
var loadCodes = []string{"transport_failed", "runtime_not_found", "tab_closed", "runtime_not_ready"}

// Agents call runtimes at random while connections are cut and browsers are killed:
// every call has one answer, from the runtime that it was meant for, no call is run
// twice, and what was used is given back.
func TestManyRuntimesAndAgents(t *testing.T) {
	length := loadFor
	if text := os.Getenv("OUTRIDER_LOAD"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	h := startHub(t, hub.Options{LostAfter: 5 * time.Second})
	heap, goroutines := resting()
	load(t, h, length)
	// The hub forgets who was lost after some seconds.
	var now uint64
	var running int
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		now, running = resting()
		if now < heap+16<<20 && running <= goroutines+5 {
			break
		}
		if time.Now().After(late) {
			t.Fatalf(
				"%d MiB and %d goroutines are left, there were %d MiB and %d", now>>20, running, heap>>20, goroutines,
			)
		}
	}
	t.Logf("heap %d KiB before, %d KiB after; goroutines %d and %d", heap>>10, now>>10, goroutines, running)
}

// resting is what is used when nothing happens.
func resting() (heap uint64, goroutines int) {
	http.DefaultClient.CloseIdleConnections()
	goruntime.GC()
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc, goruntime.NumGoroutine()
}

func load(t *testing.T, h *hub.Hub, length time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	random := rand.New(rand.NewPCG(7, 8))
	proxies := make([]*hosttest.Proxy, 5)
	for i := range proxies {
		p, err := hosttest.NewProxy(h.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		proxies[i] = p
	}
	targets := make([]string, loadRuntimes)
	hosts := make([]*hosttest.Host, loadRuntimes)
	for i := range hosts {
		tab := hosttest.Tab(i, fmt.Sprintf("https://n%d.example/", i), "T")
		tab.RuntimeID, tab.RuntimeKey = fmt.Sprintf("load-%d", i), fmt.Sprintf("load:%d", i)
		targets[i], hosts[i] = tab.RuntimeID, hosttest.New(tab)
		address := proxies[i%len(proxies)].Addr()
		stop := connect(t, address, hosts[i], func(o *bridgeclient.Options) {
			if i%10 == 0 { // some poll
				o.URL = "http://" + address + "/extension"
				o.DeadAfter = 5 * time.Second
			}
		})
		defer stop()
	}
	waitRuntimes(t, h, loadRuntimes)
	var browsers []*loadBrowser
	if length >= time.Minute {
		browsers = startBrowsers(t, proxies)
		waitRuntimes(t, h, loadRuntimes+len(browsers))
	}

	var wg sync.WaitGroup
	var calls, failed, cuts, kills atomic.Int64
	seeds := make([]uint64, loadAgents)
	for i := range seeds {
		seeds[i] = random.Uint64()
	}
	var mu sync.Mutex
	runs := map[string]int{} // by host: the calls it answered
	for agent := range loadAgents {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seeds[agent], 0))
			for n := 0; ctx.Err() == nil; n++ {
				i := random.IntN(loadRuntimes)
				mark := fmt.Sprintf("%d-%d", agent, n)
				answer := agentCall(t, h, targets[i], "sleep", fmt.Sprintf(`{"ms":%d,"mark":%q}`, random.IntN(3), mark))
				calls.Add(1)
				if answer.OK {
					if answer.Output.RuntimeID != targets[i] || answer.Output.Value.Mark != mark {
						t.Errorf(
							"the call %s on %s was answered by %s with %s",
							mark, targets[i], answer.Output.RuntimeID, answer.Output.Value.Mark,
						)
					}
					mu.Lock()
					runs[targets[i]]++
					mu.Unlock()
				} else {
					failed.Add(1)
					if !slices.Contains(loadCodes, answer.Error.Code) {
						t.Errorf("the call %s on %s failed with %s", mark, targets[i], answer.Error.Code)
					}
				}
				if len(browsers) > 0 && n%50 == 0 {
					b := browsers[random.IntN(len(browsers))]
					r := agentCall(t, h, "", "page.info", `{"target_url_contains":"`+b.mark+`"}`)
					if r.OK && !strings.Contains(r.Output.Value.URL, b.mark) {
						t.Errorf("a call on the page %s was answered by %s", b.mark, r.Output.Value.URL)
					}
				}
			}
		})
	}
	wg.Go(func() {
		random := rand.New(rand.NewPCG(9, 10))
		every := time.NewTicker(min(300*time.Millisecond, max(length/20, 100*time.Millisecond)))
		defer every.Stop()
		for n := 1; ; {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			// On a machine that is busy otherwise, runtimes take longer to come back.
			if len(h.Runtimes()) < loadRuntimes*3/4 {
				continue
			}
			cuts.Add(int64(proxies[random.IntN(len(proxies))].Cut()))
			if len(browsers) > 0 && n%50 == 0 {
				browsers[random.IntN(len(browsers))].restart(t)
				kills.Add(1)
			}
			n++
		}
	})
	wg.Wait()
	for _, b := range browsers {
		b.kill()
	}
	executed := 0
	for i, host := range hosts {
		host.Wait()
		ids := map[string]int{}
		for _, id := range host.Order() {
			ids[id]++
			executed++
		}
		for id, n := range ids {
			if n > 1 {
				t.Errorf("%s was run %d times on %s", id, n, targets[i])
			}
		}
		if len(ids) < runs[targets[i]] {
			t.Errorf("%s answered %d calls and ran %d", targets[i], runs[targets[i]], len(ids))
		}
	}
	t.Logf("%d calls in %s (%d failed because their runtime was away), %d run, %d connections cut, %d browsers killed",
		calls.Load(), length, failed.Load(), executed, cuts.Load(), kills.Load())
	if calls.Load() < 200 || cuts.Load() < 20 || failed.Load() > calls.Load()/2 {
		t.Errorf("%d calls, %d failed, %d cuts: this tested little", calls.Load(), failed.Load(), cuts.Load())
	}
}

// agentAnswer is what an agent reads.
type agentAnswer struct {
	OK     bool `json:"ok"`
	Output struct {
		RuntimeID string `json:"runtime_id"`
		Value     struct {
			Mark string `json:"mark"`
			URL  string `json:"url"`
		} `json:"value"`
	} `json:"output"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}

// agentCall calls over HTTP, as agents do. There is one answer or none.
func agentCall(t *testing.T, h *hub.Hub, target, name, args string) (out agentAnswer) {
	body, _ := json.Marshal(map[string]any{
		"name":              name,
		"arguments":         json.RawMessage(args),
		"target_runtime_id": target,
		"timeout_ms":        20_000,
	})
	resp, err := http.Post("http://"+h.Addr()+"/mcp/tools/call", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Errorf("calling: %v", err)
		return out
	}
	defer func() { _ = resp.Body.Close() }()
	d := json.NewDecoder(resp.Body)
	if err := d.Decode(&out); err != nil || d.More() {
		t.Errorf("an answer is no answer, or there are two: %v", err)
	}
	return out
}

// loadBrowser is a program with a browser.
type loadBrowser struct {
	mark    string
	command func() *exec.Cmd
	cmd     *exec.Cmd
}

func startBrowsers(t *testing.T, proxies []*hosttest.Proxy) []*loadBrowser {
	folder := t.TempDir()
	program := filepath.Join(folder, "outrider")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/outrider").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	out := make([]*loadBrowser, loadBrowsers)
	for i := range out {
		mark := fmt.Sprintf("load-page-%d", i)
		page := filepath.Join(folder, mark+".html")
		if err := os.WriteFile(page, []byte("<!doctype html><title>"+mark+"</title>"), 0o600); err != nil {
			t.Fatal(err)
		}
		out[i] = &loadBrowser{mark: mark, command: func() *exec.Cmd {
			return exec.Command(
				program, "connect", "ws://"+proxies[i%len(proxies)].Addr()+"/extension", "--open", "file://"+page,
			)
		}}
		out[i].restart(t)
	}
	return out
}

func (b *loadBrowser) restart(t *testing.T) {
	b.kill()
	b.cmd = b.command()
	if err := b.cmd.Start(); err != nil {
		t.Errorf("starting a browser: %v", err)
		b.cmd = nil
	}
}

// kill ends the program without a word; its supervisor takes the browser along.
func (b *loadBrowser) kill() {
	if b.cmd != nil {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		b.cmd = nil
	}
}

// echoes answers calls at once, so that what is measured is the hub.
func echoes(b *testing.B, h *hub.Hub) {
	c, err := bridgeclient.Dial(b.Context(), &bridgeclient.Options{URL: "ws://" + h.Addr() + "/extension"})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	b.Cleanup(func() { c.Abort(); <-done })
	if err := c.Write(
		b.Context(), []byte(`{"type":"runtime_ready","runtime_id":"rt-1","url":"https://a.example/"}`),
	); err != nil {
		b.Fatal(err)
	}
	go func() {
		defer close(done)
		for {
			frame, err := c.Read(context.Background())
			if err != nil {
				return
			}
			var in struct {
				Type   string `json:"type"`
				CallID string `json:"call_id"`
			}
			if json.Unmarshal(frame, &in) == nil && in.Type == "action_call" {
				_ = c.Write(context.Background(), fmt.Appendf(
					nil, `{"type":"action_call_output","call_id":%q,"runtime_id":"rt-1","output":{"ok":true}}`,
					in.CallID,
				))
			}
		}
	}()
	for len(h.Runtimes()) == 0 {
		time.Sleep(time.Millisecond)
	}
}

func benchmarkHub(b *testing.B) *hub.Hub {
	h, err := hub.New(hub.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Listen(); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.Run(ctx) }()
	b.Cleanup(func() { cancel(); <-done })
	return h
}

// BenchmarkHubCall is one call after the other: what the hub and one socket cost.
func BenchmarkHubCall(b *testing.B) {
	h := benchmarkHub(b)
	echoes(b, h)
	took := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for b.Loop() {
		start := time.Now()
		if r := h.Call(b.Context(), hub.ToolCall{Name: "x", TargetRuntimeID: "rt-1"}); !r.OK {
			b.Fatalf("%s", r.Error)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
}

// BenchmarkHubAgents is 20 agents over HTTP at once.
func BenchmarkHubAgents(b *testing.B) {
	h := benchmarkHub(b)
	echoes(b, h)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadAgents}}
	defer client.CloseIdleConnections()
	body := []byte(`{"name":"x","arguments":{},"target_runtime_id":"rt-1"}`)
	b.SetParallelism(loadAgents / goruntime.GOMAXPROCS(0))
	b.ResetTimer()
	start := time.Now()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := client.Post("http://"+h.Addr()+"/mcp/tools/call", "application/json", bytes.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			var out agentAnswer
			if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || !out.OK {
				b.Errorf("%+v %v", out, err)
			}
			_ = resp.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "calls/s")
}
