package siteaction

import (
	"slices"
	"strconv"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// dictionaryVersion is the version of the primitive dictionary this runtime
// has; see runtime.Host.Manifest.
const dictionaryVersion = 1

// unmet decides before the first step whether the runtime has what a tool and
// its map require: the primitives it will invoke, those it requires by name or
// by capability, and the version of the dictionary. It costs no round trip.
func (a *Actions) unmet(o *mapset.Offer, match *sites.Match, uses []string) *fault.Error {
	m, t := match.Map, match.Tool
	blocked := append(slices.Clone(o.BlockedPrimitives(m)), mapset.BlockedIn(t.Needs.Raw)...)
	fail := func(reason, what string) *fault.Error {
		return fault.New(
			fault.CapabilityUnavailable,
			"the action needs %s, which this host does not provide; nothing was done", what,
		).With("action", t.Name).With("map_path", m.Path).With("missing", what).With("reason", reason).
			With("host", call.HostName).With("adapter", primitives.Adapter)
	}
	for _, name := range uses {
		if slices.Contains(blocked, name) {
			return fail("blocked_primitives", name)
		}
		if err := a.Forbids(m, name); err != nil {
			return err.With("action", t.Name)
		}
		if reason := a.lacksPrimitive(name); reason != "" {
			return fail(reason, name)
		}
	}
	// The list of the whole map says nothing about this tool: what the tool uses
	// was decided above.
	for _, name := range t.Needs.Primitives {
		if reason := a.lacksPrimitive(name); reason != "" {
			return fail(reason, name).With("nearest", fault.Near(name, a.Registry.Names()))
		}
	}
	for _, r := range []manifest.Requirements{m.Manifest.Requires, t.Needs} {
		if v := r.DictionaryVersion; v != nil && *v > dictionaryVersion {
			return fail("dictionary_version", "version "+strconv.Itoa(*v)+" of the primitive dictionary").
				With("dictionary_version", dictionaryVersion)
		}
		for _, name := range r.Capabilities {
			if verify.IsState(o.Library, m, name) || verify.IsSignedInRequirement(o.Library, m, name) ||
				slices.Contains(Capabilities(a.Registry), name) {
				continue // a state is observed on the page
			}
			if reason := a.lacksPrimitive(name); reason != "" {
				return fail(reason, name).With(
					"nearest", fault.Near(name, append(Capabilities(a.Registry), a.Registry.Names()...)),
				)
			}
		}
	}
	return nil
}

// lacksPrimitive returns why a primitive is unavailable here, "" when it is available.
func (a *Actions) lacksPrimitive(name string) string {
	record, ok := a.Registry.Lookup(name)
	switch {
	case !ok:
		return "unknown"
	case record.Adapters[primitives.Adapter].Support == "unsupported":
		return "unsupported"
	}
	return ""
}

// Capabilities are the names of the capabilities that a host with these primitives provides,
// sorted. A primitive that only answers capability_unavailable adds none.
func Capabilities(reg *primitives.Registry) []string {
	var names []string
	for _, r := range reg.Records() {
		if r.Adapters[primitives.Adapter].Support != "unsupported" {
			names = append(names, r.Capabilities...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
