package browser

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Tab is one page of the browser with its frames. It implements
// primitives.Page and is safe for concurrent use.
type Tab struct {
	b       *Browser
	target  string
	context string
	s       *session
	opener  *Tab

	announced bool // guarded by b.mu: reported as a tab

	mu          sync.Mutex
	identity    primitives.TabInfo
	title       string
	life        *life
	crashed     bool
	frames      map[primitives.FrameID]*frame
	main        primitives.FrameID
	dialog      *openDialog
	dialogs     chan struct{} // closed when a dialog opens
	releases    []command     // of keys, which the browser dropped because of the dialog
	commits     int           // documents that the main frame has had
	within      int           // moves of the main frame within its documents
	loaders     [16]string    // ids of the newest of them
	loading     bool          // between frameStartedLoading and frameStoppedLoading
	redirect    bool          // the page asked for a navigation at once
	redirecting bool          // it has begun
	// restarting: Navigate ends the page's process, which is no crash to report.
	restarting bool
	change     broadcast // any of the above changed
	saying     *saying   // of the newest navigation, until it has spoken
	// dialogsSeen counts the dialogs that have opened; lastDialog is the newest.
	dialogsSeen int
	lastDialog  *primitives.Dialog
	// chooser, when set, gets the file chooser that the page asks for.
	chooser chan chooser

	refs primitives.Refs

	// suspect: a call ran out of time and nothing was heard since.
	suspect atomic.Bool
	// ending: see endHeld.
	ending atomic.Bool
	// asking: see refreshInfo.
	asking atomic.Int32
	// captures counts those under way: see Capture.
	captures atomic.Int32

	net      traffic
	console  console
	pretends emulated
	// empty: every request is answered with an empty document, see atOrigin.
	empty atomic.Bool
}

// life ends when the page behind a tab does.
type life struct {
	over chan struct{}
	err  error // set before over is closed
}

var _ primitives.Page = (*Tab)(nil)

func newTab(b *Browser, s *session, info targetInfo) *Tab {
	return &Tab{
		b:        b,
		target:   info.TargetID,
		context:  info.BrowserContextID,
		s:        s,
		identity: primitives.TabInfo{URL: info.URL},
		title:    info.Title,
		life:     &life{over: make(chan struct{})},
		frames:   map[primitives.FrameID]*frame{},
		dialogs:  make(chan struct{}),
	}
}

// NewTab opens a tab, loads url unless it is empty, and waits for the load event
// up to opts.LoadTimeout; a page that takes longer is not an error. When the
// navigation fails the tab is closed again.
func (b *Browser) NewTab(ctx context.Context, url string, opts TabOptions) (*Tab, error) {
	params := append([]byte(`{"url":"about:blank","background":`), strconv.FormatBool(opts.Background)...)
	if b.proc != nil && !b.opts.Headed && !b.opts.OneWindow {
		params = append(params, `,"newWindow":true`...)
	}
	if opts.Context != "" {
		params = appendQuoted(append(params, `,"browserContextId":`...), opts.Context)
	}
	params = append(params, '}')
	created := make(chan reply, 1)
	var target string
	_, err := b.c.start(ctx, command{method: "Target.createTarget", params: params, then: func(r reply) {
		// On the reader, so that the tab is known as ours before it is ready.
		if r.err == nil {
			target = string(plainString(member(r.result, "targetId")))
			b.mu.Lock()
			b.requested[target] = true
			b.mu.Unlock()
		}
		created <- r
	}})
	if err != nil {
		return nil, b.explain(err, "opening a tab")
	}
	ctx, cancel := context.WithTimeout(ctx, commandCap)
	defer cancel()
	select {
	case r := <-created:
		if r.err != nil {
			return nil, b.explain(r.err, "opening a tab")
		}
	case <-ctx.Done():
		return nil, b.explain(ctx.Err(), "opening a tab")
	}
	t, err := b.awaitTab(ctx, target)
	if err != nil {
		return nil, b.explain(err, "opening a tab")
	}
	if url == "" || url == "about:blank" {
		return t, nil
	}
	load := opts.LoadTimeout
	if load == 0 {
		load = defaultLoad
	}
	if _, err := t.Navigate(ctx, primitives.NavigateOptions{URL: url, LoadTimeout: load}); err != nil {
		_ = t.Close(contextWithin(farewell))
		return nil, err
	}
	return t, nil
}

func (b *Browser) awaitTab(ctx context.Context, target string) (*Tab, error) {
	for seen := false; ; {
		changed := b.change.wait()
		b.mu.Lock()
		there := false
		for _, t := range b.tabs {
			if t.target != target {
				continue
			}
			if t.announced {
				b.mu.Unlock()
				return t, nil
			}
			there = true
		}
		b.mu.Unlock()
		if seen && !there {
			return nil, fault.New(fault.TabClosed, "the tab was closed while it was opened")
		}
		seen = there
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-b.done:
			return nil, fault.New(fault.BrowserLost, "the browser ended")
		}
	}
}

// NewContext makes a browser context: cookies, storage and cache of its own.
func (b *Browser) NewContext(ctx context.Context) (string, error) {
	var out struct {
		BrowserContextID string `json:"browserContextId"`
	}
	if err := b.c.do(ctx, "", "Target.createBrowserContext", json.RawMessage(`{"disposeOnDetach":true}`), &out); err != nil {
		return "", b.explain(err, "making a browser context")
	}
	b.mu.Lock()
	b.contexts[out.BrowserContextID] = true
	b.mu.Unlock()
	if err := b.c.do(ctx, "", "Browser.setDownloadBehavior", b.downloadBehavior(out.BrowserContextID), nil); err != nil {
		b.log.Debug("directing downloads failed", "error", err)
	}
	return out.BrowserContextID, nil
}

// DisposeContext ends a browser context and closes its tabs without asking them.
func (b *Browser) DisposeContext(ctx context.Context, id string) error {
	b.mu.Lock()
	delete(b.contexts, id)
	b.mu.Unlock()
	var commands []command
	for _, t := range b.Tabs() {
		if t.context == id {
			commands = append(commands, t.dismissal()...)
		}
	}
	err := b.sendAll(ctx, append(commands, command{method: "Target.disposeBrowserContext", params: object("browserContextId", id)}))
	var gone *protocolError
	if errors.As(err, &gone) && strings.HasPrefix(gone.Message, "Failed to find context") {
		return nil
	}
	return b.explain(err, "ending a browser context")
}

// sendAll sends commands with one write and returns the error of the last.
func (b *Browser) sendAll(ctx context.Context, commands []command) error {
	calls, err := b.c.start(ctx, commands...)
	if err != nil {
		return err
	}
	defer b.c.drop(calls...)
	_, err = b.c.wait(ctx, calls[len(calls)-1])
	return err
}

// TargetID is the browser's name for the tab. It does not outlive the browser.
func (t *Tab) TargetID() string { return t.target }

// Context is the browser context of the tab.
func (t *Tab) Context() string { return t.context }

// Opener is the tab whose page opened this one, nil when there is none.
func (t *Tab) Opener() *Tab { return t.opener }

// Browser is the browser the tab belongs to.
func (t *Tab) Browser() *Browser { return t.b }

// SetIdentity sets what the runtime knows of the tab. URL and Title are the
// browser's to say and ignored.
func (t *Tab) SetIdentity(info primitives.TabInfo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	info.URL = t.identity.URL
	t.identity = info
}

// Tab implements primitives.Page.
func (t *Tab) Tab() primitives.TabInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	info := t.identity
	info.Title = t.title
	return info
}

// Refs implements primitives.Page.
func (t *Tab) Refs() *primitives.Refs { return &t.refs }

// refFrame is the name under which refs know a frame: the main frame has none,
// since its id changes when it moves between processes.
func (t *Tab) refFrame(id primitives.FrameID) primitives.FrameID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == t.main {
		return ""
	}
	return id
}

// Peer implements primitives.Page.
func (t *Tab) Peer(tabID int) (primitives.Page, error) {
	if t.b.opts.Peer == nil {
		return nil, fault.New(fault.TabClosed, "there is no tab %d", tabID)
	}
	return t.b.opts.Peer(t, tabID)
}

// Done is closed when the tab is gone. It stays open over a crash.
func (t *Tab) Done() <-chan struct{} { return t.s.gone }

// Close closes the tab and returns when it is gone. Unload handlers run, but
// nothing in the page can refuse: a beforeunload dialog is accepted, and a page
// that does not answer is ended.
func (t *Tab) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, commandCap)
	defer cancel()
	err := t.b.sendAll(ctx, append(t.dismissal(), command{method: "Target.closeTarget", params: object("targetId", t.target)}))
	var refused *protocolError
	if errors.As(err, &refused) { // no such target: it is closing already
		err = nil
	}
	if err != nil && !errors.Is(err, fault.BrowserLost) {
		return t.b.explain(err, "closing the tab")
	}
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	for {
		changed := t.change.wait()
		t.mu.Lock()
		l, d := t.life, t.dialog
		t.mu.Unlock()
		if d != nil {
			_, _ = t.AnswerDialog(ctx, true, "")
		}
		select {
		case <-l.over:
			if !t.crashedNow() {
				return nil
			}
			// A crashed tab is still there: wait on.
			select {
			case <-t.s.gone:
				return nil
			case <-ctx.Done():
				return t.b.explain(ctx.Err(), "closing the tab")
			}
		case <-changed:
		case <-patience.C:
			t.b.c.post(command{session: t.s.id, method: "Page.crash"})
		case <-ctx.Done():
			return t.b.explain(ctx.Err(), "closing the tab")
		}
	}
}

// Crash ends the tab's renderer process, for tests of what follows.
func (t *Tab) Crash() {
	t.b.c.post(command{session: t.s.id, method: "Page.crash"})
}

func (t *Tab) crashedNow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.crashed
}

// end marks the tab as gone: what is in flight fails with err.
func (t *Tab) end(err error) {
	t.mu.Lock()
	l := t.life
	if t.crashed {
		// The crash ended that life already; what comes now meets the new end.
		l = &life{over: make(chan struct{})}
		t.life = l
		t.crashed = false
	}
	select {
	case <-l.over:
		t.mu.Unlock()
		return
	default:
	}
	l.err = err
	t.dialog = nil
	t.mu.Unlock()
	close(l.over)
	select {
	case <-t.s.gone:
	default:
		close(t.s.gone)
	}
	t.change.notify()
}

func (t *Tab) onCrashed() {
	t.mu.Lock()
	if t.crashed {
		t.mu.Unlock()
		return
	}
	select {
	case <-t.life.over:
		t.mu.Unlock()
		return
	default:
	}
	t.crashed = true
	t.life.err = fault.New(fault.TabCrashed, "the page's renderer process crashed").Next("navigate or reload the tab")
	t.dialog = nil
	l, report := t.life, !t.restarting
	t.mu.Unlock()
	close(l.over)
	t.change.notify()
	if report {
		t.b.events.add(Event{Kind: TabCrashed, Tab: t})
	}
}

// revive gives a crashed tab a new life; t.mu is held.
func (t *Tab) revive() {
	if t.crashed {
		t.crashed = false
		t.life = &life{over: make(chan struct{})}
	}
}

// onInfo takes over what the browser says of the tab: the title, and, where the
// frames do not tell it, the address. The browser's is one of its address bar: empty
// for a moment when another process takes the page over, and of a page that is still
// to come.
func (t *Tab) onInfo(info targetInfo) {
	t.mu.Lock()
	if f := t.frames[t.main]; t.commits > 0 && f != nil && f.failed == "" {
		info.URL = t.identity.URL
	}
	changed := t.title != info.Title || t.identity.URL != info.URL
	t.title, t.identity.URL = info.Title, info.URL
	t.mu.Unlock()
	if changed {
		t.b.events.add(Event{Kind: TabChanged, Tab: t})
	}
}

// refreshInfo asks the browser, not the page, for address and title: it reports a
// new title only together with a navigation. So a title that a script sets later
// shows after the next input, navigation or stage of loading. One answer is awaited at
// a time; when something happened meanwhile, it may be too old, and another follows.
func (t *Tab) refreshInfo() {
	if t.asking.Add(1) > 1 {
		return
	}
	t.b.c.post(command{method: "Target.getTargetInfo", params: object("targetId", t.target), then: func(r reply) {
		again := t.asking.Swap(0) > 1
		if r.err != nil {
			return
		}
		t.b.onTargetInfo(r.result)
		if again {
			t.refreshInfo()
		}
	}})
}

// blockedLocked returns why the page cannot be asked now, nil when it can; t.mu is
// held.
func (t *Tab) blockedLocked() error {
	select {
	case <-t.life.over:
		return t.life.err
	default:
	}
	if t.dialog != nil {
		return t.dialog.fault()
	}
	return nil
}

// await waits for the answer to a command about the page, and no longer than
// the page lives.
func (t *Tab) await(ctx context.Context, l *life, p *call) ([]byte, error) {
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(commandCap)
		defer timer.Stop()
		limit = timer.C
	}
	var err error
	select {
	case r := <-p.done:
		return r.result, r.err
	case <-l.over:
		err = l.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit:
		err = context.DeadlineExceeded
	}
	t.b.c.drop(p)
	return nil, err
}

// ask sends one command to the tab's own session and decodes the answer.
func (t *Tab) ask(ctx context.Context, method string, params, out any) error {
	return t.askIn(ctx, t.s, method, params, out)
}

func (t *Tab) askIn(ctx context.Context, s *session, method string, params, out any) error {
	cmd, err := newCommand(s.id, method, params)
	if err != nil {
		return err
	}
	l := t.currentLife()
	calls, err := t.b.c.start(ctx, cmd)
	if err != nil {
		return err
	}
	result, err := t.await(ctx, l, calls[0])
	if err != nil {
		return named(err, method)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(result, out); err != nil {
		return fault.Wrap(fault.Internal, err, "reading the answer to %s", method)
	}
	return nil
}

func (t *Tab) currentLife() *life {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.life
}

func named(err error, method string) error {
	var pe *protocolError
	if errors.As(err, &pe) && pe.method == "" {
		pe.method = method
	}
	return err
}

// explain gives err a code. Texts of the browser go to the log's part of the
// error only.
func (b *Browser) explain(err error, op string) error {
	if err == nil {
		return nil
	}
	var pe *protocolError
	if !errors.As(err, new(*fault.Error)) && errors.As(err, &pe) {
		code := fault.Internal
		switch pe.Message {
		case "Target crashed":
			code = fault.TabCrashed
		case "Target closed", "Session with given id not found.", "No target with given id found":
			code = fault.TabClosed
		case "Inspected target navigated or closed":
			code = fault.PageNavigated
		}
		return &fault.Error{Code: code, Message: op + " failed", Err: err}
	}
	return fault.Wrap(fault.Internal, err, "%s", op)
}
