package runtime

import (
	"sync"

	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/calllog"
)

// stores is what a host's session stores beside its pages. It ends with the
// host.
type stores struct {
	clipboard tabsession.Clipboard
	transfers tabsession.Transfers

	records records // of the tabs in no workspace

	mu    sync.Mutex
	tasks map[taskKey]*tabsession.Tasks
}

// taskKey is the tab that tasks are of, and its document (see Tab.document).
type taskKey struct{ tab, document int }

// records are what is remembered of the tabs of one group: other clients of a
// face do not see them.
type records struct {
	announcements tabsession.Announcements
	calls         calllog.Log
}

func (t *Tab) records() *records {
	if w := t.group(); w != nil {
		return &w.records
	}
	return &t.host.stores.records
}

// Clipboard implements session.Stores.
func (s session) Clipboard() *tabsession.Clipboard { return &s.host.stores.clipboard }

// Transfers implements session.Stores.
func (s session) Transfers() *tabsession.Transfers { return &s.host.stores.transfers }

// Announcements implements session.Stores.
func (s session) Announcements() *tabsession.Announcements { return &s.tab.records().announcements }

// Tasks implements session.Stores. Queues of closed tabs are dropped
// when a new one is made.
func (s session) Tasks() *tabsession.Tasks {
	st := &s.host.stores
	own := taskKey{s.tab.id, s.tab.document()}
	st.mu.Lock()
	defer st.mu.Unlock()
	if q := st.tasks[own]; q != nil {
		return q
	}
	live := map[taskKey]*tabsession.Tasks{own: {}}
	for _, t := range s.host.tabList() {
		key := taskKey{t.id, t.document()}
		if q := st.tasks[key]; q != nil {
			live[key] = q
		}
	}
	st.tasks = live
	return live[own]
}
