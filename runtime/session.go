package runtime

import (
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// sessionPage gives handlers the runtime's side of a tab beside its page.
type sessionPage struct {
	primitives.Page
	session session
}

// Session implements primitives.SessionPage.
func (p sessionPage) Session() primitives.Session { return p.session }

// session implements primitives.Session for one tab.
type session struct {
	host *Host
	tab  *Tab
}

// SetPacing implements primitives.Session.
func (s session) SetPacing(least time.Duration) {
	s.tab.mu.Lock()
	defer s.tab.mu.Unlock()
	s.tab.pacing = least
}
