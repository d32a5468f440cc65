// Package state reads the state projections of a live page: once, compared with the
// last state, watched over time, and as the postcondition of an action. It knows one
// tab's pages and the maps on offer, not the queue. The runtime makes one
// Projections for each tab; calls of actions.site and site actions use it.
package state

import (
	"context"
	"log/slog"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
)

// Deps are shared by the projections of every tab of a host.
type Deps struct {
	Maps     *mapset.Maps
	Registry *primitives.Registry
	Quirks   quirks.Set
	Log      *slog.Logger
	// MostBytes is the greatest limit of bytes that a call may set; 0 is projection.DefaultMostBytes.
	MostBytes int64
	// Within returns a context in which pages are read within the origins of a map; via is
	// the map by which it is offered, page the address on which it begins.
	Within func(ctx context.Context, m, via *sites.Map, page string) context.Context
}

// Tab is the tab whose pages are read.
type Tab interface {
	observe.Pages
	ID() int
	Status() call.TabStatus
	// LastCall is the id of the call that ran last.
	LastCall() string
	Emit(call.Event)
	// Context ends with the tab. Go runs f beside the calls; the host waits for
	// it. It is false when the host is closed.
	Context() context.Context
	Go(f func()) bool
}

// Projections keeps the projections of one tab. It is safe for
// concurrent use.
type Projections struct {
	Deps
	tab      Tab
	last     states
	held     held
	markers  markers
	watches  watches
	declared declared
}

// New is for one tab.
func New(d Deps, tab Tab) *Projections { return &Projections{Deps: d, tab: tab} }

// Run waits until ctx ends: the tab was closed. Then its watches end; the host waits
// for them.
func (p *Projections) Run(ctx context.Context) {
	<-ctx.Done()
	p.watches.close()
	p.held.drop()
}

// Changed implements the feature of a tab: watches observe the page by themselves.
func (p *Projections) Changed(call.Change) {}

// WatchReads is how many reads the watches have begun.
func (p *Projections) WatchReads() int {
	p.watches.mu.Lock()
	defer p.watches.mu.Unlock()
	return p.watches.reads
}
