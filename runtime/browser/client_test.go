package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// peer is a scripted browser behind the transport.
type peer struct {
	t      *testing.T
	frames chan []byte
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex
	answer map[string]func(p *peer, m message) // by method; nil member: no answer
	sent   []message
	stuck  bool // Send blocks until its deadline
}

type message struct {
	ID        int64           `json:"id"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	SessionID string          `json:"sessionId"`
}

// libraryCall is how a peer names the evaluation of the page library, to distinguish it
// from the others.
const libraryCall = "library-call"

func newPeer(t *testing.T) *peer {
	p := &peer{
		t:      t,
		frames: make(chan []byte, 1000),
		closed: make(chan struct{}),
		answer: map[string]func(*peer, message){},
	}
	p.on("Browser.getVersion", `{"product":"Scripted/1"}`)
	p.on("Target.createTarget", `{"targetId":"T"}`)
	p.on("Page.getFrameTree", `{"frameTree":{"frame":{"id":"T","loaderId":"L","url":"about:blank"}}}`)
	p.on("Page.createIsolatedWorld", `{"executionContextId":1}`)
	p.on("Runtime.evaluate", `{"result":{"type":"string","value":"x"}}`)
	create := p.answer["Target.createTarget"]
	p.answer["Target.createTarget"] = func(p *peer, m message) {
		p.push(`{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"targetId":"T",` +
			`"type":"page","url":"about:blank"},"waitingForDebugger":true}}`)
		create(p, m)
	}
	return p
}

// on answers a method with a result.
func (p *peer) on(method, result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer[method] = func(p *peer, m message) {
		p.push(fmt.Sprintf(`{"id":%d,"result":%s,"sessionId":%q}`, m.ID, result, m.SessionID))
	}
}

// silent lets a method go unanswered.
func (p *peer) silent(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer[method] = nil
}

func (p *peer) push(frame string) {
	select {
	case p.frames <- []byte(frame):
	case <-p.closed:
	}
}

func (p *peer) Receive() ([]byte, error) {
	select {
	case f := <-p.frames:
		return f, nil
	case <-p.closed:
		return nil, io.EOF
	}
}

func (p *peer) Send(frames []byte, deadline time.Time) error {
	p.mu.Lock()
	stuck := p.stuck
	p.mu.Unlock()
	if stuck {
		time.Sleep(time.Until(deadline))
		return os.ErrDeadlineExceeded
	}
	for frame := range bytes.SplitSeq(bytes.TrimSuffix(frames, []byte{0}), []byte{0}) {
		var m message
		if err := json.Unmarshal(frame, &m); err != nil {
			p.t.Errorf("sent %q: %v", frame, err)
			continue
		}
		if bytes.Contains(m.Params, []byte(`:outrider('`)) {
			m.Method = libraryCall
		}
		p.mu.Lock()
		p.sent = append(p.sent, m)
		act, known := p.answer[m.Method]
		p.mu.Unlock()
		switch {
		case act != nil:
			act(p, m)
		case !known:
			p.push(fmt.Sprintf(`{"id":%d,"result":{},"sessionId":%q}`, m.ID, m.SessionID))
		}
	}
	return nil
}

func (p *peer) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// methods leaves out what follows a call that has taken a while, as each does on a busy
// machine: it runs the timers of the page that are due.
func (p *peer) methods(session string) (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.sent {
		timers := m.Method == "Runtime.callFunctionOn" && bytes.Contains(m.Params, []byte("runDueTimers"))
		if m.SessionID == session && !timers {
			out = append(out, m.Method)
		}
	}
	return out
}

// scripted serves a browser over a peer and opens its tab.
func scripted(t *testing.T, p *peer, log io.Writer) (*browser.Browser, *browser.Tab) {
	t.Helper()
	if log == nil {
		log = io.Discard
	}
	b, err := browser.Scripted(
		within(t, 5*time.Second), p, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		browser.Options{Attach: "scripted"},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(within(t, 5*time.Second)); err != nil {
			t.Error(err)
		}
	})
	if b.Version() != "Scripted/1" {
		t.Errorf("version %q", b.Version())
	}
	tab, err := b.NewTab(within(t, 5*time.Second), "", browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b, tab
}

func libraryAnswer(text string) string {
	q, _ := json.Marshal(text)
	return `{"result":{"type":"string","value":` + string(q) + `}}`
}

func TestMalformedFramesAreSkipped(t *testing.T) {
	p := newPeer(t)
	var log safeBuffer
	_, tab := scripted(t, p, &log)
	p.on(libraryCall, libraryAnswer(`{"ok":true,"value":7}`))
	frames := []string{
		``, `x`, `{`, `[]`, `null`, `"secret text"`, `{"id":}`, `{"id":"a"}`,
		`{"id":1.5,"result":{}}`, `{"method":5}`, `{"method":"Page.frameNavigated"}`,
		`{"method":"Page.frameNavigated","params":[],"sessionId":"S"}`,
		`{"method":"Page.frameNavigated","params":{"frame":7},"sessionId":"S"}`,
		`{"method":"Target.attachedToTarget","params":{"sessionId":5}}`,
		`{"method":"Target.attachedToTarget","params":"secret text"}`,
		`{"method":"Target.detachedFromTarget","params":{"sessionId":"unknown"}}`,
		`{"id":999999,"result":{}}`, `{"id":999998,"error":"secret text"}`,
		`{"method":"Page.javascriptDialogOpening","params":{"message":7},"sessionId":"S"}`,
		"\xff\xfe", strings.Repeat("[", 100000), `{"a":"` + strings.Repeat(`\\`, 99999),
		`{"method":"Page.frameDetached","params":{},"sessionId":"S"}`,
		`{"method":"Page.frameAttached","params":{"frameId":"T","parentFrameId":"T"},"sessionId":"S"}`,
	}
	for _, f := range frames {
		p.push(f)
	}
	var got int
	if err := tab.Call(within(t, 5*time.Second), "", "f", nil, &got); err != nil || got != 7 {
		t.Fatalf("after %d malformed frames: got %d, %v", len(frames), got, err)
	}
	if n := len(tab.Frames()); n != 1 {
		t.Errorf("frames: %+v", tab.Frames())
	}
	if text := log.String(); !strings.Contains(text, "malformed") || strings.Contains(text, "secret") {
		t.Errorf("log: %.2000s", text)
	}
}

func TestAnswersOfThePageLibrary(t *testing.T) {
	p := newPeer(t)
	b, tab := scripted(t, p, nil)
	for _, c := range []struct {
		name, result string
		code         fault.Code
		message      string
		evidence     any
		want         any
	}{
		{
			name:   "value",
			result: libraryAnswer(`{"ok":true,"value":{"a":"é\u0000\ud83d\ude00"}}`),
			want:   map[string]any{"a": "é\x00😀"},
		},
		{name: "no value", result: libraryAnswer(`{"ok":true}`)},
		{
			name:   "members in another order",
			result: libraryAnswer(` { "value" : [1] , "ok" : true } `),
			want:   []any{1.0},
		},
		{
			name:     "declared code",
			result:   libraryAnswer(`{"ok":false,"code":"target_not_found","message":"none","evidence":{"n":1}}`),
			code:     fault.TargetNotFound,
			message:  "none",
			evidence: 1.0,
		},
		{
			name:     "undeclared code",
			result:   libraryAnswer(`{"ok":false,"code":"made_up","message":"secret","evidence":{"n":1}}`),
			code:     fault.HandlerFailed,
			message:  "page function f failed",
			evidence: 1.0,
		},
		{name: "thrown", result: `{"result":{"type":"object"},"exceptionDetails":{"text":"Uncaught",` +
			`"exception":{"description":"secret"}}}`, code: fault.HandlerFailed},
		{name: "thrown text", result: `{"result":{"type":"string","value":"{\"ok\":true,\"value\":7}"},` +
			`"exceptionDetails":{"text":"secret"}}`, code: fault.HandlerFailed, message: "the page library threw"},
		{
			name:   "text like an exception",
			result: libraryAnswer(`{"ok":true,"value":"\"},\"exceptionDetails\":{}"}`),
			want:   `"},"exceptionDetails":{}`,
		},
		{
			name:   "lines",
			result: libraryAnswer("{\"ok\":true,\"value\":[\x01,\x02,\x01]}\n{\"a\":\x02}\n7"),
			want:   []any{map[string]any{"a": 7.0}, 7.0, map[string]any{"a": 7.0}},
		},
		{
			name:   "a line that is not there",
			result: libraryAnswer("{\"ok\":true,\"value\":\x03}\n1\n2"),
			code:   fault.HandlerFailed,
		},
		{name: "no string", result: `{"result":{"type":"undefined"}}`, code: fault.HandlerFailed},
		{name: "no JSON", result: libraryAnswer(`secret`), code: fault.HandlerFailed},
		{name: "cut", result: libraryAnswer(`{"ok":true,"value":[1,`), code: fault.HandlerFailed},
		{name: "value that is no JSON", result: libraryAnswer(`{"ok":true,"value":nope}`), code: fault.HandlerFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.on(libraryCall, c.result)
			var got any
			err := tab.Call(within(t, 5*time.Second), "", "f", map[string]any{"x": 1}, &got)
			if fault.CodeOf(err) != c.code {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			if err != nil {
				f := fault.From(err)
				if strings.Contains(f.Message, "secret") ||
					(c.message != "" && !strings.HasSuffix(f.Message, c.message)) {
					t.Errorf("message %q, want %q", f.Message, c.message)
				}
				if c.evidence != nil && f.Evidence["n"] != c.evidence {
					t.Errorf("evidence %v", f.Evidence)
				}
				return
			}
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(c.want)
			if !bytes.Equal(g, w) {
				t.Errorf("got %s, want %s", g, w)
			}
		})
	}
	if n := b.Pending(); n != 0 {
		t.Errorf("%d commands are still pending", n)
	}
}

// The first call in a document costs two round trips, a later one one.
func TestRoundTripsOfACall(t *testing.T) {
	p := newPeer(t)
	_, tab := scripted(t, p, nil)
	p.on(libraryCall, libraryAnswer(`{"ok":true}`))
	before := len(p.methods("S"))
	for range 3 {
		if err := tab.Call(within(t, 5*time.Second), "", "f", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	// What installs the library and what begins it are sent with the first call.
	want := "Page.createIsolatedWorld Runtime.evaluate Runtime.evaluate " + libraryCall + " " + libraryCall + " " +
		libraryCall
	if got := strings.Join(p.methods("S")[before:], " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Where a tab is, its frames say: the address bar's address is empty for a moment
// when another process takes over, and of a page that is still to come.
func TestTheAddressOfATabIsItsDocuments(t *testing.T) {
	p := newPeer(t)
	_, tab := scripted(t, p, nil)
	for _, c := range []struct{ event, url, title string }{
		{`{"method":"Target.targetInfoChanged","params":{"targetInfo":{"targetId":"T","type":"page","title":"early",` +
			`"url":"https://popup.example/"}}}`, "https://popup.example/", "early"},
		{`{"sessionId":"S","method":"Page.frameNavigated","params":{"frame":{"id":"T","loaderId":"M",` +
			`"url":"https://a.example/x"}}}`, "https://a.example/x", "early"},
		{`{"method":"Target.targetInfoChanged","params":{"targetInfo":{"targetId":"T","type":"page","title":"a",` +
			`"url":""}}}`, "https://a.example/x", "a"},
		{`{"method":"Target.targetInfoChanged","params":{"targetInfo":{"targetId":"T","type":"page","title":"a",` +
			`"url":"https://to-come.example/"}}}`, "https://a.example/x", "a"},
		{`{"sessionId":"S","method":"Page.navigatedWithinDocument","params":{"frameId":"T",` +
			`"url":"https://a.example/x#y"}}`, "https://a.example/x#y", "a"},
		{`{"sessionId":"S","method":"Page.documentOpened","params":{"frame":{"id":"T","loaderId":"M",` +
			`"url":"https://a.example/opener"}}}`, "https://a.example/opener", "a"},
		{`{"sessionId":"S","method":"Page.frameNavigated","params":{"frame":{"id":"T","loaderId":"N",` +
			`"url":"chrome-error://chromewebdata/","unreachableUrl":"https://gone.example/"}}}`,
			"chrome-error://chromewebdata/", "a"},
		{`{"method":"Target.targetInfoChanged","params":{"targetInfo":{"targetId":"T","type":"page","title":"gone",` +
			`"url":"https://gone.example/"}}}`, "https://gone.example/", "gone"},
	} {
		p.push(c.event)
		// answered after the event
		_ = tab.Raw(within(t, 5*time.Second), "Runtime.evaluate", map[string]any{"expression": "0"}, nil)
		if got := tab.Tab(); got.URL != c.url || got.Title != c.title {
			t.Errorf(
				"after %s: the tab is at %q with title %q, want %q %q", c.event, got.URL, got.Title, c.url, c.title,
			)
		}
	}
}

func TestACallThatMeetsNoContextFindsTheNewDocument(t *testing.T) {
	p := newPeer(t)
	_, tab := scripted(t, p, nil)
	stale := []string{
		`{"id":%d,"error":{"code":-32000,"message":"Cannot find context with specified id"},"sessionId":"S"}`,
		`{"id":%d,"result":{"result":{"type":"string","value":"{\"stale\":true}"}},"sessionId":"S"}`,
		`{"id":%d,"result":{"result":{"type":"string","value":"{\"ok\":true,\"value\":1}"}},"sessionId":"S"}`,
	}
	n := 0
	p.mu.Lock()
	p.answer[libraryCall] = func(p *peer, m message) {
		p.push(fmt.Sprintf(stale[min(n, 2)], m.ID))
		n++
	}
	p.mu.Unlock()
	var got int
	if err := tab.Call(within(t, 5*time.Second), "", "f", nil, &got); err != nil || got != 1 || n != 3 {
		t.Errorf("got %d, %v after %d tries", got, err, n)
	}
	// One that never finds one gives up.
	p.mu.Lock()
	p.answer[libraryCall] = func(p *peer, m message) { p.push(fmt.Sprintf(stale[1], m.ID)) }
	p.mu.Unlock()
	wantCode(t, tab.Call(within(t, 5*time.Second), "", "f", nil, nil), fault.PageNavigated)
}

func TestLateAnswers(t *testing.T) {
	p := newPeer(t)
	b, tab := scripted(t, p, nil)
	p.silent(libraryCall)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	wantCode(t, tab.Call(ctx, "", "f", nil, nil), fault.Timeout)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	wantCode(t, tab.Call(cancelled, "", "f", nil, nil), fault.Cancelled)
	p.mu.Lock()
	var late int64
	for _, m := range p.sent {
		if m.Method == libraryCall {
			late = m.ID
		}
	}
	p.mu.Unlock()
	p.push(fmt.Sprintf(`{"id":%d,"result":%s}`, late, libraryAnswer(`{"ok":true,"value":"late"}`)))
	p.on(libraryCall, libraryAnswer(`{"ok":true,"value":"mine"}`))
	var got string
	if err := tab.Call(within(t, 5*time.Second), "", "f", nil, &got); err != nil || got != "mine" {
		t.Errorf("got %q, %v", got, err)
	}
	eventually(t, 2*time.Second, "no pending command", func() bool { return b.Pending() == 0 })
}

func TestABrowserThatTakesNothingMore(t *testing.T) {
	p := newPeer(t)
	_, tab := scripted(t, p, nil)
	p.mu.Lock()
	p.stuck = true
	p.mu.Unlock()
	start := time.Now()
	var wg sync.WaitGroup
	for range 8 { // one writes, the others wait for their turn
		wg.Go(func() {
			if err := tab.Call(within(t, 200*time.Millisecond), "", "f", nil, nil); fault.CodeOf(err) != fault.Timeout {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if d := time.Since(start); d > patience/2 {
		t.Errorf("took %v", d)
	}
	p.mu.Lock()
	p.stuck = false
	p.mu.Unlock()
}

// A plain locator that misses is one page call, however it is written; one that
// searches shadow roots opens closed ones too.
func TestAMissIsAskedForOnce(t *testing.T) {
	p := newPeer(t)
	_, tab := scripted(t, p, nil)
	p.on(libraryCall, libraryAnswer(`{"ok":false,"code":"target_not_found","message":"none","evidence":{}}`))
	registry := catalog.Standard()
	for _, c := range []struct {
		locator   string
		questions int
	}{
		{`{"selector":"a > b"}`, 1},
		{`{"selector":"a \u003e b","text_contains":"caf\u00e9"}`, 1},
		{`{"text":"name"}`, 1},
		{`{"r\u006fle":"button"}`, 2},
		{`{"selector":"a","pierce":true}`, 2},
		{`{"role":"button"}`, 2},
		{`{"role":"button","pierce":false}`, 1},
	} {
		before := len(p.methods("S"))
		r := registry.Invoke(
			within(t, 5*time.Second), tab, "locator.text_content", json.RawMessage(`{"locator":`+c.locator+`}`),
		)
		if r.Err == nil || r.Err.Code != fault.TargetNotFound {
			t.Fatalf("%s: got %v", c.locator, r.Err)
		}
		n := 0
		for _, m := range p.methods("S")[before:] {
			if m == libraryCall {
				n++
			}
		}
		if n != c.questions {
			t.Errorf("%s: %d questions, want %d", c.locator, n, c.questions)
		}
	}
}

// What a navigation brings along to hear of the new document's title runs in our world:
// a page must neither see nor replace it.
func TestTheLoadReportIsMadeInOurWorld(t *testing.T) {
	p := newPeer(t)
	_, tab := scripted(t, p, nil)
	p.mu.Lock()
	p.answer["Page.navigate"] = func(p *peer, m message) {
		p.push(fmt.Sprintf(`{"id":%d,"result":{"frameId":"T","loaderId":"N"},"sessionId":"S"}`, m.ID))
		p.push(`{"method":"Page.frameNavigated","params":{"frame":{"id":"T","loaderId":"N",` +
			`"url":"https://a.example/"}},"sessionId":"S"}`)
		p.push(`{"method":"Page.lifecycleEvent","params":{"frameId":"T","loaderId":"N","name":"load"},"sessionId":"S"}`)
	}
	p.mu.Unlock()
	p.on("Runtime.callFunctionOn", libraryAnswer(`{"title":"a","url":"https://a.example/","status":200}`))
	n, err := tab.Navigate(within(t, 5*time.Second), primitives.NavigateOptions{URL: "https://a.example/"})
	if err != nil || n.Title != "a" || !n.Loaded {
		t.Fatalf("got %+v, %v", n, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	worlds := map[string]any{}
	for _, m := range p.sent {
		var params map[string]any
		if m.Params != nil && json.Unmarshal(m.Params, &params) != nil {
			t.Fatalf("%s: %s", m.Method, m.Params)
		}
		switch m.Method {
		case "Page.addScriptToEvaluateOnNewDocument":
			worlds[m.Method] = params["worldName"]
		case "Runtime.addBinding":
			worlds[m.Method] = params["executionContextName"]
		}
	}
	if len(worlds) != 2 || worlds["Page.addScriptToEvaluateOnNewDocument"] != "outrider" ||
		worlds["Runtime.addBinding"] != "outrider" {
		t.Errorf("got the worlds %v, want outrider for both", worlds)
	}
}

func TestConnectionThatEnds(t *testing.T) {
	p := newPeer(t)
	b, tab := scripted(t, p, nil)
	p.silent(libraryCall)
	p.silent("Input.dispatchMouseEvent")
	p.silent("Page.navigate")
	p.silent("Page.captureScreenshot")
	errs := make(chan error, 4)
	ctx := within(t, 10*time.Second)
	go func() { errs <- tab.Call(ctx, "", "f", nil, nil) }()
	go func() { errs <- tab.Mouse(ctx, clickEvents(1, 1)...) }()
	go func() { _, err := tab.Navigate(ctx, primitives.NavigateOptions{URL: "http://x/"}); errs <- err }()
	go func() { _, err := tab.Capture(ctx, primitives.CaptureOptions{Format: "png"}); errs <- err }()
	eventually(t, 5*time.Second, "commands in flight", func() bool {
		got := strings.Join(p.methods("S"), " ")
		return strings.Contains(got, libraryCall) && strings.Contains(got, "dispatchMouseEvent") &&
			strings.Contains(got, "Page.navigate") && strings.Contains(got, "captureScreenshot")
	})
	p.Close()
	for range 4 {
		select {
		case err := <-errs:
			wantCode(t, err, fault.BrowserLost)
		case <-time.After(patience):
			t.Fatal("a call is still waiting")
		}
	}
	<-b.Done()
	wantCode(t, b.Err(), fault.BrowserLost)
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// A tab whose opening was given up is closed when the browser comes to open it: nobody would.
func TestATabThatComesTooLateIsClosed(t *testing.T) {
	p := newPeer(t)
	b, _ := scripted(t, p, nil)
	asked := make(chan message, 1)
	p.mu.Lock()
	p.answer["Target.createTarget"] = func(_ *peer, m message) { asked <- m }
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened := make(chan error, 1)
	go func() {
		_, err := b.NewTab(ctx, "", browser.TabOptions{})
		opened <- err
	}()
	m := <-asked
	cancel()
	if err := <-opened; fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("opening ended with %v, want %s", err, fault.Cancelled)
	}
	p.push(fmt.Sprintf(`{"id":%d,"result":{"targetId":"LATE"}}`, m.ID))
	eventually(t, patience, "the tab that came too late is not closed", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, sent := range p.sent {
			if sent.Method == "Target.closeTarget" && bytes.Contains(sent.Params, []byte("LATE")) {
				return true
			}
		}
		return false
	})
}
