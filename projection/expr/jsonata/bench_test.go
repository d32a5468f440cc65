package jsonata

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	blues "github.com/blues/jsonata-go"
)

// benchCases are the six expressions that engines were compared with.
var benchCases = []struct{ name, expr string }{
	{"path", `steps.find.output.clickable_center.x`},
	{"object", `{"x": steps.find.output.clickable_center.x, "y": steps.find.output.clickable_center.y, ` +
		`"ok": steps.find.output.visible, "title": input.title}`},
	{"map1000", `$map(records, function($r){{"id": $r.id, "name": $r.name, "price": $r.price}})`},
	{"filterSort1000", `$filter(records, function($r){$r.price > 500})^(>price)`},
	{"reduce1000", `$reduce(records, function($a, $r){$a + $r.price}, 0)`},
	{"string", `"Hello " & input.title & ", you have " & $string(input.count) & " items: " & $join(input.tags, ", ` +
		`") & " " & $uppercase(input.title)`},
}

func benchInput() []byte {
	var b strings.Builder
	b.WriteString(`{"input":{"title":"Fix login bug","count":3,"tags":["red","green","blue"]},` +
		`"steps":{"find":{"output":{"visible":true,"clickable_center":{"x":120.5,"y":44}}}},"records":[`)
	for i := 0; i < 1000; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(
			&b, `{"id":%d,"name":"item %d","price":%d.5,"tags":["a","b"],"url":"/i/%d"}`, i, i, (i*7919)%1000, i,
		)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkNative(b *testing.B) {
	in, err := DecodeInput(benchInput())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(context.Background(), in, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBlues evaluates the same over the same decoded data. Its results
// are Go values; ours are JSON text already.
func BenchmarkBlues(b *testing.B) {
	var in any
	if err := json.Unmarshal(benchInput(), &in); err != nil {
		b.Fatal(err)
	}
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			p, err := blues.Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkText goes from JSON text to JSON text.
func BenchmarkText(b *testing.B) {
	raw := benchInput()
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			p, err := Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(context.Background(), JSONInput(raw), Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(c.expr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBesideBlues alternates rounds of five runs, so that other work on
// the machine slows down both: times-faster is the ratio of the medians,
// times-faster-best that of the fastest rounds. Use -benchtime 40x or more.
func BenchmarkBesideBlues(b *testing.B) {
	const runs = 5
	in, err := DecodeInput(benchInput())
	if err != nil {
		b.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(benchInput(), &decoded); err != nil {
		b.Fatal(err)
	}
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			ours, err := Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			theirs, err := blues.Compile(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			round := func(f func() error) float64 {
				began := time.Now()
				for range runs {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				return float64(time.Since(began)) / runs
			}
			var native, other []float64
			for b.Loop() {
				native = append(native, round(func() error {
					_, err := ours.Eval(context.Background(), in, Limits{})
					return err
				}))
				other = append(other, round(func() error {
					_, err := theirs.Eval(decoded)
					return err
				}))
			}
			slices.Sort(native)
			slices.Sort(other)
			b.ReportMetric(0, "ns/op") // says nothing
			b.ReportMetric(native[0], "native-ns")
			b.ReportMetric(other[0], "blues-ns")
			b.ReportMetric(other[0]/native[0], "times-faster-best")
			b.ReportMetric(other[len(other)/2]/native[len(native)/2], "times-faster")
		})
	}
}
