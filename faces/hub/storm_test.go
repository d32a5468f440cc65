package hub_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
)

// A thousand calls while the connection is reset twenty times: every call gets
// its answer, and none is executed twice.
func TestThousandCallsOverTwentyCuts(t *testing.T) {
	const (
		calls   = 1000
		cuts    = 20
		callers = 8
	)
	h := startHub(t, hub.Options{})
	proxy, err := hosttest.NewProxy(h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"), hosttest.Tab(2, "https://b.example/", "B"))
	defer connect(t, proxy.Addr(), host, nil)()
	waitRuntimes(t, h, 2)

	var done atomic.Int64
	cut := make(chan struct{})
	go func() {
		defer close(cut)
		random := rand.New(rand.NewPCG(1, 2))
		for n := range cuts {
			// The next cut comes at a random moment of the next twentieth.
			for at := int64((float64(n) + random.Float64()) * calls / cuts); done.Load() < at; {
				time.Sleep(100 * time.Microsecond)
			}
			for proxy.Cut() == 0 { // not between two connections
				time.Sleep(time.Millisecond)
			}
		}
	}()

	next := make(chan int)
	var mu sync.Mutex
	ids := map[string]int{}
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for i := range next {
				name, args := "echo", fmt.Sprintf(`{"n":%d}`, i)
				if i%5 == 0 {
					name, args = "sleep", fmt.Sprintf(`{"ms":2,"n":%d}`, i)
				}
				r := h.Call(t.Context(), hub.ToolCall{
					Name:            name,
					Arguments:       json.RawMessage(args),
					TargetRuntimeID: fmt.Sprintf("rt-%d", 1+i%2),
					TimeoutMS:       20_000,
				})
				done.Add(1)
				var out struct {
					Value struct {
						N int `json:"n"`
					} `json:"value"`
				}
				_ = json.Unmarshal(r.Output, &out)
				if !r.OK || out.Value.N != i {
					t.Errorf("call %d: ok=%v output=%s error=%s", i, r.OK, r.Output, r.Error)
					continue
				}
				mu.Lock()
				ids[*r.CallID]++
				mu.Unlock()
			}
		})
	}
	for i := range calls {
		next <- i
	}
	close(next)
	wg.Wait()
	<-cut
	host.Wait()
	if len(ids) != calls {
		t.Errorf("%d calls were answered, want %d", len(ids), calls)
	}
	for id := range ids {
		if n := host.Runs(id); n != 1 {
			t.Errorf("call %s was executed %d times, want once", id, n)
		}
	}
	if n := proxy.Accepted(); n < cuts {
		t.Errorf("%d connections for %d cuts: the cuts did not happen", n, cuts)
	}
}

// A call that waits for a runtime that is just coming back is not refused.
func TestCallWaitsForAReturningRuntime(t *testing.T) {
	h := startHub(t, hub.Options{})
	proxy, err := hosttest.NewProxy(h.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	defer connect(t, proxy.Addr(), hosttest.New(hosttest.Tab(1, "https://a.example/", "A")), func(
		o *bridgeclient.Options,
	) {
		o.BackoffMin, o.BackoffMax = 1500*time.Millisecond, 1500*time.Millisecond // the gap is seen below
	})()
	waitRuntimes(t, h, 1)
	proxy.Cut()
	waitRuntimes(t, h, 0)
	if r := h.Call(t.Context(), hub.ToolCall{Name: "echo", TargetURLContains: "a.example"}); !r.OK {
		t.Fatalf("call during the gap: %s", r.Error)
	}
}
