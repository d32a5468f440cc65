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
)

// Loading and validating a map of 500 tools and 2 MB, its 4,000 steps, its
// expressions and its schemas included: the aim is 150 ms.
func BenchmarkLoadLargeMap(b *testing.B) {
	file := filepath.Join(b.TempDir(), "actions.json")
	data := largeMap(500, 2<<20)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		b.Fatal(err)
	}
	engine, err := expr.New("", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	registry := catalog.Standard()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, reports := runtime.LoadMaps([]string{file}, registry, engine, runtime.MapOptions{}); !reports[0].OK {
			b.Fatal(reports[0].Errors)
		}
	}
}

func largeMap(n, size int) []byte {
	var out strings.Builder
	out.WriteString(`{"protocol":"actions.json","version":1,"tools":[`)
	filler := strings.Repeat("Opens the card and waits for its dialog. ", 1+max(0, size/n-2600)/42)
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"name":"site.tool_%d","description":%q,"input_schema":{"type":"object","required":["f0"],`+
			`"additionalProperties":false,"properties":{`, i, filler)
		for f := range 12 {
			if f > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(
				&out, `"f%d":{"type":"string","minLength":%d,"description":"Field %d of tool %d."}`, f, f%3, f, i,
			)
		}
		out.WriteString(`}},"workflow":{"version":1,"expression_language":"jsonata","steps":[`)
		for s := range 8 {
			if s > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, `{"id":"s%d","primitive":"locator.element_info",`+
				`"args":{"locator":{"selector":"[data-card='%d']","text_contains":"{%% input.f%d & '%d' %%}"}},`+
				`"on_error":"stop"}`, s, i, s, i)
		}
		fmt.Fprintf(&out, `],"output":"{%% {'n%d': steps.s0.output.text} %%}"},`+
			`"x_actions":{"result_schema":{"type":"object","properties":{"ok":{"type":"boolean"},`+
			`"n%d":{"type":"string"}}}}}`, i, i)
	}
	out.WriteString(`]}`)
	return []byte(out.String())
}
