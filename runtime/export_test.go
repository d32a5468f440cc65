package runtime

import (
	"context"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
)

// BrowserPID returns the process id of the running browser.
func (h *Host) BrowserPID() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.browser.PID()
}

// CrashTab crashes the renderer of a tab.
func (h *Host) CrashTab(runtimeID string) error {
	for _, t := range h.tabList() {
		if t.Status().RuntimeID == runtimeID {
			t.mu.Lock()
			page := t.page
			t.mu.Unlock()
			page.(*browser.Tab).Crash(nil)
			return nil
		}
	}
	return errors.New("no such tab")
}

// WatchReads is how many reads the watches of the first tab have begun.
func (h *Host) WatchReads() int {
	return h.tabList()[0].services.states.WatchReads()
}

// Diagnoses is how often the first tab has probed its states without a call.
func (h *Host) Diagnoses() int {
	return h.tabList()[0].services.monitor.Probes()
}

// DiagnoseAll diagnoses the states of every map of a library on a page.
func DiagnoseAll(ctx context.Context, page primitives.Page, l *sites.Library) ([]string, error) {
	seen, err := verify.DiagnoseStates(ctx, page, l, verify.StatesOffered(l, l.Maps()))
	return seen.Current(), err
}
