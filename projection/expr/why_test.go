package expr_test

import (
	"strings"
	"testing"

	"github.com/outrider-run/outrider/projection/expr"
)

func TestWhyFalse(t *testing.T) {
	e, err := expr.New("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	in, err := expr.ParseInput([]byte(
		`{"output":{"value":{"items":[],"title":"Goods and more","ok":false,"n":7,"max":5}},"error":{"code":"x"}}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ src, want string }{
		{`$count(output.value.items) = 10`, `$count(output.value.items): 0, expected 10`},
		{`$count(output.value.items) = 10 and output.value.title = 'Items'`,
			`$count(output.value.items): 0, expected 10|output.value.title: "Goods and more", expected "Items"`},
		{
			`output.value.n = 7 and output.value.title != "Goods and more"`,
			`output.value.title: "Goods and more", expected anything but "Goods and more"`,
		},
		{`output.value.n <= output.value.max`, `output.value.n: 7, expected at most output.value.max, which is 5`},
		{`output.value.n < 7`, `output.value.n: 7, expected less than 7`},
		{`output.value.n>9`, `output.value.n: 7, expected more than 9`},
		{`output.value.n >= 8`, `output.value.n: 7, expected at least 8`},
		{`output.value.n in [1, 2]`, `output.value.n: 7, expected one of [1, 2], which is [1,2]`},
		{`output.value.ok`, `output.value.ok: false, expected true`},
		{`output.value.missing = 1`, `output.value.missing: nothing, expected 1`},
		{`$not(output.value.n = 7)`, `$not(output.value.n = 7): false, expected true`},
		{`output.value.n = 1 or output.value.n = 2`, `output.value.n = 1 or output.value.n = 2: false, expected true`},
		{`output.value["and" = title and n = 7].n = 3`, `output.value["and" = title and n = 7].n: nothing, expected 3`},
		{`output.value.title = 'a = b and c'`, `output.value.title: "Goods and more", expected "a = b and c"`},
		{`output.(`, ``},
	} {
		if got := strings.Join(expr.WhyFalse(t.Context(), e, c.src, in), "|"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}
