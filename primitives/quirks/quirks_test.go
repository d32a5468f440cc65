package quirks_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/quirks"
)

const root = "../.."

func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		ok    bool
		empty bool
	}{
		{"", true, true},
		{"strict", true, true},
		{"extension", true, false},
		{"Extension", false, true},
		{"chrome", false, true},
	} {
		s, ok := quirks.Profile(c.name)
		if ok != c.ok || s.Empty() != c.empty {
			t.Errorf("Profile(%q): got ok %v, empty %v, want %v, %v", c.name, ok, s.Empty(), c.ok, c.empty)
		}
	}
	for _, q := range quirks.All() {
		if !quirks.Extension().Has(q.Name) || (quirks.Set{}).Has(q.Name) {
			t.Errorf("%s: the extension profile must have it, the strict one not", q.Name)
		}
	}
	one := quirks.Of(quirks.FatalSettle)
	if !one.Has(quirks.FatalSettle) || one.Has(quirks.CommaSplit) || len(one.InPage()) != 0 {
		t.Errorf("Of(%s): got %v, in the page %v", quirks.FatalSettle, one.Names(), one.InPage())
	}
}

// TestEveryQuirkIsAskedForAndProved holds the table to the code: a quirk that
// nothing asks for changes nothing, and one without proof is a claim.
func TestEveryQuirkIsAskedForAndProved(t *testing.T) {
	sources := read(t)
	seen := map[quirks.Name]bool{}
	for _, q := range quirks.All() {
		if seen[q.Name] {
			t.Errorf("%s stands twice in the table", q.Name)
		}
		seen[q.Name] = true
		if q.Where == "" || q.Upstream == "" || q.Strict == "" || q.Upstream == q.Strict {
			t.Errorf("%s is not described", q.Name)
		}
		asked := `quirks.` + camel(string(q.Name)) + `\b`
		if q.InPage {
			asked = `quirk\('` + string(q.Name) + `'\)`
		}
		re := regexp.MustCompile(asked)
		if !slices.ContainsFunc(sources, re.MatchString) {
			t.Errorf("%s: nothing asks for it", q.Name)
		}
		if page, isPage := strings.CutSuffix(q.Proof, ".html"); isPage {
			b, err := os.ReadFile(filepath.Join(root, "testdata/pages", page+".html"))
			if err != nil || !strings.Contains(string(b), `"extension"`) {
				t.Errorf("%s: %s does not show both profiles: %v", q.Name, q.Proof, err)
			}
			continue
		}
		pkg, name, _ := strings.Cut(q.Proof, ".")
		if !declared(t, filepath.Join(root, pkg), name) {
			t.Errorf("%s: there is no test %s in %s", q.Name, name, pkg)
		}
	}
}

// TestDocumentation holds docs/reference/quirks.md to the table.
func TestDocumentation(t *testing.T) {
	path := filepath.Join(root, "docs/reference/quirks.md")
	if os.Getenv("OUTRIDER_GENERATE") != "" {
		if err := os.WriteFile(path, []byte(quirks.Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != quirks.Markdown() {
		t.Errorf("docs/reference/quirks.md is stale: run make generate (%v)", err)
	}
}

func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		switch part {
		case "ax", "url", "dom", "html":
			b.WriteString(strings.ToUpper(part))
		default:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// read returns the sources outside this package, tests excluded.
func read(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == ".git" || n == "testdata" || n == "quirks" {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".js" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		out = append(out, string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func declared(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(f string) bool {
		b, err := os.ReadFile(f)
		return err == nil && strings.Contains(string(b), "\nfunc "+test+"(")
	})
}
