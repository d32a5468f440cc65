package runtime

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/sites"
)

// sessionPage gives handlers the runtime's side of a tab beside its page.
type sessionPage struct {
	primitives.Page
	session session
}

// Quirks says which quirks hold: see primitives.QuirksOf.
func (p sessionPage) Quirks() quirks.Set { return primitives.QuirksOf(p.Page) }

// WithoutQuirks implements the interface that primitives.WithoutQuirks looks for.
func (p sessionPage) WithoutQuirks(names ...quirks.Name) primitives.Page {
	p.Page = primitives.WithoutQuirks(p.Page, names...)
	return p
}

// Session implements session.Page.
func (p sessionPage) Session() tabsession.Session { return p.session }

// session implements session.Session for one tab.
type session struct {
	host   *Host
	tab    *Tab
	bounds *sites.Bounds // of the map on whose behalf it is, nil for none
	mapset.Stored
}

func (h *Host) sessionOf(t *Tab, from *sites.Map) session {
	return session{host: h, tab: t, Stored: mapset.Stored{
		Maps:   h.opts.Maps,
		Reader: from,
		Import: func(bundle json.RawMessage) (json.RawMessage, *fault.Error) {
			return h.ImportBundle(h.ctx, bundle)
		},
	}}
}

// SetPacing implements session.Session.
func (s session) SetPacing(least time.Duration) {
	document := s.tab.document()
	s.tab.mu.Lock()
	defer s.tab.mu.Unlock()
	s.tab.pacing, s.tab.pacedIn = least, document
}

// document numbers the document that the session of a tab belongs to: one for all
// of them, but with quirks.DocumentSession.
func (t *Tab) document() int {
	if !t.host.opts.Quirks.Has(quirks.DocumentSession) {
		return 0
	}
	return t.documents()
}
