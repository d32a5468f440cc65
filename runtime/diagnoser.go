package runtime

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime/verify"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
)

// settling is when the states of a page are looked at again after it changed.
var settling = observe.Quietness{Quiet: 150 * time.Millisecond, Longest: 600 * time.Millisecond, Timeout: watchSilence}

const (
	// diagnoseTime bounds one unasked look at the states of a page.
	diagnoseTime = 5 * time.Second
	// What such looks may cost: after one that found nothing new the next waits
	// longer, up to diagnoseRest, and each rests diagnoseShare times as long as
	// the last one took.
	diagnoseRest  = 5 * time.Second
	diagnoseShare = 9
	// statelessRest is when a page without states to look at is matched against
	// the maps again although nothing said that it moved or that they changed.
	statelessRest = time.Minute
)

// diagnoser keeps the tab's status told of the states that are current. It costs
// nothing while no map with states applies to the page.
type diagnoser struct {
	wake chan struct{} // buffered, 1: the address or the maps changed

	mu    sync.Mutex
	last  verify.Diagnosed
	looks int // unasked, ever
}

func (d *diagnoser) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// visibleStates are the states that the maps of an address offer and give a way
// to see. Imports that nobody has read yet are not read for this.
func (h *Host) visibleStates(url string) (*sites.Library, []verify.NamedState) {
	o := h.opts.Maps.Current()
	if o.Library == nil {
		return nil, nil
	}
	return o.Library, slices.DeleteFunc(verify.StatesOffered(o.Library, o.Library.For(url)), func(n verify.NamedState) bool {
		return len(n.In.Manifest.State(n.Own).Diagnostics) == 0
	})
}

// keepStates looks at the states of the page after each change of it, until the
// tab is gone.
func (t *Tab) keepStates() {
	var waits sync.WaitGroup
	defer waits.Wait()
	ctx, cancel := context.WithCancel(t.host.ctx)
	defer cancel()
	waits.Go(func() {
		select {
		case <-t.gone:
			cancel()
		case <-ctx.Done():
		}
	})
	d := &t.diagnoser
	sleep := func(least time.Duration) (moved bool) {
		timer := time.NewTimer(least)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-d.wake:
			moved = true
		}
		return moved
	}
	pause, heard := time.Duration(0), false
	for ctx.Err() == nil {
		page, err := t.LivePage(ctx)
		if err != nil {
			return
		}
		lib, states := t.host.visibleStates(page.Tab().URL)
		if len(states) == 0 {
			t.tellStates(nil)
			sleep(statelessRest)
			pause, heard = 0, false
			continue
		}
		// The wait begins before the look, so that nothing falls between. It ends
		// with this round.
		round, end := context.WithCancel(ctx)
		wait := observe.Begin(round, page, settling, waits.Go)
		began := time.Now()
		changed, err := t.diagnoseNow(round, page, lib, states)
		took := time.Since(began)
		switch {
		case changed:
			pause = 0
		case heard || err != nil:
			pause = min(max(2*pause, settling.Quiet), diagnoseRest)
		}
		moved := sleep(max(pause, min(diagnoseShare*took, diagnoseRest)))
		if !moved {
			select {
			case <-wait.Over:
				heard = wait.Changed
				if wait.Err != nil { // the document is gone, a dialog is open, the page hangs
					sleep(settling.Quiet)
				}
			case <-d.wake:
				moved = true
			case <-ctx.Done():
			}
		}
		if moved {
			pause, heard = 0, false
		}
		end()
	}
}

// diagnoseNow looks at the states once and says whether other ones are current
// than before.
func (t *Tab) diagnoseNow(ctx context.Context, page primitives.Page, lib *sites.Library, states []verify.NamedState) (changed bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, diagnoseTime)
	defer cancel()
	t.diagnoser.mu.Lock()
	t.diagnoser.looks++
	t.diagnoser.mu.Unlock()
	seen, err := verify.DiagnoseStates(bounded, page, lib, states)
	if err != nil {
		t.host.log.Debug("diagnosing states", "tab", t.id, "error", err)
		return false, err
	}
	return t.noteStates(seen), nil
}

// noteStates takes over what a look at the page has found.
func (t *Tab) noteStates(seen verify.Diagnosed) (changed bool) {
	d := &t.diagnoser
	d.mu.Lock()
	if seen.At.Before(d.last.At) {
		d.mu.Unlock()
		return false // somebody has looked since
	}
	d.last = seen
	d.mu.Unlock()
	return t.tellStates(seen.Current())
}

func (t *Tab) tellStates(names []string) (changed bool) {
	t.mu.Lock()
	if changed = !slices.Equal(t.status.States, names); changed {
		t.status.States = names
	}
	t.mu.Unlock()
	if changed {
		t.emit(TabChanged)
		t.attachments.poke()
	}
	return changed
}
