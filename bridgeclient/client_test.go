package bridgeclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/primitives/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// frame is what the tests check in an item.
type frame struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	RuntimeID string `json:"runtime_id"`
	URL       string `json:"url"`
	Error     struct {
		Code     string         `json:"code"`
		Evidence map[string]any `json:"evidence"`
	} `json:"error"`
	raw string
}

// bridge is the other end of the pipes of one client.
type bridge struct {
	t      *testing.T
	host   *hosttest.Host
	dials  chan *bridgeclient.Pipe // connections as they are made
	refuse error                   // fails the attempts to connect
	traits bridgeclient.Traits
	states []bridgeclient.State
	mu     sync.Mutex
	conn   *bridgeclient.Pipe
	stop   func() error
}

// start runs a client inside a synctest bubble.
func start(t *testing.T, host *hosttest.Host, more func(*bridgeclient.Options)) *bridge {
	b := &bridge{
		t:      t,
		host:   host,
		dials:  make(chan *bridgeclient.Pipe, 100),
		traits: bridgeclient.Traits{Confirms: true, Heartbeat: true},
	}
	opts := &bridgeclient.Options{
		Dialect: actionsbridge.New(nil), Host: host, Random: func() float64 { return 0 },
		Dial: func(context.Context) (bridgeclient.Conn, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.refuse != nil {
				return nil, b.refuse
			}
			c := bridgeclient.NewPipe(b.traits)
			b.dials <- c
			return c, nil
		},
		OnState: func(s bridgeclient.State) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.states = append(b.states, s)
		},
	}
	if more != nil {
		more(opts)
	}
	c, err := bridgeclient.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	var once sync.Once
	var result error
	b.stop = func() error {
		once.Do(func() {
			cancel()
			result = <-done
			host.Wait()
		})
		return result
	}
	return b
}

func (b *bridge) accept() {
	b.t.Helper()
	b.conn = <-b.dials
	synctest.Wait()
}

func (b *bridge) fail(err error) {
	b.mu.Lock()
	b.refuse = err
	b.mu.Unlock()
}

func (b *bridge) send(item string) {
	b.t.Helper()
	if err := b.conn.Send(b.t.Context(), []byte(item)); err != nil {
		b.t.Fatalf("sending %.100s: %v", item, err)
	}
	synctest.Wait()
}

func (b *bridge) call(id, name, args string) {
	b.t.Helper()
	b.send(
		fmt.Sprintf(`{"type":"action_call","call_id":%q,"runtime_id":"rt-1","name":%q,"arguments":%s}`, id, name, args),
	)
}

// received returns what has arrived, without the types in except.
func (b *bridge) received(except ...string) []frame {
	b.t.Helper()
	return drainPipe(b.t, b.conn, except...)
}

func drainPipe(t *testing.T, conn *bridgeclient.Pipe, except ...string) (out []frame) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for {
		synctest.Wait()
		raw, err := conn.Receive(ctx)
		if err != nil {
			return out
		}
		f := frame{raw: string(raw)}
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatalf("the client sent what is not JSON: %q", raw)
		}
		if !strings.Contains(strings.Join(except, " "), f.Type) {
			out = append(out, f)
		}
	}
}

func types(frames []frame) string {
	var out []string
	for _, f := range frames {
		s := f.Type
		if f.CallID != "" {
			s += ":" + f.CallID
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func want(t *testing.T, what string, got []frame, want string) {
	t.Helper()
	if types(got) != want {
		t.Fatalf("%s: the client sent\n\t%s\nwant\n\t%s", what, types(got), want)
	}
}

func oneTab() *hosttest.Host { return hosttest.New(hosttest.Tab(1, "https://a.example/", "A")) }

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		want(t, "on open", b.received(), "runtime_ready")
		for range 10 {
			time.Sleep(4 * time.Second)
			want(t, "every 4 s", b.received(), "runtime_status")
		}
	})
}

// A machine that slept, or a process that was stopped, may have been dropped by
// the bridge, and nothing says so. In a bubble time cannot stand still for the
// process, so a callback that takes too long plays the part.
func TestAnnouncesAgainAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := oneTab()
		d := &slowDialect{Dialect: actionsbridge.New(nil)}
		b := start(t, host, func(o *bridgeclient.Options) { o.Dialect = d })
		defer b.stop()
		b.accept()
		b.received()
		d.pause.Store(int64(30 * time.Second))
		b.send(`{"type":"runtime_status"}`)
		time.Sleep(time.Second)
		d.pause.Store(0)
		time.Sleep(40 * time.Second)
		got := types(b.received())
		if !strings.Contains(got, "runtime_ready") {
			t.Fatalf("after a pause of 30 s the client sent %q, want runtime_ready among it", got)
		}
	})
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.send(`{"type":"runtime_status"}`) // a connection that lived
		refused := errors.New("connection refused")
		b.fail(refused)
		begin := time.Now()
		b.conn.Cut()
		time.Sleep(20 * time.Second)
		b.fail(nil)
		b.accept()
		want(t, "on the new connection", b.received("runtime_status"), "runtime_ready")

		b.mu.Lock()
		defer b.mu.Unlock()
		var waits []time.Duration
		for _, s := range b.states {
			if s.Kind == bridgeclient.Lost {
				waits = append(waits, s.RetryIn)
				if s.Err == nil {
					t.Error("a lost connection without a reason")
				}
			}
		}
		wantWaits := []time.Duration{500, 1000, 2000, 4000, 5000, 5000, 5000}
		for i := range wantWaits {
			wantWaits[i] *= time.Millisecond
		}
		if fmt.Sprint(waits) != fmt.Sprint(wantWaits) {
			t.Errorf("waits %v, want %v", waits, wantWaits)
		}
		if d := time.Since(begin); d > 25*time.Second {
			t.Errorf("connected after %s", d)
		}
	})
}

// The first attempt is repeated, too: a runtime may be started before its
// bridge.
func TestFirstConnectIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.fail(errors.New("connection refused"))
		// The first dial may have happened already.
		select {
		case c := <-b.dials:
			c.Cut()
		default:
		}
		time.Sleep(time.Minute)
		b.fail(nil)
		b.accept()
		want(t, "on open", b.received("runtime_status"), "runtime_ready")
	})
}

func TestJitterStaysWithinAQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), func(o *bridgeclient.Options) { o.Random = func() float64 { return 0.999 } })
		defer b.stop()
		b.fail(errors.New("refused"))
		time.Sleep(time.Minute)
		b.mu.Lock()
		defer b.mu.Unlock()
		n := 0
		for _, s := range b.states {
			if s.Kind == bridgeclient.Lost && s.Err.Error() == "refused" {
				n++
				if s.RetryIn < 375*time.Millisecond || s.RetryIn > 5*time.Second {
					t.Errorf("attempt %d: retry in %s", s.Attempt, s.RetryIn)
				}
			}
		}
		if n < 10 {
			t.Errorf("%d attempts in a minute, want at least 10", n)
		}
	})
}

// An answer that was written but not known to have been read is sent again;
// one that was read is not.
func TestUnreadAnswersAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.received()
		b.call("c-1", "echo", `{}`)
		want(t, "read", b.received(), "action_call_output:c-1")
		b.call("c-2", "echo", `{}`) // in the pipe, never read
		b.conn.Cut()
		b.accept()
		want(t, "second connection", b.received(), "runtime_ready action_call_output:c-2")
		b.conn.Cut()
		b.accept()
		want(t, "third connection", b.received(), "runtime_ready")
	})
}

func TestAnswersAreKeptForTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.received()
		b.call("c-1", "echo", `{}`)
		b.fail(errors.New("refused"))
		b.conn.Cut()
		time.Sleep(125 * time.Second)
		b.fail(nil)
		b.accept()
		want(t, "after 125 s", b.received("runtime_status"), "runtime_ready")

		// The id is free again.
		b.call("c-1", "echo", `{}`)
		want(t, "the same id", b.received("runtime_status"), "action_call_output:c-1")
		if n := b.host.Runs("c-1"); n != 2 {
			t.Errorf("executed %d times, want 2", n)
		}
	})
}

func TestRepeatedCallIsNotExecutedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.received()
		b.call("c-1", "sleep", `{"ms":900}`)
		b.conn.Cut()
		b.accept()
		b.call("c-1", "sleep", `{"ms":900}`) // a bridge that does not know what became of it
		time.Sleep(time.Second)
		want(t, "while it runs", b.received("runtime_status"), "runtime_ready action_call_output:c-1")
		b.call("c-1", "sleep", `{"ms":900}`)
		want(t, "after it was answered", b.received("runtime_status"), "action_call_output:c-1")
		if n := b.host.Runs("c-1"); n != 1 {
			t.Errorf("executed %d times, want once", n)
		}
	})
}

// Answers take room only up to a limit; what was let go is refused, never
// executed again, and the newest is always there.
func TestAnswersThatWereLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.received()
		for _, id := range []string{"c-1", "c-2", "c-3"} {
			b.call(id, "big", `{"bytes":9000000}`)
			want(t, "the first time", b.received("runtime_status"), "action_call_output:"+id)
		}
		b.call("c-3", "big", `{"bytes":9000000}`)
		want(t, "the newest again", b.received("runtime_status"), "action_call_output:c-3")
		b.call("c-1", "big", `{"bytes":9000000}`)
		want(t, "the oldest again", b.received("runtime_status"), "action_error:c-1")
		for _, id := range []string{"c-1", "c-3"} {
			if n := b.host.Runs(id); n != 1 {
				t.Errorf("%s was executed %d times, want once", id, n)
			}
		}
	})
}

// The new address must reach the bridge before the answer of the call that
// led there: the next call may be routed by it.
func TestNewAddressComesBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.received()
		b.call("c-1", "goto", `{"url":"https://a.example/next"}`)
		got := b.received()
		want(t, "navigation", got, "runtime_ready action_call_output:c-1")
		if got[0].URL != "https://a.example/next" {
			t.Errorf("announced %s", got[0].URL)
		}
	})
}

// A new tab must be known to the bridge before the answer of the call that opened
// it: the next call may be about it.
func TestANewTabComesBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		b.received()
		b.call("c-1", "browser.open_tab", `{"url":"https://a.example/second"}`)
		got := b.received()
		want(t, "opening", got[:2], "runtime_ready action_call_output:c-1")
		if got[0].URL != "https://a.example/second" {
			t.Errorf("announced %s", got[0].URL)
		}
	})
}

// A peer that takes nothing for 30 s is given up.
func TestDeadPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		first := b.conn
		begin := time.Now()
		for i := range 20 {
			b.call(fmt.Sprintf("c-%d", i), "echo", `{}`) // fills the pipe
		}
		<-first.Closed()
		if d := time.Since(begin); d < 29*time.Second || d > 45*time.Second {
			t.Errorf("given up after %s, want about 30 s", d)
		}
		b.accept()
		if got := strings.Count(types(b.received("runtime_status")), "action_call_output"); got != 20 {
			t.Errorf("%d answers on the next connection, want all 20", got)
		}
	})
}

// A peer that reads slowly but reads is not given up.
func TestSlowPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		defer b.stop()
		b.accept()
		for i := range 50 {
			b.call(fmt.Sprintf("c-%d", i), "echo", `{}`)
		}
		got := map[string]int{}
		for len(got) < 50 {
			time.Sleep(5 * time.Second)
			raw, err := b.conn.Receive(t.Context())
			if err != nil {
				t.Fatalf("after %d answers: %v", len(got), err)
			}
			var f frame
			_ = json.Unmarshal(raw, &f)
			if f.CallID != "" {
				got[f.CallID]++
			}
		}
	})
}

// While too many bytes wait, the client takes no further calls; nothing is
// lost.
func TestReadingStopsWhileAnswersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), func(o *bridgeclient.Options) { o.MaxQueued = 100_000; o.DeadAfter = time.Hour })
		defer b.stop()
		b.accept()
		sent := 0
		for ; sent < 1000; sent++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := b.conn.Send(ctx, []byte(fmt.Sprintf(
				`{"type":"action_call","call_id":"c-%d","runtime_id":"rt-1","name":"big","arguments":{"bytes":10000}}`,
				sent,
			)))
			cancel()
			if err != nil {
				break
			}
			synctest.Wait()
		}
		if sent > 30 {
			t.Fatalf("the client took %d calls with answers of 10 kB each, want it to stop near 100 kB", sent)
		}
		n := 0
		for _, f := range b.received() {
			if f.Type == "action_call_output" {
				n++
			}
		}
		if n != sent {
			t.Errorf("%d answers to %d calls", n, sent)
		}
	})
}

// Nor can refusals pile up for a peer that sends nonsense and reads nothing.
func TestReadingStopsWhileRefusalsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), func(o *bridgeclient.Options) { o.MaxQueued = 50_000; o.DeadAfter = time.Hour })
		defer b.stop()
		b.accept()
		for _, frame := range []string{`nonsense`, `{"type":"runtime_probe","probe_id":"p","runtime_id":"rt-1"}`} {
			sent := 0
			for ; sent < 5000; sent++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				err := b.conn.Send(ctx, []byte(frame))
				cancel()
				if err != nil {
					break
				}
			}
			if sent > 500 {
				t.Errorf("the client took %d times %s without a reader", sent, frame)
			}
			if got := len(b.received("runtime_status", "runtime_ready")); got != sent {
				t.Errorf("%d answers to %d times %s", got, sent, frame)
			}
		}
	})
}

func TestEventsAreCountedWhenTheyAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := oneTab()
		b := start(t, host, func(o *bridgeclient.Options) { o.MaxEvents = 50; o.DeadAfter = time.Hour })
		defer b.stop()
		b.accept()
		for i := range 500 {
			host.Emit(domEvent(i))
			synctest.Wait()
		}
		time.Sleep(5 * time.Second)
		events, dropped := 0, 0.0
		for _, f := range b.received("runtime_status", "runtime_ready") {
			switch {
			case f.Type == "dom_event":
				events++
			case f.Error.Code == "queue_full":
				dropped += f.Error.Evidence["dropped"].(float64)
			}
		}
		if events+int(dropped) != 500 || events < 50 || events > 100 {
			t.Errorf("%d events arrived and %v were reported as dropped, want 500 together", events, dropped)
		}
	})
}

func TestAnswerThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), func(o *bridgeclient.Options) { o.MaxWrite = 10_000 })
		defer b.stop()
		b.accept()
		b.received()
		b.call("c-1", "big", `{"bytes":20000}`)
		got := b.received()
		want(t, "long answer", got, "action_error:c-1")
		if got[0].Error.Code != "payload_too_large" || got[0].RuntimeID != "rt-1" {
			t.Errorf("got %s", got[0].raw)
		}
	})
}

func TestTooManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), func(o *bridgeclient.Options) { o.MaxPending = 2 })
		defer b.stop()
		b.accept()
		b.received()
		for _, id := range []string{"c-1", "c-2", "c-3"} {
			b.call(id, "sleep", `{"ms":100}`)
		}
		got := b.received()
		want(t, "one too many", got, "action_error:c-3")
		if got[0].Error.Code != "queue_full" {
			t.Errorf("got %s", got[0].raw)
		}
		time.Sleep(time.Second)
		want(t, "the others", b.received(), "action_call_output:c-1 action_call_output:c-2")
	})
}

// When Run ends, calls in flight are cancelled and their answers still go out,
// then the connection is closed politely.
func TestEndAnswersWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		b.accept()
		b.received()
		b.call("c-1", "block", `{}`)
		b.call("c-2", "block", `{}`) // waits in the tab's queue
		var got []frame
		read := make(chan struct{})
		go func() {
			defer close(read)
			for {
				raw, err := b.conn.Receive(context.Background())
				if err != nil {
					return
				}
				var f frame
				_ = json.Unmarshal(raw, &f)
				got = append(got, f)
			}
		}()
		if err := b.stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want the cause of its context", err)
		}
		<-read
		want(t, "at the end", got, "action_error:c-1 action_error:c-2 runtime_removed")
		if got[0].Error.Code != "cancelled" {
			t.Errorf("code %s, want cancelled", got[0].Error.Code)
		}
		if b.conn.Reason() == "" {
			t.Error("the connection was not closed politely")
		}
	})
}

// A peer that does not read cannot delay Run for longer than DrainTimeout.
func TestEndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		b.accept()
		for i := range 40 {
			b.call(fmt.Sprintf("c-%d", i), "echo", `{}`)
		}
		begin := time.Now()
		_ = b.stop()
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("Run took %s to end, want at most 5 s", d)
		}
	})
}

func TestEndWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, oneTab(), nil)
		b.accept()
		b.call("c-1", "block", `{}`)
		b.fail(errors.New("refused"))
		b.conn.Cut()
		time.Sleep(time.Second)
		begin := time.Now()
		_ = b.stop()
		if d := time.Since(begin); d > time.Second {
			t.Errorf("Run took %s to end", d)
		}
	})
}

func TestStdio(t *testing.T) {
	in, feed := io.Pipe()
	out, w := io.Pipe()
	host := oneTab()
	c, err := bridgeclient.New(
		&bridgeclient.Options{URL: "stdio:", Dialect: actionsbridge.New(nil), Host: host, Stdin: in, Stdout: w},
	)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- c.Run(t.Context())
		w.Close()
	}()
	go func() {
		fmt.Fprintln(feed, `{"type":"action_call","call_id":"1","name":"sleep","arguments":{"ms":50}}`)
		fmt.Fprintln(feed, ``)
		fmt.Fprintln(feed, `not json`)
		fmt.Fprint(feed, `{"type":"action_call","call_id":"2","name":"echo","arguments":{}}`) // no line end
		feed.Close()
	}()
	all, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	// The process ends when the input has ended and every call was answered.
	if err := <-done; err != nil {
		t.Fatalf("Run = %v, want nil", err)
	}
	var got []frame
	for line := range strings.Lines(string(all)) {
		var f frame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("output has the line %q", line)
		}
		got = append(got, f)
	}
	want(t, "output", got, "runtime_ready action_error action_call_output:1 action_call_output:2")
}

func TestStdioEndsWithItsContext(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	c, err := bridgeclient.New(&bridgeclient.Options{
		URL:     "stdio:",
		Dialect: actionsbridge.New(nil),
		Host:    oneTab(),
		Stdin:   in,
		Stdout:  io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Run did not end")
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, tc := range []struct {
		url  string
		code fault.Code
	}{
		{"", fault.InvalidInput},
		{"ftp://x", fault.InvalidInput},
		{"ws://", fault.InvalidInput},
		{"://", fault.InvalidInput},
		{"stdio:", fault.InvalidInput}, // no streams given
		{"https:///x", fault.InvalidInput},
	} {
		_, err := bridgeclient.New(&bridgeclient.Options{URL: tc.url, Dialect: actionsbridge.New(nil), Host: oneTab()})
		if !errors.Is(err, tc.code) {
			t.Errorf("New with %q = %v, want %s", tc.url, err, tc.code)
		}
	}
}
