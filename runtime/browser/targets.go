package browser

import (
	"bytes"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// session is a DevTools session: of a tab, or of a frame of a tab that lives in
// another process.
type session struct {
	id     string
	target string
	parent string // session that reported it
	tab    *Tab
	// frame is the id of the frame of a frame session; empty for a tab's own.
	frame    primitives.FrameID
	listened listenedSession
	// gone is closed when the session has ended.
	gone chan struct{}
}

type targetInfo struct {
	TargetID         string `json:"targetId"`
	Type             string `json:"type"`
	Title            string `json:"title"`
	URL              string `json:"url"`
	OpenerID         string `json:"openerId"`
	ParentFrameID    string `json:"parentFrameId"`
	BrowserContextID string `json:"browserContextId"`
}

// onEvent is the reader's: see the package comment. Anything it does not name is
// dropped without being decoded.
func (b *Browser) onEvent(sessionID, method, params []byte) {
	switch string(method) {
	case "Target.attachedToTarget":
		b.onAttached(string(sessionID), params)
		return
	case "Target.detachedFromTarget":
		b.onDetached(params)
		return
	case "Target.targetInfoChanged":
		b.onTargetInfo(params)
		return
	case "Target.targetCrashed":
		if t := b.tabOf(string(plainString(member(params, "targetId")))); t != nil {
			t.onCrashed()
		}
		return
	case "Browser.downloadWillBegin":
		b.onDownloadBegin(params)
		return
	case "Browser.downloadProgress":
		b.onDownloadProgress(params)
		return
	case "Target.targetDestroyed":
		b.drop(b.tabOf(string(plainString(member(params, "targetId")))))
		return
	}
	s := b.sessions[string(sessionID)]
	if s == nil {
		return
	}
	t := s.tab
	switch string(method) {
	case "Page.frameAttached":
		t.onFrameAttached(s, params)
	case "Page.frameDetached":
		t.onFrameDetached(s, params)
	case "Page.frameNavigated":
		t.onFrameNavigated(s, params)
	case "Page.documentOpened":
		t.onDocumentOpened(params)
	case "Page.navigatedWithinDocument":
		t.onNavigatedWithin(params)
	case "Page.lifecycleEvent":
		t.onLifecycle(s, params)
	case "Page.frameStartedLoading":
		t.onLoading(params, true)
	case "Page.frameStoppedLoading":
		t.onLoading(params, false)
	case "Page.frameRequestedNavigation", "Page.frameScheduledNavigation":
		t.onRequestedNavigation(params)
	case "Page.frameClearedScheduledNavigation":
		t.onClearedNavigation(params)
	case "Page.javascriptDialogOpening":
		t.onDialogOpening(s, params)
	case "Page.javascriptDialogClosed":
		t.onDialogClosed()
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		t.console.on(string(method), params)
	case "Runtime.bindingCalled":
		b.onBinding(s, params)
	case "Page.fileChooserOpened":
		t.onChooser(s, params)
	case "Fetch.requestPaused":
		t.onPaused(s, params)
	case "Inspector.targetCrashed":
		if s.frame == "" {
			t.onCrashed()
		} else {
			t.onFrameCrashed(s)
		}
	default:
		if bytes.HasPrefix(method, []byte("Network.")) {
			t.onNetwork(s, string(method), params)
		}
	}
}

func (b *Browser) tabOf(target string) *Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tabs {
		if t.target == target {
			return t
		}
	}
	return nil
}

func (b *Browser) onAttached(parent string, params []byte) {
	var e struct {
		SessionID  string     `json:"sessionId"`
		TargetInfo targetInfo `json:"targetInfo"`
		Waiting    bool       `json:"waitingForDebugger"`
	}
	if json.Unmarshal(params, &e) != nil || e.SessionID == "" {
		return
	}
	info := e.TargetInfo
	s := &session{id: e.SessionID, target: info.TargetID, parent: parent, gone: make(chan struct{})}
	switch {
	case info.Type == "page" && parent == "":
		if !e.Waiting && b.proc == nil && !b.opts.AdoptTabs && !b.asked(info.TargetID) && b.tabOf(info.OpenerID) == nil {
			b.c.post(command{method: "Target.detachFromTarget", params: object("sessionId", s.id)})
			return
		}
		b.sessions[s.id] = s
		b.addTab(s, info)
	case info.Type == "iframe" && b.sessions[parent] != nil:
		s.tab = b.sessions[parent].tab
		s.frame = primitives.FrameID(info.TargetID)
		b.sessions[s.id] = s
		s.tab.onFrameSession(s, info)
	default:
		// Workers and whatever else there is: let it run and leave it alone.
		// Detaching is for after it runs: before, it would wait for ever.
		b.c.post(command{session: s.id, method: "Runtime.runIfWaitingForDebugger", then: func(reply) {
			b.c.post(command{session: parent, method: "Target.detachFromTarget", params: object("sessionId", s.id)})
		}})
	}
}

func (b *Browser) asked(target string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requested[target]
}

// addTab starts to follow a tab. Its page is held before its first document until
// we are subscribed, so nothing of a popup is missed.
func (b *Browser) addTab(s *session, info targetInfo) {
	t := newTab(b, s, info)
	s.tab = t
	b.mu.Lock()
	for _, o := range b.tabs {
		if o.target == info.OpenerID {
			t.opener = o
		}
	}
	b.tabs = append(b.tabs, t)
	b.mu.Unlock()
	commands := b.subscriptions(s)
	for i := range commands {
		if commands[i].method == "Page.getFrameTree" {
			commands[i].then = func(r reply) { b.onTabReady(t, r) }
		}
	}
	b.c.post(commands...)
}

func (b *Browser) onTabReady(t *Tab, r reply) {
	if r.err != nil {
		b.log.Debug("a tab ended before it was ready", "error", r.err)
		b.drop(t)
		return
	}
	t.setTree(t.s, r.result)
	b.mu.Lock()
	requested := b.requested[t.target]
	foreign := b.proc == nil && !b.opts.AdoptTabs && !requested && (t.opener == nil || !t.opener.announced)
	t.announced = !foreign
	b.mu.Unlock()
	if foreign {
		// A tab that the user of an attached browser opened.
		b.c.post(command{method: "Target.detachFromTarget", params: object("sessionId", t.s.id)})
		return
	}
	b.change.notify()
	b.events.add(Event{Kind: TabOpened, Tab: t, Opener: t.opener, Requested: requested})
}

// subscriptions are the commands that begin every session, sent with one write.
func (b *Browser) subscriptions(s *session) []command {
	c := []command{
		{session: s.id, method: "Page.enable"},
		{session: s.id, method: "Page.getFrameTree"},
		{session: s.id, method: "Target.setAutoAttach", params: []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`)},
		// Keys and focus events reach a tab in the background as if its
		// window had the focus.
		{session: s.id, method: "Emulation.setFocusEmulationEnabled", params: []byte(`{"enabled":true}`)},
	}
	if s.frame == "" {
		c = append(c, command{session: s.id, method: "Page.setLifecycleEventsEnabled", params: []byte(`{"enabled":true}`)})
		c = append(c, b.emulation(s)...)
	} else if b.opts.Locale != "" {
		c = append(c, command{session: s.id, method: "Emulation.setLocaleOverride", params: object("locale", b.opts.Locale)})
	}
	c = append(c, s.tab.observing(s)...)
	c = append(c, b.listenCommands(s, nil)...)
	return append(c, command{session: s.id, method: "Runtime.runIfWaitingForDebugger"})
}

func (b *Browser) onDetached(params []byte) {
	id := string(plainString(member(params, "sessionId")))
	s := b.sessions[id]
	if s == nil {
		return
	}
	delete(b.sessions, id)
	if s.frame == "" {
		b.drop(s.tab) // the tab's end comes before its session's: who waits for both must see why
	}
	select {
	case <-s.gone:
	default:
		close(s.gone)
	}
	if s.frame != "" {
		s.tab.onFrameSessionGone(s)
	}
}

func (b *Browser) onTargetInfo(params []byte) {
	var e struct {
		TargetInfo targetInfo `json:"targetInfo"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	if t := b.tabOf(e.TargetInfo.TargetID); t != nil {
		t.onInfo(e.TargetInfo)
	}
}

// drop forgets a tab that is gone.
func (b *Browser) drop(t *Tab) {
	if t == nil {
		return
	}
	b.mu.Lock()
	found, announced := false, t.announced
	for i, o := range b.tabs {
		if o == t {
			b.tabs = append(b.tabs[:i:i], b.tabs[i+1:]...)
			found = true
			break
		}
	}
	delete(b.requested, t.target)
	b.mu.Unlock()
	if !found {
		return
	}
	for id, s := range b.sessions {
		if s.tab == t {
			delete(b.sessions, id)
		}
	}
	t.end(fault.New(fault.TabClosed, "the tab was closed"))
	b.change.notify()
	if announced {
		b.events.add(Event{Kind: TabClosed, Tab: t})
	}
}
