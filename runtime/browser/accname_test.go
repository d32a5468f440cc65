package browser_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/axtest"
	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// The names and roles that our scripts compute are compared with those that
// the browser computes for its own accessibility tree, over every page of
// testdata/pages/accname: what a locator is resolved by, what a row of a snapshot
// says, and whether the locator of role and name finds the element.
func TestRolesAndNamesAreThoseOfTheBrowser(t *testing.T) {
	browsertest.Browser(t)
	origin := servePages(t)
	pages, err := filepath.Glob(filepath.Join(pagesRoot, "accname", "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	total := 0
	inRows := 0
	located := 0
	for _, path := range pages {
		page := strings.TrimSuffix(filepath.Base(path), ".html")
		t.Run(page, func(t *testing.T) {
			tab := browsertest.Tab(t)
			ctx := within(t, 60*time.Second)
			open(t, tab, origin+"/accname/"+page+".html")
			elements, err := axtest.Read(ctx, tab, "", math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range elements {
				total++
				id, want := e.ID(), e.BrowserName()
				if _, listed := axtest.OtherNames[id]; listed {
					if want == e.Name {
						t.Errorf("%s has the browser's name, but is listed as different", e.Label)
					}
					want = e.Name
				}
				for _, d := range e.Differences(want) {
					if !axtest.Explained(d) {
						t.Error(d)
					}
				}
				if id == "" || want == "" || e.Ref == "" {
					continue
				}
				if e.Row != nil {
					inRows++
				}
				if page == "table" && e.Role != "" && e.Role != "none" && e.Role != "generic" {
					located++
					l := map[string]any{
						"role":   e.Role,
						"name":   want,
						"exact":  true,
						"within": map[string]any{"selector": `[data-cell="` + id + `"]`},
					}
					if err := tab.Call(
						ctx, "", "wait_for", map[string]any{"locator": l, "state": "attached", "timeout_ms": 0}, nil,
					); err != nil {
						t.Errorf(
							"%s (%s): the locator does not find it by its name %q: %v",
							e.Label, e.Theirs.Role, want, fault.From(err).Evidence,
						)
					}
				}
			}
		})
	}
	t.Logf("%d elements compared, %d in snapshots, %d located", total, inRows, located)
	if total < 4000 || inRows < 1200 || located < 900 {
		t.Errorf("only %d elements were compared, %d in snapshots, %d located", total, inRows, located)
	}
}
