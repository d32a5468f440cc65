package runtime

import (
	"sync"

	"github.com/outrider-run/outrider/internal/idempotency"
	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/clipboard"
)

// sessionStores has the stores of one client of a face: others neither see nor change them. The zero
// value is empty and ready.
type sessionStores struct {
	Clipboard     clipboard.Own
	Transfers     tabsession.Transfers
	Announcements tabsession.Announcements
	Calls         callLog
	Receipts      idempotency.Store[receipt]
}

// workQueueKey names a task queue: by its tab, and by the document of that tab.
type workQueueKey struct{ Tab, Document int }

// workQueues are the task queues of tabs. The zero value is empty and ready.
type workQueues struct {
	mu  sync.Mutex
	all map[workQueueKey]*tabsession.Tasks
}

// Of returns the queue of that name. When it is a new one, the queues that open does not list are dropped.
func (q *workQueues) Of(own workQueueKey, open func() []workQueueKey) *tabsession.Tasks {
	q.mu.Lock()
	defer q.mu.Unlock()
	if tasks := q.all[own]; tasks != nil {
		return tasks
	}
	kept := map[workQueueKey]*tabsession.Tasks{own: {}}
	for _, o := range open() {
		if tasks := q.all[o]; tasks != nil {
			kept[o] = tasks
		}
	}
	q.all = kept
	return kept[own]
}
