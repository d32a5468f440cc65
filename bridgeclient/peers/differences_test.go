package peers_test

import (
	"encoding/json"
	"os"
	"path"
	"slices"
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
	// At is the position of the call on its page, where only that one is meant.
	At *int `json:"at,omitempty"`
	// Kind is quirk, environment (a limit of headless Chromium or of the
	// harness), program (what cannot be the same in another program: names, ids,
	// clocks, texts), addition (the extension does not have the member) or open (a
	// difference that is still to be mended).
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
	At       int    `json:"at"`
	Path     string `json:"path"`
	Upstream string `json:"extension"`
	Strict   string `json:"strict"`
}

func (d differences) check(t *testing.T) {
	t.Helper()
	for i, r := range d {
		if r.Why == "" || r.Path == "" || !slices.Contains([]string{"quirk", "environment", "program", "addition", "open"}, r.Kind) {
			t.Errorf("differences.json/%d explains nothing: %+v", i, *r)
		}
		if (r.Kind == "quirk") != (r.Quirk != "") {
			t.Errorf("differences.json/%d: a quirk has a name and nothing else has one: %+v", i, *r)
		}
		if r.Kind == "quirk" && (r.Profile != quirks.StrictProfile || !quirks.Extension().Has(quirks.Name(r.Quirk))) {
			t.Errorf("differences.json/%d: a quirk is one of the table, and only the strict profile differs by it: %+v", i, *r)
		}
		for _, p := range []string{r.Page, r.Call, r.Path} {
			if _, err := path.Match(p, ""); err != nil {
				t.Errorf("differences.json/%d: %q: %v", i, p, err)
			}
		}
	}
}

// explains reports whether a row is about this difference.
func (d differences) explains(profile, page, name string, at int, diff difference) bool {
	for _, r := range d {
		if r.Profile != "" && r.Profile != profile || r.At != nil && *r.At != at || !matches(r.Page, page) || !matches(r.Call, name) || !matches(r.Path, diff.path) {
			continue
		}
		if r.Kind == "addition" && diff.upstream != "absent" {
			continue
		}
		if r.first == nil {
			r.first = &seen{page, name, at, diff.path, cut(diff.upstream), cut(diff.program)}
		}
		return true
	}
	return false
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

// evidence writes where each quirk was seen, for the documentation, when that is
// generated.
func (d differences) evidence(t *testing.T) {
	t.Helper()
	if os.Getenv("OUTRIDER_GENERATE") == "" {
		return
	}
	shown := map[string][]*seen{}
	for _, r := range d {
		if r.Kind == "quirk" && r.first != nil {
			shown[r.Quirk] = append(shown[r.Quirk], r.first)
		}
	}
	b, err := json.MarshalIndent(shown, "", "  ")
	if err == nil {
		err = os.WriteFile(data+"evidence.json", append(b, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
