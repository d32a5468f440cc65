package hub

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

var (
	claimedTabs = Tool{
		"browser.claimed_tabs.list", "List the tabs of all connected runtimes.",
		json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
	activeTab = Tool{
		"browser.active_tab.set",
		"Choose the runtime that calls without a selector go to; without arguments, say which it is.",
		json.RawMessage(`{"type":"object","properties":{"runtime_id":{"type":"string"},` +
			`"url_contains":{"type":"string"},"title_contains":{"type":"string"}},"additionalProperties":false}`),
	}
)

// own returns how the hub itself answers a tool, nil for all others.
func (h *Hub) own(name string) func(map[string]json.RawMessage, Selector) (any, *fault.Error) {
	switch name {
	case claimedTabs.Name:
		return h.listTabs
	case activeTab.Name:
		return h.setActive
	case configurePayloads.Name:
		if h.payloads != nil {
			return h.setPayloads
		}
	}
	return nil
}

type tabRow struct {
	Runtime
	TabID           json.RawMessage `json:"tab_id"`
	WindowID        json.RawMessage `json:"window_id"`
	Active          bool            `json:"active"`
	BrowserActive   *bool           `json:"browser_active"`
	Claimed         bool            `json:"claimed"`
	AuthorizationID string          `json:"authorization_id,omitempty"`
}

func (h *Hub) listTabs(args map[string]json.RawMessage, _ Selector) (any, *fault.Error) {
	if err := only(args); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	tabs := []tabRow{}
	for _, e := range h.live() {
		tabs = append(tabs, tabRow{
			Runtime:         e.Runtime,
			TabID:           orNull(e.tabID),
			WindowID:        orNull(e.windowID),
			Active:          e.RuntimeID == h.active,
			BrowserActive:   e.browserActive,
			Claimed:         e.authorizationID != "",
			AuthorizationID: e.authorizationID,
		})
	}
	return map[string]any{
		"ok": true, "scope": "bridge", "complete": true, "inventory_source": "live_runtime_registry",
		"active_runtime_id": nullable(h.active), "count": len(tabs), "tabs": tabs,
	}, nil
}

func (h *Hub) setActive(args map[string]json.RawMessage, sel Selector) (any, *fault.Error) {
	if err := only(args, "runtime_id", "url_contains", "title_contains"); err != nil {
		return nil, err
	}
	for name, to := range map[string]*string{
		"runtime_id":     &sel.RuntimeID,
		"url_contains":   &sel.URLContains,
		"title_contains": &sel.TitleContains,
	} {
		if raw, ok := args[name]; ok && json.Unmarshal(raw, to) != nil {
			return nil, fault.New(fault.InvalidInput, "%s is not a string", name).With("path", "/arguments/"+name)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !sel.zero() {
		e, err := h.choose(sel)
		if err != nil {
			return nil, err
		}
		h.active, h.chosen = e.RuntimeID, e.RuntimeID
	}
	var active any
	if e := h.runtimes[h.active]; e != nil {
		active = e.Runtime
	}
	return map[string]any{
		"ok":                true,
		"active_runtime_id": nullable(h.active),
		"active_runtime":    active,
		"runtimes":          rows(h.live()),
	}, nil
}

func only(args map[string]json.RawMessage, names ...string) *fault.Error {
	for name := range args {
		known := false
		for _, n := range names {
			known = known || n == name
		}
		if !known {
			return fault.New(fault.InvalidInput, "the arguments have a member that the tool does not declare").
				With("path", "/arguments/"+clip(name))
		}
	}
	return nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// view is GET /runtimes.
func (h *Hub) view() any {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := rows(h.live())
	return map[string]any{
		"connected": len(list) > 0, "count": len(list), "active_runtime_id": nullable(h.active), "runtimes": list,
		"last_replay_summary": orNull(h.replay), "credential_hydration": nil, "storage_hydration": orNull(h.hydration),
	}
}
