package runtime

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Limits bound what the pages of a host may take. A zero is no limit.
type Limits struct {
	// Tabs is how many tabs there may be, those that pages open included.
	Tabs int
	// TabMemory is how many bytes the scripts and the document of one tab may hold. A
	// tab that holds more is ended, and opened again without a page.
	TabMemory int64
	// StateBytes is how much one call may ask to read for a state. A zero is projection.DefaultMostBytes.
	StateBytes int64
}

// RefuseCalls makes the host refuse calls from here on; those that it accepted go on.
func (h *Host) RefuseCalls() { h.refusing.Store(true) }

// ending is why a call is refused while the host waits for others; nil when it is not.
func (h *Host) ending() *fault.Error {
	if !h.refusing.Load() {
		return nil
	}
	return fault.New(fault.RuntimeNotReady, "the runtime is ending and takes no more calls").
		Next("call another runtime")
}

// reserve takes one of the places for tabs, until release.
func (h *Host) reserve() (release func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if most := h.opts.Limits.Tabs; most > 0 && len(h.tabs)+h.opening >= most {
		return nil, fault.New(fault.PermissionDenied, "the runtime has %d tabs, and may have no more", most).
			With("limit", most).Next("close a tab first")
	}
	h.opening++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.opening--
	}, nil
}

// tooMany closes a tab that a page opened beyond the limit.
func (h *Host) tooMany(bt *browser.Tab) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if most := h.opts.Limits.Tabs; h.closed || most <= 0 || len(h.tabs)+h.opening < most {
		return false
	}
	h.log.Warn(
		"a page opened a tab beyond the limit, which is closed", "tab", h.openerLocked(bt), "limit", h.opts.Limits.Tabs,
	)
	bt.Refuse(h.opts.Limits.Tabs)
	h.life.Go(func() {
		ctx, cancel := context.WithTimeout(h.ctx, reopenSlack)
		defer cancel()
		if err := bt.Close(ctx); err != nil {
			h.log.Debug("closing a tab beyond the limit", "error", err)
		}
	})
	return true
}

// openerLocked is the number of the tab whose page opened bt, 0 when that is none of the host's; h.mu is held.
func (h *Host) openerLocked(bt *browser.Tab) int {
	opener := bt.Opener()
	if opener == nil {
		return 0
	}
	for _, t := range h.tabs {
		if t.shows(opener) {
			return t.id
		}
	}
	return 0
}

// memoryEvery is how often the memory of tabs is measured, and memoryTime how long one
// tab may take to answer: one that is busy is measured next time.
const (
	memoryEvery = 2 * time.Second
	memoryTime  = time.Second
)

// watchMemory ends tabs that hold more than they may, until the host closes.
func (h *Host) watchMemory() {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		}
		for _, t := range h.tabList() {
			h.measure(t)
		}
	}
}

func (h *Host) measure(t *Tab) {
	t.mu.Lock()
	bt, ok := t.page.(*browser.Tab)
	t.mu.Unlock()
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, memoryTime)
	defer cancel()
	held, err := bt.Memory(ctx)
	most := h.opts.Limits.TabMemory
	if err != nil || held <= most {
		return
	}
	h.log.Warn("a tab holds too much memory and is ended", "tab", t.id, "bytes", held, "limit", most)
	t.mu.Lock()
	t.heavy = true
	t.mu.Unlock()
	bt.Crash(fault.New(
		fault.TabCrashed, "the page held %d MB, of %d MB that a tab may hold, and was ended", held>>20, most>>20,
	).With("bytes", held).With("limit", most).Next("open a lighter page; the tab is there again, empty"))
}

// addressAgain is where a tab is opened again: nowhere when its page held too much.
func (t *Tab) addressAgain() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heavy {
		t.heavy = false
		return "about:blank"
	}
	return t.status.URL
}
