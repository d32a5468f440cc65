package provider

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/runtime"
)

// eventNames lists the events that a client can subscribe to in session.ensure.
func eventNames() []string {
	return []string{"page.opened", "page.navigated", "page.closed", "page.event", "session.closed"}
}

// want notes which events of a session a connection gets: all for true, the
// named ones for a list. Without it a client reads answers and nothing else.
func (c *connection) want(session string, events any) {
	names := map[string]bool{}
	switch v := events.(type) {
	case bool:
		if v {
			names = nil
		}
	case []any:
		for _, name := range v {
			if s, ok := name.(string); ok {
				names[s] = true
			}
		}
	default:
		return
	}
	c.mu.Lock()
	c.wants[session] = names
	c.mu.Unlock()
	c.server.listening.Do(c.server.listen)
}

// listen begins to hear the host, once somebody wants to know.
func (s *Server) listen() {
	unsubscribe := s.opts.Host.Subscribe(s.onEvent)
	s.connectionsMu.Lock()
	s.unsubscribe = unsubscribe
	s.connectionsMu.Unlock()
}

// onEvent passes on what happened to a tab. It does not block.
func (s *Server) onEvent(ev runtime.Event) {
	name := map[runtime.EventKind]string{
		runtime.TabReady:   "page.opened",
		runtime.TabChanged: "page.navigated",
		runtime.TabRemoved: "page.closed",
		runtime.DOMEvent:   "page.event",
	}[ev.Kind]
	if name == "" {
		return
	}
	if !s.addressChanged(ev) {
		return
	}
	payload := map[string]any{
		"page_id": pageID(ev.Tab),
		"tab_id":  tabID(ev.Tab),
		"url":     ev.Tab.URL,
		"title":   ev.Tab.Title,
	}
	if ev.Kind == runtime.DOMEvent {
		payload["name"] = ev.Name
		if json.Valid(ev.Payload) {
			payload["payload"] = ev.Payload
		}
	}
	s.sessions.mu.Lock()
	var concerned []*session
	for _, one := range s.sessions.byID {
		if one.workspace == nil && ev.Tab.Workspace == "" ||
			one.workspace != nil && one.workspace.ID() == ev.Tab.Workspace {
			concerned = append(concerned, one)
		}
	}
	s.sessions.mu.Unlock()
	for _, one := range concerned {
		s.sendEvent(one, name, payload)
	}
}

// addressChanged reports whether an event is to be sent: a tab that changed
// only its title has not navigated, and one without an address is on its way.
func (s *Server) addressChanged(ev runtime.Event) bool {
	s.connectionsMu.Lock()
	defer s.connectionsMu.Unlock()
	before, known := s.addresses[ev.Tab.TabID]
	switch {
	case ev.Kind == runtime.TabRemoved:
		delete(s.addresses, ev.Tab.TabID)
	case ev.Kind != runtime.DOMEvent && ev.Tab.URL != "":
		s.addresses[ev.Tab.TabID] = ev.Tab.URL
	}
	return ev.Kind != runtime.TabChanged || ev.Tab.URL != "" && (!known || before != ev.Tab.URL)
}

// sendEvent sends an event to every connection that subscribed to it. A client that does
// not take its events misses some; answers are never left out.
func (s *Server) sendEvent(about *session, name string, payload map[string]any) {
	own := map[string]any{"session_id": about.id}
	maps.Copy(own, payload)
	s.connectionsMu.Lock()
	defer s.connectionsMu.Unlock()
	for c := range s.connections {
		c.mu.Lock()
		names, wanted := c.wants[about.id]
		c.mu.Unlock()
		if !wanted || names != nil && !names[name] || !slices.Contains(eventNames(), name) {
			continue
		}
		select {
		case c.events <- Event{ProtocolVersion: ProtocolVersion, Event: name, Payload: own}:
		default:
		}
	}
}
