package session

// Stores hold what belongs to a session rather than to a page: it outlives
// documents and is shared by the tabs of a runtime unless stated otherwise.
type Stores interface {
	Clipboard() *Clipboard
	Transfers() *Transfers
	Announcements() *Announcements
	// Tasks is the task queue of this tab alone.
	Tasks() *Tasks
}
