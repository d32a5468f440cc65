// Package monitor keeps the states of a tab up to date: it diagnoses those that the
// maps of its page declare after each change of the page. It decides nothing with
// them. The runtime runs one Monitor for each tab; what draws or forwards by state
// uses it.
package monitor

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
)

// settling is when the states of a page are observed again after it changed.
var settling = observe.Quietness{Quiet: 150 * time.Millisecond, Longest: 600 * time.Millisecond, Timeout: idleTime}

const (
	// idleTime is when a page without any change is observed all the same.
	idleTime = 15 * time.Second
	// diagnoseTime bounds one unasked observation of the states of a page.
	diagnoseTime = 5 * time.Second
	// What such observations may cost: after one that found nothing new the next waits
	// longer, up to diagnoseRest, and each rests diagnoseShare times as long as
	// the last one took.
	diagnoseRest  = 5 * time.Second
	diagnoseShare = 9
	// statelessRest is when a page without states is matched against
	// the maps again although no event reported that it moved or that they changed.
	statelessRest = time.Minute
)

// Tab is the tab whose states are followed.
type Tab interface {
	observe.Pages
	ID() int
	// SetStates takes over the names of the states that are current, and reports
	// whether they are other ones than before.
	SetStates(names []string) (changed bool)
}

// Monitor keeps a tab's status up to date with the states that are current. It
// costs nothing while no map with states applies to the page.
type Monitor struct {
	maps *mapset.Maps
	tab  Tab
	log  *slog.Logger
	wake chan struct{} // buffered, 1: the address or the maps changed

	mu     sync.Mutex
	last   verify.Diagnosed
	probes int // unasked, ever
}

// New is for one tab.
func New(maps *mapset.Maps, tab Tab, log *slog.Logger) *Monitor {
	return &Monitor{maps: maps, tab: tab, log: log, wake: make(chan struct{}, 1)}
}

// Refresh schedules another observation of the states.
func (m *Monitor) Refresh() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Changed implements the feature of a tab.
func (m *Monitor) Changed(c call.Change) {
	if c == call.AddressChanged || c == call.MapsChanged {
		m.Refresh()
	}
}

// Verdict is the last verdict on a state, by the name that a map has for it.
func (m *Monitor) Verdict(in *sites.Map, state string) verify.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last.VerdictOf(in, state)
}

// Probes is how often the states were observed unasked.
func (m *Monitor) Probes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.probes
}

// visibleStates are the states that the maps of an address offer and give a way
// to observe. Imports that nobody has read yet are not read for this.
func (m *Monitor) visibleStates(url string) (*sites.Library, []verify.NamedState) {
	o := m.maps.Current()
	if o.Library == nil {
		return nil, nil
	}
	return o.Library,
		slices.DeleteFunc(verify.StatesOffered(o.Library, o.Library.For(url)), func(n verify.NamedState) bool {
			return len(n.In.Manifest.State(n.Own).Diagnostics) == 0
		})
}

// Run observes the states of the page after each change of it, until ctx ends:
// the tab was closed.
func (m *Monitor) Run(ctx context.Context) {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sleep := func(least time.Duration) (moved bool) {
		timer := time.NewTimer(least)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-m.wake:
			moved = true
		}
		return moved
	}
	pause, moving := time.Duration(0), false
	for ctx.Err() == nil {
		page, err := m.tab.LivePage(ctx)
		if err != nil {
			return
		}
		lib, states := m.visibleStates(page.Tab().URL)
		if len(states) == 0 {
			m.tab.SetStates(nil)
			sleep(statelessRest)
			pause, moving = 0, false
			continue
		}
		// The wait begins before the probes, so that nothing falls between. It ends
		// with this round.
		round, end := context.WithCancel(ctx)
		wait := observe.Begin(round, page, settling, waits.Go)
		began := time.Now()
		changed, err := m.diagnose(round, page, lib, states)
		took := time.Since(began)
		switch {
		case changed:
			pause = 0
		case moving || err != nil:
			pause = min(max(2*pause, settling.Quiet), diagnoseRest)
		}
		moved := sleep(max(pause, min(diagnoseShare*took, diagnoseRest)))
		if !moved {
			select {
			case <-wait.Over:
				moving = wait.Changed
				if wait.Err != nil { // the document was replaced, a dialog is open, the page hangs
					sleep(settling.Quiet)
				}
			case <-m.wake:
				moved = true
			case <-ctx.Done():
			}
		}
		if moved {
			pause, moving = 0, false
		}
		end()
	}
}

// diagnose observes the states once and says whether other ones are current
// than before.
func (m *Monitor) diagnose(
	ctx context.Context, page primitives.Page, lib *sites.Library, states []verify.NamedState,
) (changed bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, diagnoseTime)
	defer cancel()
	m.mu.Lock()
	m.probes++
	m.mu.Unlock()
	seen, err := verify.DiagnoseStates(bounded, page, lib, states)
	if err != nil {
		m.log.Debug("diagnosing states", "tab", m.tab.ID(), "error", err)
		return false, err
	}
	return m.Note(seen), nil
}

// Note takes over what was observed of the states.
func (m *Monitor) Note(seen verify.Diagnosed) (changed bool) {
	m.mu.Lock()
	if seen.At.Before(m.last.At) {
		m.mu.Unlock()
		return false // a newer observation is known
	}
	m.last = seen
	m.mu.Unlock()
	return m.tab.SetStates(seen.Current())
}
