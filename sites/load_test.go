package sites_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
)

func TestAStorageFolderIsLoaded(t *testing.T) {
	root := tree(t, map[string]string{
		"storage.json": `{"protocol":"actions.json.storage","version":1}`,
		"scopes/private/sites/example.com/board/actions.json": doc([]string{"board.open"}),
		"scopes/private/sites/example.com/board/x.actions.json": `not a map: in a site folder only the exact name ` +
			`counts`,
		"scopes/shared/team/sites/example.com/mail/actions.json": doc([]string{"mail.send"}),
		"scopes/public/sites/other.org/a/b/c/actions.json":       doc([]string{"other.run"}),
		"scopes/private/sites/example.com/proof/actions.json":    `{"broken`,
		"scopes/private/sites/proof/x/actions.json":              `{"broken`,
		"node_modules/sites/example.com/m/actions.json":          `{"broken`,
		".git/sites/example.com/m/actions.json":                  `{"broken`,
		"logs/bridge-lifecycle.jsonl":                            `{}`,
	})
	l, reports := sites.Load([]string{root}, sites.Options{})
	if len(reports) != 3 {
		t.Fatalf("%d reports, want 3: %v", len(reports), reports)
	}
	var paths []string
	for _, m := range l.Maps() {
		paths = append(paths, m.Path)
	}
	want := []string{
		"scopes/private/sites/example.com/board/actions.json", "scopes/shared/team/sites/example.com/mail/actions.json",
		"scopes/public/sites/other.org/a/b/c/actions.json",
	}
	if !slices.Equal(paths, want) {
		t.Errorf("maps %q, want %q", paths, want)
	}
	if got := actionNames(l.List("https://app.example.com/")); !slices.Equal(got, []string{"board.open", "mail.send"}) {
		t.Errorf("actions %q", got)
	}
}

// However the user names a piece of a workspace, its maps keep their scope and
// site.
func TestAPieceOfAWorkspaceKeepsItsPlace(t *testing.T) {
	root := tree(t, map[string]string{"scopes/private/sites/example.com/board/actions.json": doc([]string{"a.run"})})
	for _, piece := range []string{
		"", "scopes", "scopes/private", "scopes/private/sites", "scopes/private/sites/example.com",
		"scopes/private/sites/example.com/board", "scopes/private/sites/example.com/board/actions.json",
	} {
		t.Run(piece, func(t *testing.T) {
			l := load(t, filepath.Join(root, filepath.FromSlash(piece)))
			m := l.Maps()[0]
			if m.Path != "scopes/private/sites/example.com/board/actions.json" ||
				m.Location.Scope != location.Private || m.Location.Host != "example.com" {
				t.Errorf("path %s, location %+v", m.Path, m.Location)
			}
			if m.Applies("https://evil.test/") {
				t.Error("applies to another site")
			}
		})
	}
}

func TestAFileTheUserNamesAppliesEverywhere(t *testing.T) {
	root := tree(t, map[string]string{
		"map/actions.json":                  doc([]string{"a"}, `"surface":{"origin":"https://example.com"}`),
		"any name.json":                     doc([]string{"a"}),
		"project/sites/demo/actions.json":   doc([]string{"a"}),
		"store/sites/example.com/m/my.json": doc([]string{"a"}),
	})
	tests := []struct {
		file string
		page string
		want bool
	}{
		{"map/actions.json", "http://127.0.0.1:8080/", true},
		{"map/actions.json", "about:blank", true},
		{"any name.json", "file:///index.html", true},
		{"project/sites/demo/actions.json", "http://127.0.0.1:8080/", true}, // demo is a folder, not a host
		{"store/sites/example.com/m/my.json", "https://example.com/", true},
		{"store/sites/example.com/m/my.json", "https://other.test/", false},
	}
	for _, tt := range tests {
		l := load(t, filepath.Join(root, filepath.FromSlash(tt.file)))
		if _, err := l.Find(tt.page, "a"); (err == nil) != tt.want {
			t.Errorf("%s on %s: %v, want found %v", tt.file, tt.page, err, tt.want)
		}
		if path := l.Maps()[0].Path; filepath.IsAbs(path) {
			t.Errorf("agents would see the path %s", path)
		}
	}
}

func TestAnInvalidMapContributesNothing(t *testing.T) {
	root := tree(t, map[string]string{
		"sites/e.com/good/actions.json": doc([]string{"good.run"}),
		"sites/e.com/bad/actions.json":  doc([]string{"bad.run", "bad run", "bad.run"}),
		"sites/f.com/good/actions.json": doc([]string{"f.run"}),
	})
	l, reports := sites.Load([]string{root}, sites.Options{})
	var bad sites.FileReport
	for _, r := range reports {
		if !r.OK {
			bad = r
		}
	}
	if bad.Path != filepath.Join(root, "sites", "e.com", "bad", "actions.json") || len(bad.Errors) != 2 {
		t.Errorf("report %+v, want both errors of the bad map", bad)
	}
	if got := actionNames(l.List("https://e.com/")); !slices.Equal(got, []string{"good.run"}) {
		t.Errorf("actions %q", got)
	}
	_, err := l.Find("https://e.com/", "bad.run")
	if !errors.Is(err, fault.UnknownAction) ||
		fmt.Sprint(err.Evidence["refused_maps"]) != "[sites/e.com/bad/actions.json]" {
		t.Errorf("%v with %v, want the refused map named", err, err.Evidence)
	}
	if _, err := l.Find("https://f.com/", "nothing"); err.Evidence["refused_maps"] != nil {
		t.Errorf("the refused map of another site is named: %v", err.Evidence)
	}
}

func TestReportsAsJSON(t *testing.T) {
	root := tree(t, map[string]string{"a.json": doc(nil), "b.json": `{}`})
	_, reports := sites.Load([]string{
		filepath.Join(root, "a.json"), filepath.Join(root, "b.json"),
		filepath.Join(root, "c.json"), filepath.Join(root),
	}, sites.Options{})
	var got []string
	for _, r := range reports {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(toJSON(t, r)), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["errors"][0] != '[' || fields["warnings"][0] != '[' {
			t.Errorf("errors %s, warnings %s; want arrays", fields["errors"], fields["warnings"])
		}
		line := string(fields["ok"])
		for _, p := range append(slices.Clone(r.Errors), r.Warnings...) {
			line += " " + p.Pointer + " " + string(p.Code)
		}
		got = append(got, line)
	}
	want := []string{
		"true", "false /protocol missing_field /tools missing_field /version missing_field",
		"false  storage_file_not_found",
		"true  storage_file_not_found", // a folder without maps is a warning
	}
	if !slices.Equal(got, want) {
		t.Errorf("reports\n got %q\nwant %q", got, want)
	}
}

func TestAFileNamedTwiceIsLoadedOnce(t *testing.T) {
	root := tree(t, map[string]string{"sites/e.com/m/actions.json": doc([]string{"a"})})
	l, reports := sites.Load(
		[]string{root, filepath.Join(root, "sites"), filepath.Join(root, "sites/e.com/m/actions.json")},
		sites.Options{},
	)
	if len(l.Maps()) != 1 || len(reports) != 1 {
		t.Errorf("%d maps, %d reports", len(l.Maps()), len(reports))
	}
}

func TestLinksDoNotLeaveTheFolder(t *testing.T) {
	outside := tree(t, map[string]string{"actions.json": doc([]string{"outside"}), "secret.md": "secret"})
	root := tree(t, map[string]string{
		"sites/e.com/in/actions.json": doc(
			[]string{"inside"},
			`"x_actions":{"files":[{"id":"s","path":"secret.md","kind":"skill"},{"id":"ok","path":"ok.md"}]}`,
		),
		"sites/e.com/in/ok.md":         "fine",
		"sites/e.com/link/placeholder": "",
	})
	for link, target := range map[string]string{
		"sites/e.com/link/actions.json": filepath.Join(outside, "actions.json"),
		"sites/e.com/folder":            outside,
		"sites/e.com/in/secret.md":      filepath.Join(outside, "secret.md"),
	} {
		if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skipf("links are not possible here: %v", err)
		}
	}
	l, reports := sites.Load([]string{root}, sites.Options{})
	escapes := 0
	for _, r := range reports {
		if !r.OK {
			escapes++
			if r.Errors[0].Code != fault.PathEscape ||
				!strings.HasSuffix(r.Path, filepath.Join("link", "actions.json")) {
				t.Errorf("%s: %v", r.Path, r.Errors)
			}
		}
	}
	if escapes != 1 {
		t.Errorf("%d escapes reported, want 1", escapes)
	}
	listing := l.List("https://e.com/")
	if got := actionNames(listing); !slices.Equal(got, []string{"inside"}) {
		t.Errorf("actions %q", got)
	}
	if len(listing.Files) != 1 || listing.Files[0].RelativePath != "ok.md" || len(listing.Skills) != 0 {
		t.Errorf("files %+v", listing.Files)
	}
	if _, err := l.ReadFile("https://e.com/", "s", "", 0); err == nil {
		t.Error("read a file outside of the storage folder")
	}
}

func TestAFolderThatIsNoRegularFile(t *testing.T) {
	root := tree(t, map[string]string{"sites/e.com/m/actions.json/x": ""})
	l, reports := sites.Load([]string{root}, sites.Options{})
	if len(l.Maps()) != 0 || len(reports) != 1 || !reports[0].OK {
		t.Errorf("maps %v, reports %+v; want a warning only", l.Maps(), reports)
	}
}

func TestFromMapRefusesAnInvalidMap(t *testing.T) {
	l, err := sites.FromMap(
		"scopes/private/sites/e.com/m/actions.json",
		[]byte(`{"protocol":"actions.json","version":"1","tools":[]}`), sites.Options{},
	)
	if l != nil || !errors.Is(err, fault.InvalidManifest) ||
		err.Evidence["map_path"] != "scopes/private/sites/e.com/m/actions.json" {
		t.Errorf("library %v, error %v with %v", l, err, err.Evidence)
	}
}
