package jsonata

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkNode is BenchmarkText for jsonata-js. Node measures its own loop;
// node-ns/op is its figure, without the pipe. Compare figures of one run only.
func BenchmarkNode(b *testing.B) {
	dir := os.Getenv("OUTRIDER_JSONATA_NODE")
	if dir == "" {
		b.Skip("OUTRIDER_JSONATA_NODE does not name a directory with node_modules/jsonata")
	}
	cmd := exec.CommandContext(b.Context(), "node", filepath.Join("testdata", "bench.js"), dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Skip(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	answers := bufio.NewScanner(out)
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			line, _ := json.Marshal(map[string]any{"expr": c.expr, "n": b.N, "input": string(benchInput())})
			if _, err := in.Write(append(line, '\n')); err != nil {
				b.Fatal(err)
			}
			if !answers.Scan() {
				b.Fatal("node ended")
			}
			ns, err := strconv.ParseFloat(strings.TrimSpace(answers.Text()), 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(ns/float64(b.N), "node-ns/op")
		})
	}
}
