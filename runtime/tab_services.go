package runtime

import (
	"context"
	"encoding/json"
	"slices"

	tabsession "github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/runtime/announce"
	"github.com/outrider-run/outrider/runtime/attach"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/monitor"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/sitetool"
	"github.com/outrider-run/outrider/runtime/state"
	"github.com/outrider-run/outrider/sites"
)

// services are the features of one tab by what its calls use of them.
type services struct {
	tool        *sitetool.Tool
	actions     *siteaction.Actions
	states      *state.Projections
	monitor     *monitor.Monitor
	signals     *signal.Signals
	attachments *attach.Attachments
	regions     *announce.Regions
	overlay     *announce.Overlay
}

// openServices makes the features of a tab. h.mu is held.
func (h *Host) openServices(t *Tab) {
	r := &t.services
	r.states = state.New(state.Deps{
		Maps:      h.opts.Maps,
		Registry:  h.opts.Registry,
		Quirks:    h.opts.Quirks,
		Log:       h.log,
		MostBytes: h.opts.Limits.StateBytes,
		Within:    h.within,
	}, t)
	r.monitor = monitor.New(h.opts.Maps, t, h.log)
	r.signals = h.signals.Open(t, r.monitor)
	r.attachments = attach.New(attach.Deps{
		Maps: h.opts.Maps, Log: h.log, NewID: h.opts.NewID, Leaves: h.opts.Browser.Attach != "",
		Accept: func(from *sites.Map, msg Call, done func(Reply)) { h.acceptFrom(from, msg, done) },
	}, t, r.monitor, r.signals)
	r.regions = announce.NewRegions(t, func() *tabsession.Announcements { return &t.stores().Announcements })
	r.overlay = announce.NewOverlay(t)
	r.actions = siteaction.New(siteaction.Deps{
		Maps:      h.opts.Maps,
		Registry:  h.opts.Registry,
		Quirks:    h.opts.Quirks,
		Log:       h.log,
		Forbids:   h.forbids,
		Within:    h.within,
		Subscribe: h.Subscribe,
	}, t, siteaction.Features{
		Postconditions: r.states, Signals: r.signals, Attachments: r.attachments, Moved: r.monitor.Refresh,
	})
	r.tool = sitetool.New(r.actions, r.states, r.monitor, r.signals, r.attachments)
	if remembered := h.opts.Remembered; remembered != nil {
		r.tool.Remembers(func(ctx context.Context, arguments json.RawMessage) Reply {
			return remembered(ctx, h, t.Status(), arguments)
		})
	}
	t.features = []feature{r.states, r.monitor, r.signals, r.attachments}
}

// publish has the documents of the browser listen by another script.
func (h *Host) publish(ctx context.Context, script signal.Script) {
	if b := h.currentBrowser(); b != nil {
		b.Listen(ctx, listenScript(script))
	} // else the next one begins with it
}

// listenScript is a script in the words of the browser.
func listenScript(s signal.Script) browser.ListenScript {
	return browser.ListenScript{Source: s.Source, Any: s.Any, Hosts: s.Hosts}
}

// mapsMoved follows other maps: what documents listen for, what is drawn on pages.
func (h *Host) mapsMoved(ctx context.Context) {
	h.signals.Relisten(ctx)
	for _, t := range h.tabList() {
		t.changed(call.MapsChanged)
	}
}

// onSignal takes a report off the reader's hands. A tab that is just being opened
// gets what its first document reported as soon as it is a tab of the host.
func (h *Host) onSignal(bt *browser.Tab, raw []byte) {
	h.mu.Lock()
	i := slices.IndexFunc(h.tabs, func(t *Tab) bool { return t.shows(bt) })
	if i < 0 { // h.mu is held, so that the tab cannot come in between
		h.signals.KeepReport(bt, raw)
		h.mu.Unlock()
		return
	}
	t := h.tabs[i]
	h.mu.Unlock()
	t.services.signals.Report(bt, raw)
}

// onFrames reports changed frames to the tab. The browser's reader calls it.
func (h *Host) onFrames(bt *browser.Tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tabs {
		if t.shows(bt) {
			t.changed(call.FramesChanged)
		}
	}
}

// Listen implements session.Announcing.
func (s session) Listen(ctx context.Context, tabID int) error {
	t, err := s.host.tabIn(s.tab.ownWorkspace(), tabID)
	if err != nil {
		return err
	}
	return t.services.regions.Listen(ctx)
}

// WatchOverlay implements session.Session.
func (s session) WatchOverlay() { s.tab.services.overlay.Watch() }

// Marker implements session.Session.
func (s session) Marker(ctx context.Context, id, kind string) (tabsession.MarkerPlace, error) {
	return s.tab.services.states.Marker(ctx, id, kind)
}
