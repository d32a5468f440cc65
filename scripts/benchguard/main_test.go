package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const measured = `goos: linux
BenchmarkPeer/evaluate_1+1-2   20  0.2 ms/floor  0.25 ms/ours  1.20 ratio-of-fastest  1.5 ratio
BenchmarkPeer/evaluate_1+1-2   20  0.2 ms/floor  0.25 ms/ours  1.30 ratio-of-fastest  1.5 ratio
BenchmarkPeer/evaluate_1+1-2   20  0.2 ms/floor  0.25 ms/ours  1.24 ratio-of-fastest  1.5 ratio
BenchmarkExtract/extract_1000-2   20  1.00 ratio-of-fastest  0.95 ratio
BenchmarkSixteenTabs/windows-16   20  0.80 of-floor  400 pairs/s-floor
BenchmarkOther-2   20  400 ns/op
PASS
`

func TestGuard(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ratios.json")
	guard := func(in string, args ...string) (int, string) {
		var out strings.Builder
		code, err := run(append(args, file), strings.NewReader(in), &out)
		if err != nil {
			return code, err.Error()
		}
		return code, out.String()
	}
	if code, said := guard(measured); code != 2 {
		t.Errorf("without a file: %d, %s", code, said)
	}
	if code, said := guard(measured, "-update", "-about", "a machine"); code != 0 {
		t.Fatalf("writing the file: %d, %s", code, said)
	}
	raw, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(raw), `"about": "a machine"`) || strings.Contains(string(raw), "Other") {
		t.Errorf("%v: the file is %s", err, raw)
	}
	for _, c := range []struct {
		name, from, to string
		code           int
		line           string
	}{
		{"the same", "", "", 0, "ok       Peer/evaluate_1+1: 1.24, it was 1.24; the bound is 1.40"},
		{"within the scatter", "1.24 ratio", "1.39 ratio", 0, "ok       Peer/evaluate_1+1"},
		{"worse", "1.2", "1.5", 1, "WORSE    Peer/evaluate_1+1: 1.50"},
		{"one run is not enough to be worse", "1.20 ratio", "9.00 ratio", 0, "ok       Peer/evaluate_1+1: 1.30"},
		{"a single run has a bound of 5 %", "1.00 ratio", "1.06 ratio", 1, "WORSE    Extract/extract_1000: 1.06"},
		{"less of the floor", "0.80 of-floor", "0.70 of-floor", 1, "WORSE    SixteenTabs/windows: 0.70"},
		{"more of the floor", "0.80 of-floor", "2.00 of-floor", 0, "ok       SixteenTabs/windows: 2.00"},
		{"not measured", "SixteenTabs/windows", "SixteenTabs/doors", 1, "MISSING  SixteenTabs/windows"},
		{"not known", "SixteenTabs/windows", "SixteenTabs/doors", 1, "new      SixteenTabs/doors: 0.80"},
		{"nothing to read", measured, "PASS\n", 2, "no benchmark with a ratio"},
	} {
		in := measured
		if c.from != "" {
			in = strings.ReplaceAll(measured, c.from, c.to)
		}
		if code, said := guard(in); code != c.code || !strings.Contains(said, c.line) {
			t.Errorf("%s: %d, want %d and %q in\n%s", c.name, code, c.code, c.line, said)
		}
	}
}
