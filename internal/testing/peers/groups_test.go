package peers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/outrider-run/outrider/primitives/quirks"
	vocabulary "github.com/outrider-run/outrider/primitives/upstream"
)

// group is the calls on one page, in their order: those that the page brings
// for its own test, then further ones.
type group struct {
	Page  string `json:"page"` // below testdata/pages
	Own   bool   `json:"own,omitempty"`
	Calls []call `json:"calls,omitempty"`
	// Sample: the group is part of the short run too.
	Sample bool `json:"sample,omitempty"`
	// Paced leaves the pace of the document as it is.
	Paced bool `json:"paced,omitempty"`
	// Leave are positions of own calls that are not made, with the reason.
	Leave map[int]string `json:"leave,omitempty"`
}

type call struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	// Then is an expression of the page that says what the call did to it.
	Then string `json:"then,omitempty"`
	// Save is the name under which the payload is kept for "$name.path".
	Save string `json:"save,omitempty"`
}

// ownCalls finds the calls of a page below testdata/pages.
var ownCalls = regexp.MustCompile(`(?s)<script type="application/json" id="expect">(.*?)</script>`)

// calls lists the calls of the group. Of the page's own ones those are left out
// that the extension cannot get: the bridge refuses a name that it does not know.
func (g group) calls(t *testing.T) []call {
	t.Helper()
	if !g.Own {
		return g.Calls
	}
	html, err := os.ReadFile("../../../testdata/pages/" + g.Page)
	if err != nil {
		t.Fatal(err)
	}
	found := ownCalls.FindSubmatch(html)
	if found == nil {
		t.Fatalf("%s brings no calls", g.Page)
	}
	var own struct {
		Calls []struct {
			call
			Profile   string `json:"profile"`
			Extension *struct {
				Then string `json:"then"`
			} `json:"extension"`
		} `json:"calls"`
	}
	if err := json.Unmarshal(found[1], &own); err != nil {
		t.Fatalf("%s: %v", g.Page, err)
	}
	var out []call
	for i, c := range own.Calls {
		if !vocabulary.Has(c.Name) || c.Profile == quirks.StrictProfile || g.Leave[i] != "" {
			continue
		}
		if c.Extension != nil && c.Extension.Then != "" {
			c.Then = c.Extension.Then // what it is to have done there says more of it
		}
		out = append(out, c.call)
	}
	return append(out, g.Calls...)
}

// committed reads the calls and the table of their differences.
func committed(t *testing.T) (groups []group, table differences) {
	t.Helper()
	files, err := filepath.Glob(data + "calls/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no calls: %v", err)
	}
	for _, file := range files {
		var more []group
		readJSON(t, file, &more)
		groups = append(groups, more...)
	}
	readJSON(t, data+"differences.json", &table)
	return groups, table
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
