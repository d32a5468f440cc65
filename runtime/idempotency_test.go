package runtime_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// TestCancelledKeysActOnce sends clicks with a key each, cancels them at random moments and sends them again. The page
// counts: none acts twice, and what call.outcome says agrees with the count.
func TestCancelledKeysActOnce(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!doctype html><button onclick="n = (window.n || 0) + 1; p.textContent = n">Go</button>
			<p id=p>0`))
	}))
	t.Cleanup(s.Close)
	h := open(t, runtime.Options{Open: []string{s.URL}})
	count := func() int {
		args := `{"source":"return window.n || 0"}`
		n, _ := value(t, do(t, h, "debug.run_javascript", args, 10*time.Second))["result"].(float64)
		return int(n)
	}
	rounds := 40
	if browsertest.Long() {
		rounds = 2000
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	outcomes := map[string]int{}
	before := 0
	for range rounds {
		call := runtime.Call{
			ID:             newID(),
			Target:         first(t, h),
			Name:           "pointer.click",
			Arguments:      json.RawMessage(`{"locator":{"selector":"button"},"effects":true}`),
			Timeout:        20 * time.Second,
			IdempotencyKey: newID(),
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(20_000))*time.Microsecond)
		h.Do(ctx, call)
		cancel()
		cut := count() - before
		outcome := value(t, do(t, h, "call.outcome", `{"key":"`+call.IdempotencyKey+`"}`, 10*time.Second))
		outcomes[outcome["outcome"].(string)]++
		switch {
		case outcome["outcome"] == "confirmed" && cut != 1:
			t.Errorf("confirmed, and the page counts %d: %v", cut, outcome)
		case outcome["outcome"] == "no_effect" && cut != 0:
			t.Errorf("no effect, and the page counts %d: %v", cut, outcome)
		}
		again := h.Do(t.Context(), call)
		now := count()
		switch acted := now - before; {
		case acted > 1:
			t.Errorf("the page counts %d clicks with one key: %v", acted, outcome)
		case again.Repeated && acted != cut:
			t.Errorf("the repeated call acted: %d, then %d", cut, acted)
		case !again.Repeated && (again.Err != nil || acted != 1):
			t.Errorf("the call was not repeated, and the page counts %d: %v", acted, again.Err)
		}
		before = now
	}
	t.Logf("of %d cancelled calls: %v", rounds, outcomes)
}

// TestKeysOfTwoSessions: a key is known in its own session alone.
func TestKeysOfTwoSessions(t *testing.T) {
	h := open(t, runtime.Options{Open: []string{"about:blank"}})
	var replies []runtime.Reply
	for range 2 {
		w, err := h.NewWorkspace(t.Context(), runtime.WorkspaceOptions{Isolated: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Open(t.Context(), "", true); err != nil {
			t.Fatal(err)
		}
		replies = append(replies, h.Do(t.Context(), runtime.Call{
			ID:             newID(),
			Target:         runtime.Target{Workspace: w.ID()},
			Name:           "viewport.scroll",
			Arguments:      json.RawMessage(`{"delta_y":1}`),
			Timeout:        10 * time.Second,
			IdempotencyKey: "one",
		}))
	}
	for i, r := range replies {
		if r.Repeated || fault.CodeOf(r.Err) == fault.KeyReused {
			t.Errorf("call %d got the answer of another session", i)
		}
	}
}
