package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/catalog"
)

func TestPrimitivesPageIsCurrent(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "reference", "primitives")
	want := catalog.Pages()
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, ok := want[f.Name()]; !ok {
			t.Errorf("docs/reference/primitives/%s belongs to no family: run make generate", f.Name())
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(got) != text {
			t.Errorf("docs/reference/primitives/%s is stale: run make generate (%v)", name, err)
		}
	}
}

func TestPagesNameEveryPrimitiveInShortLines(t *testing.T) {
	pages := catalog.Pages()
	for _, f := range catalog.Families() {
		for _, p := range f.Primitives {
			if name := p.Record().Name; !strings.Contains(pages[f.Name+".md"], "\n## "+name+"\n") ||
				!strings.Contains(pages["README.md"], "[`"+name+"`]("+f.Name+".md#") {
				t.Errorf("%s is not on the page of %s, or not in the index", name, f.Name)
			}
		}
	}
	for name, text := range pages {
		for i, line := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(line) > 120 {
				t.Errorf("%s:%d is longer than 120 characters: %s", name, i+1, line)
			}
		}
	}
}
