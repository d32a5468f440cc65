package sites_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// What runs on behalf of a map reads the map's own scope and more public ones,
// by whatever name, and nothing outside of the storage.
func TestSourcesOfAMapStayInItsReach(t *testing.T) {
	const site = "sites/a.test/m/"
	files := map[string]string{
		"scopes/private/" + site + "actions.json":     doc([]string{"a.private"}),
		"scopes/private/" + site + "x.html":           "private",
		"scopes/public/" + site + "actions.json":      doc([]string{"a.public"}),
		"scopes/public/" + site + "x.html":            "public",
		"scopes/shared/team/" + site + "actions.json": doc([]string{"a.team"}),
		"scopes/shared/team/" + site + "x.html":       "team",
		"scopes/shared/others/" + site + "x.html":     "others",
		"scopes/public/sites/b.test/kept/x.html":      "kept private by a file of the storage",
		"storage.json": `{"protocol":"actions.json.storage","version":1,` +
			`"mounts":{"kept":{"path":"scopes/public/sites/b.test/kept","visibility":"private"}}}`,
	}
	root := tree(t, files)
	plain := tree(t, map[string]string{
		"mine/actions.json": doc([]string{"a.plain"}),
		"mine/x.html":       "plain",
		"x.html":            "above",
	})
	l := load(t, root)
	plainly := load(t, plain)
	by := map[string]*sites.Map{}
	for name, m := range map[string]string{
		"private": "scopes/private/" + site,
		"public":  "scopes/public/" + site,
		"team":    "scopes/shared/team/" + site,
	} {
		for _, each := range l.Maps() {
			if each.Path == m+"actions.json" {
				by[name] = each
			}
		}
	}
	by["plain"] = plainly.Maps()[0]
	tests := []struct{ from, name, want string }{
		{"private", "x.html", "private"},
		{"private", "./x.html", "private"},
		{"private", site + "x.html", "private"},
		{"private", "scopes/public/" + site + "x.html", "public"},
		{"private", "scopes/shared/others/" + site + "x.html", "others"},
		{"public", "x.html", "public"},
		{"public", site + "x.html", "public"},
		{"public", "scopes/private/" + site + "x.html", "permission_denied"},
		{"public", "scopes/shared/team/" + site + "x.html", "permission_denied"},
		{"public", "sites/b.test/kept/x.html", "permission_denied"},
		{"public", "scopes/public/sites/b.test/kept/x.html", "permission_denied"},
		{"public", "storage.json", "asset_not_found"}, // in its own folder there is none
		{"public", "../x.html", "unsafe_path"},
		{"team", "x.html", "team"},
		{"team", "scopes/shared/team/" + site + "x.html", "team"},
		{"team", "scopes/shared/others/" + site + "x.html", "permission_denied"},
		{"team", "scopes/public/" + site + "x.html", "public"},
		{"team", "scopes/private/" + site + "x.html", "permission_denied"},
		{"plain", "x.html", "plain"},
		{"plain", "../x.html", "unsafe_path"},
		{"plain", "/etc/hostname", "unsafe_path"},
		{"plain", `..\x.html`, "unsafe_path"},
		{"plain", "file:///etc/hostname", "unsafe_path"},
		{"plain", "https://a.test/x.html", "unsafe_path"},
		{"plain", ".", "unsafe_path"},
		{"plain", "", "unsafe_path"},
		{"plain", "none.html", "asset_not_found"},
		{"plain", "scopes/private/" + site + "x.html", "asset_not_found"},
	}
	for _, tt := range tests {
		m, from := by[tt.from], l
		if tt.from == "plain" {
			from = plainly
		}
		if m == nil {
			t.Fatalf("there is no map %s", tt.from)
		}
		data, err := from.ReadSource(m, tt.name, 1<<10)
		got := string(data)
		if err != nil {
			got = string(fault.CodeOf(err))
		}
		if got != tt.want {
			t.Errorf("a %s map reads %q: got %q, want %q", tt.from, tt.name, got, tt.want)
		}
	}
	for from, want := range map[string]bool{"private": true, "public": false, "team": false, "plain": true} {
		if got := by[from].ChangesStored(); got != want {
			t.Errorf("a %s map brings maps: got %v, want %v", from, got, want)
		}
	}
	if (*sites.Map)(nil).ReachesStored("scopes/private/"+site+"x.html") != true {
		t.Error("an agent reads the storage")
	}
}
