package runtime

import (
	"sync"

	tabsession "github.com/outrider-run/outrider/primitives/session"
)

// stores is what a host's session stores beside its pages. It ends with the
// host.
type stores struct {
	clipboard tabsession.Clipboard
	transfers tabsession.Transfers

	records records // of the tabs in no workspace

	mu    sync.Mutex
	tasks map[int]*tabsession.Tasks // by tab id
}

// records are what is remembered of the tabs of one group: other clients of a
// face do not see them.
type records struct {
	announcements tabsession.Announcements
	calls         callLog
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
	st.mu.Lock()
	defer st.mu.Unlock()
	if q := st.tasks[s.tab.id]; q != nil {
		return q
	}
	live := map[int]*tabsession.Tasks{s.tab.id: {}}
	for _, t := range s.host.tabList() {
		if q := st.tasks[t.id]; q != nil {
			live[t.id] = q
		}
	}
	st.tasks = live
	return live[s.tab.id]
}
