package cdp

// Session is a DevTools session: of a tab, or of a frame of a tab that runs in
// another process.
type Session struct {
	ID     string
	Parent string // id of the session that reported it; empty for a tab's own
	// Frame is the id of the frame of a frame's session; empty for a tab's own.
	Frame    string
	detached chan struct{}
}

// NewSession makes a session that the browser has reported.
func NewSession(id, parent, frame string) *Session {
	return &Session{ID: id, Parent: parent, Frame: frame, detached: make(chan struct{})}
}

// Done is closed when the session was detached.
func (s *Session) Done() <-chan struct{} { return s.detached }

// Detach marks the session as detached. Only one goroutine, the reader, calls it.
func (s *Session) Detach() {
	select {
	case <-s.detached:
	default:
		close(s.detached)
	}
}

// Lifetime is the time in which a page can answer: until it closes or crashes. Calls
// about the page wait no longer.
type Lifetime struct {
	ended chan struct{}
	err   error // set before ended is closed
}

// NewLifetime makes a lifetime that End ends.
func NewLifetime() *Lifetime { return &Lifetime{ended: make(chan struct{})} }

// LifetimeOf returns a lifetime that ends with a session, and then because of err.
func LifetimeOf(s *Session, err error) *Lifetime { return &Lifetime{ended: s.detached, err: err} }

// End ends the lifetime because of err. It is called once.
func (l *Lifetime) End(err error) {
	l.err = err
	close(l.ended)
}

// Done is closed at the end.
func (l *Lifetime) Done() <-chan struct{} { return l.ended }

// Over reports whether the end has come.
func (l *Lifetime) Over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// Err says why the lifetime ended. It must not be called before.
func (l *Lifetime) Err() error { return l.err }
