package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/checkcache"
)

// Loading a storage folder of 1,000 maps of five tools, as a process does it that starts: the aim is 0.1 ms a map.
func BenchmarkLoadThousandMaps(b *testing.B) {
	const maps = 1000
	dir := b.TempDir()
	for i := range maps {
		at := filepath.Join(dir, "sites", fmt.Sprintf("site%d.example", i))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "actions.json"), fiveTools(i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	registry, memory := catalog.Standard(), filepath.Join(b.TempDir(), "checked")
	load := func(how runtime.MapOptions) {
		engine, err := expr.New("", nil)
		if err != nil {
			b.Fatal(err)
		}
		defer engine.Close()
		_, reports := runtime.LoadMaps([]string{dir}, registry, engine, how)
		if len(reports) != maps || !reports[maps-1].OK {
			b.Fatalf("%d reports", len(reports))
		}
	}
	for _, warm := range []bool{false, true} {
		b.Run(map[bool]string{false: "cold", true: "warm"}[warm], func(b *testing.B) {
			if warm {
				load(runtime.MapOptions{Checked: checkcache.Open(memory, "")})
			}
			for b.Loop() {
				var how runtime.MapOptions
				if warm {
					how.Checked = checkcache.Open(memory, "")
				}
				load(how)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N)/maps, "ms/map")
		})
	}
}

// fiveTools is a map of five tools with eight steps each, of 20 kB. No other site has the same texts.
func fiveTools(site int) []byte {
	return []byte(strings.NewReplacer(
		"data-card", fmt.Sprintf("data-card%d", site), "input.f", fmt.Sprintf("input.g%d_f", site),
	).Replace(
		string(largeMap(5, 5*2600))))
}
