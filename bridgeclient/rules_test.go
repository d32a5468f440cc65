package bridgeclient_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const bridgeData = "../testdata/bridge/"

// TestRulesHaveTranscripts lists the rules of testdata/bridge/rules.json that no
// transcript guards, for the side that they bind. Their numbers are those of the
// sections of the upstream protocol's description. A transcript names its rules on
// a line of its comment that begins with "Rules:".
func TestRulesHaveTranscripts(t *testing.T) {
	text, err := os.ReadFile(bridgeData + "rules.json")
	if err != nil {
		t.Fatal(err)
	}
	var rules []struct{ Rule, Side, Says string }
	if err := json.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	// By the side that is tested: the other one is played.
	guarded := map[string][]string{}
	for folder, side := range map[string]string{"actions": "runtime", "hub": "bridge", "polling": "bridge"} {
		files, err := filepath.Glob(bridgeData + folder + "/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts in %s: %v", folder, err)
		}
		for _, file := range files {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			named := false
			for line := range strings.Lines(string(a.Comment)) {
				if list, ok := strings.CutPrefix(line, "Rules:"); ok {
					for _, rule := range strings.Fields(list) {
						named = true
						guarded[side] = append(guarded[side], rule)
						if !slices.ContainsFunc(rules, func(r struct{ Rule, Side, Says string }) bool {
							return r.Rule == rule && (r.Side == side || r.Side == "both")
						}) {
							t.Errorf("%s names %s, which is no rule of a %s", file, rule, side)
						}
					}
				}
			}
			if !named {
				t.Errorf("%s names no rule", file)
			}
		}
	}
	var missing []string
	for _, r := range rules {
		for _, side := range []string{"runtime", "bridge"} {
			if (r.Side == side || r.Side == "both") && !slices.Contains(guarded[side], r.Rule) {
				missing = append(missing, fmt.Sprintf("%s (%s): %s", r.Rule, side, r.Says))
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("rules without a transcript:\n%s", strings.Join(missing, "\n"))
	}
}
