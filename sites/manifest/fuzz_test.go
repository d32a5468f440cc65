package manifest_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/sites/manifest"
)

// everyOtherMap is every map of the repository outside of the tables of good, bad
// and draft ones: those of sites, of live tests, and in archives of imports.
func everyOtherMap(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	walk := func(root string) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch {
			case d.Name() == "actions.json":
				out = append(out, readFile(t, path))
			case filepath.Ext(path) == ".txtar":
				for _, file := range txtar.Parse(readFile(t, path)).Files {
					if filepath.Ext(file.Name) == ".json" && bytes.Contains(file.Data, []byte(`"protocol"`)) {
						out = append(out, file.Data)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{
		"../demo", "../../testdata/sites", "../../testdata/live", filepath.Join(testMaps, "imports"),
	} {
		before := len(out)
		if walk(root); len(out) == before {
			t.Fatalf("no map below %s", root)
		}
	}
	return out
}

// FuzzParse holds for every text: no panic, the same report twice, what
// encoding/json calls JSON is what Parse calls JSON, and the published schema
// and the rules agree wherever JSON Schema can express the rule. Accepting
// drafts refuses nothing that is valid without, and what it accepts besides is
// marked.
func FuzzParse(f *testing.F) {
	for _, kind := range []string{"good", "bad", "drafts"} {
		for _, dir := range cases(f, kind) {
			f.Add(readFile(f, filepath.Join(dir, "actions.json")))
		}
	}
	for _, data := range everyOtherMap(f) {
		f.Add(data)
	}
	pub := published(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, report := manifest.Parse(data, manifest.Options{})
		if (m != nil) != report.OK() {
			t.Fatalf("manifest %v with errors %v", m != nil, report.Errors)
		}
		if _, again := manifest.Parse(data, manifest.Options{}); !reflect.DeepEqual(report, again) {
			t.Fatalf("two reports differ:\n%v\n%v", report, again)
		}
		draft, lenient := manifest.Parse(data, manifest.Options{AcceptDrafts: true})
		switch {
		case (draft != nil) != lenient.OK():
			t.Fatalf("draft %v with errors %v", draft != nil, lenient.Errors)
		case m != nil && draft == nil:
			t.Fatalf("valid, and refused where drafts are accepted: %v", lenient.Errors)
		case draft != nil && draft.Draft != (m == nil):
			t.Fatalf("marked as a draft: %v; errors otherwise: %v", draft.Draft, report.Errors)
		case draft != nil && m == nil:
			for _, p := range report.Errors {
				// What cannot be read declares nothing: its names are missing
				// for one reading and there for the other.
				if p.Code != fault.UnknownReference && lenient.Dropped == 0 && !slices.ContainsFunc(
					lenient.Warnings,
					func(w manifest.Problem) bool { return w.Pointer == p.Pointer && w.Code == p.Code },
				) {
					t.Fatalf("accepted as a draft without a warning of %v: %v", p, lenient.Warnings)
				}
			}
		}
		has := func(code fault.Code) bool {
			return slices.ContainsFunc(report.Errors, func(p manifest.Problem) bool { return p.Code == code })
		}
		text := bytes.TrimPrefix(data, []byte("\ufeff"))
		valid := json.Valid(text) && utf8.Valid(text)
		if has(fault.InvalidJSON) && valid {
			t.Fatalf("refused as JSON: %v", report.Errors)
		}
		if !valid && !has(fault.InvalidJSON) && !has(fault.LimitExceeded) {
			t.Fatal("accepted as JSON")
		}
		if !valid {
			return
		}
		for _, p := range report.Errors {
			if _, ok := fault.Lookup(p.Code); !ok || p.Message == "" {
				t.Fatalf("problem %v", p)
			}
			if p.Pointer != "" && p.Pointer[0] != '/' {
				t.Fatalf("pointer %q", p.Pointer)
			}
		}
		problems := pub.Validate(text)
		if slices.ContainsFunc(problems, func(p schema.Problem) bool {
			return p.Keyword == "json" || p.Keyword == "limit" || p.Keyword == "schema"
		}) {
			return
		}
		if len(problems) > 0 && report.OK() {
			t.Fatalf("the schema refuses what Parse accepts: %v", problems)
		}
		if len(problems) == 0 {
			for _, p := range report.Errors {
				if !slices.Contains(beyondSchema, p.Code) {
					t.Fatalf("the schema accepts %v", p)
				}
			}
		}
	})
}
