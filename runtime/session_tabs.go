package runtime

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Tabs implements primitives.TabControl.
func (s session) Tabs() []primitives.TabInfo {
	tabs := s.host.tabList()
	s.host.keepActive(tabs)
	out := make([]primitives.TabInfo, len(tabs))
	for i, t := range tabs {
		out[i] = t.info()
	}
	return out
}

// info is the tab's identity with what its document is.
func (t *Tab) info() primitives.TabInfo {
	info := t.identity()
	status := t.Status()
	info.URL, info.Title, info.WindowID = status.URL, status.Title, status.WindowID
	return info
}

// keepActive makes the newest tab the active one when the active tab has gone.
func (h *Host) keepActive(tabs []*Tab) {
	for _, t := range tabs {
		if t.Status().Active {
			return
		}
	}
	if len(tabs) > 0 {
		h.activate(tabs[len(tabs)-1])
	}
}

// activate makes t the one active tab. Nobody is told: the page is the same.
func (h *Host) activate(t *Tab) {
	for _, o := range h.tabList() {
		o.mu.Lock()
		changed := o.status.Active != (o == t)
		o.status.Active = o == t
		page := o.page
		o.mu.Unlock()
		if p, ok := page.(interface{ SetIdentity(primitives.TabInfo) }); ok && changed {
			p.SetIdentity(o.identity())
		}
	}
}

func (h *Host) tab(id int) (*Tab, error) {
	for _, t := range h.tabList() {
		if t.id == id {
			return t, nil
		}
	}
	return nil, fault.New(fault.TabClosed, "this runtime has no tab %d", id).With("tab_id", id)
}

// OpenTab implements primitives.TabControl.
func (s session) OpenTab(ctx context.Context, address string, active bool) (primitives.TabInfo, error) {
	h := s.host
	h.mu.Lock()
	b := h.browser
	h.mu.Unlock()
	if b == nil {
		return primitives.TabInfo{}, fault.New(fault.BrowserLost, "the browser is being started again")
	}
	bt, err := b.NewTab(ctx, address, browser.TabOptions{Background: !active, LoadTimeout: h.opts.LoadTimeout})
	if err != nil {
		return primitives.TabInfo{}, err
	}
	t := h.adopt(bt)
	if t == nil {
		return primitives.TabInfo{}, fault.New(fault.Cancelled, "the runtime is shutting down")
	}
	h.refresh(t, bt.Tab())
	if active {
		h.activate(t)
	}
	return t.info(), nil
}

// CloseTab implements primitives.TabControl. It may close the tab that the call
// runs on: the call is answered all the same.
func (s session) CloseTab(ctx context.Context, id int) error {
	h := s.host
	t, err := h.tab(id)
	if err != nil {
		return err
	}
	if len(h.tabList()) == 1 {
		return fault.New(fault.PermissionDenied, "the last tab of the runtime is not closed").With("tab_id", id).
			Next("open another tab first")
	}
	page, err := h.peer(id)
	if err != nil {
		return err
	}
	closer, ok := page.(interface{ Close(context.Context) error })
	if !ok {
		return fault.New(fault.CapabilityUnavailable, "this tab cannot be closed").With("tab_id", id)
	}
	if err := closer.Close(ctx); err != nil {
		return err
	}
	select {
	case <-t.gone: // the browser's event has been handled
	case <-ctx.Done():
		return ctx.Err()
	}
	h.keepActive(h.tabList())
	return nil
}

// ActivateTab implements primitives.TabControl.
func (s session) ActivateTab(ctx context.Context, id int) (primitives.TabInfo, error) {
	t, err := s.host.tab(id)
	if err != nil {
		return primitives.TabInfo{}, err
	}
	page, err := s.host.peer(id)
	if err != nil {
		return primitives.TabInfo{}, err
	}
	if p, ok := page.(interface{ Activate(context.Context) error }); ok {
		if err := p.Activate(ctx); err != nil {
			return primitives.TabInfo{}, err
		}
	}
	s.host.activate(t)
	return t.info(), nil
}
