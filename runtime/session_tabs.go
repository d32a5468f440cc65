package runtime

import (
	"context"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// Tabs implements session.TabControl: the tabs of the workspace that the
// call's tab is in.
func (s session) Tabs() []primitives.TabInfo {
	tabs := s.host.tabsOf(s.tab.ownWorkspace())
	s.host.keepActive(tabs)
	out := infos(tabs)
	if chosen := s.host.chosenOf(tabs); chosen != 0 {
		for i := range out {
			out[i].Active = out[i].ID == chosen
		}
	}
	return out
}

// choose makes a tab the one that calls without tab_id are about, with
// quirks.NewTabActive. What the browser shows is another matter.
func (h *Host) choose(t *Tab) {
	if h.opts.Quirks.Has(quirks.NewTabActive) {
		h.mu.Lock()
		h.chosen = t.id
		h.mu.Unlock()
	}
}

// chosenOf is the id of the chosen tab, of the first one when that was closed, and
// 0 where none was chosen.
func (h *Host) chosenOf(tabs []*Tab) int {
	h.mu.Lock()
	chosen := h.chosen
	h.mu.Unlock()
	if chosen == 0 || len(tabs) == 0 || slices.ContainsFunc(tabs, func(t *Tab) bool { return t.id == chosen }) {
		return chosen
	}
	return slices.MinFunc(tabs, func(a, b *Tab) int { return a.id - b.id }).id
}

// info is the tab's identity with what its document is.
func (t *Tab) info() primitives.TabInfo {
	info := t.identity()
	status := t.Status()
	info.URL = status.URL
	info.Title = status.Title
	info.WindowID = status.WindowID
	info.Busy = status.Busy
	return info
}

// keepActive makes the newest of the tabs of one workspace the active one when the
// active tab was closed.
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

// activate makes t the one active tab of its workspace. A bridge routes by what it was
// reported, so both tabs are reported.
func (h *Host) activate(t *Tab) {
	for _, o := range h.tabsOf(t.ownWorkspace()) {
		o.mu.Lock()
		changed := o.status.Active != (o == t)
		o.status.Active = o == t
		page := o.page
		o.mu.Unlock()
		if p, ok := page.(identifiedPage); ok && changed {
			p.SetIdentity(o.identity())
		}
		if changed {
			o.emit(TabChanged)
		}
	}
}

// OpenTab implements session.TabControl.
func (s session) OpenTab(ctx context.Context, address string, active bool) (primitives.TabInfo, error) {
	t, err := s.host.openTab(ctx, s.tab.ownWorkspace(), address, active)
	if err != nil {
		return primitives.TabInfo{}, err
	}
	info := t.info()
	if s.bounds != nil {
		if refused := s.bounds.RefusesAddress(info.URL); refused != nil {
			_ = s.host.closeTab(ctx, t) // nobody asked for a tab of that origin
			return primitives.TabInfo{}, leftOrigin(refused)
		}
	}
	s.host.choose(t)
	return info, nil
}

// CloseTab implements session.TabControl. It may close the tab that the call
// runs on: the call is answered all the same.
func (s session) CloseTab(ctx context.Context, id int) error {
	workspace := s.tab.ownWorkspace()
	t, err := s.host.tabIn(workspace, id)
	if err != nil {
		return err
	}
	if len(s.host.tabsOf(workspace)) == 1 {
		return fault.New(fault.PermissionDenied, "the last tab of the runtime is not closed").With("tab_id", id).
			Next("open another tab first")
	}
	return s.host.closeTab(ctx, t)
}

// ActivateTab implements session.TabControl.
func (s session) ActivateTab(ctx context.Context, id int) (primitives.TabInfo, error) {
	t, err := s.host.tabIn(s.tab.ownWorkspace(), id)
	if err != nil {
		return primitives.TabInfo{}, err
	}
	if err := s.host.bringToFront(ctx, t); err != nil {
		return primitives.TabInfo{}, err
	}
	s.host.choose(t)
	return t.info(), nil
}
