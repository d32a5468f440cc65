package peers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/outrider-run/outrider/conformance/bridgekit"
	"github.com/outrider-run/outrider/faces/hub"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/internal/testing/hosttest"
	"github.com/outrider-run/outrider/internal/testing/peerstest"
)

// tabsEach is how many tabs each program has.
const tabsEach = 3

// many is programs with three tabs each on one bridge, and agents that call them.
type many struct {
	*testing.T
	bridge bridgekit.HTTPAgent
	site   *httptest.Server
	pages  []string // paths, tabsEach of each program
	titles bool     // the bridge has a selector of its own for titles

	mu  sync.Mutex
	ran map[string]int // by mark: how often a page ran the script of a call

	calls, succeeded atomic.Int64
}

// newMany serves the pages. Each script of a call says on the server that it ran.
func newMany(t *testing.T, programs int, scheme string) *many {
	m := &many{T: t, ran: map[string]int{}}
	for p := range programs {
		for tab := range tabsEach {
			m.pages = append(m.pages, fmt.Sprintf("/p%d-t%d/", p, tab))
		}
	}
	m.site = peerstest.Site(t, scheme, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mark := r.URL.Query().Get("mark"); mark != "" {
			m.mu.Lock()
			m.ran[mark]++
			m.mu.Unlock()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>Page %s</title>", r.URL.Path)
	}))
	return m
}

// call runs a script on one page, and returns why that failed. What must hold of
// every call is checked: the answer is of the page that was meant, and the script
// ran once, or at most once where the call failed.
func (m *many) call(mark string, target bridgekit.ToolCall, page string) error {
	target.Name = "browser.run_javascript"
	source := fmt.Sprintf(`const r = new XMLHttpRequest(); r.open('POST', '/?mark=%s', false); r.send(); `+
		`return location.pathname + ' %[1]s'`, mark)
	target.Arguments = raw(map[string]any{"source": source, "policy_exception_report": map[string]string{
		"kind": "generic", "intended_tool": target.Name, "actions_json_path": "none", "reason": "load"}})
	target.TimeoutMS = 8000
	ctx, cancel := context.WithTimeout(m.Context(), 20*time.Second)
	defer cancel()
	began := time.Now()
	answer, err := m.bridge.Call(ctx, target)
	m.calls.Add(1)
	if ctx.Err() != nil && m.Context().Err() == nil {
		m.Errorf("the call %s has no answer after %s", mark, time.Since(began))
	}
	m.mu.Lock()
	ran := m.ran[mark]
	m.mu.Unlock()
	var output struct {
		Result string `json:"result"`
		Value  struct {
			Result string `json:"result"`
		} `json:"value"`
	}
	_ = json.Unmarshal(answer.Output, &output)
	result := output.Result + output.Value.Result
	switch want := page + " " + mark; {
	case result != "" && result != want:
		m.Errorf("the call %s is answered with %q, want %q", mark, result, want)
	case result == want && ran != 1, ran > 1:
		m.Errorf("the script of the call %s ran %d times, answered %q", mark, ran, result)
	case result == want:
		m.succeeded.Add(1)
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%d %s %s", answer.Status, answer.Output, answer.Error)
}

// answering waits until every page answers a call by its address.
func (m *many) answering(after string) {
	m.Helper()
	late := time.Now().Add(2 * time.Minute)
	for i, page := range m.pages {
		for n := 0; ; n++ {
			err := m.call(
				fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(after, " ", "-"), i, n),
				bridgekit.ToolCall{TargetURLContains: page}, page,
			)
			if err == nil {
				break
			}
			if time.Now().After(late) {
				m.Fatalf("after %s: %s does not answer: %v", after, page, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// agents call pages at random by id, address and title until stop is called,
// which also looks for scripts that ran again later.
func (m *many) agents(n int) (stop func()) {
	ctx, cancel := context.WithCancel(m.Context())
	var wg sync.WaitGroup
	for agent := range n {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(16, uint64(agent)))
			for i := 0; ctx.Err() == nil; i++ {
				page := m.pages[random.IntN(len(m.pages))]
				var target bridgekit.ToolCall
				switch random.IntN(3) {
				case 0:
					target.TargetURLContains = page
				case 1:
					if m.titles {
						target.TargetTitleContains = "Page " + page
					} else { // the upstream bridge looks there for titles, too
						target.TargetURLContains = "Page " + page
					}
				default:
					rows, err := m.bridge.Runtimes(ctx)
					at := slices.IndexFunc(rows, func(r bridgekit.Row) bool { return strings.HasSuffix(r.URL, page) })
					if err != nil || at < 0 {
						time.Sleep(20 * time.Millisecond) // the bridge is away
						continue
					}
					target.TargetRuntimeID = rows[at].RuntimeID
				}
				if m.call(fmt.Sprintf("a%d-%d", agent, i), target, page) != nil {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		for mark, n := range m.ran {
			if n > 1 {
				m.Errorf("the script of the call %s ran %d times", mark, n)
			}
		}
		m.Logf("%d calls, %d of them succeeded", m.calls.Load(), m.succeeded.Load())
		if m.succeeded.Load() < int64(len(m.pages)) {
			m.Errorf("%d calls succeeded", m.succeeded.Load())
		}
	}
}

// rounds calls each step again and again until the time is over that OUTRIDER_LOAD
// says, and at least once.
func rounds(t *testing.T, steps ...func()) {
	t.Helper()
	var length time.Duration
	if text := os.Getenv("OUTRIDER_LOAD"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	for began := time.Now(); ; {
		for _, step := range steps {
			step()
		}
		if time.Since(began) >= length {
			return
		}
	}
}

// relay stands between one program and the bridge, reads the keys that the program
// announces, and can be cut.
type relay struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	conns  map[*websocket.Conn]bool
	keys   map[string]string // by path of the page: what its key must stay
	others func(key, page string)
}

func newRelay(t *testing.T, bridge string, others func(key, page string)) *relay {
	r := &relay{t: t, conns: map[*websocket.Conn]bool{}, keys: map[string]string{}, others: others}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		up, _, err := websocket.Dial(req.Context(), "ws://"+bridge+"/extension", nil)
		if err != nil {
			http.Error(w, "the bridge is away", http.StatusBadGateway)
			return
		}
		down, err := websocket.Accept(w, req, nil)
		if err != nil {
			_ = up.CloseNow()
			return
		}
		r.mu.Lock()
		r.conns[down] = true
		r.mu.Unlock()
		up.SetReadLimit(-1)
		down.SetReadLimit(-1)
		var wg sync.WaitGroup
		wg.Go(func() { r.pump(down, up, r.read); _ = down.CloseNow(); _ = up.CloseNow() })
		wg.Go(func() { r.pump(up, down, func([]byte) {}); _ = down.CloseNow(); _ = up.CloseNow() })
		wg.Wait()
		r.mu.Lock()
		delete(r.conns, down)
		r.mu.Unlock()
	}))
	t.Cleanup(func() { r.cut(); r.server.Close() })
	return r
}

func (r *relay) pump(from, to *websocket.Conn, read func([]byte)) {
	for {
		kind, frame, err := from.Read(context.Background())
		if err != nil {
			return
		}
		read(frame)
		if to.Write(context.Background(), kind, frame) != nil {
			return
		}
	}
}

// read holds every announcement against those before.
func (r *relay) read(frame []byte) {
	if !bytes.Contains(frame, []byte(`"runtime_ready"`)) {
		return
	}
	var in struct {
		Type string `json:"type"`
		Key  string `json:"runtime_key"`
		URL  string `json:"url"`
	}
	if json.Unmarshal(frame, &in) != nil || in.Type != "runtime_ready" || !strings.Contains(in.URL, "/p") {
		return
	}
	page := in.URL[strings.LastIndex(in.URL, "/p"):]
	r.mu.Lock()
	old, known := r.keys[page]
	r.keys[page] = in.Key
	r.mu.Unlock()
	if in.Key == "" || known && old != in.Key {
		r.t.Errorf("%s is announced with the key %q, before with %q", page, in.Key, old)
	}
	r.others(in.Key, page)
}

// forget is for a new process, which has keys of its own.
func (r *relay) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = map[string]string{}
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.CloseNow()
	}
}

// Outriders with three tabs each on one real bridge: each call is answered once,
// and by the tab that was meant, while connections are cut, and browsers, programs
// and the bridge are killed.
func TestPeersManyPrograms(t *testing.T) {
	t.Parallel() // it waits most of its time, as those below
	programs := 2
	if peerstest.All() {
		programs = 4
	}
	bridge := peerstest.StartBridge(t)
	program := peerstest.Program(t)
	m := newMany(t, programs, "http")
	m.bridge = bridgekit.HTTPAgent{Base: "http://" + bridge.Addr}

	var mu sync.Mutex
	owners := map[string]string{} // of keys
	relays := make([]*relay, programs)
	running := make([]*exec.Cmd, programs)
	start := func(i int) {
		args := []string{"connect", "ws://" + relays[i].server.Listener.Addr().String() + "/extension", "--no-events"}
		for _, page := range m.pages[i*tabsEach : (i+1)*tabsEach] {
			args = append(args, "--open", m.site.URL+page)
		}
		running[i] = exec.Command(program, args...)
		running[i].Stderr = io.Discard
		if err := running[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range programs {
		relays[i] = newRelay(t, bridge.Addr, func(key, page string) {
			mu.Lock()
			defer mu.Unlock()
			if owner, taken := owners[key]; taken && owner != page {
				t.Errorf("the key %s is of %s and of %s", key, owner, page)
			}
			owners[key] = page
		})
		start(i)
	}
	t.Cleanup(func() {
		for _, cmd := range running {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	m.answering("the start")
	stop := m.agents(4)
	turn := 0
	rounds(t, func() {
		for _, r := range relays {
			r.cut()
		}
		m.answering("a cut")
	}, func() {
		turn++
		killBrowser(t, running[turn%programs].Process.Pid)
		m.answering("a browser was killed")
	}, func() {
		i := (turn + 1) % programs
		_ = running[i].Process.Kill()
		_ = running[i].Wait()
		relays[i].forget()
		start(i)
		m.answering("a program was killed")
	}, func() {
		bridge.Restart(t)
		m.answering("the bridge was killed")
	})
	stop()
}

// killBrowser kills the browser of a program.
func killBrowser(t *testing.T, program int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, file := range all {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if len(fields) < 2 || fields[1] != strconv.Itoa(program) || !bytes.Contains(line, []byte("--user-data-dir")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			killed++
		}
	}
	if killed != 1 {
		t.Errorf("%d browsers of the program %d were killed", killed, program)
	}
}

// The real extension with three tabs on our hub, through cut connections and kills
// of the browser and the hub.
func TestPeersManyExtensions(t *testing.T) {
	t.Parallel()
	browsers := 2
	m := newMany(t, browsers, "https")
	const token = "of-the-test-0123456789"
	address := browsertest.Address(t)
	m.bridge, m.titles = bridgekit.HTTPAgent{Base: "http://" + address, Token: token}, true
	var pairing string
	startHub := func() (stop func()) {
		h, err := hub.New(hub.Options{Listen: address, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Listen(); err != nil {
			t.Fatal(err)
		}
		pairing = h.PairingURL()
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { _ = h.Run(ctx) })
		return func() { cancel(); running.Wait() }
	}
	stopHub := startHub()
	defer func() { stopHub() }()
	proxy, err := hosttest.NewProxy(address)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()

	extensions := make([]peerstest.Extension, browsers)
	start := func(i int) {
		extensions[i] = peerstest.StartExtension(t)
		for _, page := range m.pages[i*tabsEach : (i+1)*tabsEach] {
			extensions[i].Claim(t, m.site.URL+page, strings.Replace(pairing, address, proxy.Addr(), 1))
		}
	}
	for i := range browsers {
		start(i)
	}
	m.answering("the start")
	stop := m.agents(4)
	turn := 0
	rounds(t, func() {
		proxy.Cut()
		m.answering("a cut")
	}, func() {
		turn++
		extensions[turn%browsers].Kill()
		start(turn % browsers)
		m.answering("a browser was killed")
	}, func() {
		stopHub()
		stopHub = startHub()
		m.answering("the hub was ended")
	})
	stop()
}
