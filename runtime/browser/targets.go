package browser

import (
	"bytes"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/page"
)

// attached is a session that the browser has attached us to, with the tab that it
// is of. Only the reader uses it.
type attached struct {
	*cdp.Session
	tab *Tab
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
	if len(sessionID) > 0 && b.sessions[string(sessionID)] == nil &&
		b.onProtocolEvent(string(sessionID), method, params) {
		return // of somebody else, who may attach and discover too
	}
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
		if t := b.tabOf(string(cdp.PlainString(cdp.Member(params, "targetId")))); t != nil {
			t.TargetCrashed()
		}
		return
	case "Security.certificateError":
		b.onCertificateError(string(sessionID), params)
		return
	case "Browser.downloadWillBegin", "Browser.downloadProgress":
		b.transfers.HandleEvent(method, params)
		return
	case "Target.targetDestroyed":
		b.forget(b.tabOf(string(cdp.PlainString(cdp.Member(params, "targetId")))))
		return
	}
	if a := b.sessions[string(sessionID)]; a != nil {
		a.tab.handleEvent(a.Session, method, params)
	} else if string(method) == "Fetch.requestPaused" {
		b.onWorkerRequest(string(sessionID), params)
	} else if string(method) == "Fetch.authRequired" {
		b.onWorkerChallenge(string(sessionID), params)
	} else if bytes.HasPrefix(method, []byte("Network.")) {
		b.onWorkerTraffic(string(sessionID), method, params)
	}
}

func (b *Browser) tabOf(target string) *Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tabs {
		if t.TargetID() == target {
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
	switch {
	case parent == "" && b.clipboard.Holds(info.BrowserContextID):
		if e.Waiting { // else it is its own command that has attached
			b.leaveAlone(parent, e.SessionID)
		}
	case parent == "" && b.foreign(info.BrowserContextID):
		b.leaveAlone(parent, e.SessionID)
	case info.Type == "page" && parent == "" && !e.Waiting && b.tabOf(info.TargetID) != nil:
		// A tab that we follow: OpenProtocol has attached.
	case info.Type == "browser":
		// Browser.OpenProtocol has attached.
	case info.Type == "page" && parent == "":
		s := cdp.NewSession(e.SessionID, parent, "")
		if !e.Waiting && b.process == nil && !b.opts.AdoptTabs && !b.isRequested(info.TargetID) &&
			b.tabOf(info.OpenerID) == nil {
			b.client.Post(cdp.Command{Method: "Target.detachFromTarget", Params: cdp.Object("sessionId", s.ID)})
			return
		}
		b.addTab(s, info)
	case info.Type == "iframe" && b.sessions[parent] != nil:
		a := &attached{Session: cdp.NewSession(e.SessionID, parent, info.TargetID), tab: b.sessions[parent].tab}
		b.sessions[a.ID] = a
		b.addFrameSession(a, b.sessions[parent], info)
	case info.Type == "worker" && b.keepWorker(cdp.NewSession(e.SessionID, parent, ""), parent, info.URL):
	default: // workers and whatever else there is
		b.leaveAlone(parent, e.SessionID)
	}
}

// leaveAlone lets a target run and detaches from it after that: before, it would wait for ever.
func (b *Browser) leaveAlone(parent, session string) {
	b.client.Post(cdp.Command{Session: session, Method: "Runtime.runIfWaitingForDebugger", OnReply: func(cdp.Reply) {
		b.client.Post(cdp.Command{
			Session: parent,
			Method:  "Target.detachFromTarget",
			Params:  cdp.Object("sessionId", session),
		})
	}})
}

// foreign reports whether a target is in a browser context that others see to: see Options.OwnContext.
func (b *Browser) foreign(id string) bool {
	if !b.opts.OwnContext || b.process != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.contexts[id]
}

func (b *Browser) isRequested(target string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requested[target]
}

// addTab starts to follow a tab. Its page is paused before its first document until
// we are subscribed, so nothing of a popup is missed.
func (b *Browser) addTab(s *cdp.Session, info targetInfo) {
	t := newTab(b, s, info)
	a := &attached{Session: s, tab: t}
	b.sessions[s.ID] = a
	b.mu.Lock()
	for _, o := range b.tabs {
		if o.TargetID() == info.OpenerID {
			t.opener = o
			o.children++
		}
	}
	b.tabs = append(b.tabs, t)
	popup := !b.requested[info.TargetID]
	b.mu.Unlock()
	if popup && b.process != nil && b.Shell() {
		b.moveFromMouse(info.TargetID)
	}
	b.subscribe(a, func(r cdp.Reply) { b.onTabReady(a, r) })
}

// addFrameSession starts to follow a frame that runs in another process.
func (b *Browser) addFrameSession(a, parent *attached, info targetInfo) {
	t := a.tab
	t.BeginFrameSession(a.Session, parent.Session, page.FrameTarget{
		Parent: primitives.FrameID(info.ParentFrameID),
		URL:    info.URL,
	})
	b.subscribe(a, func(r cdp.Reply) {
		if r.Err == nil {
			t.SetTree(a.Session, r.Result)
		}
	})
	t.FramesChanged()
}

// subscribe sends what begins every session, and hands on its frame tree.
func (b *Browser) subscribe(a *attached, tree func(cdp.Reply)) {
	commands := b.subscriptions(a)
	for i := range commands {
		if commands[i].Method == "Page.getFrameTree" {
			commands[i].OnReply = tree
		}
	}
	b.client.Post(commands...)
}

func (b *Browser) onTabReady(a *attached, r cdp.Reply) {
	t := a.tab
	if r.Err != nil {
		b.log.Debug("a tab ended before it was ready", "error", r.Err)
		b.forget(t)
		return
	}
	t.SetTree(a.Session, r.Result)
	b.mu.Lock()
	requested, known := b.requested[t.TargetID()], t.announced
	foreign := b.process == nil && !b.opts.AdoptTabs && !requested && (t.opener == nil || !t.opener.announced)
	t.announced = !foreign
	b.mu.Unlock()
	if foreign {
		// A tab that the user of an attached browser opened.
		b.client.Post(cdp.Command{Method: "Target.detachFromTarget", Params: cdp.Object("sessionId", a.ID)})
		return
	}
	b.change.Notify()
	if known { // it was busy until now
		b.events.add(Event{Kind: TabChanged, Tab: t})
		return
	}
	b.events.add(Event{Kind: TabOpened, Tab: t, Opener: t.opener, Requested: requested})
}

// subscriptions are the commands that begin every session, sent with one write.
func (b *Browser) subscriptions(s *attached) []cdp.Command {
	c := []cdp.Command{
		{Session: s.ID, Method: "Page.enable"},
		{Session: s.ID, Method: "Page.getFrameTree"},
		{
			Session: s.ID,
			Method:  "Target.setAutoAttach",
			Params:  []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`),
		},
		// Keys and focus events reach a tab in the background as if its
		// window had the focus.
		{Session: s.ID, Method: "Emulation.setFocusEmulationEnabled", Params: []byte(`{"enabled":true}`)},
	}
	if s.Frame == "" {
		c = append(c, cdp.Command{
			Session: s.ID,
			Method:  "Page.setLifecycleEventsEnabled",
			Params:  []byte(`{"enabled":true}`),
		})
	}
	c = append(c, b.certificateCommands(s.ID)...)
	c = append(c, s.tab.sessionCommands(s.Session)...)
	c = append(c, b.listener.SessionCommands(s.Session)...)
	c = append(c, b.follower.SessionCommands(s.Session)...)
	return append(c, cdp.Command{Session: s.ID, Method: "Runtime.runIfWaitingForDebugger"})
}

func (b *Browser) onDetached(params []byte) {
	id := string(cdp.PlainString(cdp.Member(params, "sessionId")))
	s := b.sessions[id]
	if s == nil {
		if b.endProtocol(id) {
			return
		}
		b.forgetWorker(id)
		b.clipboard.Detached(id)
		return
	}
	delete(b.sessions, id)
	b.listener.SessionDetached(s.Session)
	b.follower.SessionDetached(s.Session)
	if s.Frame == "" {
		b.forget(s.tab) // the tab's end comes before its session's: who waits for both must see why
	}
	s.Detach()
	if s.Frame != "" {
		s.tab.EndFrameSession(s.Session)
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
		t.SetTarget(page.Target{ID: e.TargetInfo.TargetID, URL: e.TargetInfo.URL, Title: e.TargetInfo.Title})
	}
}

// forget drops a tab that was closed.
func (b *Browser) forget(t *Tab) {
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
	delete(b.requested, t.TargetID())
	b.mu.Unlock()
	if !found {
		return
	}
	for id, s := range b.sessions {
		if s.tab == t {
			delete(b.sessions, id)
			b.listener.SessionDetached(s.Session)
			b.follower.SessionDetached(s.Session)
		}
	}
	t.End(fault.New(fault.TabClosed, "the tab was closed"))
	b.change.Notify()
	if announced {
		b.events.add(Event{Kind: TabClosed, Tab: t})
	}
}
