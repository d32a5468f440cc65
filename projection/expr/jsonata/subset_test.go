package jsonata

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// subset is testdata/subset.json: expressions of our own with the answers of
// jsonata-js 2.2.1. It always runs.
type subset struct {
	Contexts []string     `json:"contexts"`
	Cases    []subsetCase `json:"cases"`
}

type subsetCase struct {
	Expr      string  `json:"expr"`
	Context   int     `json:"context"`
	Text      *string `json:"text,omitempty"`
	Undefined bool    `json:"undefined,omitempty"`
	Code      string  `json:"code,omitempty"`
}

func TestOwnSubset(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "subset.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s subset
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Cases) < 500 {
		t.Fatalf("the subset has only %d cases", len(s.Cases))
	}
	for _, c := range s.Cases {
		want := &oracleAnswer{Text: c.Text, Undefined: c.Undefined, Code: c.Code}
		if d := difference(question{Expr: c.Expr, Input: s.Contexts[c.Context]}, want); d != "" {
			t.Errorf("%s\n\t%s", c.Expr, d)
		}
	}
}

// TestWriteSubset rewrites the answers: OUTRIDER_JSONATA_WRITE=1 together with
// OUTRIDER_JSONATA_NODE. testdata/expressions.txt has the hand-written ones,
// one a line; generated ones follow.
func TestWriteSubset(t *testing.T) {
	if os.Getenv("OUTRIDER_JSONATA_WRITE") == "" {
		t.Skip("OUTRIDER_JSONATA_WRITE is not set")
	}
	o := startOracle(t)
	raw, err := os.ReadFile(filepath.Join("testdata", "expressions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := subset{Contexts: differentialContexts}
	var questions []question
	var at []int
	add := func(expr string, context int) {
		questions, at = append(questions, question{Expr: expr, Input: s.Contexts[context]}), append(at, context)
	}
	for _, line := range splitLines(string(raw)) {
		add(line, 3)
	}
	for i := range 500 {
		g := newGenerator(uint64(900_000 + i))
		add(g.expr(1+i%4), i%len(s.Contexts))
	}
	for i := range 300 {
		g := newGenerator(uint64(910_000 + i))
		g.wide = true
		expr := g.expr(1 + i%4)
		if i%10 == 0 {
			expr = g.torn(expr)
		}
		add(expr, i%len(s.Contexts))
	}
	verdicts := o.judge(t, questions)
	for i, a := range o.ask(t, questions) {
		expr := questions[i].Expr
		if verdicts[i].aside || !a.comparable() || a.Functions || len(expr) > 300 {
			continue // decided by a fault of the library, not a plain value, or unwieldy
		}
		s.Cases = append(s.Cases, subsetCase{expr, at[i], a.Text, a.Undefined, a.Code})
	}
	out, err := os.Create(filepath.Join("testdata", "subset.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
}

func splitLines(s string) []string {
	var lines []string
	from := 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '\n' {
			if i > from {
				lines = append(lines, s[from:i])
			}
			from = i + 1
		}
	}
	return lines
}
