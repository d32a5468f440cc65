package browserbridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/bridgeclient/browserbridge"
	"github.com/outrider-run/outrider/bridgeclient/browserbridge/backend"
	"github.com/outrider-run/outrider/runtime"
)

// noHost is a host without a tab.
type noHost struct{}

func (*noHost) Do(context.Context, runtime.Call) runtime.Reply { return runtime.Reply{} }
func (*noHost) Tabs() []runtime.TabStatus                      { return nil }
func (*noHost) NewWorkspace(context.Context, runtime.WorkspaceOptions) (*runtime.Workspace, error) {
	return nil, errors.New("none")
}
func (*noHost) Subscribe(func(runtime.Event)) func() { return func() {} }

// peer serves one conversation per connection.
func peer(t *testing.T, talk func(n int, ws *websocket.Conn)) string {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		mu.Lock()
		n++
		at := n
		mu.Unlock()
		talk(at, ws)
	}))
	t.Cleanup(s.Close)
	return "ws" + strings.TrimPrefix(s.URL, "http")
}

func client(t *testing.T, url string, change func(*browserbridge.Options)) *browserbridge.Client {
	t.Helper()
	o := browserbridge.Options{
		URL:           url,
		Host:          &noHost{},
		Token:         "sesame",
		ClientVersion: "1.2",
		RetryMin:      10 * time.Millisecond,
		RetryMax:      50 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	c, err := browserbridge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func send(ws *websocket.Conn, s string) {
	_ = ws.Write(context.Background(), websocket.MessageText, []byte(s))
}

func read(t *testing.T, ws *websocket.Conn) map[string]any {
	_, frame, err := ws.Read(context.Background())
	if err != nil {
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal(frame, &m); err != nil {
		t.Errorf("the client sent %s", frame)
	}
	return m
}

// Every way of being refused is final, and says what to do.
func TestRefusalsAreFinal(t *testing.T) {
	for _, c := range []struct {
		name, frame string
		code        int
		want        string
	}{
		{
			"version",
			`{"type":"reject","requiredMinProtocolVersion":5,"error":{"code":"invalid_action","message":"too old"}}`,
			4001, "it needs version 5",
		},
		{
			"version 3",
			`{"type":"reject","requiredMinProtocolVersion":3,"error":{"code":"invalid_action","message":"too new"}}`,
			4001, "protocol version does not match",
		},
		{"token", `{"type":"reject","requiredMinProtocolVersion":4,"error":{"code":"internal_error",` +
			`"message":"who are you"}}`, 4002, "pairing token is not valid"},
		{
			"reject and an ordinary close",
			`{"type":"reject","error":{"code":"internal_error","message":"closed for today"}}`,
			1000, "closed for today",
		},
		{"close 4001 alone", "", 4001, "protocol version does not match"},
		{"close 4002 alone", "", 4002, "pairing token is not valid"},
		{"ack of another version", `{"type":"ack","protocolVersion":5,"serverVersion":"x"}`, 1000, "version 5"},
		{
			"close 4002 after ack", `{"type":"ack","protocolVersion":4,"serverVersion":"x"}`,
			4002, "pairing token is not valid",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			connections, after := 0, 0
			url := peer(t, func(n int, ws *websocket.Conn) {
				mu.Lock()
				connections = n
				mu.Unlock()
				hello := read(t, ws)
				if hello["type"] != "hello" || hello["protocolVersion"] != 4.0 || hello["pairingToken"] != "sesame" ||
					hello["clientVersion"] != "1.2" || len(hello["caps"].([]any)) != 16 {
					t.Errorf("hello is %v", hello)
				}
				if c.frame != "" {
					send(ws, c.frame)
					// A request that comes with it is not answered.
					if !strings.Contains(c.frame, `"ack"`) {
						send(ws, `{"type":"request","id":"1","action":{"type":"get_tabs"}}`)
					}
				}
				_ = ws.Close(websocket.StatusCode(c.code), "bye")
				if read(t, ws) != nil {
					mu.Lock()
					after++
					mu.Unlock()
				}
			})
			var states []browserbridge.StateKind
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := client(t, url, func(o *browserbridge.Options) {
				o.OnState = func(s browserbridge.State) { states = append(states, s.Kind) }
			}).Run(ctx)
			var refused *browserbridge.RejectedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run ended with %v, want a refusal with %q", err, c.want)
			}
			if len(states) == 0 || states[len(states)-1] != browserbridge.Rejected {
				t.Errorf("states %v do not end with rejected", states)
			}
			mu.Lock()
			defer mu.Unlock()
			if connections != 1 || after != 0 {
				t.Errorf("%d connections and %d messages after the refusal, want 1 and 0", connections, after)
			}
		})
	}
}

// hello is the only message before ack, and a request that comes too early gets
// no answer.
func TestNothingBeforeAck(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan map[string]any, 1)
	url := peer(t, func(n int, ws *websocket.Conn) {
		read(t, ws)
		send(ws, `{"type":"request","id":"early","action":{"type":"get_tabs"}}`)
		send(ws, `{"type":"ack","protocolVersion":4,"serverVersion":"x"}`)
		send(ws, `{"type":"request","id":"late","action":{"type":"get_tabs"}}`)
		got <- read(t, ws)
		cancel()
	})
	_ = client(t, url, nil).Run(ctx)
	if m := <-got; m["id"] != "late" || m["result"] == nil {
		t.Errorf("the first message after hello is %v, want the response to late", m)
	}
}

// A connection that is lost in any other way is opened again: before ack, after it,
// with 1000, or when the backend is silent.
func TestReconnects(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	url := peer(t, func(n int, ws *websocket.Conn) {
		switch n {
		case 1:
			return // at once
		case 2:
			read(t, ws)
			_ = ws.Close(websocket.StatusNormalClosure, "")
		case 3:
			read(t, ws)
			read(t, ws) // the client gives up after AckTimeout
		case 4:
			read(t, ws)
			send(ws, `{"type":"ack","protocolVersion":4,"serverVersion":"x"}`)
			_ = ws.Close(websocket.StatusGoingAway, "")
		case 5:
			read(t, ws)
			send(ws, `{"type":"ack","protocolVersion":4,"serverVersion":"x"}`)
			<-ctx.Done() // reads nothing: pings are not answered
		default:
			cancel()
		}
	})
	var lost []browserbridge.State
	err := client(t, url, func(o *browserbridge.Options) {
		o.AckTimeout, o.PingEvery = 2*time.Second, 100*time.Millisecond
		o.OnState = func(s browserbridge.State) {
			if s.Kind == browserbridge.Lost {
				lost = append(lost, s)
			}
		}
	}).Run(ctx)
	if !errors.Is(err, context.Canceled) || len(lost) < 5 {
		t.Fatalf("Run ended with %v after %d losses, want the end of the test after 5", err, len(lost))
	}
	if !strings.Contains(lost[4].Err.Error(), "pings were not answered") {
		t.Errorf("the fifth loss is %v, want missed pings", lost[4].Err)
	}
	for i, want := range []time.Duration{10, 20, 40, 50, 50} { // doubling to RetryMax, a fifth of jitter
		if got, w := lost[i].RetryIn, want*time.Millisecond; got < w*8/10 || got > w*12/10 {
			t.Errorf("wait %d is %s, want %s give or take a fifth", i+1, got, w)
		}
	}
}

// held is a page whose script can fetch /held, which answers when release is called
// and reports each request.
func held(t *testing.T) (url string, asked <-chan struct{}, release func()) {
	t.Helper()
	arrived, open := make(chan struct{}, 8), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/held" {
			return
		}
		arrived <- struct{}{}
		select {
		case <-open:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(site.Close)
	release = sync.OnceFunc(func() { close(open) })
	t.Cleanup(release) // before the server waits for its answers
	return site.URL, arrived, release
}

// The result of a request whose connection is closed is not sent on the next one;
// events wait for it.
func TestResultsOfALostConnectionAreDropped(t *testing.T) {
	host := openHost(t)
	b := connect(t, host, nil, backend.Options{})
	ctx := t.Context()
	url, asked, release := held(t)
	if _, err := b.backend.Do(ctx, json.RawMessage(`{"type":"navigate","url":"`+url+`"}`)); err != nil {
		t.Fatal(err)
	}
	<-b.events // session_started
	failed := make(chan error, 1)
	go func() {
		_, err := b.backend.Do(
			ctx, json.RawMessage(`{"type":"evaluate","expression":"return fetch('/held').then(() => 1)"}`),
		)
		failed <- err
	}()
	select {
	case <-asked: // the script is running
	case err := <-failed:
		t.Fatalf("the request ended with %v", err)
	}
	b.backend.Drop()
	release()
	if err := <-failed; !errors.Is(err, backend.ErrLost) {
		t.Errorf("the request ended with %v, want that the client was lost", err)
	}
	b.client.Stop() // while it is away, or just back: the events come all the same
	if err := b.backend.Await(ctx); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"reason":"global_stop"`, `"endedCount":1`} {
		select {
		case e := <-b.events:
			if !strings.Contains(string(e), want) {
				t.Errorf("event %s, want %s", e, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("no event with %s", want)
		}
	}
}

// The backend: newest client wins, foreign tokens and versions are refused.
func TestBackendRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		with backend.Options
		code int
	}{
		{"token", backend.Options{Token: "other"}, browserbridge.ClosePairing},
		{"version", backend.Options{Protocol: 3}, browserbridge.CloseVersion},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := backend.New(c.with)
			server := httptest.NewServer(b)
			defer server.Close()
			defer b.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := client(t, "ws"+strings.TrimPrefix(server.URL, "http"), nil).Run(ctx)
			var refused *browserbridge.RejectedError
			if !errors.As(err, &refused) || refused.CloseCode != c.code {
				t.Errorf("Run ended with %v, want close code %d", err, c.code)
			}
			if strings.Contains(err.Error(), "sesame") {
				t.Error("the error contains the token")
			}
		})
	}
}

func TestNewestClientWins(t *testing.T) {
	kinds := make(chan string, 20)
	b := connect(t, &noHost{}, func(o *browserbridge.Options) {
		o.RetryMin = time.Minute
		o.RetryMax = time.Minute
	}, backend.Options{OnConnection: func(k string) { kinds <- k }})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = client(t, b.url, nil).Run(ctx) })
	seen := map[string]int{}
	for seen["accepted"] < 2 || seen["replaced"] < 1 || seen["lost"] < 1 {
		select {
		case k := <-kinds:
			seen[k]++
		case <-time.After(time.Minute):
			t.Fatalf("saw %v", seen)
		}
	}
	if err := b.backend.Await(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	running.Wait()
}

// Requests for different tabs run at the same time, those for one tab in order;
// the 34th that has to wait is refused, and so is an id that is in flight.
func TestQueues(t *testing.T) {
	b := connect(t, openHost(t), nil, backend.Options{})
	ctx := t.Context()
	ask := func(action string) chan error {
		done := make(chan error, 1)
		go func() {
			_, err := b.backend.Do(ctx, json.RawMessage(action))
			done <- err
		}()
		return done
	}
	const fetch = `{"type":"evaluate","expression":"return fetch('/held').then(() => 1)","tabId":1}`
	page, asked, release := held(t)
	if err := <-ask(`{"type":"navigate","url":"` + page + `","tabId":1}`); err != nil {
		t.Fatal(err)
	}
	busy := ask(fetch)
	<-b.events // its session has begun
	select {
	case <-asked:
	case err := <-busy:
		t.Fatalf("the first tab was not busy: %v", err)
	}
	if err := <-ask(`{"type":"evaluate","expression":"return 1","tabId":2}`); err != nil {
		t.Errorf("the other tab: %v", err)
	}
	answers := make(chan error, 40)
	for range 40 {
		go func() { answers <- <-ask(`{"type":"evaluate","expression":"return 1","tabId":1}`) }()
	}
	for range 8 { // and the others wait
		var e *browserbridge.Error
		if err := <-answers; !errors.As(err, &e) || e.Code != "internal_error" ||
			!strings.Contains(e.Message, "32 requests") {
			t.Errorf("one request too many: %v, want that it is refused", err)
		}
	}
	release()
	for range 32 {
		if err := <-answers; err != nil {
			t.Errorf("a request that waited: %v", err)
		}
	}
	if err := <-busy; err != nil {
		t.Errorf("the first request: %v", err)
	}
	const id = "51111111-1111-4111-8111-111111111111"
	page, asked, release = held(t)
	if err := <-ask(`{"type":"navigate","url":"` + page + `","tabId":1}`); err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() {
		_, err := b.backend.Raw(ctx, id, browserbridge.Request{Type: "request", ID: id, Action: json.RawMessage(fetch)})
		first <- err
	}()
	select {
	case <-asked:
	case err := <-first:
		t.Fatalf("the first request was not in flight: %v", err)
	}
	r, err := b.backend.Raw(ctx, id, browserbridge.Request{
		Type:   "request",
		ID:     id,
		Action: json.RawMessage(`{"type":"get_tabs"}`),
	})
	if err != nil || r.Error == nil || r.Error.Code != "invalid_action" {
		t.Errorf("a second request with an id in flight: %+v, %v", r, err)
	}
	release() // the first has its own answer, which the second one's does not replace
	if err := <-ask(`{"type":"evaluate","expression":"return 1","tabId":1}`); err != nil {
		t.Errorf("behind the first request: %v", err)
	}
}
