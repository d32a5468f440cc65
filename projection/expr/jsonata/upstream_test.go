package jsonata

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// upstreamFault is one entry of testdata/upstream_faults.json: a fault of
// jsonata-js 2.2.1 that this package does not share, with examples.
type upstreamFault struct {
	Fault    string `json:"fault"`
	Why      string `json:"why"`
	Examples []struct {
		Expr  string       `json:"expr"`
		Input string       `json:"input"`
		Ours  oracleAnswer `json:"ours"`
	} `json:"examples"`
}

func upstreamFaults(t *testing.T) []upstreamFault {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "upstream_faults.json"))
	if err != nil {
		t.Fatal(err)
	}
	var faults []upstreamFault
	if err := json.Unmarshal(raw, &faults); err != nil {
		t.Fatal(err)
	}
	return faults
}

// TestUpstreamFaults holds our side of every documented difference in place,
// and the list itself to the repairs that the differential test sets cases
// aside for.
func TestUpstreamFaults(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "repairs.js"))
	if err != nil {
		t.Fatal(err)
	}
	var repaired, listed []string
	for _, m := range regexp.MustCompile(`(?m)^repair\('([a-z-]+)'`).FindAllStringSubmatch(string(source), -1) {
		repaired = append(repaired, m[1])
	}
	slices.Sort(repaired)
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "expressions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range upstreamFaults(t) {
		entry := "- **" + f.Fault + "**: " + f.Why
		words := strings.Join(strings.Fields(string(page)), " ")
		if !strings.Contains(words, strings.Join(strings.Fields(entry), " ")) {
			t.Errorf("docs/reference/expressions.md does not have the entry\n%s", entry)
		}
		listed = append(listed, f.Fault)
		if f.Why == "" || len(f.Examples) == 0 {
			t.Errorf("%s has no reason or no example", f.Fault)
		}
		for _, e := range f.Examples {
			if e.Input == "" {
				e.Input = "{}"
			}
			if d := difference(question{Expr: e.Expr, Input: e.Input}, &e.Ours); d != "" {
				t.Errorf("%s: %s\n\t%s", f.Fault, e.Expr, d)
			}
		}
	}
	repaired = slices.Compact(repaired)
	if !slices.Equal(listed, repaired) {
		t.Errorf("upstream_faults.json lists %q, repairs.js repairs %q", listed, repaired)
	}
}

// TestUpstreamFaultsAreTheirs asks jsonata-js: as published it must not agree
// with us on any example, and repaired it must, by way of that very repair.
func TestUpstreamFaultsAreTheirs(t *testing.T) {
	o := startOracle(t)
	for _, f := range upstreamFaults(t) {
		for _, e := range f.Examples {
			q := question{Expr: e.Expr, Input: e.Input}
			if q.Input == "" {
				q.Input = "{}"
			}
			again := q
			again.Repaired = true
			answers := o.ask(t, []question{q, again})
			if published := &answers[0]; published.comparable() && difference(q, published) == "" {
				t.Errorf("%s: %s: jsonata-js agrees with us as it is", f.Fault, e.Expr)
			}
			fixed := &answers[1]
			if !fixed.comparable() {
				t.Errorf("%s: %s: repaired jsonata-js fails without a code: %s", f.Fault, e.Expr, fixed.Crash)
			} else if d := difference(q, fixed); d != "" {
				t.Errorf("%s: %s: repaired jsonata-js differs:\n\t%s", f.Fault, e.Expr, d)
			}
			if !slices.Contains(fixed.Faults, f.Fault) {
				t.Errorf("%s: %s: the repairs that made themselves felt are %q", f.Fault, e.Expr, fixed.Faults)
			}
		}
	}
}
