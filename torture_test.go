package outrider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// difficulties are the rows that testdata/pages/TORTURE.md must have.
var difficulties = []string{
	"overlays that leave", "overlays that stay", "moving targets",
	"late targets", "disabled targets", "re-rendered targets", "sticky headers",
	"nested scrollers", "transforms", "zoom", "iframes of the same origin",
	"iframes of another origin", "iframes nested to depth 3",
	"frames crossed with open shadow roots", "frames crossed with closed shadow roots",
	"styled checkboxes behind labels", "contenteditable",
	"rich editors", "number, date and email inputs", "IME text",
	"file inputs", "popups", "dialogs during load", "dialogs during calls",
	"pages that replace built-ins", "pages that mutate every 20 ms",
	"pages that block their thread", "100,000 nodes", "10 MB of text",
}

// TestEveryDifficultyIsShown holds testdata/pages/TORTURE.md to what is there.
func TestEveryDifficultyIsShown(t *testing.T) {
	b, err := os.ReadFile("testdata/pages/TORTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| ([^|]+) \| ([^|]+) \|$`)
	name := regexp.MustCompile("`([^`]+)`")
	rows, listed := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(b)) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || m[1] == "difficulty" {
			continue
		}
		if rows[m[1]] {
			t.Errorf("%q has two rows", m[1])
		}
		rows[m[1]] = true
		shown := name.FindAllStringSubmatch(m[2], -1)
		if len(shown) == 0 {
			t.Errorf("%q is shown by nothing", m[1])
		}
		for _, s := range shown {
			if _, err := showsBoth(s[1]); err != nil {
				t.Errorf("%q: %v", m[1], err)
			}
			listed[s[1]] = true
		}
	}
	for _, d := range difficulties {
		if !rows[d] {
			t.Errorf("there is no row %q", d)
		}
	}
	pages, err := filepath.Glob("testdata/pages/torture/*.html")
	if err != nil || len(pages) < 60 {
		t.Errorf("found %d pages, %v", len(pages), err)
	}
	slices.Sort(pages)
	for _, p := range pages {
		p = strings.TrimPrefix(filepath.ToSlash(p), "testdata/pages/")
		if !listed[p] {
			t.Errorf("%s has no row", p)
		}
	}
}
