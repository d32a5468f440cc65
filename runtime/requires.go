package runtime

import (
	"slices"
	"strconv"

	"github.com/outrider-run/outrider/runtime/verify"

	"github.com/outrider-run/outrider/runtime/mapset"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// dictionaryVersion is the version of the primitive dictionary this runtime
// has; see buildManifest.
const dictionaryVersion = 1

// unmet decides before the first step whether the runtime has what a tool and
// its map ask for: the primitives it will invoke, those it requires by name or
// by capability, and the version of the dictionary. It costs no round trip.
func (h *Host) unmet(o *mapset.Offer, match *sites.Match, uses []string) *fault.Error {
	m, t := match.Map, match.Tool
	blocked := append(slices.Clone(o.BlockedPrimitives(m)), mapset.BlockedIn(t.Needs.Raw)...)
	fail := func(reason, what string) *fault.Error {
		return fault.New(fault.CapabilityUnavailable, "the action needs %s, which this host does not provide; nothing was done", what).
			With("action", t.Name).With("map_path", m.Path).With("missing", what).With("reason", reason).
			With("host", hostName).With("adapter", primitives.Adapter)
	}
	for _, name := range uses {
		if slices.Contains(blocked, name) {
			return fail("blocked_primitives", name)
		}
		if err := h.forbids(m, name); err != nil {
			return err.With("action", t.Name)
		}
		if reason := h.lacksPrimitive(name); reason != "" {
			return fail(reason, name)
		}
	}
	// The list of the whole map says nothing about this tool: what the tool uses
	// was looked at above.
	for _, name := range t.Needs.Primitives {
		if reason := h.lacksPrimitive(name); reason != "" {
			return fail(reason, name).With("nearest", fault.Near(name, h.opts.Registry.Names()))
		}
	}
	for _, r := range []manifest.Requirements{m.Manifest.Requires, t.Needs} {
		if v := r.DictionaryVersion; v != nil && *v > dictionaryVersion {
			return fail("dictionary_version", "version "+strconv.Itoa(*v)+" of the primitive dictionary").With("dictionary_version", dictionaryVersion)
		}
		for _, name := range r.Capabilities {
			if verify.IsState(o.Library, m, name) || verify.IsSignedInRequirement(o.Library, m, name) || slices.Contains(h.capabilities(), name) {
				continue // a state is looked at on the page
			}
			if reason := h.lacksPrimitive(name); reason != "" {
				return fail(reason, name).With("nearest", fault.Near(name, append(h.capabilities(), h.opts.Registry.Names()...)))
			}
		}
	}
	return nil
}

// lacksPrimitive says why a primitive cannot be had here, "" when it can.
func (h *Host) lacksPrimitive(name string) string {
	record, ok := h.opts.Registry.Lookup(name)
	switch {
	case !ok:
		return "unknown"
	case record.Adapters[primitives.Adapter].Support == "unsupported":
		return "unsupported"
	}
	return ""
}
