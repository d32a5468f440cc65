package jsonata

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestPower compares with Math.pow of Node 20, to the last bit: rows of base,
// exponent and power.
func TestPower(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "power_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][3]float64
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 300 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, r := range rows {
		if got := pow(r[0], r[1]); got != r[2] {
			t.Errorf("pow(%v, %v): got %v, want %v", r[0], r[1], got, r[2])
		}
	}
}
