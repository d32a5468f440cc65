package selector_test

import (
	"testing"

	"github.com/outrider-run/outrider/sites/selector"
)

func TestOnlyWhatEveryBrowserRefusesIsRefused(t *testing.T) {
	for _, text := range []string{
		"button", "#a.b", "ul > li + li ~ li", "a, b", `[data-x="a]b"]`,
		"[data-x='it']", `[data-x="a`, "[data-x", ".a\\:b", "#\\31 23", "[a|=b]",
		"input:checked", ":root", ":popover-open", "a::part(x)", "dialog:open",
		"li:nth-child(2n + 1 of .a)", ":is(a, b) > c", ":where(a) :not(.b)",
		"div:has(> a)", `:is([a=")"])`, "svg|a", "*|a", "a || b", `[a="b" s]`, `[a=b i]`,
		"a /* x */ b", "& > a", ":host(.a) b", "überall", "a:\\66oo", ":has(:is(a, b))",
	} {
		if err := selector.Check(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "button[", "div >", "> a:x:is(", "a,,b", ", a", "a,", "#", ".", "a..b", "##a", "[=x]",
		"[a=]", "a{}", "//button", "text=Save", "a:", "a)", "]", "$x", "a ! b", "!", "@a", ".1a",
	} {
		if err := selector.Check(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
