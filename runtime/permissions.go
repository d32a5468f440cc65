package runtime

import (
	"encoding/json"
	"net/url"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/sites"
)

// forbids decides whether an action of a map may use a primitive at all. The upstream
// extension has no such check.
func (h *Host) forbids(m *sites.Map, primitive string) *fault.Error {
	need := sites.PermissionFor(primitive)
	if h.opts.Quirks.Has(quirks.MapsAsTheyCome) || h.opts.MapPermissions.Allow(m, need) {
		return nil
	}
	return notPermitted(m, need).With("primitive", primitive)
}

// forbidsAddress decides whether an action of a map may lead to an address: those of the
// page's own origin, and those that the map is about, are open to it.
func (h *Host) forbidsAddress(m *sites.Map, page, primitive string, args json.RawMessage) *fault.Error {
	if m == nil || primitive != "browser.navigate" && primitive != "browser.open_tab" || h.opts.Quirks.Has(quirks.MapsAsTheyCome) || h.opts.MapPermissions.Allow(m, sites.Origins) {
		return nil
	}
	var in struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(args, &in) // what is no address is the primitive's to refuse
	if in.URL == "" || in.URL == "about:blank" || originOf(in.URL) == originOf(page) || m.About(in.URL) {
		return nil
	}
	return notPermitted(m, sites.Origins).With("primitive", primitive).With("requested_origin", originOf(in.URL))
}

func notPermitted(m *sites.Map, need sites.Permission) *fault.Error {
	e := fault.New(fault.PermissionDenied, "a map of the scope %s has no permission %s; nothing was done", m.Location.Scope, need)
	return e.With("permission", string(need)).With("scope", string(m.Location.Scope)).With("map_path", m.Path).
		Next("the operator may give it: --allow-maps " + string(m.Location.Scope) + "=" + string(need))
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
