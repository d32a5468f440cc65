package runtime

import (
	"sync"

	"github.com/outrider-run/outrider/primitives"
)

// stores is what a host's session keeps beside its pages. It ends with the
// host.
type stores struct {
	clipboard primitives.Clipboard
	transfers primitives.Transfers

	records records // of the tabs in no workspace

	mu    sync.Mutex
	tasks map[int]*primitives.Tasks // by tab id
}

// records are what is remembered of the tabs of one group: other clients of a
// face do not see them.
type records struct {
	announcements primitives.Announcements
	calls         callLog
}

func (t *Tab) records() *records {
	if w := t.group(); w != nil {
		return &w.records
	}
	return &t.host.stores.records
}

// Clipboard implements primitives.Stores.
func (s session) Clipboard() *primitives.Clipboard { return &s.host.stores.clipboard }

// Transfers implements primitives.Stores.
func (s session) Transfers() *primitives.Transfers { return &s.host.stores.transfers }

// Announcements implements primitives.Stores.
func (s session) Announcements() *primitives.Announcements { return &s.tab.records().announcements }

// Tasks implements primitives.Stores. Queues of tabs that have gone are dropped
// when a new one is made.
func (s session) Tasks() *primitives.Tasks {
	st := &s.host.stores
	st.mu.Lock()
	defer st.mu.Unlock()
	if q := st.tasks[s.tab.id]; q != nil {
		return q
	}
	live := map[int]*primitives.Tasks{s.tab.id: {}}
	for _, t := range s.host.tabList() {
		if q := st.tasks[t.id]; q != nil {
			live[t.id] = q
		}
	}
	st.tasks = live
	return live[s.tab.id]
}
