package runtime

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/clipboard"
)

// stores are those of the tab's workspace, of the host for a tab in none: the clients of
// a face do not see each other's.
func (t *Tab) stores() *sessionStores {
	if w := t.ownWorkspace(); w != nil {
		return &w.stores
	}
	return &t.host.stores
}

// Clipboard implements session.Stores.
func (s session) Clipboard(ctx context.Context) *tabsession.Clipboard {
	own := &s.tab.stores().Clipboard
	if b := s.host.currentBrowser(); b != nil {
		s.host.clipboards.Update(ctx, b.Clipboard(), own)
	}
	return &own.Clipboard
}

// Keys implements primitives.Page: keys copy to and paste from the clipboard of the session.
func (p sessionPage) Keys(ctx context.Context, events ...primitives.KeyEvent) error {
	send := func() error { return p.Page.Keys(ctx, events...) }
	b := p.session.host.currentBrowser()
	if b == nil {
		return send()
	}
	return p.session.host.clipboards.Keys(ctx, b.Clipboard(), &p.session.tab.stores().Clipboard, events, send)
}

// sharers lists the clipboards of all sessions of the browser.
func (h *Host) sharers() []*clipboard.Own {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []*clipboard.Own{&h.stores.Clipboard}
	for _, w := range h.workspaces {
		all = append(all, &w.stores.Clipboard)
	}
	return all
}

// Transfers implements session.Stores.
func (s session) Transfers() *tabsession.Transfers { return &s.tab.stores().Transfers }

// Announcements implements session.Stores.
func (s session) Announcements() *tabsession.Announcements { return &s.tab.stores().Announcements }

// Tasks implements session.Stores.
func (s session) Tasks() *tabsession.Tasks {
	return s.host.queues.Of(s.tab.queue(), func() (open []workQueueKey) {
		for _, t := range s.host.tabList() {
			open = append(open, t.queue())
		}
		return open
	})
}

func (t *Tab) queue() workQueueKey { return workQueueKey{Tab: t.id, Document: t.document()} }
