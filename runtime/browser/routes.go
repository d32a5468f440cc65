package browser

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/route"
)

// Route answers requests in place of the network, see route.Rule.
type Route = route.Rule

// Request is a request that Options.Answer or a Route answers, and Answer what its page gets.
type (
	Request = route.Request
	Answer  = route.Answer
	Header  = route.Header
)

// Recorded is what the requests of a recorded visit were answered with.
type Recorded[T any] = route.Recorded[T]

// Resent are the headers of a recorded answer that are sent again, see route.Resent.
func Resent(headers []Header) []Header { return route.Resent(headers) }

// CheckHeaders says which header line no browser takes, see route.CheckHeaders.
func CheckHeaders(headers []Header) error { return route.CheckHeaders(headers) }

// MissedRequest is a request that came near a route and was not answered by any.
type MissedRequest = route.Missed

// CheckRoutePattern says what is wrong with the address pattern of a route.
func CheckRoutePattern(glob string) error { return route.CheckPattern(glob) }

// routedWorker is the session of a worker whose requests are held, or whose script is waited for.
type routedWorker struct {
	*cdp.Session
	tab *Tab
}

// Route answers requests of a browser context, "" for the one that tabs are opened in, by rules from
// here on: of the first that matches. It returns when the tabs that are open know of it.
// No rules hold no requests. What no rule answers goes on to the network, where the
// policy of origins judges it.
func (b *Browser) Route(ctx context.Context, contextID string, rules []*Route) error {
	contextID = cmp.Or(contextID, b.own)
	if b.routesOf(contextID) == nil && len(rules) == 0 {
		return nil
	}
	table := b.tableOf(contextID)
	if b.offline != nil {
		return fault.New(fault.CapabilityUnavailable, "the browser is offline: everything is answered from a recording")
	}
	before := table.Command()
	if err := table.Set(rules); err != nil {
		return err
	}
	if slices.EqualFunc(before, table.Command(), func(x, y cdp.Command) bool {
		return string(x.Params) == string(y.Params)
	}) {
		return nil
	}
	return b.intercept(ctx, contextID, table)
}

// tableOf is the table of a browser context, which is made when there is none.
func (b *Browser) tableOf(own string) *route.Table {
	b.mu.Lock()
	defer b.mu.Unlock()
	table := b.routes[own]
	if table != nil {
		return table
	}
	table = route.New(b.client)
	for _, c := range b.opts.HTTPCredentials {
		table.Authorize(c)
	}
	if b.routes == nil {
		b.routes = map[string]*route.Table{}
	}
	b.routes[own] = table
	return table
}

// intercept has the tabs that are open in a context hold what its table is about.
func (b *Browser) intercept(ctx context.Context, contextID string, table *route.Table) error {
	var failed error
	for _, t := range b.Tabs() {
		if b.ownContext(t.context) != contextID || t.empty.Load() {
			continue
		}
		t.traffic.Keep()
		commands := append([]cdp.Command{t.traffic.EnableCommand()}, table.Command()...)
		err := b.client.Broadcast(ctx, t.Lifetime(), append(t.Sessions(), b.workersOf(t)...), commands...)
		if err != nil && !t.Lifetime().Over() {
			failed = cdp.Explain(err, "answering requests")
		}
	}
	return failed
}

// routesOf are the routes of a tab's browser context, nil for none.
func (b *Browser) routesOf(contextID string) *route.Table {
	own := b.ownContext(contextID)
	if len(b.opts.HTTPCredentials) > 0 {
		return b.tableOf(own)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.routes[own]
}

// dropRoutes ends the routes of a browser context that ends.
func (b *Browser) dropRoutes(contextID string) {
	b.mu.Lock()
	table := b.routes[contextID]
	delete(b.routes, contextID)
	b.mu.Unlock()
	table.Close()
}

func (b *Browser) closeRoutes() {
	b.mu.Lock()
	all := slices.Collect(maps.Keys(b.routes))
	b.mu.Unlock()
	for _, id := range all {
		b.dropRoutes(id)
	}
}

// keepWorker keeps the session of a worker whose page has routes, because its requests are
// not its page's, or whose page's requests are recorded: the page asks for the script of a
// worker, and the worker hears of its end. Those of a page with another clock are kept for that.
// The reader calls it.
func (b *Browser) keepWorker(s *cdp.Session, parent, address string) bool {
	owner, nested := b.ownerOf(parent)
	if owner == nil {
		return false
	}
	table := b.routesOf(owner.context)
	clock := owner.workerClock(s)
	watched := table.Active() || owner.traffic.Recording()
	if (nested || !watched) && len(clock) == 0 {
		return false
	}
	b.mu.Lock()
	if b.workers == nil {
		b.workers = map[string]routedWorker{}
	}
	b.workers[s.ID] = routedWorker{s, owner}
	b.mu.Unlock()
	commands := clock
	if len(clock) > 0 { // workers of its own take part too
		commands = append(commands, cdp.Command{
			Session: s.ID,
			Method:  "Target.setAutoAttach",
			Params:  []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`),
		})
	}
	if watched && !nested {
		owner.traffic.WorkerAttached(s, address)
		commands = append(commands, cdp.Command{Session: s.ID, Method: "Network.enable"})
	}
	if !nested && table.Active() {
		commands = append(commands, table.SessionCommands(s)...)
	}
	b.client.Post(append(commands, cdp.Command{Session: s.ID, Method: "Runtime.runIfWaitingForDebugger"})...)
	return true
}

// ownerOf is the tab whose worker a session is of: of a page, or nested in another worker.
func (b *Browser) ownerOf(parent string) (owner *Tab, nested bool) {
	if a := b.sessions[parent]; a != nil {
		return a.tab, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.workers[parent]
	if !ok {
		return nil, false
	}
	return w.tab, true
}

func (b *Browser) workersOf(t *Tab) (out []*cdp.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.workers {
		if w.tab == t {
			out = append(out, w.Session)
		}
	}
	return out
}

// onWorkerRequest answers a request of a worker. The reader calls it.
func (b *Browser) onWorkerRequest(session string, params []byte) {
	b.mu.Lock()
	w, ok := b.workers[session]
	b.mu.Unlock()
	if ok {
		b.routesOf(w.tab.context).HandleEvent(b.client, w.Session, params)
	}
}

// onWorkerChallenge answers a server that asks a worker for a name and a password. The
// reader calls it.
func (b *Browser) onWorkerChallenge(session string, params []byte) {
	b.mu.Lock()
	w, ok := b.workers[session]
	b.mu.Unlock()
	if ok {
		b.routesOf(w.tab.context).HandleChallenge(b.client, w.Session, params)
	}
}

// onWorkerTraffic takes what a worker hears of the request for its script. The reader calls it.
func (b *Browser) onWorkerTraffic(session string, method, params []byte) {
	b.mu.Lock()
	w, ok := b.workers[session]
	b.mu.Unlock()
	if ok {
		w.tab.traffic.HandleWorkerEvent(w.Session, method, params)
	}
}

// forgetWorker drops a session that has ended.
func (b *Browser) forgetWorker(session string) {
	b.mu.Lock()
	w, ok := b.workers[session]
	delete(b.workers, session)
	b.mu.Unlock()
	if ok {
		w.tab.traffic.SessionDetached(w.Session) // one that ended while its script came
	}
}
