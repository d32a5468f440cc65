package sites

import (
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
)

// Permission is something that the actions of a map do beyond clicking, typing and
// reading on the pages of their own origin.
type Permission string

// The permissions there are.
const (
	Script  Permission = "script"  // scripts of their own in the page
	Cookies Permission = "cookies" // cookies, stored sessions and recorded requests
	Origins Permission = "origins" // addresses of another origin
)

var allPermissions = []Permission{Script, Cookies, Origins}

// Permissions are those that were given to the maps of a scope. Maps of the user's own
// need none: private ones, and files that were named. What others wrote has none unless
// it is given.
type Permissions map[location.Scope][]Permission

// ParsePermissions reads SCOPE=PERMISSION,… as a user gives them.
func ParsePermissions(texts []string) (Permissions, error) {
	out := Permissions{}
	for _, text := range texts {
		name, list, ok := strings.Cut(text, "=")
		scope := location.Scope(strings.TrimSpace(name))
		if !ok || scope != location.Shared && scope != location.Public {
			return nil, fault.New(fault.InvalidArguments, "%q: expected shared=… or public=…", text)
		}
		for _, word := range strings.Split(list, ",") {
			p := Permission(strings.TrimSpace(word))
			if !slices.Contains(allPermissions, p) {
				return nil, fault.New(fault.InvalidArguments, "%q: expected script, cookies or origins after %s=", word, scope)
			}
			out[scope] = append(out[scope], p)
		}
	}
	return out, nil
}

// Allow reports whether the actions of a map may do something. A nil map is an agent.
func (p Permissions) Allow(m *Map, want Permission) bool {
	return want == "" || m == nil || m.ownedByUser() || slices.Contains(p[m.Location.Scope], want)
}

// ownedByUser: the user wrote the map, or named its file.
func (m *Map) ownedByUser() bool {
	return m.fetched == "" && (m.Location.Scope == location.Private || m.Location.Scope == location.Unscoped)
}

// PermissionFor is what a map needs to use a primitive, "" for nothing.
func PermissionFor(primitive string) Permission {
	switch primitive {
	case "page.evaluate", "browser.run_javascript", "debug.run_javascript":
		return Script
	case "network.get", "network.list":
		return Cookies
	}
	if family, _, _ := strings.Cut(primitive, "."); family == "cookie" || family == "storage_state" {
		return Cookies
	}
	return ""
}
