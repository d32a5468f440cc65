package runtime

import (
	"context"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/call"
)

// onBrowserEvent takes what happens to tabs: one opens, navigates, crashes or closes.
func (h *Host) onBrowserEvent(ev browser.Event) {
	if ev.Tab == nil {
		return // BrowserLost: the supervisor waits for the browser itself
	}
	if ev.Kind == browser.TabOpened {
		if !ev.Requested && !h.tooMany(ev.Tab) {
			h.adopt(ev.Tab)
			ev.Tab.Admit()
		}
		return
	}
	t := h.tabShowing(ev.Tab)
	if t == nil {
		if ev.Kind == browser.TabClosed {
			h.signals.Forget(ev.Tab)
		}
		return
	}
	switch ev.Kind {
	case browser.TabNavigated, browser.TabChanged:
		if ev.Kind == browser.TabNavigated {
			t.changed(call.DocumentReplaced)
		}
		t.refresh()
	case browser.ToolsChanged:
		t.emit(TabChanged)
	case browser.TabCrashed:
		t.forget(ev.Tab)
		h.log.Warn("a tab crashed and is opened again", "tab", t.id)
		h.mu.Lock()
		if !h.closed {
			h.life.Go(func() { h.revive(t, ev.Tab) })
		}
		h.mu.Unlock()
	case browser.TabClosed:
		h.drop(t, fault.New(fault.TabClosed, "the tab was closed"))
	}
}

// refresh emits what the browser knows of the tab's document, when that is new.
func (t *Tab) refresh() {
	t.mu.Lock()
	before := t.status
	t.status = t.statusNow()
	changed := t.status.URL != before.URL || t.status.Title != before.Title || t.status.Busy != before.Busy
	t.mu.Unlock()
	if changed {
		t.emit(TabChanged)
		t.changed(call.AddressChanged)
	}
}

// drop removes a tab for good.
func (h *Host) drop(t *Tab, why *fault.Error) {
	h.mu.Lock()
	h.tabs = slices.DeleteFunc(h.tabs, func(o *Tab) bool { return o == t })
	h.mu.Unlock()
	t.remove(why)
	t.emit(TabRemoved)
}

// reopenSlack bounds how long opening a tab again may take, the loading of its page aside. A tab
// that exceeds it is dropped, so it is for a machine that hardly moves.
const reopenSlack = 30 * time.Second

// revive opens a crashed tab again at its address.
func (h *Host) revive(t *Tab, crashed *browser.Tab) {
	h.mu.Lock()
	b := h.browser
	h.mu.Unlock()
	if b == nil {
		return // the supervisor reopens every tab
	}
	ctx, cancel := context.WithTimeout(h.ctx, h.opts.LoadTimeout+reopenSlack)
	defer cancel()
	if err := crashed.Close(ctx); err != nil {
		h.log.Debug("closing a crashed tab", "tab", t.id, "error", err)
	}
	h.settle(b, t, h.reopen(ctx, b, t))
}

// settle drops a tab that could not be opened again, unless that is because
// its browser ended: then the supervisor tries anew.
func (h *Host) settle(b *browser.Browser, t *Tab, err error) {
	if err == nil || h.ctx.Err() != nil {
		return
	}
	select {
	case <-b.Done():
	default:
		h.log.Error("a tab could not be opened again", "tab", t.id, "error", err)
		h.drop(t, fault.Wrap(fault.TabClosed, err, "opening the tab again"))
	}
}
