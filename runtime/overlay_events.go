package runtime

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/observe"
)

// OverlayEvent begins the names of the events of the overlay: opened, closed,
// minimized, expanded, launcher-opened and open-failed follow it. The payload
// says which overlay and whether a call or somebody at the page did it.
const OverlayEvent = "actions-json:overlay-"

// overlaySilence bounds one wait for something to happen to the overlay.
const overlaySilence = 15 * time.Second

// overlayWatch is whether somebody listens to the overlay of a tab.
type overlayWatch struct {
	mu      sync.Mutex
	running bool
	again   bool // an overlay was opened since the page was asked last
}

// WatchOverlay implements session.Session.
func (s session) WatchOverlay() {
	w := &s.tab.overlay
	w.mu.Lock()
	w.again = true
	start := !w.running
	w.running = true
	w.mu.Unlock()
	if !start {
		return
	}
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	if !s.host.closed {
		s.host.life.Go(func() { s.tab.listenToOverlay(s.host.ctx) })
	}
}

// listenToOverlay asks the page what happens to its overlay until there is none
// any more, in a document that may be replaced: then it is gone.
func (t *Tab) listenToOverlay(ctx context.Context) {
	w := &t.overlay
	for {
		w.mu.Lock()
		if ctx.Err() != nil || !w.again {
			w.running = false
			w.mu.Unlock()
			return
		}
		w.again = false
		w.mu.Unlock()
		for live := true; live && ctx.Err() == nil; {
			page, err := t.LivePage(ctx)
			if err == nil {
				live, err = t.hearOverlay(ctx, page)
			}
			switch {
			case err == nil:
			case page == nil || ended(page) || fault.CodeOf(err) == fault.PageNavigated || fault.CodeOf(err) == fault.FrameNotFound:
				live = false
			default:
				observe.Pause(ctx, announceRest)
			}
		}
	}
}

func (t *Tab) hearOverlay(ctx context.Context, page primitives.Page) (live bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*overlaySilence)
	defer cancel()
	var out struct {
		Events []struct {
			Event      string `json:"event"`
			How        string `json:"how"`
			Title      string `json:"title,omitempty"`
			LauncherID string `json:"launcher_id,omitempty"`
			Code       string `json:"code,omitempty"`
		} `json:"events"`
		Live bool `json:"live"`
	}
	if err := page.Call(ctx, "", "overlay_events", map[string]any{"timeout_ms": overlaySilence.Milliseconds()}, &out); err != nil {
		return true, err
	}
	for _, ev := range out.Events {
		payload, err := json.Marshal(struct {
			OverlayID  string `json:"overlay_id"`
			How        string `json:"how"`
			Title      string `json:"title,omitempty"`
			LauncherID string `json:"launcher_id,omitempty"`
			Code       string `json:"code,omitempty"`
		}{"actions-json-overlay", ev.How, ev.Title, ev.LauncherID, ev.Code})
		if err != nil {
			return out.Live, err
		}
		t.mu.Lock()
		status, call := t.statusNow(), t.lastCall
		if t.runningCall != "" {
			call = t.runningCall
		}
		t.mu.Unlock()
		name := OverlayEvent + ev.Event
		t.host.emit(Event{Kind: DOMEvent, Tab: status, Name: name, PageEvent: name, Payload: payload, PreviousCallID: call})
	}
	return out.Live, nil
}
