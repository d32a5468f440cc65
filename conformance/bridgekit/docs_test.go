package bridgekit_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/conformance/bridgekit"
)

const checksPage = "../../docs/reference/bridge-conformance.md"

// The part of the page behind the marker is made from the checks.
func TestConformancePageIsCurrent(t *testing.T) {
	have, err := os.ReadFile(checksPage)
	if err != nil {
		t.Fatal(err)
	}
	const marker = "<!-- generated: make generate -->\n"
	head, _, ok := strings.Cut(string(have), marker)
	if !ok {
		t.Fatalf("%s has no line %s", checksPage, marker)
	}
	var b strings.Builder
	b.WriteString(head + marker)
	for _, part := range []struct {
		title  string
		checks []bridgekit.Check
	}{{"Checks of a bridge", bridgekit.BridgeChecks()}, {"Checks of a runtime", bridgekit.RuntimeChecks()}} {
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		for _, c := range part.checks {
			b.WriteString(wrapped(fmt.Sprintf("- `%s` (%s): %s", c.ID, c.Level, c.Title)))
		}
	}
	b.WriteString("\n## What fails with the upstream peers\n\n")
	for _, k := range knownPeers(t) {
		checks := map[string]bridgekit.Level{}
		list := bridgekit.BridgeChecks()
		if k.Kind == "runtime" {
			list = bridgekit.RuntimeChecks()
		}
		for _, c := range list {
			checks[c.ID] = c.Level
		}
		var failed []string
		for _, id := range k.Failed {
			if checks[id] == "" {
				t.Errorf("%s: there is no check %s", k.Peer, id)
			}
			failed = append(failed, fmt.Sprintf("`%s` (%s)", id, checks[id]))
		}
		b.WriteString(wrapped(fmt.Sprintf("- %s: %s", k.Peer, strings.Join(failed, ", "))))
	}
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(checksPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(have) != b.String() {
		t.Errorf("%s is not what the checks say: run make generate", checksPage)
	}
	ids := map[string]bool{}
	for _, c := range append(bridgekit.BridgeChecks(), bridgekit.RuntimeChecks()...) {
		if c.ID == "" || c.Title == "" || c.Level == "" {
			t.Errorf("a check lacks something: %+v", c)
		}
		ids[c.ID] = true
	}
	if len(ids) < 60 {
		t.Errorf("%d ids", len(ids))
	}
}

// wrapped breaks an item of a list at 120 characters.
func wrapped(s string) string {
	var b strings.Builder
	line := ""
	for i, word := range strings.Fields(s) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > 120 {
			b.WriteString(line + "\n")
			line = "  " + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
