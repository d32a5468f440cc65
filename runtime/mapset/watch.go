package mapset

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/filewatch"
)

// ChangedEvent is the name of the event that says, on every tab, that maps of
// the runtime's own folders have changed; the payload is changed.
const ChangedEvent = "runtime.maps_changed"

// changed is bounded: an agent that receives it lists the actions again.
type changed struct {
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

// reload loads the files again and offers what they declare, beside the bundle.
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
		m.offered = &Offer{Library: sites.Join(m.files, m.bundled)}
	}
	return change
}

// Reload reads the files of the maps again.
func (m *Maps) Reload() { m.reload() }

// Watch keeps the maps like their files until ctx ends, and reports each change
// with the payload of ChangedEvent.
func (m *Maps) Watch(ctx context.Context, report func(change sites.Change, payload json.RawMessage)) error {
	if len(m.paths) == 0 {
		return nil
	}
	last := ""
	return filewatch.Watch(ctx, m.paths, func() {
		change := m.reload()
		payload, err := json.Marshal(payloadOf(change))
		if err != nil {
			return
		}
		// A map that stays broken is reported once.
		if change.Empty() || len(change.Added)+len(change.Changed)+len(change.Removed) == 0 && string(payload) == last {
			return
		}
		last = string(payload)
		report(change, payload)
	})
}

// maxListed bounds each list of changed.
const maxListed = 20

func payloadOf(c sites.Change) changed {
	broken := func(list []sites.FileReport) []brokenOnDisk {
		out := []brokenOnDisk{}
		for _, r := range list[:min(len(list), maxListed)] {
			first := r.Errors[0]
			out = append(out, brokenOnDisk{
				sites.ShownPath(r.Path), len(r.Errors), first.Pointer, string(first.Code), first.Message,
			})
		}
		return out
	}
	some := func(list []string) []string { return append([]string{}, list[:min(len(list), maxListed)]...) }
	return changed{some(c.Added), some(c.Changed), some(c.Removed), broken(c.Kept), broken(c.Refused)}
}
