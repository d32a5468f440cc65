package sites

import (
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
)

// Bounds are the origins that something done on behalf of a map keeps to. They implement
// primitives.Bounds.
type Bounds struct {
	of *Map
	// begun is the origin of the page on which it began, "" when that is none of the map's.
	begun string
	port  string // that the address of that page spells out
	hosts []string
}

// BoundsOf returns the bounds of an action of m that begins on a page, nil when the map may
// leave its origin. via is the map of the page by which it is offered: m itself, or one
// that imports it.
func (p Permissions) BoundsOf(m, via *Map, page string) *Bounds {
	if p.Allow(m, Origins) {
		return nil
	}
	at := location.ParsePage(page)
	b := &Bounds{of: m, hosts: m.declaredHosts(), port: at.Port, begun: OriginOf(page)}
	trusted := via == nil || via.ownedByUser()
	if !trusted && len(b.hosts) > 0 && !b.about(at) && !via.isAbout(at) {
		b.begun = ""
	}
	return b
}

// declaredHosts are the hosts that the map says it is about, also where it applies to every
// page because its file was named.
func (m *Map) declaredHosts() []string {
	switch {
	case m.Location.Host != "":
		return []string{m.Location.Host}
	case m.surface != "":
		return []string{m.surface}
	}
	var hosts []string
	for _, p := range m.patterns {
		if p.Host == "" {
			return nil
		}
		hosts = append(hosts, p.Host)
	}
	return hosts
}

func (m *Map) isAbout(at location.Page) bool {
	return (&Bounds{of: m, hosts: m.declaredHosts()}).about(at)
}

// about reports whether the host of a page is one of the map's, or below one.
func (b *Bounds) about(at location.Page) bool {
	for h := range at.Hosts {
		if slices.Contains(b.hosts, h) {
			return true
		}
	}
	return false
}

// Holds reports whether an origin is one of the map's: that of the page on which the action
// began, the one that the map declares, and those of its hosts on the usual ports, or on that
// of the page.
func (b *Bounds) Holds(origin string) bool {
	if origin == "" {
		return false
	}
	if origin == b.begun {
		return true
	}
	at := location.ParsePage(origin)
	if !b.about(at) {
		return false
	}
	if origin == b.of.origin {
		return true
	}
	if strings.HasPrefix(b.begun, "https:") && strings.HasPrefix(origin, "http:") {
		return false // anybody on the way can write what is there
	}
	return at.Port == "" || at.Port == b.port
}

// Refuses implements primitives.Bounds.
func (b *Bounds) Refuses(origin string) error {
	if b.Holds(origin) {
		return nil
	}
	return b.of.Denied(
		Origins, "the page, or the frame, is of an origin that is none of the map's; the step was not done",
	).
		With("page_origin", fault.Clip(origin, 200))
}

// RefusesAddress says why something may not lead to an address, nil when it may.
func (b *Bounds) RefusesAddress(address string) *fault.Error {
	if blank(address) || b.Holds(OriginOf(address)) {
		return nil
	}
	return b.of.Denied(Origins, "the address is of an origin that is none of the map's; the step was not done").
		With("requested_origin", fault.Clip(OriginOf(address), 200))
}

// RefusesClipboard is the refusal of what brings what was copied elsewhere.
func (b *Bounds) RefusesClipboard() *fault.Error {
	return b.of.Denied(Origins,
		"the keys paste what may have been copied on a page of another origin; the step was not done")
}

func blank(address string) bool {
	bare, _, _ := strings.Cut(address, "#")
	return strings.EqualFold(bare, "about:blank")
}

// OriginOf is the origin of an address as the browser writes it: "null" for those that have
// none, such as data:.
func OriginOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return location.Origin(u)
	case "blob":
		return OriginOf(u.Opaque)
	case "file":
		return "file://"
	case "":
		return ""
	}
	return "null"
}
