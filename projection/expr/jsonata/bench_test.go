package jsonata

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	blues "github.com/blues/jsonata-go"
)

// benchCases are the six expressions that engines were compared with.
var benchCases = []struct{ name, expr string }{
	{"path", `steps.find.output.clickable_center.x`},
	{"object", `{"x": steps.find.output.clickable_center.x, "y": steps.find.output.clickable_center.y, "ok": steps.find.output.visible, "title": input.title}`},
	{"map1000", `$map(records, function($r){{"id": $r.id, "name": $r.name, "price": $r.price}})`},
	{"filterSort1000", `$filter(records, function($r){$r.price > 500})^(>price)`},
	{"reduce1000", `$reduce(records, function($a, $r){$a + $r.price}, 0)`},
	{"string", `"Hello " & input.title & ", you have " & $string(input.count) & " items: " & $join(input.tags, ", ") & " " & $uppercase(input.title)`},
}

func benchInput() []byte {
	var b strings.Builder
	b.WriteString(`{"input":{"title":"Fix login bug","count":3,"tags":["red","green","blue"]},"steps":{"find":{"output":{"visible":true,"clickable_center":{"x":120.5,"y":44}}}},"records":[`)
	for i := 0; i < 1000; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"item %d","price":%d.5,"tags":["a","b"],"url":"/i/%d"}`, i, i, (i*7919)%1000, i)
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
