package sites_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/sites"
)

// doc returns a valid map with one page.info tool per name and further root
// members.
func doc(names []string, more ...string) string {
	var tools []string
	for _, n := range names {
		tools = append(tools, fmt.Sprintf(
			`{"name":%q,"description":"Runs %s.","input_schema":{"type":"object"},"x_actions":{"handler":"page.info"}}`,
			n, n,
		))
	}
	return withTools(strings.Join(tools, ","), more...)
}

func withTools(tools string, more ...string) string {
	return `{"protocol":"actions.json","version":1,"tools":[` + tools + `]` +
		strings.Join(append([]string{""}, more...), ",") + `}`
}

// tree writes files below a new folder and returns it.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func load(t testing.TB, paths ...string) *sites.Library {
	t.Helper()
	l, reports := sites.Load(paths, sites.Options{Known: known})
	for _, r := range reports {
		if !r.OK {
			t.Fatalf("%s: %v", r.Path, r.Errors)
		}
	}
	return l
}

func known(name string) bool {
	return slices.Contains([]string{"page.info", "pointer.click", "locator.element_info"}, name)
}

func actionNames(l sites.Listing) []string {
	names := []string{}
	for _, a := range l.Actions {
		names = append(names, a.Name)
	}
	return names
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
