package session_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/fleet"
	"github.com/outrider-run/outrider/fleet/queue"
	"github.com/outrider-run/outrider/fleet/session"
	"github.com/outrider-run/outrider/fleet/worker"
	"github.com/outrider-run/outrider/internal/testing/fleettest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// offer makes a worker that serves sessions, and ends with the test.
func offer(t testing.TB, q *queue.Queue, slots int, servers map[string]session.Server) *worker.Worker {
	t.Helper()
	self := fleet.Worker{}
	for kind := range servers {
		self.Sessions = append(self.Sessions, kind)
	}
	w, _ := fleettest.Start(t, q, &fleettest.Site{}, worker.Options{Slots: slots, Self: self})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := session.Offer(ctx, q, w.ID(), func(ctx context.Context) (func(), error) {
			return w.Acquire(ctx, worker.Source{Queue: q})
		}, servers, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return w
}

func echo(_ context.Context, _ json.RawMessage, s io.ReadWriteCloser) error {
	_, err := io.Copy(s, s)
	return err
}

func lease(t testing.TB, q *queue.Queue, kind string) *session.Pipe {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, _, err := session.Lease(ctx, q.Store, kind, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestAStreamArrivesWhole: more bytes than the window, in odd pieces.
func TestAStreamArrivesWhole(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	offer(t, fleettest.Open(t, s.URL(), time.Second), 1, map[string]session.Server{"echo": echo})
	p := lease(t, fleettest.Open(t, s.URL(), time.Second), "echo")
	data := make([]byte, 12<<20)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	failed := make(chan error, 1)
	go func() {
		random := rand.New(rand.NewSource(1))
		rest := data
		for len(rest) > 0 {
			n := min(len(rest), 1+random.Intn(600_000))
			if _, err := p.Write(rest[:n]); err != nil {
				failed <- err
				return
			}
			rest = rest[n:]
		}
		failed <- p.CloseWrite()
	}()
	back, err := io.ReadAll(p)
	if err := errors.Join(err, <-failed); err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(back) != sha256.Sum256(data) {
		t.Errorf("%d bytes came back of %d, or others", len(back), len(data))
	}
}

// TestTheOtherEndIsGone: each way in which an end can go is told to the other within
// its bound.
func TestTheOtherEndIsGone(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	for name, c := range map[string]struct {
		go_    func(q *queue.Queue, proxy *fleettest.Proxy)
		within time.Duration
	}{
		"its process was killed": {func(q *queue.Queue, _ *fleettest.Proxy) { q.NC.Close() }, 6 * time.Second},
		"it was cut off":         {func(_ *queue.Queue, p *fleettest.Proxy) { p.Cut() }, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := fleettest.NewProxy(t, s.URL())
			far := fleettest.Open(t, proxy.URL(), time.Second)
			ended := make(chan error, 1)
			kind := "hold" + fmt.Sprint(len(name))
			offer(t, far, 1, map[string]session.Server{kind: func(
				_ context.Context, _ json.RawMessage, s io.ReadWriteCloser,
			) error {
				_, err := io.ReadAll(s)
				ended <- err
				return err
			}})
			p := lease(t, fleettest.Open(t, s.URL(), time.Second), kind)
			began := time.Now()
			c.go_(far, proxy)
			_, err := io.ReadAll(p)
			if took := time.Since(began); !errors.Is(err, fault.SessionLost) || took > c.within {
				t.Errorf("the caller heard %v after %s: expected session_lost within %s", err, took, c.within)
			}
			select {
			case err := <-ended:
				if !errors.Is(err, fault.SessionLost) {
					t.Errorf("the worker heard %v", err)
				}
			case <-time.After(c.within):
				t.Error("the worker heard nothing")
			}
			proxy.Restore()
		})
	}
}

func TestSlotsAreGivenBack(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	offer(t, fleettest.Open(t, s.URL(), time.Second), 1, map[string]session.Server{"echo": echo})
	q := fleettest.Open(t, s.URL(), time.Second)
	first := lease(t, q, "echo")
	refused(t, q, "echo", fault.QueueFull) // a second session of one slot
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	lease(t, q, "echo")
	refused(t, q, "other", fault.RuntimeNotFound) // a kind that nobody serves
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := session.Lease(ctx, q.Store, "echo", map[string]string{"region": "eu"}, nil); err == nil ||
		!strings.Contains(err.Error(), "and has region=eu") {
		t.Errorf("a session of a worker with a label that none has: %v", err)
	}
}

// refused asks for a session that there is none of. On a busy machine a worker may answer
// later than the caller waits, which is a timeout; then the caller waits for longer.
func refused(t *testing.T, q *queue.Queue, kind string, want fault.Code) {
	t.Helper()
	for limit := 200 * time.Millisecond; ; limit *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, _, err := session.Lease(ctx, q.Store, kind, nil, nil)
		cancel()
		if errors.Is(err, want) {
			return
		}
		if fault.CodeOf(err) != fault.Timeout || limit > 20*time.Second {
			t.Fatalf("a session of %q within %s: got %v, want %s", kind, limit, err, want)
		}
	}
}

// TestPendingRequestsAreAnswered: a client whose session is lost gets an answer to each
// request that is under way, and to no other.
func TestPendingRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	s := fleettest.Server(t)
	far := fleettest.Open(t, s.URL(), time.Second)
	heard := make(chan string, 10)
	offer(t, far, 1, map[string]session.Server{"lines": func(
		_ context.Context, _ json.RawMessage, s io.ReadWriteCloser,
	) error {
		buffer := make([]byte, 4096)
		for {
			n, err := s.Read(buffer)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(buffer[:n])) {
				if strings.Contains(line, `"quick"`) {
					_, _ = s.Write([]byte(`{"id":1,"result":{}}` + "\n"))
				}
				heard <- line
			}
		}
	}})
	p := lease(t, fleettest.Open(t, s.URL(), time.Second), "lines")
	in, client := io.Pipe()
	defer client.Close()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() {
		done <- session.Relay(t.Context(), p, in, &out, func(id json.RawMessage, why *fault.Error) any {
			return map[string]any{"id": id, "error": why.Code}
		})
	}()
	for _, line := range []string{
		`{"id":1,"method":"quick"}`, `{"method":"no answer wanted"}`, `{"id":"b","method":"slow"}`,
	} {
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
		<-heard
	}
	far.NC.Close()
	if err := <-done; !errors.Is(err, fault.SessionLost) {
		t.Errorf("the relay ended with %v", err)
	}
	if got, want := out.String(), `{"id":1,"result":{}}`+"\n"+`{"error":"session_lost","id":"b"}`+"\n"; got != want {
		t.Errorf("the client got %q, want %q", got, want)
	}
}

// BenchmarkRoundTrip is a request and its answer through a session.
func BenchmarkRoundTrip(b *testing.B) {
	s := fleettest.Server(b)
	offer(b, fleettest.Open(b, s.URL(), time.Second), 1, map[string]session.Server{"echo": echo})
	p := lease(b, fleettest.Open(b, s.URL(), time.Second), "echo")
	line := bytes.Repeat([]byte("x"), 1000)
	for b.Loop() {
		if _, err := p.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(p, line); err != nil {
			b.Fatal(err)
		}
	}
}
