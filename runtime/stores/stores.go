// Package stores holds what a runtime remembers for each of its sessions beside their pages: a clipboard, transfers,
// announcements, calls and task queues. It knows no tab and decides nothing about who shares what. Package runtime keeps
// one Session for each workspace and one for the tabs that are in none.
package stores

import (
	"sync"

	"github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/calllog"
	"github.com/outrider-run/outrider/runtime/clipboard"
)

// Session is what one client of a face stores: others neither see nor change it. The zero
// value is empty and ready.
type Session struct {
	Clipboard     clipboard.Own
	Transfers     session.Transfers
	Announcements session.Announcements
	Calls         calllog.Log
}

// Queue names a task queue: by its tab, and by the document of that tab.
type Queue struct{ Tab, Document int }

// Queues are the task queues of tabs. The zero value is empty and ready.
type Queues struct {
	mu  sync.Mutex
	all map[Queue]*session.Tasks
}

// Of returns the queue of that name. When it is a new one, the queues that open does not list are dropped.
func (q *Queues) Of(own Queue, open func() []Queue) *session.Tasks {
	q.mu.Lock()
	defer q.mu.Unlock()
	if tasks := q.all[own]; tasks != nil {
		return tasks
	}
	kept := map[Queue]*session.Tasks{own: {}}
	for _, o := range open() {
		if tasks := q.all[o]; tasks != nil {
			kept[o] = tasks
		}
	}
	q.all = kept
	return kept[own]
}
