package mapset

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// BlockedPrimitives are those that a map takes away on its pages:
// requires.primitive_dictionary.blocked_primitives of the root.
func (o *Offer) BlockedPrimitives(m *sites.Map) []string {
	if b, ok := o.blocked.Load(m); ok {
		return b.([]string)
	}
	var names []string
	if raw := m.Manifest.Requires.Raw; len(raw) > 0 {
		names = BlockedIn(raw)
	}
	o.blocked.Store(m, names)
	return names
}

// BlockedIn are the primitives that a requires member takes away.
func BlockedIn(requires json.RawMessage) []string {
	var r struct {
		Dictionary struct {
			Blocked json.RawMessage `json:"blocked_primitives"`
		} `json:"primitive_dictionary"`
	}
	var names []string
	if json.Unmarshal(requires, &r) != nil || json.Unmarshal(r.Dictionary.Blocked, &names) != nil {
		return nil
	}
	return names
}

// Blocked fails when a map of the page takes a primitive away from agents. The
// map grants nothing by leaving it out: it can only narrow what there is.
func (o *Offer) Blocked(pageURL, primitive string) *fault.Error {
	if o.Library == nil {
		return nil
	}
	for _, m := range o.Library.For(pageURL) {
		if slices.Contains(o.BlockedPrimitives(m), primitive) {
			return fault.New(fault.CapabilityUnavailable, "the map of this site blocks %s", primitive).
				With("primitive", primitive).With("map_path", m.Path).With("reason", "blocked_primitives").
				Next("use an action that the site's map declares; mode list names them")
		}
	}
	return nil
}
