package state

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
)

const (
	// maxDeclared bounds the projections that are read for a recording.
	maxDeclared = 8
	// declaredTime bounds reading all of them: a call waits for it.
	declaredTime = 500 * time.Millisecond
)

// declared knows which projections the maps declare for the page, and how each was when it was read for a
// recording last.
type declared struct {
	mu    sync.Mutex
	offer *mapset.Offer
	url   string
	names []string
	last  states
}

// Declared reads the projections that the maps on offer declare for the page, each with its difference to the time
// before. It leaves what callers have read and registered alone.
func (p *Projections) Declared(ctx context.Context) []call.StateSeen {
	offer, url := p.Maps.Current(), p.tab.Status().URL
	if offer.Library == nil {
		return nil
	}
	d := &p.declared
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.offer != offer || d.url != url {
		d.offer = offer
		d.url = url
		d.names = nil
		for _, row := range offer.Library.List(url).StateProjections {
			d.names = append(d.names, row.Name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, declaredTime)
	defer cancel()
	reader := p.reader(nil)
	reader.quiet = true
	var out []call.StateSeen
	for _, name := range d.names[:min(len(d.names), maxDeclared)] {
		declaration, snap, err := reader.read(ctx, name, projection.ReadOptions{})
		switch {
		case ctx.Err() != nil:
			return out // how it is cannot be said
		case err != nil:
			out = append(out, call.StateSeen{Projection: name, Code: string(fault.CodeOf(err))})
			continue
		}
		seen := call.StateSeen{Projection: name, State: snap.State, Hash: snap.Hash}
		if last, ok := d.last.swap(name, lastState{snap.State, snap.Hash}); ok && last.hash != snap.Hash {
			seen.Patches = difference(p.Quirks, declaration, last.state, snap.State).Patches
		}
		out = append(out, seen)
	}
	return out
}
