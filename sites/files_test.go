package sites_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

const boardFiles = `"x_actions":{"files":[
 {"id":"skill","path":"SKILL.md","title":"Board","description":"How to","read_when":"first"},
 {"id":"data","path":"items/cards.json","kind":"data"},
 {"id":"gone","path":"gone.md"},
 {"id":"root","path":"scopes/private/notes.txt"}]}`

func boardFolder(t *testing.T) string {
	return tree(t, map[string]string{
		"scopes/private/sites/e.com/board/actions.json": doc([]string{"a"}, boardFiles),
		"scopes/private/sites/e.com/board/SKILL.md": "---\nname: board\ndescription: \"How: to\"\n" +
			"not a pair\nbad key!: x\n---\nRead — first.\n",
		"scopes/private/sites/e.com/board/items/cards.json": "[]",
		"scopes/private/sites/e.com/board/undeclared.md":    "hidden",
		"scopes/private/notes.txt":                          "notes",
	})
}

func TestDeclaredFilesAreListed(t *testing.T) {
	l, reports := sites.Load([]string{boardFolder(t)}, sites.Options{})
	if len(reports) != 1 || !reports[0].OK || len(reports[0].Warnings) != 1 ||
		reports[0].Warnings[0].Pointer != "/x_actions/files/2/path" {
		t.Errorf("reports %+v, want one warning about the missing file", reports)
	}
	listing := l.List("https://e.com/")
	dir := "scopes/private/sites/e.com/board/"
	want := `[{"id":"skill","path":"` + dir + `SKILL.md","relative_path":"SKILL.md","kind":"reference",` +
		`"title":"Board","description":"How to","read_when":"first","size_bytes":82},` +
		`{"id":"data","path":"` + dir + `items/cards.json","relative_path":"items/cards.json","kind":"data",` +
		`"title":null,"description":null,"read_when":null,"size_bytes":2},` +
		`{"id":"root","path":"scopes/private/notes.txt","relative_path":"scopes/private/notes.txt",` +
		`"kind":"reference","title":null,"description":null,"read_when":null,"size_bytes":5}]`
	if got := toJSON(t, listing.Files); got != want {
		t.Errorf("files\n got %s\nwant %s", got, want)
	}
	want = `[{"id":"skill","path":"` + dir + `SKILL.md","relative_path":"SKILL.md","kind":"skill","description":"How ` +
		`to","read_when":"first","front_matter":{"description":"How: to","name":"board"}}]`
	if got := toJSON(t, listing.Skills); got != want {
		t.Errorf("skills\n got %s\nwant %s", got, want)
	}
	if other := l.List("https://f.com/"); len(other.Files) != 0 || len(other.Skills) != 0 {
		t.Errorf("another site lists %v", other.Files)
	}
}

func TestReadFile(t *testing.T) {
	l := load(t, boardFolder(t))
	dir := "scopes/private/sites/e.com/board/"
	tests := []struct {
		name, id, path string
		max            int
		text           string
		truncated      bool
		code           fault.Code
	}{
		{name: "by id", id: "data", text: "[]"},
		{name: "by declared path", path: "items/cards.json", text: "[]"},
		{name: "by storage path", path: dir + "items/cards.json", text: "[]"},
		{name: "cut", id: "root", max: 3, text: "not", truncated: true},
		{name: "neither", code: fault.InvalidInput},
		{name: "both", id: "data", path: "items/cards.json", code: fault.InvalidInput},
		{name: "negative size", id: "data", max: -1, code: fault.InvalidInput},
		{name: "too large a size", id: "data", max: 256_001, code: fault.InvalidInput},
		{name: "unknown id", id: "nothing", code: fault.StorageFileNotFound},
		{name: "undeclared file", path: "undeclared.md", code: fault.StorageFileNotFound},
		{name: "the map itself", path: dir + "actions.json", code: fault.StorageFileNotFound},
		{name: "escape", path: dir + "../../../../notes.txt", code: fault.StorageFileNotFound},
		{name: "missing on disk", id: "gone", code: fault.StorageFileNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := l.ReadFile("https://e.com/", tt.id, tt.path, tt.max)
			if tt.code != "" {
				if !errors.Is(err, tt.code) {
					t.Fatalf("%v, want %s", err, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.text || got.Truncated != tt.truncated {
				t.Errorf("text %q truncated %v, want %q %v", got.Text, got.Truncated, tt.text, tt.truncated)
			}
		})
	}
	skill, err := l.ReadFile("https://e.com/", "skill", "", 0)
	if err != nil || skill.MIMEType != "text/markdown" || skill.FrontMatter["name"] != "board" || skill.Bytes != 82 ||
		!strings.HasSuffix(skill.Text, "— first.\n") {
		t.Errorf("skill %+v, %v", skill, err)
	}
	// The dash is three bytes: none of them is given alone.
	dash := strings.Index(skill.Text, "—")
	for extra, want := range []string{"", "", "", "—"} {
		cut, err := l.ReadFile("https://e.com/", "skill", "", dash+extra)
		if err != nil || cut.Text != skill.Text[:dash]+want || !cut.Truncated {
			t.Errorf("cut %d bytes into the dash: %q, %v", extra, cut.Text, err)
		}
	}
	if _, err := l.ReadFile("https://f.com/", "data", "", 0); !errors.Is(err, fault.StorageFileNotFound) {
		t.Errorf("from another site: %v", err)
	}
}

func TestAmbiguousFileIDsAreNamed(t *testing.T) {
	files := `"x_actions":{"files":[{"id":"same","path":"a.md"}]}`
	l := load(t, tree(t, map[string]string{
		"sites/e.com/m/actions.json": doc(nil, files), "sites/e.com/m/a.md": "m",
		"sites/e.com/n/actions.json": doc(nil, files), "sites/e.com/n/a.md": "n",
	}))
	_, err := l.ReadFile("https://e.com/", "same", "", 0)
	if !errors.Is(err, fault.StorageFileAmbiguousID) ||
		fmt.Sprint(err.Evidence["paths"]) != "[sites/e.com/m/a.md sites/e.com/n/a.md]" {
		t.Errorf("%v %v", err, err.Evidence)
	}
}

// A map that somebody else wrote must not publish private files by declaring
// them.
func TestScopesDoNotLeakFiles(t *testing.T) {
	declare := `"x_actions":{"files":[{"id":"p","path":"scopes/private/p.md"},` +
		`{"id":"t","path":"scopes/shared/team/t.md"},{"id":"o","path":"scopes/shared/other/o.md"},` +
		`{"id":"u","path":"scopes/public/u.md"}]}`
	tests := []struct {
		scope string
		want  []string
	}{
		{"private", []string{"p", "t", "o", "u"}},
		{"shared/team", []string{"t", "u"}},
		{"public", []string{"u"}},
	}
	for _, tt := range tests {
		t.Run(tt.scope, func(t *testing.T) {
			l, reports := sites.Load([]string{tree(t, map[string]string{
				"scopes/" + tt.scope + "/sites/e.com/m/actions.json": doc(nil, declare),
				"scopes/private/p.md":                                "p",
				"scopes/shared/team/t.md":                            "t",
				"scopes/shared/other/o.md":                           "o",
				"scopes/public/u.md":                                 "u",
			})}, sites.Options{})
			got := []string{}
			for _, f := range l.List("https://e.com/").Files {
				got = append(got, *f.ID)
			}
			if !slices.Equal(got, tt.want) || len(reports[0].Warnings) != 4-len(tt.want) {
				t.Errorf("listed %q, want %q; warnings %v", got, tt.want, reports[0].Warnings)
			}
			for _, id := range []string{"p", "t", "o", "u"} {
				if _, err := l.ReadFile("https://e.com/", id, "", 0); (err == nil) != slices.Contains(tt.want, id) {
					t.Errorf("reading %s: %v", id, err)
				}
			}
		})
	}
}

func bundleOf(marked bool, entries ...string) string {
	mark := ""
	if marked {
		mark = `"x_actions_json_bridge_hydration":true,`
	}
	return `{"protocol":"actions.json.storage.bundle","version":1,` + mark + `"synced_at_ms":5,"entries":[` +
		strings.Join(entries, ",") + `]}`
}

func entryOf(path, content string, modified string) string {
	b, _ := json.Marshal(content)
	if modified != "" {
		modified = `,"modified_at_ms":` + modified
	}
	return `{"path":"` + path + `","content":` + string(b) + modified + `}`
}

func TestABundleIsALibrary(t *testing.T) {
	raw := bundleOf(false,
		entryOf("scopes/private/sites/e.com/board/actions.json", doc([]string{"a"}, boardFiles), "1"),
		entryOf("scopes/private/sites/e.com/board/SKILL.md", "---\nname: b\n---\n", ""),
		entryOf("scopes/private/sites/e.com/bad/actions.json", `{}`, ""),
		entryOf("scopes/private/sites/e.com/proof/actions.json", `{}`, ""),
		entryOf("sites/e.com/x.actions.json", `{}`, ""),
		entryOf("actions.json", `{}`, ""),
		entryOf("../sites/e.com/m/actions.json", doc([]string{"escaped"}), ""),
		entryOf("/sites/e.com/m/actions.json", doc([]string{"escaped"}), ""),
		`{"path":"scopes/public/sites/e.com/t/actions.json","text":`+toJSON(t, doc([]string{"b"}))+`}`)
	l, reports, err := sites.FromBundle(json.RawMessage(raw), sites.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range reports {
		got = append(got, fmt.Sprint(r.Path, " ", r.OK))
	}
	want := []string{
		"scopes/private/sites/e.com/bad/actions.json false",
		"scopes/private/sites/e.com/board/actions.json true", "scopes/public/sites/e.com/t/actions.json true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("reports %q, want %q", got, want)
	}
	listing := l.List("https://e.com/")
	if names := actionNames(listing); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("actions %q", names)
	}
	if len(listing.Skills) != 1 || listing.Skills[0].FrontMatter["name"] != "b" {
		t.Errorf("skills %+v", listing.Skills)
	}
	if c, err := l.ReadFile("https://e.com/", "skill", "", 4); err != nil || c.Text != "---\n" || !c.Truncated {
		t.Errorf("content %+v, %v", c, err)
	}
	files := `{"protocol":"actions.json.storage.bundle","files":{"sites/e.com/m/actions.json":{"text":` +
		toJSON(t, doc([]string{"f"})) + `}}}`
	if l, _, err := sites.FromBundle(json.RawMessage(files), sites.Options{}); err != nil || len(l.Maps()) != 1 {
		t.Errorf("the other form: %v, %v", l, err)
	}
}

func TestBadBundlesAreRefused(t *testing.T) {
	for _, raw := range []string{
		``, `[]`, `{}`, `{"protocol":"actions.json.storage.bundle"}`,
		`{"protocol":"other","entries":[]}`, `{"protocol":"actions.json.storage.bundle","entries":{}}`,
	} {
		if _, err := sites.ParseBundle(json.RawMessage(raw)); !errors.Is(err, fault.HandlerFailed) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestBundlesMergeByModificationTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	parse := func(raw string) *sites.Bundle {
		b, err := sites.ParseBundle(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	path := func(s string) string { return "sites/" + s + ".com/m/actions.json" }
	held := parse(bundleOf(false,
		entryOf(path("older"), doc([]string{"old"}), "10"), entryOf(path("same"), doc([]string{"old"}), "10"),
		entryOf(path("newer"), doc([]string{"old"}), "10"),
		entryOf(path("untimed"), doc([]string{"old"}), ""), entryOf(path("kept"), doc([]string{"old"}), "10")))
	hydration := parse(bundleOf(true,
		entryOf(path("older"), doc([]string{"new"}), "9"), entryOf(path("same"), doc([]string{"new"}), "10"),
		`{"path":"`+path("newer")+`","content":`+toJSON(t, doc([]string{"new"}))+`,"mtime_ms":11}`,
		entryOf(path("untimed"), doc([]string{"new"}), "1"), entryOf(path("added"), doc([]string{"new"}), "")))
	merged, result := held.Import(hydration, now)
	if got, want := toJSON(t, result), `{"ok":true,"entry_count":6,"merged":true,"updated_count":3,`+
		`"preserved_count":2,"synced_at_ms":5,"imported_at":"2026-01-02T03:04:05.006Z"}`; got != want {
		t.Errorf("result\n got %s\nwant %s", got, want)
	}
	l, _ := merged.Library(sites.Options{})
	for host, want := range map[string]string{
		"older":   "old",
		"same":    "old",
		"newer":   "new",
		"untimed": "new",
		"kept":    "old",
		"added":   "new",
	} {
		if got := actionNames(l.List("https://" + host + ".com/")); !slices.Equal(got, []string{want}) {
			t.Errorf("%s has %q, want %s", host, got, want)
		}
	}
	replaced, result := held.Import(parse(bundleOf(false, entryOf(path("only"), doc(nil), ""))), now)
	if result.Merged || result.EntryCount != 1 || result.UpdatedCount != 0 ||
		!slices.Equal(replaced.Listed(), []string{path("only")}) {
		t.Errorf("an unmarked bundle gave %+v with %q", result, replaced.Listed())
	}
	if len(held.Listed()) != 5 {
		t.Errorf("the held bundle changed: %q", held.Listed())
	}
	var nothing *sites.Bundle
	if first, result := nothing.Import(hydration, now); !result.Merged || result.UpdatedCount != 5 ||
		len(first.Listed()) != 5 {
		t.Errorf("the first hydration gave %+v", result)
	}
}

// What storage.list shows is in the order in which a bundle came, and that of a
// reader once bundles were merged.
func TestTheOrderOfABundle(t *testing.T) {
	parse := func(hydration bool, names ...string) *sites.Bundle {
		var entries []string
		for _, name := range names {
			entries = append(entries, entryOf(name, "x", ""))
		}
		b, err := sites.ParseBundle(json.RawMessage(bundleOf(hydration, entries...)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var nothing *sites.Bundle
	came, _ := nothing.Import(parse(false, "s/B.txt", "s/a.txt", "s/_x", "s/a-b", "s/B.txt"), time.Time{})
	if got, want := came.Listed(), []string{"s/B.txt", "s/a.txt", "s/_x", "s/a-b"}; !slices.Equal(got, want) {
		t.Errorf("as it came: %q, want %q", got, want)
	}
	merged, _ := came.Import(parse(true, "s/SKILL.md", "s/actions.json", "s/1"), time.Time{})
	if got, want := merged.Listed(), []string{
		"s/_x", "s/1", "s/a-b", "s/a.txt", "s/actions.json", "s/B.txt", "s/SKILL.md",
	}; !slices.Equal(got, want) {
		t.Errorf("merged: %q, want %q", got, want)
	}
}
