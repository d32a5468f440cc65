package session

import "context"

// Stores hold what belongs to a session rather than to a page: it outlives
// documents and is shared by the tabs of one client, and by no others.
type Stores interface {
	// Clipboard is up to date with what a person at the page would have on theirs.
	Clipboard(ctx context.Context) *Clipboard
	Transfers() *Transfers
	Announcements() *Announcements
	// Tasks is the task queue of this tab alone.
	Tasks() *Tasks
}
