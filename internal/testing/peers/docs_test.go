package peers_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/quirks"
)

const profilesPage = "../../../docs/profiles.md"

// The page is made from the table of quirks, the rows of differences.json and what
// make peers found last.
func TestProfilesPageIsCurrent(t *testing.T) {
	_, table := committed(t)
	var found evidence
	readJSON(t, data+"evidence.json", &found)
	want := page(found, table)
	if os.Getenv("OUTRIDER_GENERATE") != "" {
		if err := os.WriteFile(profilesPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(profilesPage); err != nil || string(have) != want {
		t.Errorf("%s is not what the evidence says: run make generate (%v)", profilesPage, err)
	}
	for name := range found.Quirks {
		if !quirks.Extension().Has(quirks.Name(name)) {
			t.Errorf("evidence.json: there is no quirk %s: run make peers", name)
		}
	}
}

const profilesHead = `<!-- Generated from testdata/peers by make generate. Do not edit. -->

# Profiles, measured

` + "```sh" + `
make peers
` + "```" + `

This sends the same calls to the upstream Chrome extension 0.1.217 and to Outrider in both
[profiles](explanation/profiles.md), each behind an upstream bridge of its own. Answers are compared member by member,
and what the calls did to the page with them. Each difference must be explained by a row of
` + "`testdata/peers/differences.json`" + `, or the run fails.

`

func page(found evidence, table differences) string {
	var b strings.Builder
	b.WriteString(profilesHead)
	fmt.Fprintf(&b, "The last run made %d calls on %d pages.\n\n", found.Calls, found.Pages)
	b.WriteString("| | extension profile | strict profile |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| calls answered and done as by the extension, apart from ids, clocks, texts and further "+
		"members | %d | %d |\n", found.Same[quirks.ExtensionProfile], found.Same[quirks.StrictProfile])
	b.WriteString("\nThe other calls meet a quirk or a limit of the environment.\n")
	b.WriteString("\n## Quirks\n\nEach is a way in which the strict profile differs on purpose. Its name leads to " +
		"the description.\n")
	for _, q := range quirks.All() {
		fmt.Fprintf(&b, "\n### [`%s`](reference/quirks.md#%[1]s)\n\n", q.Name)
		shown := found.Quirks[string(q.Name)]
		if len(shown) == 0 {
			item(&b, "no call of the suite meets it; `"+q.Proof+"` shows both sides")
		}
		for _, s := range shown[:min(len(shown), 3)] {
			item(&b, fmt.Sprintf(
				"call %d of `%s`, `%s` with %s: `%s` is %s with the extension, %s here",
				s.At, s.Page, s.Call, code(s.Args), s.Path, code(s.Upstream), code(s.Program),
			))
		}
	}
	for _, part := range []struct{ kind, title, about string }{
		{"environment", "Limits of the environment", "What headless Chromium or the harness of the peers cannot do."},
		{"program", "Not the same in another program", "Names, ids, clocks and texts for people, in both profiles."},
		{"addition", "Additions", "What the extension does not have."},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", part.title, part.about)
		for _, r := range table {
			if r.Kind == part.kind {
				item(&b, r.place()+": "+r.Why)
			}
		}
	}
	return b.String()
}

// place says where a row holds.
func (r *row) place() string {
	text := "`" + r.Path + "`"
	if r.Call != "" {
		text += " of `" + r.Call + "`"
	}
	if r.Page != "" {
		text += " on `" + r.Page + "`"
	}
	if r.Profile != "" {
		text += ", " + r.Profile + " profile"
	}
	return text
}

// code is a value between backticks. What has such a mark itself is shown without.
func code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// item writes one entry of a list, its lines filled up to 120 characters. A word
// that is longer is cut.
func item(b *strings.Builder, text string) {
	const width = 120
	line := "-"
	for word := range strings.FieldsSeq(text) {
		if letters := []rune(word); len(letters) > width-2 {
			word = string(letters[:width-6]) + "…`"
		}
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}
