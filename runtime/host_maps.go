package runtime

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/sites"
)

// watchMaps keeps the maps of the host like their files until the host closes.
func (h *Host) watchMaps() {
	if !h.opts.WatchMaps {
		return
	}
	h.life.Go(func() {
		if err := h.opts.Maps.Watch(h.ctx, h.reportMapsChanged); err != nil {
			h.log.Warn("changes of the maps are not noticed", "error", err)
		}
	})
}

// reportMapsChanged emits on every tab that maps have changed.
func (h *Host) reportMapsChanged(change sites.Change, payload json.RawMessage) {
	h.log.Info(
		"the maps have changed",
		"added", len(change.Added),
		"changed", len(change.Changed),
		"removed", len(change.Removed),
	)
	for _, r := range slices.Concat(change.Kept, change.Refused) {
		for _, p := range r.Errors[:min(len(r.Errors), 5)] {
			h.log.Warn(
				"a map is invalid",
				"file", r.Path,
				"kept", r.Kept,
				"pointer", p.Pointer,
				"code", p.Code,
				"error", p.Message,
			)
		}
	}
	h.mapsMoved(h.ctx)
	for _, t := range h.tabList() {
		h.emit(Event{
			Kind:      DOMEvent,
			Tab:       t.Status(),
			Name:      mapset.ChangedEvent,
			PageEvent: mapset.ChangedEvent,
			Payload:   payload,
		})
	}
}
