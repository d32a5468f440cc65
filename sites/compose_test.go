package sites_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// Each archive of testdata/maps/imports is a storage folder with expect.json:
// which maps are refused for what, and what a page is offered.
type importCase struct {
	Load string // path to load, "" for the folder
	// Errors and Warnings are by file; Says are words of the message.
	Errors, Warnings map[string][]struct {
		Pointer string
		Code    fault.Code
		Says    []string
	}
	Page    string
	Actions map[string]string     // name → path of the map that declares it
	Calls   map[string]fault.Code // names that cannot be called
	Imports map[string]string     // id → status
	Trust   map[string]sites.Trust
	States  []string
}

func TestImports(t *testing.T) {
	archives, err := filepath.Glob("../testdata/maps/imports/*.txtar")
	if err != nil || len(archives) < 80 {
		t.Fatalf("%d archives, want at least 80 (%v)", len(archives), err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files, want := map[string]string{}, importCase{}
			for _, f := range archive.Files {
				if f.Name == "expect.json" {
					if err := json.Unmarshal(f.Data, &want); err != nil {
						t.Fatal(err)
					}
					continue
				}
				files[f.Name] = string(f.Data)
			}
			root := tree(t, files)
			l, reports := sites.Load([]string{filepath.Join(root, want.Load)}, sites.Options{Known: known})
			checkReports(t, root, reports, want)
			checkOffers(t, l, want)
			if want.Load == "" {
				checkBundle(t, files, l, want)
			}
		})
	}
}

func checkReports(t *testing.T, root string, reports []sites.FileReport, want importCase) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range reports {
		name, err := filepath.Rel(root, r.Path)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		seen[name] = true
		if r.OK != (len(want.Errors[name]) == 0) || r.OK != (len(r.Errors) == 0) {
			t.Errorf("%s: ok %v with %v", name, r.OK, r.Errors)
		}
		for kind, got := range map[string]struct {
			problems []string
			text     []string
		}{"errors": problemLines(r, true), "warnings": problemLines(r, false)} {
			expected := want.Errors[name]
			if kind == "warnings" {
				expected = want.Warnings[name]
			}
			var lines []string
			for i, e := range expected {
				lines = append(lines, e.Pointer+" "+string(e.Code))
				for _, word := range e.Says {
					if i < len(got.text) && !strings.Contains(got.text[i], word) {
						t.Errorf("%s: %q does not say %q", name, got.text[i], word)
					}
				}
			}
			if !slices.Equal(lines, got.problems) {
				t.Errorf("%s: %s\n got %q\nwant %q\n%s", name, kind, got.problems, lines, strings.Join(got.text, "\n"))
			}
		}
	}
	for name := range want.Errors {
		if !seen[name] {
			t.Errorf("%s has no report", name)
		}
	}
}

func problemLines(r sites.FileReport, errors bool) (out struct{ problems, text []string }) {
	list := r.Warnings
	if errors {
		list = r.Errors
	}
	for _, p := range list {
		out.problems = append(out.problems, p.Pointer+" "+string(p.Code))
		out.text = append(out.text, p.Message)
	}
	return out
}

func checkOffers(t *testing.T, l *sites.Library, want importCase) {
	t.Helper()
	listing := l.List(want.Page)
	if want.Actions != nil {
		got := map[string]string{}
		for _, a := range listing.Actions {
			got[a.Name] = a.MapPath
			if a.Source != nil {
				got[a.Name] = a.Source.MapPath
			}
			match, err := l.Find(want.Page, a.Name)
			if err != nil {
				t.Errorf("%s is listed and cannot be found: %v", a.Name, err)
				continue
			}
			if match.Map.Path != got[a.Name] || match.Map.Manifest.Tool(match.Tool.Name) != match.Tool {
				t.Errorf("%s: found in %s, listed of %s", a.Name, match.Map.Path, got[a.Name])
			}
		}
		if toJSON(t, got) != toJSON(t, want.Actions) {
			t.Errorf("actions\n got %s\nwant %s", toJSON(t, got), toJSON(t, want.Actions))
		}
	}
	for name, code := range want.Calls {
		if m, err := l.Find(want.Page, name); err == nil || err.Code != code {
			t.Errorf("finding %s: %v, %v, want %s", name, m, err, code)
		}
	}
	status, trust := map[string]string{}, map[string]sites.Trust{}
	for _, i := range listing.Imports {
		status[i.ID], trust[i.ID] = i.Status, i.Trust
	}
	if want.Imports != nil && toJSON(t, status) != toJSON(t, want.Imports) {
		t.Errorf("imports %s, want %s", toJSON(t, status), toJSON(t, want.Imports))
	}
	for id, tr := range want.Trust {
		if trust[id] != tr {
			t.Errorf("trust of %s is %s, want %s", id, trust[id], tr)
		}
	}
	if want.States != nil {
		var states []string
		for _, m := range l.For(want.Page) {
			for _, s := range l.Composition(m).States {
				states = append(states, s.Name+" "+s.Source.ID)
			}
		}
		if !slices.Equal(states, want.States) {
			t.Errorf("states %q, want %q", states, want.States)
		}
	}
}

// checkBundle holds the same storage as a bundle to the same offers.
func checkBundle(t *testing.T, files map[string]string, folder *sites.Library, want importCase) {
	t.Helper()
	type entry struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	var entries []entry
	for name, text := range files {
		entries = append(entries, entry{name, text})
	}
	bundle, _, err := sites.FromBundle(
		json.RawMessage(toJSON(t, map[string]any{"protocol": sites.BundleProtocol, "entries": entries})),
		sites.Options{Known: known},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := toJSON(t, bundle.List(want.Page)), toJSON(t, folder.List(want.Page)); got != want {
		t.Errorf("as a bundle\n got %s\nwant %s", got, want)
	}
}

func TestImportsOfARemovedFile(t *testing.T) {
	root := tree(t, map[string]string{
		"sites/a.test/m/actions.json": doc(
			nil, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`,
		),
		"sites/a.test/m/part.json": doc([]string{"x"}),
	})
	if l := load(t, root); len(l.List("https://a.test/").Actions) != 1 {
		t.Fatal("the part is not imported")
	}
	if err := os.Remove(filepath.Join(root, "sites/a.test/m/part.json")); err != nil {
		t.Fatal(err)
	}
	if l, reports := sites.Load([]string{root}, sites.Options{}); reports[0].OK || len(l.Maps()) != 0 {
		t.Error("a map whose import is gone is loaded")
	}
}
