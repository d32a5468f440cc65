package runtime

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/sites"
)

// MapsChangedEvent is the name of the event that tells, on every tab, that maps
// of the runtime's own folders have changed; the payload is mapsChanged.
const MapsChangedEvent = "runtime.maps_changed"

// mapsChanged is bounded: an agent that hears it lists the actions again.
type mapsChanged struct {
	Added   []string       `json:"added"`
	Changed []string       `json:"changed"`
	Removed []string       `json:"removed"`
	Kept    []brokenOnDisk `json:"kept"`    // invalid now, still offered as before
	Refused []brokenOnDisk `json:"refused"` // invalid, and not offered
}

// brokenOnDisk is a map that was edited into something invalid.
type brokenOnDisk struct {
	File       string `json:"file"`
	ErrorCount int    `json:"error_count"`
	Pointer    string `json:"pointer"` // of the first error
	Code       string `json:"code"`
	Message    string `json:"message"`
}

// maxTold bounds each list of mapsChanged.
const maxTold = 20

// reload loads the files again and offers what they hold now, beside the bundle.
func (m *Maps) reload() sites.Change {
	m.reloading.Lock()
	defer m.reloading.Unlock()
	m.mu.Lock()
	files := m.files
	m.mu.Unlock()
	next, _, change := files.Reload(m.paths)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = next
	if len(change.Added)+len(change.Changed)+len(change.Removed)+len(change.Refused) > 0 {
		m.offered = &offer{library: sites.Join(m.files, m.bundled)}
	}
	return change
}

// watchMaps keeps the maps of the host like their files until the host closes.
func (h *Host) watchMaps() {
	m := h.opts.Maps
	if !h.opts.WatchMaps || len(m.paths) == 0 {
		return
	}
	h.life.Go(func() {
		told := ""
		err := sites.Watch(h.ctx, m.paths, func() {
			change := m.reload()
			payload, err := json.Marshal(tellable(change))
			if err != nil {
				return
			}
			// A map that stays broken is told of once.
			if change.Empty() || len(change.Added)+len(change.Changed)+len(change.Removed) == 0 && string(payload) == told {
				return
			}
			told = string(payload)
			h.tellMapsChanged(change, payload)
		})
		if err != nil {
			h.log.Warn("changes of the maps are not noticed", "error", err)
		}
	})
}

func (h *Host) tellMapsChanged(change sites.Change, payload json.RawMessage) {
	h.log.Info("the maps have changed", "added", len(change.Added), "changed", len(change.Changed), "removed", len(change.Removed))
	for _, r := range slices.Concat(change.Kept, change.Refused) {
		for _, p := range r.Errors[:min(len(r.Errors), 5)] {
			h.log.Warn("a map is invalid", "file", r.Path, "kept", r.Kept, "pointer", p.Pointer, "code", p.Code, "error", p.Message)
		}
	}
	h.mapsMoved(h.ctx)
	for _, t := range h.tabList() {
		h.emit(Event{Kind: DOMEvent, Tab: t.Status(), Name: MapsChangedEvent, PageEvent: MapsChangedEvent, Payload: payload})
	}
}

func tellable(c sites.Change) mapsChanged {
	broken := func(list []sites.FileReport) []brokenOnDisk {
		out := []brokenOnDisk{}
		for _, r := range list[:min(len(list), maxTold)] {
			first := r.Errors[0]
			out = append(out, brokenOnDisk{sites.ShownPath(r.Path), len(r.Errors), first.Pointer, string(first.Code), first.Message})
		}
		return out
	}
	some := func(list []string) []string { return append([]string{}, list[:min(len(list), maxTold)]...) }
	return mapsChanged{some(c.Added), some(c.Changed), some(c.Removed), broken(c.Kept), broken(c.Refused)}
}
