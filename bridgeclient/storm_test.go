package bridgeclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
)

// upstream behaves like the upstream bridge where it matters here: it polls at
// once, sends every call once and never again, and takes the first answer that
// comes over any connection.
type upstream struct {
	mu      sync.Mutex
	next    int
	calls   int
	answers map[string][]string // all answers by call_id
	got     chan struct{}       // one per first answer
	last    chan struct{}       // the same, for the test
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if c.Write(ctx, websocket.MessageText, []byte(`{"type":"runtime_status"}`)) != nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	ready := make(chan struct{})
	wg.Go(func() {
		select {
		case <-ready:
		case <-ctx.Done():
			return
		}
		for {
			u.mu.Lock()
			n := u.next
			u.next++
			u.mu.Unlock()
			if n >= u.calls {
				return
			}
			item := fmt.Sprintf(
				`{"type":"action_call","call_id":"c-%d","runtime_id":"rt-%d","name":"sleep","arguments":{"ms":%d}}`,
				n, 1+n%2, n%3,
			)
			if c.Write(ctx, websocket.MessageText, []byte(item)) != nil {
				return
			}
			select {
			case <-u.got:
			case <-time.After(3 * time.Millisecond):
			case <-ctx.Done():
				return
			}
		}
	})
	var once sync.Once
	for {
		_, raw, err := c.Read(ctx)
		if err != nil {
			return
		}
		var f frame
		_ = json.Unmarshal(raw, &f)
		switch f.Type {
		case "runtime_ready":
			once.Do(func() { close(ready) })
		case "action_call_output", "action_error":
			u.mu.Lock()
			u.answers[f.CallID] = append(u.answers[f.CallID], string(raw))
			u.mu.Unlock()
			for _, heard := range []chan struct{}{u.got, u.last} {
				select {
				case heard <- struct{}{}:
				default:
				}
			}
		}
	}
}

// A thousand calls of a bridge that sends nothing twice, while the connection
// is reset twenty times: every call that arrived is executed once and answered,
// and where an answer comes twice it is the same.
func TestAcceptedCallsAreAnsweredOverTwentyCuts(t *testing.T) {
	const cuts = 20
	u := &upstream{
		calls:   1000,
		answers: map[string][]string{},
		got:     make(chan struct{}, 1),
		last:    make(chan struct{}, 1),
	}
	srv := httptest.NewServer(u)
	defer srv.Close()
	proxy, err := hosttest.NewProxy(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"), hosttest.Tab(2, "https://b.example/", "B"))
	client, err := bridgeclient.New(&bridgeclient.Options{
		URL: "ws://" + proxy.Addr() + "/extension", Dialect: actionsbridge.New(nil), Host: host,
		BackoffMin: 5 * time.Millisecond, BackoffMax: 20 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = client.Run(ctx) }()

	sent := func() int {
		u.mu.Lock()
		defer u.mu.Unlock()
		return u.next
	}
	deadline := time.Now().Add(5 * time.Minute)
	random := rand.New(rand.NewPCG(3, 4))
	for n := range cuts {
		at := int((float64(n) + random.Float64()) * 1000 / cuts)
		for sent() < at && time.Now().Before(deadline) {
			time.Sleep(200 * time.Microsecond)
		}
		for proxy.Cut() == 0 && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
	}
	missing := func() (out []string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		for i := range 1000 {
			if id := fmt.Sprintf("c-%d", i); host.Runs(id) > 0 && len(u.answers[id]) == 0 {
				out = append(out, id)
			}
		}
		return out
	}
	for (sent() < 1000 || len(missing()) > 0) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	host.Wait()
	// A call that came last has run by now, and its answer is on its way.
	for len(missing()) > 0 && time.Now().Before(deadline) {
		select {
		case <-u.last:
		case <-time.After(time.Until(deadline)):
		}
	}
	if m := missing(); len(m) > 0 {
		t.Errorf("%d accepted calls without an answer: %v", len(m), m[:min(len(m), 10)])
	}
	cancel()
	<-done

	arrived, twice := 0, 0
	for i := range 1000 {
		id := fmt.Sprintf("c-%d", i)
		runs := host.Runs(id)
		arrived += runs
		if runs > 1 {
			t.Errorf("%s was executed %d times", id, runs)
		}
		if runs == 0 && len(u.answers[id]) > 0 {
			t.Errorf("%s was answered but never executed", id)
		}
		for _, a := range u.answers[id][min(1, len(u.answers[id])):] {
			twice++
			if a != u.answers[id][0] {
				t.Errorf("%s has two answers: %s and %s", id, u.answers[id][0], a)
			}
		}
	}
	t.Logf("%d of 1000 calls arrived over %d connections; %d answers came twice", arrived, proxy.Accepted(), twice)
	if arrived < 800 || proxy.Accepted() < cuts {
		t.Errorf("%d calls arrived over %d connections: this tested little", arrived, proxy.Accepted())
	}
}
