package runtime

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// OpenProtocol opens a session of the browser's own protocol on the tab that target selects, as Protocol does for one
// command: see browser.Tab.OpenProtocol.
func (h *Host) OpenProtocol(
	ctx context.Context, target Target, onEvent func(session, method string, params json.RawMessage),
) (*browser.ProtocolSession, error) {
	shown, err := h.Shown(target)
	if err != nil {
		return nil, err
	}
	return shown.OpenProtocol(ctx, onEvent)
}

// OpenBrowserProtocol opens a session of the browser's own protocol on the browser, as OpenProtocol does on a tab.
func (h *Host) OpenBrowserProtocol(
	ctx context.Context, onEvent func(session, method string, params json.RawMessage),
) (*browser.ProtocolSession, error) {
	b := h.currentBrowser()
	if b == nil {
		return nil, fault.New(fault.BrowserLost, "the browser is not there now")
	}
	return b.OpenProtocol(ctx, onEvent)
}

// Protocol sends one command of the browser's own protocol to the tab that
// target selects. It takes no place in the tab's queue and knows no policy: a
// face offers it only where its user has allowed it by a flag.
func (h *Host) Protocol(ctx context.Context, target Target, method string, params []byte) ([]byte, *fault.Error) {
	tab, err := h.pick(target)
	if err != nil {
		return nil, err
	}
	page, e := h.peer(tab.id)
	if e != nil {
		return nil, fault.From(e)
	}
	client, ok := page.(protocolPage)
	if !ok {
		return nil, fault.New(fault.CapabilityUnavailable, "this tab has no door to the browser's protocol")
	}
	if len(params) == 0 {
		params = []byte("{}")
	}
	out, e := client.Protocol(ctx, method, params)
	if e != nil {
		return nil, fault.From(e)
	}
	return out, nil
}

// Shown is the page of the tab that target selects, for what takes no place in the tab's queue.
func (h *Host) Shown(target Target) (*browser.Tab, error) {
	tab, err := h.pick(target)
	if err != nil {
		return nil, err
	}
	page, e := h.peer(tab.id)
	if e != nil {
		return nil, e
	}
	shown, ok := page.(*browser.Tab)
	if !ok {
		return nil, fault.New(fault.CapabilityUnavailable, "this tab has no door to the browser's protocol")
	}
	return shown, nil
}
