package lint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/authoring/lint"
)

// Each map of testdata/maps/lint has the findings that its expect.json names, and no
// others.
func TestMapsOfTheFolder(t *testing.T) {
	files, err := filepath.Glob("../../testdata/maps/lint/*/actions.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d maps, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Score    int               `json:"score"`
				Calls    []lint.Call       `json:"calls"`
				Findings []string          `json:"findings"`
				Fixes    map[string]string `json:"fixes"` // by finding, a part of what to do
			}
			b, err := os.ReadFile(filepath.Join(filepath.Dir(file), "expect.json"))
			if err == nil {
				err = json.Unmarshal(b, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			r, err := lint.Map(text, want.Calls)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, f := range r.Findings {
				finding := string(f.Rule) + " " + f.Pointer
				got = append(got, finding)
				if !strings.Contains(f.Fix, want.Fixes[finding]) {
					t.Errorf("the fix of %s is %q, without %q", finding, f.Fix, want.Fixes[finding])
				}
				if f.Line == 0 || f.Message == "" || f.Fix == "" {
					t.Errorf("%s at %s has line %d, message %q, fix %q", f.Rule, f.Pointer, f.Line, f.Message, f.Fix)
				}
			}
			slices.Sort(got)
			slices.Sort(want.Findings)
			if !slices.Equal(got, want.Findings) || r.Score != want.Score {
				t.Errorf("score %d, findings %q; want %d, %q", r.Score, got, want.Score, want.Findings)
			}
		})
	}
}
