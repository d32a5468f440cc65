package sites_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

func write(t testing.TB, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReload(t *testing.T) {
	const (
		a    = "sites/a.test/m/actions.json"
		b    = "sites/b.test/m/actions.json"
		part = "sites/a.test/m/part.json"
		page = "https://a.test/"
	)
	root := tree(t, map[string]string{
		a:    doc([]string{"one"}, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`),
		part: doc([]string{"x"}),
		b:    doc([]string{"b"}),
	})
	l, _ := sites.Load([]string{root}, sites.Options{Known: known})
	say := func(c sites.Change) string {
		reports := func(list []sites.FileReport) (out []string) {
			for _, r := range list {
				out = append(out, filepath.Base(filepath.Dir(filepath.Dir(r.Path)))+" "+string(r.Errors[0].Code))
			}
			return out
		}
		return fmt.Sprintf(
			"added %v changed %v removed %v kept %v refused %v",
			c.Added, c.Changed, c.Removed, reports(c.Kept), reports(c.Refused),
		)
	}
	steps := []struct {
		name    string
		do      func()
		change  string
		actions []string
	}{
		{"nothing", func() {}, "added [] changed [] removed [] kept [] refused []", []string{"one", "p.x"}},
		{"an edit", func() {
			write(
				t,
				doc([]string{"one", "two"}, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`),
				root, a,
			)
		}, "added [] changed [" + a + "] removed [] kept [] refused []", []string{"one", "two", "p.x"}},
		{"a broken edit keeps what was", func() { write(t, `{"protocol":`, root, a) },
			"added [] changed [] removed [] kept [a.test invalid_json] refused []", []string{"one", "two", "p.x"}},
		{
			"still broken", func() {}, "added [] changed [] removed [] kept [a.test invalid_json] refused []",
			[]string{"one", "two", "p.x"},
		},
		{"mended", func() {
			write(
				t, doc([]string{"three"}, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`),
				root, a,
			)
		}, "added [] changed [" + a + "] removed [] kept [] refused []", []string{"three", "p.x"}},
		{"an edit of a part", func() { write(t, doc([]string{"y"}), root, part) },
			"added [] changed [" + a + "] removed [] kept [] refused []", []string{"three", "p.y"}},
		{"a broken part keeps its importer", func() { write(t, `{}`, root, part) },
			"added [] changed [] removed [] kept [a.test invalid_manifest] refused []", []string{"three", "p.y"}},
		{"a part that collides", func() {
			write(t, doc([]string{"y"}), root, part)
			write(
				t, doc([]string{"p.y"}, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`),
				root, a,
			)
		},
			"added [] changed [" + a + "] removed [] kept [a.test duplicate_name] refused []",
			[]string{"three", "p.y"}},
		{"no import any more", func() { write(t, doc([]string{"four"}), root, a) },
			"added [] changed [" + a + "] removed [] kept [] refused []", []string{"four"}},
		{"a new map that is invalid", func() { write(t, `{}`, root, "sites/a.test/n/actions.json") },
			"added [] changed [] removed [] kept [] refused [a.test missing_field]", []string{"four"}},
		{"and then is not", func() { write(t, doc([]string{"five"}), root, "sites/a.test/n/actions.json") },
			"added [sites/a.test/n/actions.json] changed [] removed [] kept [] refused []", []string{"four", "five"}},
		{"a map that is gone", func() { os.RemoveAll(filepath.Join(root, "sites/a.test/m")) },
			"added [] changed [] removed [" + a + "] kept [] refused []", []string{"five"}},
	}
	for _, s := range steps {
		s.do()
		next, _, change := l.Reload([]string{root})
		if got := say(change); got != s.change {
			t.Errorf("%s:\n got %s\nwant %s", s.name, got, s.change)
		}
		if change.Empty() != (s.name == "nothing") {
			t.Errorf("%s: empty %v", s.name, change.Empty())
		}
		if got := actionNames(next.List(page)); !slices.Equal(got, s.actions) {
			t.Errorf("%s: actions %q, want %q", s.name, got, s.actions)
		}
		if next.List("https://b.test/").Actions[0].Name != "b" ||
			next.For("https://b.test/")[0] != l.For("https://b.test/")[0] {
			t.Errorf("%s: a map that did not change was read again", s.name)
		}
		l = next
	}
}

// A storage that keeps something private from now on is obeyed at once, also by
// maps whose own text is as it was.
func TestReloadObeysTheScopesOfNow(t *testing.T) {
	const importer, reader = "scopes/public/sites/a.test/m/actions.json", "scopes/public/sites/a.test/r/actions.json"
	root := tree(t, map[string]string{
		importer: doc([]string{"own"}, `"imports":[{"id":"p","kind":"storage",`+
			`"uri":"scopes/public/sites/b.test/kept/actions.json","namespace":"p"}]`),
		reader: doc([]string{"read"}),
		"scopes/public/sites/b.test/kept/actions.json": doc([]string{"x"}),
		"scopes/public/sites/b.test/kept/x.html":       "x",
	})
	look := func(l *sites.Library) string {
		out := strings.Join(actionNames(l.List("https://a.test/")), " ")
		for _, m := range l.For("https://a.test/") {
			if m.Path == reader {
				data, err := l.ReadSource(m, "sites/b.test/kept/x.html", 10)
				out += fmt.Sprintf(", read %q %s", data, fault.CodeOf(err))
			}
		}
		return out
	}
	l := load(t, root)
	if got, want := look(l), `own p.x read, read "x" `; got != want {
		t.Fatalf("before: got %s, want %s", got, want)
	}
	write(t, `{"protocol":"actions.json.storage","version":"0.1.0",`+
		`"mounts":{"kept":{"path":"scopes/public/sites/b.test/kept","visibility":"private"}}}`, root, "storage.json")
	l, _, change := l.Reload([]string{root})
	if got, want := look(l), `read, read "" permission_denied`; got != want {
		t.Errorf("after: got %s, want %s", got, want)
	}
	if len(change.Kept) != 0 || len(change.Refused) != 1 ||
		!strings.HasSuffix(filepath.ToSlash(change.Refused[0].Path), importer) {
		t.Errorf("change %+v", change)
	}
	if err := os.Remove(filepath.Join(root, "storage.json")); err != nil {
		t.Fatal(err)
	}
	l, _, _ = l.Reload([]string{root})
	if got, want := look(l), `own p.x read, read "x" `; got != want {
		t.Errorf("and back: got %s, want %s", got, want)
	}
}

// What was kept stays when the maps of a bridge come beside those of the files.
func TestJoinKeepsWhatAReloadKept(t *testing.T) {
	const part = "sites/a.test/m/part.json"
	root := tree(t, map[string]string{
		"sites/a.test/m/actions.json": doc(
			nil, `"imports":[{"id":"p","kind":"local","uri":"part.json","namespace":"p"}]`,
		),
		part: doc([]string{"x"}),
	})
	l := load(t, root)
	write(t, "{}", root, part)
	l, _, change := l.Reload([]string{root})
	if len(change.Kept) != 1 {
		t.Fatalf("change %+v", change)
	}
	joined := sites.Join(l, load(t, tree(t, map[string]string{"sites/b.test/m/actions.json": doc([]string{"b"})})))
	if got := actionNames(joined.List("https://a.test/")); !slices.Equal(got, []string{"p.x"}) {
		t.Errorf("actions %q", got)
	}
}

func TestShownPathsNameNoHome(t *testing.T) {
	for name, want := range map[string]string{
		"/home/ada/maps/scopes/private/sites/a.test/m/actions.json": "scopes/private/sites/a.test/m/actions.json",
		"/home/ada/maps/sites/a.test/m/actions.json":                "sites/a.test/m/actions.json",
		"/home/ada/maps/my.json":                                    "maps/my.json",
		"maps/my.json":                                              "maps/my.json",
		"../../ada/my.json":                                         "ada/my.json",
	} {
		if got := sites.ShownPath(name); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}

// A file that the user names and that breaks is kept as well.
func TestReloadOfANamedFile(t *testing.T) {
	root := tree(t, map[string]string{"my.json": doc([]string{"a"})})
	file := filepath.Join(root, "my.json")
	l := load(t, file)
	write(t, "", file)
	l, reports, change := l.Reload([]string{file})
	if len(change.Kept) != 1 || len(reports) != 1 || !reports[0].Kept || reports[0].OK ||
		reports[0].Errors[0].Code != fault.InvalidJSON {
		t.Errorf("change %+v", change)
	}
	if got := actionNames(l.List("http://any.test/")); !slices.Equal(got, []string{"a"}) {
		t.Errorf("actions %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	l, _, change = l.Reload([]string{file})
	if len(change.Removed) != 1 || len(change.Refused) != 1 || len(l.Maps()) != 0 {
		t.Errorf("change %+v", change)
	}
}
