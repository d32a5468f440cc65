package browser

import (
	"github.com/outrider-run/outrider/primitives"
)

// watched has the rooms of a new tab report to w.
func (t *Tab) watched(w *Watch) {
	if t.browser.opts.RecordNetwork {
		t.traffic.RecordFromHere(nil)
	}
	if w == nil {
		return
	}
	if w.Request != nil {
		t.traffic.RecordFromHere(func(r primitives.NetworkRequest) { w.Request(t, r) })
	}
	if w.Console != nil {
		t.console.RecordFromHere(func(m primitives.ConsoleMessage) { w.Console(t, m) })
	}
	if w.Picture != nil {
		t.KeepsCast()
		t.cast = newScreencast(t.browser.client, func(f ScreencastFrame) { w.Picture(t, f) })
	}
}
