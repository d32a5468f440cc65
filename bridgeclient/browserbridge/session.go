package browserbridge

import (
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// Why a session ends. screen_locked is in the protocol and is never sent here:
// a runtime has no screen to lock.
const (
	endTabClosed     = "tab_closed"
	endUserStopped   = "user_stopped"
	endDetached      = "debugger_detached"
	endIdle          = "system_idle"
	endDomainBlocked = "domain_blocked"
	endGlobalStop    = "global_stop"
)

// session is the agent's work on one tab: bookkeeping, not consent.
type session struct {
	tabID        int
	own          bool // a tab of the agent, not of the user
	domain       string
	startedAt    time.Time
	lastActionAt time.Time
	actionCount  int
}

// begin starts the session of a tab unless there is one, and reports it.
// e.mu is held.
func (e *engine) begin(tab runtime.TabStatus, own bool) *session {
	if s := e.sessions[tab.TabID]; s != nil {
		return s
	}
	now := time.Now()
	s := &session{tabID: tab.TabID, own: own, domain: domainOf(tab.URL), startedAt: now, lastActionAt: now}
	e.sessions[tab.TabID] = s
	e.out.event(map[string]any{
		"type":      "session_started",
		"domain":    s.domain,
		"tabId":     s.tabID,
		"startedAt": now.UnixMilli(),
	})
	e.touchIdle()
	return s
}

// end ends the session of a tab, if there is one, and reports it. e.mu is held.
func (e *engine) end(tabID int, reason string) bool {
	s := e.sessions[tabID]
	if s == nil {
		return false
	}
	delete(e.sessions, tabID)
	e.out.event(map[string]any{
		"type":        "session_ended",
		"domain":      s.domain,
		"tabId":       s.tabID,
		"actionCount": s.actionCount,
		"reason":      reason,
	})
	if reason != endTabClosed && reason != endDetached && e.prepared[tabID] {
		delete(e.prepared, tabID)
		e.release(tabID)
	}
	return true
}

// count notes an action at its dispatch. e.mu is held.
func (s *session) count() {
	s.actionCount++
	s.lastActionAt = time.Now()
}

// pick finds the tab of a request that names none: the agent's own session that
// was used last, else the only session on a tab of the user. 0 is none. e.mu is
// held.
func (e *engine) pick() (int, *Error) {
	var own, users *session
	several := false
	for _, s := range e.sessions {
		switch {
		case s.own && (own == nil || s.lastActionAt.After(own.lastActionAt)):
			own = s
		case !s.own:
			several = users != nil
			users = s
		}
	}
	switch {
	case own != nil:
		return own.tabID, nil
	case several:
		return 0, &Error{codeSessionNotFound, "several tabs have a session; pass tabId"}
	case users != nil:
		return users.tabID, nil
	}
	return 0, nil
}

// touchIdle begins the time without an action anew. e.mu is held.
func (e *engine) touchIdle() {
	if e.o.Idle <= 0 {
		return
	}
	if e.idle == nil {
		e.idle = time.AfterFunc(e.o.Idle, e.idled)
		return
	}
	e.idle.Reset(e.o.Idle)
}

func (e *engine) idled() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.flights) > 0 {
		e.touchIdle() // something is being done
		return
	}
	for _, id := range e.sessionIDs() {
		e.end(id, endIdle)
	}
}

// onEvent handles events of the host's tabs. It must not block.
func (e *engine) onEvent(ev runtime.Event) {
	id := ev.Tab.TabID
	e.mu.Lock()
	defer e.mu.Unlock()
	if ev.Tab.Workspace != "" && (e.own == nil || ev.Tab.Workspace != e.own.ID()) {
		return
	}
	switch ev.Kind {
	case runtime.TabReady:
		if e.known[id] { // its page was lost, and this is another one
			delete(e.prepared, id)
			delete(e.uids, id)
			e.end(id, endDetached)
		}
		e.known[id] = true
	case runtime.TabChanged:
		e.moved(ev.Tab)
	case runtime.TabRemoved:
		if e.closing[id] {
			return // close_tab reports it, after its response
		}
		e.gone(id)
	}
}

// gone reports that a tab is closed, once: the host may report the removal while
// close_tab is at work or after it. e.mu is held.
func (e *engine) gone(id int) {
	if !e.known[id] {
		return
	}
	delete(e.known, id)
	delete(e.prepared, id)
	delete(e.uids, id)
	e.end(id, endTabClosed)
	if !e.fresh[id] {
		e.out.event(map[string]any{"type": "tab_closed", "tabId": id})
	}
	delete(e.fresh, id)
}

// moved follows a tab to another address: the session follows it, unless the
// domain is blocked. e.mu is held.
func (e *engine) moved(tab runtime.TabStatus) {
	s := e.sessions[tab.TabID]
	if s == nil {
		return
	}
	domain := domainOf(tab.URL)
	if e.blocked.blocks(domain) {
		s.domain = domain
		e.end(tab.TabID, endDomainBlocked)
		return
	}
	s.domain = domain
}
