package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/bridgeclient"
	"github.com/outrider-run/outrider/bridgeclient/actionsbridge"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
)

// TestPollingTranscripts plays a runtime that polls, from
// testdata/bridge/polling/*.txtar, and compares the answers of the hub. The clock
// is that of synctest.
//
// A peer section has one line per event:
//
//	1> GET after=0&wait_ms=1000&session=…    a request; its number names its answer
//	2> POST {…}                              the same, with a body
//	3. gone                                  the peer of a request hangs up
//	a> {…}                                   an agent's call
//	wait 4s                                  time passes
//
// A hub section has what came since the last one, in the order in which it came.
func TestPollingTranscripts(t *testing.T) {
	files, err := filepath.Glob("../../testdata/bridge/polling/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// Not at the moment of a poll.
			inBubble(t, hub.Options{AnnounceWithin: 25 * time.Second}, func(b *bubble) {
				p := &pollScript{bubble: b, gone: map[string]func(){}}
				p.play(a)
			})
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type pollScript struct {
	*bubble
	gone map[string]func()

	mu      sync.Mutex
	got     []string
	ordered int // of got, sorted already
}

func (p *pollScript) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, line)
}

func (p *pollScript) play(a *txtar.Archive) {
	for i, f := range a.Files {
		switch f.Name {
		case "peer":
			for line := range strings.Lines(string(f.Data)) {
				p.line(strings.TrimSpace(line))
				synctest.Wait()
				p.mu.Lock()
				slices.Sort(p.got[p.ordered:]) // what one event caused comes in any order
				p.ordered = len(p.got)
				p.mu.Unlock()
			}
		case "hub":
			p.mu.Lock()
			text := strings.Join(append(p.got, ""), "\n")
			p.got, p.ordered = nil, 0
			p.mu.Unlock()
			if text == "" {
				text = "(nothing)\n"
			}
			if *update {
				a.Files[i].Data = []byte(text)
			} else if text != string(f.Data) {
				p.t.Errorf("section %d: the hub sent\n%swant\n%s", i+1, text, f.Data)
			}
		default:
			p.t.Fatalf("unknown section %q", f.Name)
		}
	}
	for _, gone := range p.gone {
		gone()
	}
	synctest.Wait()
}

func (p *pollScript) line(line string) {
	if d, ok := strings.CutPrefix(line, "wait "); ok {
		length, err := time.ParseDuration(d)
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(length)
		return
	}
	if name, ok := strings.CutSuffix(line, ". gone"); ok {
		p.gone[name]()
		return
	}
	name, text, ok := strings.Cut(line, "> ")
	if !ok {
		p.t.Fatalf("not a line of a transcript: %s", line)
	}
	if name == "a" {
		var call hub.ToolCall
		if err := json.Unmarshal([]byte(text), &call); err != nil {
			p.t.Fatal(err)
		}
		go func() { p.say("a< " + string(encode(p.t, p.hub.Call(context.Background(), call)))) }()
		return
	}
	method, rest, _ := strings.Cut(text, " ")
	ctx, cancel := context.WithCancel(context.Background())
	p.gone[name] = cancel
	var r *http.Request
	if method == http.MethodGet {
		r = httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1/extension/items?"+rest, nil)
	} else {
		r = httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1/extension/items", strings.NewReader(rest))
	}
	go func() {
		w := httptest.NewRecorder()
		p.hub.Handler().ServeHTTP(w, r)
		if ctx.Err() == nil {
			p.say(fmt.Sprintf("%s< %d %s", name, w.Code, strings.TrimSpace(w.Body.String())))
		}
	}()
}

// lossy is a way to the hub on which requests are lost before they arrive, or
// their answers after it.
type lossy struct {
	handler http.Handler
	mu      sync.Mutex
	random  *rand.Rand
	lost    [2]int // requests, answers
	calm    bool
}

var errLost = errors.New("lost on the way")

func (l *lossy) chance() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.random.IntN(4)
	if n < 2 && !l.calm {
		l.lost[n]++
		return n
	}
	return 2
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, err := io.ReadAll(r.Body); err == nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	r = r.Clone(r.Context())
	r.Host, r.RequestURI = "127.0.0.1", r.URL.RequestURI()
	what := l.chance()
	if what == 0 {
		return nil, errLost
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	if r.Context().Err() != nil {
		return nil, context.Cause(r.Context())
	}
	if what == 1 {
		return nil, errLost
	}
	return w.Result(), nil
}

// Half of all requests fail, one way or the other: every call arrives once, and
// every answer.
func TestPollingLosesAndDoublesNothing(t *testing.T) {
	inBubble(t, hub.Options{}, func(b *bubble) {
		t := b.t
		way := &lossy{handler: b.hub.Handler(), random: rand.New(rand.NewPCG(5, 6)), calm: true}
		host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"), hosttest.Tab(2, "https://b.example/", "B"))
		client, err := bridgeclient.New(&bridgeclient.Options{
			URL: "http://127.0.0.1/extension", RoundTripper: way, Dialect: actionsbridge.New(nil), Host: host,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = client.Run(ctx) })
		defer running.Wait()
		defer cancel()
		for len(b.hub.Runtimes()) < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		way.mu.Lock()
		way.calm = false
		way.mu.Unlock()
		const calls, agents = 300, 6
		ids := map[string]bool{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for agent := range agents {
			wg.Go(func() {
				for i := agent; i < calls; i += agents {
					r := b.hub.Call(t.Context(), hub.ToolCall{
						Name:            "sleep",
						Arguments:       json.RawMessage(fmt.Sprintf(`{"ms":2,"n":%d}`, i)),
						TargetRuntimeID: fmt.Sprintf("rt-%d", 1+i%2),
						TimeoutMS:       60_000,
					})
					if !r.OK || !strings.Contains(string(r.Output), fmt.Sprintf(`"n":%d}`, i)) {
						t.Errorf("call %d: %s %s", i, r.Output, r.Error)
						continue
					}
					mu.Lock()
					ids[*r.CallID] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		way.mu.Lock()
		way.calm = true
		lost := way.lost
		way.mu.Unlock()
		if len(ids) != calls {
			t.Errorf("%d calls were answered, want %d", len(ids), calls)
		}
		for id := range ids {
			if n := host.Runs(id); n != 1 {
				t.Errorf("%s was executed %d times", id, n)
			}
		}
		if lost[0] < 50 || lost[1] < 50 {
			t.Errorf("%v requests and answers were lost: this tested little", lost)
		}
		t.Logf("%d requests and %d answers were lost", lost[0], lost[1])
	})
}

// A hub that was started anew knows no session: the client opens another one and
// announces its tabs.
func TestPollingSurvivesANewHub(t *testing.T) {
	front := &swap{}
	srv := httptest.NewServer(front)
	defer srv.Close()
	first := startHub(t, hub.Options{Listen: hub.Nowhere})
	front.set(first.Handler())
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"))
	defer connect(t, "unused", host, func(o *bridgeclient.Options) { o.URL = srv.URL + "/extension" })()
	waitRuntimes(t, first, 1)
	second := startHub(t, hub.Options{Listen: hub.Nowhere})
	front.set(second.Handler())
	srv.CloseClientConnections()
	waitRuntimes(t, second, 1)
	if r := second.Call(t.Context(), hub.ToolCall{Name: "echo"}); !r.OK {
		t.Fatalf("call over the new session: %s", r.Error)
	}
}

type swap struct {
	mu sync.Mutex
	h  http.Handler
}

func (s *swap) set(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.h = h
}

func (s *swap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h := s.h
	s.mu.Unlock()
	h.ServeHTTP(w, r)
}

// Large items pass in both directions, and what is refused for good is not tried
// again.
func TestPollingCarriesLargeItemsAndStopsWhereItIsRefused(t *testing.T) {
	h := startHub(t, hub.Options{Token: "secret"})
	host := hosttest.New(hosttest.Tab(1, "https://a.example/", "A"))
	address := "http://" + h.Addr() + "/extension"
	defer connect(t, h.Addr(), host, func(o *bridgeclient.Options) { o.URL, o.Token = address, "secret" })()
	waitRuntimes(t, h, 1)
	r := h.Call(t.Context(), hub.ToolCall{
		Name:      "big",
		Arguments: json.RawMessage(fmt.Sprintf(`{"bytes":%d,"text":%q}`, 6<<20, strings.Repeat("y", 3<<20))),
	})
	if !r.OK || len(r.Output) < 6<<20 {
		t.Fatalf("%d bytes, error %s", len(r.Output), r.Error)
	}
	for _, token := range []string{"", "wrong"} {
		_, err := bridgeclient.Dial(t.Context(), &bridgeclient.Options{URL: address, Token: token})
		if err == nil || !strings.Contains(err.Error(), "valid token") {
			t.Errorf("token %q: %v", token, err)
		}
	}
}
