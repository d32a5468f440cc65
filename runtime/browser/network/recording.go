package network

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Tab is the tab whose requests are recorded.
type Tab interface {
	// Sessions are the tab's own session, first, and those of its frames in other
	// processes.
	Sessions() []*cdp.Session
	Lifetime() *cdp.Lifetime
	// MainDocument names the document of the main frame by its loader, and reports
	// whether the browser has found it quiet.
	MainDocument() (loader string, quiet bool)
}

// New makes the record of a tab's requests, which begins with the first call that
// needs it. egress may be nil.
func New(client *cdp.Client, tab Tab, egress *Egress) *Traffic {
	return &Traffic{client: client, tab: tab, egress: egress}
}

// EnableCommand begins to report requests. The browser keeps bodies within limits, and outside of the renderers:
// a renderer that is busy does not answer for them, and one whose document was replaced has none.
func (t *Traffic) EnableCommand() cdp.Command {
	params := []byte(`{"maxTotalBufferSize":33554432,"maxResourceBufferSize":8388608,"enableDurableMessages":true}`)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.onEnd != nil { // what was sent comes with the request
		params = append(params[:len(params)-1], `,"maxPostDataSize":16384}`...)
	}
	return cdp.Command{Method: "Network.enable", Params: params}
}

// SessionCommands are those with which a new session of the tab takes part.
func (t *Traffic) SessionCommands(s *cdp.Session) []cdp.Command {
	if !t.Enabled() {
		return nil
	}
	enable := t.EnableCommand()
	enable.Session = s.ID
	return []cdp.Command{enable}
}

// Keep has the Network domain stay on, also while nothing is recorded: what is decided
// about caches and service workers counts only while it is.
func (t *Traffic) Keep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = true
}

// Enabled reports whether the Network domain is on, or is turned on for what begins.
func (t *Traffic) Enabled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.kept || !t.since.IsZero()
}

// Recording reports whether new sessions of the tab take part.
func (t *Traffic) Recording() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.since.IsZero()
}

// Record begins to record, once.
func (t *Traffic) Record(ctx context.Context) error {
	t.mu.Lock()
	if !t.since.IsZero() {
		t.mu.Unlock()
		return nil
	}
	// From here on a session that begins takes part, so none is missed between the
	// list of sessions and their commands.
	t.since, t.settled = time.Now(), time.Now()
	t.byID, t.open = map[string]*exchange{}, map[*exchange]bool{}
	t.mu.Unlock()
	t.expectQuiet()
	return t.client.Broadcast(ctx, t.tab.Lifetime(), t.tab.Sessions(), t.EnableCommand())
}

// RecordFromHere records from the first session of the tab on, which must not have begun. onEnd, which may
// be nil, gets each request that ends, from the reader: it must not wait for anything, nor call back.
func (t *Traffic) RecordFromHere(onEnd func(primitives.NetworkRequest)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since, t.settled = time.Now(), time.Now()
	t.byID, t.open = map[string]*exchange{}, map[*exchange]bool{}
	t.onEnd = onEnd
}

// expectQuiet notes that the document that is there may have requests under way that
// nobody has seen begin.
func (t *Traffic) expectQuiet() {
	loader, quiet := t.tab.MainDocument()
	if quiet || loader == "" {
		return
	}
	t.mu.Lock()
	t.unknown = loader
	t.mu.Unlock()
	// What happened to the document in between was not recorded.
	if now, quiet := t.tab.MainDocument(); quiet || now != loader {
		t.DocumentQuiet(loader)
	}
}
