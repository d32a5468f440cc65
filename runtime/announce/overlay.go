package announce

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
)

// OverlayEvent begins the names of the events of the overlay: opened, closed,
// minimized, expanded, launcher-opened and open-failed follow it. The payload
// says which overlay and whether a call or somebody at the page did it.
const OverlayEvent = "actions-json:overlay-"

// overlayIdleTime bounds one wait for something to happen to the overlay.
const overlayIdleTime = 15 * time.Second

// Overlay reports what happens to the overlay of one tab.
type Overlay struct {
	tab Tab

	mu      sync.Mutex
	running bool
	again   bool // an overlay was opened since the last page call
}

// NewOverlay is for one tab.
func NewOverlay(tab Tab) *Overlay { return &Overlay{tab: tab} }

// Watch starts or continues to listen, because an overlay was opened.
func (w *Overlay) Watch() {
	w.mu.Lock()
	w.again = true
	start := !w.running
	w.running = true
	w.mu.Unlock()
	if start {
		w.tab.Go(func() { w.listen(w.tab.Context()) })
	}
}

// listen follows the overlay of the page until it is closed. One in a
// document that was replaced is detached with it.
func (w *Overlay) listen(ctx context.Context) {
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
			page, err := w.tab.LivePage(ctx)
			if err == nil {
				live, err = w.evaluate(ctx, page)
			}
			switch {
			case err == nil:
			case page == nil || observe.Detached(page) || fault.CodeOf(err) == fault.PageNavigated ||
				fault.CodeOf(err) == fault.FrameNotFound:
				live = false
			default:
				observe.Pause(ctx, announceRest)
			}
		}
	}
}

func (w *Overlay) evaluate(ctx context.Context, page primitives.Page) (live bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*overlayIdleTime)
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
	if err := page.Call(
		ctx, "", "overlay_events", map[string]any{"timeout_ms": overlayIdleTime.Milliseconds()}, &out,
	); err != nil {
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
		name := OverlayEvent + ev.Event
		w.tab.Emit(call.Event{
			Kind:           call.DOMEvent,
			Tab:            w.tab.Status(),
			Name:           name,
			PageEvent:      name,
			Payload:        payload,
			PreviousCallID: w.tab.CallID(),
		})
	}
	return out.Live, nil
}
