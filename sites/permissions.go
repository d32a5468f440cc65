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
	Cookies Permission = "cookies" // cookies, stored sessions, recorded requests and console lines
	Origins Permission = "origins" // pages and frames of another origin, and what was copied there
	Files   Permission = "files"   // uploads and downloads
	Tabs    Permission = "tabs"    // other tabs, the session's log and tasks, what is emulated
)

var allPermissions = []Permission{Script, Cookies, Origins, Files, Tabs}

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
		for word := range strings.SplitSeq(list, ",") {
			p := Permission(strings.TrimSpace(word))
			if !slices.Contains(allPermissions, p) {
				return nil, fault.New(fault.InvalidArguments,
					"%q: expected script, cookies, origins, files or tabs after %s=", word, scope)
			}
			out[scope] = append(out[scope], p)
		}
	}
	return out, nil
}

// Allow reports whether the actions of a map may do something. A nil map is an agent.
func (p Permissions) Allow(m *Map, want Permission) bool {
	return want == "" || m == nil || m.ownedByUser() || slices.Contains(p[m.trustedAs()], want)
}

// ownedByUser: the user wrote the map, or named its file.
func (m *Map) ownedByUser() bool {
	own := m.Location.Scope == location.Private || m.Location.Scope == location.Unscoped
	return own && m.fetched == "" && !m.project
}

// trustedAs is the scope whose permissions a map has that is not the user's own.
func (m *Map) trustedAs() location.Scope {
	if m.project {
		return location.Public
	}
	return m.Location.Scope
}

// Denied is the refusal of what a map needs a permission for. what says what it is.
func (m *Map) Denied(need Permission, what string) *fault.Error {
	scope := m.trustedAs()
	given := "the operator may give it: --allow-maps " + string(scope) + "=" + string(need)
	whose := "a map of the scope " + string(scope)
	if m.project {
		whose = "a map that the project file names"
		given = "if the maps of this project are yours, say so: --trust-project, OUTRIDER_TRUST_PROJECT=true, " +
			"or its folder under trusted_projects in your config.yaml; " + given
	}
	e := fault.New(fault.PermissionDenied, "%s has no permission %s: %s", whose, need, what)
	return e.With("permission", string(need)).With("scope", string(scope)).With("map_path", m.Path).Next(given)
}

// PermissionFor is what a map needs to use a primitive, "" for nothing. Every primitive has
// its decision here or below: nothing is open because nobody thought of it.
func PermissionFor(primitive string) Permission {
	if need, ok := needed[primitive]; ok {
		return need
	}
	family, _, _ := strings.Cut(primitive, ".")
	return neededByFamily[family]
}

// needed are the primitives that need a permission, by their names.
var needed = map[string]Permission{
	"page.evaluate":          Script,
	"browser.run_javascript": Script,
	"debug.run_javascript":   Script,

	// The console of a tab has the lines of every page that was shown in it.
	"console.list": Cookies,

	"page.pdf": Files, // it is written into the folder for downloads

	"browser.claimed_tabs.list":     Tabs,
	"browser.claimed_tabs.activate": Tabs,
	"browser.close_tab":             Tabs,
	"runtime.session.finalize_tabs": Tabs,
	"runtime.session.log":           Tabs,
	"runtime.session.name":          Tabs,

	// What was copied may come from a page of any origin.
	"clipboard.read":  Origins,
	"clipboard.paste": Origins,
	"transfer.read":   Origins,
	"transfer.insert": Origins,
}

// neededByFamily are the families that need one as a whole.
var neededByFamily = map[string]Permission{
	"cookie":        Cookies,
	"storage_state": Cookies,
	"network":       Cookies,
	"upload":        Files,
	"download":      Files,
	"emulate":       Tabs,
	"task":          Tabs,
}
