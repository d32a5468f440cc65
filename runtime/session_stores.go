package runtime

import (
	"context"

	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/stores"
)

// stores are those of the tab's workspace, of the host for a tab in none: the clients of
// a face do not see each other's.
func (t *Tab) stores() *stores.Session {
	if w := t.group(); w != nil {
		return &w.stores
	}
	return &t.host.stores
}

// Clipboard implements session.Stores.
func (s session) Clipboard(ctx context.Context) *tabsession.Clipboard {
	return &s.tab.stores().Clipboard
}

// Transfers implements session.Stores.
func (s session) Transfers() *tabsession.Transfers { return &s.tab.stores().Transfers }

// Announcements implements session.Stores.
func (s session) Announcements() *tabsession.Announcements { return &s.tab.stores().Announcements }

// Tasks implements session.Stores.
func (s session) Tasks() *tabsession.Tasks {
	return s.host.queues.Of(s.tab.queue(), func() (open []stores.Queue) {
		for _, t := range s.host.tabList() {
			open = append(open, t.queue())
		}
		return open
	})
}

func (t *Tab) queue() stores.Queue { return stores.Queue{Tab: t.id, Document: t.document()} }
