package expr_test

import (
	"testing"

	"github.com/outrider-run/outrider/projection/expr"
)

func BenchmarkEval(b *testing.B) {
	for _, name := range engines {
		e, err := expr.New(name, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, src := range []string{
			`steps.find.output.clickable_center.x`,
			`{'title': input.title, 'button': steps.find.output}`,
		} {
			p, err := e.Compile(src)
			if err != nil {
				b.Fatal(err)
			}
			in := input(workflowInput)
			b.Run(name+"/"+src, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Eval(b.Context(), in, expr.Limits{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		_ = e.Close()
	}
}
