package jsonata

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkBesideNode goes from JSON text to JSON text, here and in jsonata-js.
// One round is five runs of ours and then five of theirs, which Node warms up
// and measures itself (see testdata/bench.js). Because the rounds alternate,
// other work on the machine slows down both sides. node-ns and native-ns are
// the fastest rounds per run; times-faster is the ratio of the medians and
// times-faster-best that of the fastest. Use -benchtime 40x or more.
func BenchmarkBesideNode(b *testing.B) {
	const runs = 5
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
	raw := benchInput()
	for _, c := range benchCases {
		line, _ := json.Marshal(map[string]any{"expr": c.expr, "n": runs, "input": string(raw)})
		theirs := func(b *testing.B) float64 {
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
			return ns / runs
		}
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			theirs(b) // warms up
			var native, node []float64
			for b.Loop() {
				began := time.Now()
				for range runs {
					if _, err := p.Eval(context.Background(), JSONInput(raw), Limits{}); err != nil {
						b.Fatal(err)
					}
				}
				native = append(native, float64(time.Since(began))/runs)
				node = append(node, theirs(b))
			}
			slices.Sort(native)
			slices.Sort(node)
			b.ReportMetric(0, "ns/op") // says nothing
			b.ReportMetric(native[0], "native-ns")
			b.ReportMetric(node[0], "node-ns")
			b.ReportMetric(node[0]/native[0], "times-faster-best")
			b.ReportMetric(node[len(node)/2]/native[len(native)/2], "times-faster")
		})
	}
}
