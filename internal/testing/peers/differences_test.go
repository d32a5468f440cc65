package peers_test

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/quirks"
)

// differences is testdata/peers/differences.json.
type differences []*row

// row explains differences. Page, Call and Path are patterns of path.Match,
// whose star ends at a slash and at nothing else.
type row struct {
	Profile string `json:"profile"` // extension or strict; empty for both
	Page    string `json:"page"`
	Call    string `json:"call"`
	Path    string `json:"path"`
	// Args is a part of the arguments, where only some calls are meant.
	Args string `json:"args,omitempty"`
	// Kind is quirk, environment (a limit of headless Chromium or of the
	// harness), program (what cannot be the same in another program: names, ids,
	// clocks, texts) or addition (the extension does not have the member).
	Kind string `json:"kind"`
	// Quirk is the name in primitives/quirks.
	Quirk string `json:"quirk,omitempty"`
	Why   string `json:"why"`
	// Sometimes is set where two runs may agree by chance, as clocks do.
	Sometimes bool `json:"sometimes,omitempty"`
	first     *seen
}

// seen is where a row was used first, and so the evidence of its quirk.
type seen struct {
	Page     string `json:"page"`
	Call     string `json:"call"`
	Args     string `json:"args"`
	At       int    `json:"at"`
	Path     string `json:"path"`
	Upstream string `json:"extension"`
	Program  string `json:"strict"`
}

func (d differences) check(t *testing.T) {
	t.Helper()
	for i, r := range d {
		if r.Why == "" || r.Path == "" ||
			!slices.Contains([]string{"quirk", "environment", "program", "addition"}, r.Kind) {
			t.Errorf("differences.json/%d explains nothing: %+v", i, *r)
		}
		if r.Kind == "quirk" && r.Path == "*" {
			t.Errorf("differences.json/%d: a row names the path of its difference: %+v", i, *r)
		}
		if (r.Kind == "quirk") != (r.Quirk != "") {
			t.Errorf("differences.json/%d: a quirk has a name and nothing else has one: %+v", i, *r)
		}
		if r.Kind == "quirk" && (r.Profile != quirks.StrictProfile || !quirks.Extension().Has(quirks.Name(r.Quirk))) {
			t.Errorf(
				"differences.json/%d: a quirk is one of the table, and only the strict profile differs by it: %+v",
				i, *r,
			)
		}
		for _, p := range []string{r.Page, r.Call, r.Path} {
			if _, err := path.Match(p, ""); err != nil {
				t.Errorf("differences.json/%d: %q: %v", i, p, err)
			}
		}
	}
}

// explains returns the row about a difference, nil for none.
func (d differences) explains(profile string, where seen, diff difference) *row {
	for _, r := range d {
		if r.Profile != "" && r.Profile != profile || !strings.Contains(where.Args, r.Args) {
			continue
		}
		if !matches(r.Page, where.Page) || !matches(r.Call, where.Call) || !matches(r.Path, diff.path) {
			continue
		}
		if r.Kind == "addition" && diff.upstream != "absent" {
			continue
		}
		if r.first == nil {
			where.Path = diff.path
			where.Upstream = cut(diff.upstream)
			where.Program = cut(diff.program)
			r.first = &where
		}
		return r
	}
	return nil
}

// matches takes an empty pattern for any text.
func matches(pattern, text string) bool {
	ok, _ := path.Match(pattern, text)
	return pattern == "" || ok
}

// unused fails for rows that explain nothing.
func (d differences) unused(t *testing.T) {
	t.Helper()
	for i, r := range d {
		if r.first == nil && !r.Sometimes {
			t.Errorf("differences.json/%d explains no difference: %+v", i, *r)
		}
	}
}

// evidence is testdata/peers/evidence.json: what make peers found last.
type evidence struct {
	Calls int `json:"calls"`
	Pages int `json:"pages"`
	// Same counts by profile the calls whose answer and effect are the extension's,
	// ids, clocks, texts for people and further members apart.
	Same   map[string]int     `json:"same"`
	Quirks map[string][]*seen `json:"quirks"`
}

// write keeps where each quirk was seen, for docs/profiles.md.
func (e evidence) write(t *testing.T, d differences) {
	t.Helper()
	e.Quirks = map[string][]*seen{}
	for _, r := range d {
		if r.Kind == "quirk" && r.first != nil {
			e.Quirks[r.Quirk] = append(e.Quirks[r.Quirk], r.first)
		}
	}
	b, err := json.MarshalIndent(e, "", "  ")
	if err == nil {
		err = os.WriteFile(data+"evidence.json", append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
