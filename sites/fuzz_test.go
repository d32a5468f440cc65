package sites_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/sites"
)

// FuzzImports holds for every three maps of one storage that may import each
// other, drafts or not: loading ends, twice the same, what is listed can be
// found, every entry has its source, and nothing private is offered where only
// public maps apply.
func FuzzImports(f *testing.F) {
	archives, err := filepath.Glob("../testdata/maps/imports/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatal("no archives", err)
	}
	paths := []string{
		"scopes/private/sites/a.test/m/actions.json", "scopes/private/sites/a.test/m/part.json",
		"scopes/public/sites/b.test/m/actions.json",
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var texts [3]string
		for _, file := range archive.Files {
			if i := slices.Index(paths, file.Name); i >= 0 {
				texts[i] = string(file.Data)
			}
		}
		f.Add(texts[0], texts[1], texts[2])
	}
	const secret = "a.name.that.only.the.private.map.has"
	f.Fuzz(func(t *testing.T, private, part, public string) {
		type entry struct {
			Path    string `json:"path"`
			Content string `json:"content"`
		}
		bundle, err := json.Marshal(map[string]any{"protocol": sites.BundleProtocol, "entries": []entry{
			{paths[0], private},
			{paths[1], part},
			{paths[2], public},
			{"scopes/private/sites/c.test/m/actions.json", doc([]string{secret})},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, drafts := range []bool{false, true} {
			opts := sites.Options{Known: known, AcceptDrafts: drafts}
			l, reports, fe := sites.FromBundle(bundle, opts)
			if fe != nil {
				t.Fatal(fe)
			}
			if _, again, _ := sites.FromBundle(bundle, opts); toJSON(t, reports) != toJSON(t, again) {
				t.Fatalf("two reports differ:\n%s\n%s", toJSON(t, reports), toJSON(t, again))
			}
			for _, page := range []string{"https://a.test/", "https://b.test/"} {
				for _, a := range l.List(page).Actions {
					if a.Name == secret ||
						a.Source != nil && page == "https://b.test/" && a.Source.MapPath != paths[2] {
						t.Fatalf("%s offers %s of %v", page, a.Name, a.Source)
					}
					m, err := l.Find(page, a.Name)
					if a.Unavailable == nil && (err != nil || m.Map == nil || m.Via == nil || m.Name != a.Name) {
						t.Fatalf("%s is listed; finding it gives %+v, %v", a.Name, m, err)
					}
				}
				for _, m := range l.For(page) {
					c := l.Composition(m)
					if len(c.Problems) > 0 {
						t.Fatalf("a map with problems is offered: %v", c.Problems)
					}
					for _, e := range c.Tools {
						if e.Source == nil || e.Source.Map == nil || c.Tool(e.Name) == nil {
							t.Fatalf("tool %+v", e)
						}
					}
				}
			}
		}
	})
}
