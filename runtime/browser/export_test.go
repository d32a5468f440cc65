package browser

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// Eval evaluates an expression in the page's own world of a frame that is the
// top of its process and returns its value, as JSON unless it is a string: what a test uses to look at the page independently of the page
// library.
func (t *Tab) Eval(ctx context.Context, frame primitives.FrameID, expression string) (string, error) {
	p, err := t.locate(ctx, frame)
	if err != nil {
		return "", err
	}
	// A frame's own world has no id without the Runtime domain; go through the
	// frame element's window where the frame is not the session's own.
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	params, _ := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err := t.askIn(ctx, p.s, "Runtime.evaluate", params, &out); err != nil {
		return "", err
	}
	if out.Exception != nil {
		return "exception: " + out.Exception.Text, nil
	}
	var text string
	if json.Unmarshal(out.Result.Value, &text) == nil {
		return text, nil
	}
	return string(out.Result.Value), nil
}

// PostEval evaluates without waiting.
func (t *Tab) PostEval(expression string) {
	params, _ := json.Marshal(map[string]any{"expression": expression})
	t.b.c.post(command{session: t.s.id, method: "Runtime.evaluate", params: params})
}

// Raw sends one command of any kind to the tab's session.
func (t *Tab) Raw(ctx context.Context, method string, params, out any) error {
	return t.ask(ctx, method, params, out)
}

// Transport is the transport interface, for scripted peers.
type Transport = transport

// NewPipe makes the pipe transport.
var NewPipe = newPipe

// Scripted serves a browser over any transport, as Launch does.
func Scripted(ctx context.Context, t Transport, log *slog.Logger, opts Options) (*Browser, error) {
	b := newBrowser(opts)
	if log != nil {
		b.log = log
	}
	b.events = newEventQueue(opts.OnEvent)
	b.serve(t)
	if err := b.greet(ctx); err != nil {
		_ = b.Close(contextWithin(time.Second))
		return nil, err
	}
	return b, nil
}

// Pending counts commands without an answer.
func (b *Browser) Pending() int {
	b.c.mu.Lock()
	defer b.c.mu.Unlock()
	return len(b.c.pending)
}

// ScanTop exposes the frame scanner to fuzzing.
func ScanTop(b []byte) (method, session string, id int64, ok bool) {
	h, ok := scanFrame(b)
	return string(h.method), string(h.session), h.id, ok
}

// Unquote exposes the string decoder to tests.
var Unquote = unquote

// Quote exposes the string encoder.
func Quote(s string) []byte { return appendQuoted(nil, s) }

// Expand exposes what puts the lines of an answer in their places.
var Expand = expand

// Literal exposes the encoder of JavaScript string literals within JSON.
func Literal(text []byte) []byte { return appendLiteral(nil, text) }

// ReleaseBlindly releases a key as Keys does, but also while a dialog is open.
func (t *Tab) ReleaseBlindly(ctx context.Context, e primitives.KeyEvent) error {
	c := command{session: t.s.id, method: "Input.dispatchKeyEvent", params: keyParams(e)}
	c.heard = t.keepRelease(c)
	calls, err := t.b.c.start(ctx, c)
	if err != nil {
		return err
	}
	_, err = t.b.c.wait(ctx, calls[0])
	return err
}

// KeepElement asks the page library for the handle of the first element that
// matches.
func (t *Tab) KeepElement(ctx context.Context, frame primitives.FrameID, selector string, out any) error {
	remote, err := t.inWorld(ctx, frame, func(token string) invocation {
		return invocation{
			function: `function(t,s){return globalThis.outriderWorld!==t?'{"stale":true}':JSON.stringify({ok:true,value:{handle:outrider.keep(document.querySelector(s))}})}`,
			args:     []string{token, selector}, byValue: true,
		}
	})
	if err != nil {
		return err
	}
	return decodeAnswer("keep", remote, out)
}

// Hang calls a page function that never answers. Its start shows as
// data-hanging on the root element.
func (t *Tab) Hang(ctx context.Context, frame primitives.FrameID) error {
	_, err := t.inWorld(ctx, frame, func(string) invocation {
		return invocation{function: `function(){document.documentElement.dataset.hanging="yes";return globalThis.hanging??=new Promise(()=>{})}`, byValue: true}
	})
	return t.b.explain(err, "hanging")
}

// PostEvalIn is PostEval in the process of a frame.
func (t *Tab) PostEvalIn(frame primitives.FrameID, expression string) {
	p, err := t.locate(context.Background(), frame)
	if err != nil {
		return
	}
	params, _ := json.Marshal(map[string]any{"expression": expression})
	t.b.c.post(command{session: p.s.id, method: "Runtime.evaluate", params: params})
}

// ProbeAfter is when a call in flight is asked whether it has begun.
const ProbeAfter = probeAfter

// CrashFrame ends the process of a frame.
func (t *Tab) CrashFrame(frame primitives.FrameID) {
	p, err := t.locate(context.Background(), frame)
	if err != nil {
		return
	}
	t.b.c.post(command{session: p.s.id, method: "Page.crash"})
}

// ForgetSupervision makes this process look like one that does not call
// MaybeSupervise.
func ForgetSupervision() { supervisable.Store(false) }

// SafeName exposes what becomes of a suggested file name.
var SafeName = safeName

// Refuses says which rule keeps a request to an address, resolved to addr, back.
func Refuses(allow, block []string, raw string, addr netip.Addr) (string, error) {
	p, err := newOriginPolicy(allow, block)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	d := destinationOf(u)
	if rule := p.refuses(d); rule != "" {
		return rule, nil
	}
	return p.refusesAddress(d, addr), nil
}

// Fence starts the proxy of an origin policy and returns its address.
func Fence(allow, block []string, upstream string) (address string, end func(), err error) {
	p, err := newOriginPolicy(allow, block)
	if err != nil {
		return "", nil, err
	}
	f, err := newFence(p, upstream, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", nil, err
	}
	return f.listener.Addr().String(), f.close, nil
}

// DescribeTab plays, on a tab that shows "browser title" at address, that its document
// says what it is and that the browser says the same after it. It returns the events.
func DescribeTab(address, title string) (events []Event, described primitives.TabInfo) {
	b := &Browser{}
	b.events = newEventQueue(func(e Event) { events = append(events, e) })
	s := &session{id: "s", gone: make(chan struct{})}
	t := newTab(b, s, targetInfo{TargetID: "t", URL: address, Title: "browser title"})
	t.main, t.commits = "f", 1
	t.frames["f"] = &frame{id: "f", s: s}
	a := t.newSaying()
	said, _ := json.Marshal(description{URL: address, Title: title, Status: 200})
	params, _ := json.Marshal(map[string]any{"name": sayBinding, "payload": a.nonce + " " + string(said), "executionContextId": 7})
	t.onSaid(s, params)
	described = t.Tab()
	t.onInfo(targetInfo{TargetID: "t", URL: address, Title: described.Title})
	b.events.close()
	return events, described
}

// FindAmong is Find on a machine whose browsers have other names.
func FindAmong(explicit string, system ...string) (Found, error) { return findAmong(explicit, system) }
