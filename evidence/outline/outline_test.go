package outline_test

import (
	"testing"

	"github.com/outrider-run/outrider/evidence/outline"
)

const page = `- main [ref=e1]
  - heading "Cart" [ref=e2] [level=1]
  - list "Goods" [ref=e3]
    - listitem [ref=e4]: Tea
    - listitem [ref=e5]
      - text: Bread
      - button "Remove" [ref=e6] [disabled]
  - textbox ≈"Code" [ref=e7] [focused]: A1
`

func TestMatch(t *testing.T) {
	got, err := outline.Parse(page, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want    string
		line    int // that is not there, 0 when all are
		nearest string
	}{
		{"- heading \"Cart\"\n- list\n  - listitem: Bread", 0, ""},
		{"- list \"Goods\"\n  - listitem: /^B/\n    - button \"Remove\" [disabled]", 0, ""},
		{"- heading /cart/i\n- textbox: A1", 0, ""},
		{"- listitem: Bread\n- listitem: Tea", 2, "- listitem: Tea"}, // their order
		{"- list \"Goods\"\n  - heading \"Cart\"", 2, ""},            // not below it
		{"- heading \"Basket\"", 1, "- heading \"Cart\" [level=1]"},
		{"- button \"Remove\" [checked]", 1, "- button \"Remove\" [disabled]"},
	} {
		want, err := outline.Parse(c.want, true)
		if err != nil {
			t.Fatal(err)
		}
		d := outline.Match(want, got)
		switch {
		case d == nil && c.line != 0, d != nil && d.Line != c.line:
			t.Errorf("%s: %+v, want line %d", c.want, d, c.line)
		case d != nil && d.Nearest != c.nearest:
			t.Errorf("%s: nearest is %s, want %s", c.want, d.Nearest, c.nearest)
		}
	}
	written, err := outline.Parse(outline.Write(got), true)
	if err != nil || outline.Match(written, got) != nil {
		t.Errorf("what is written does not match: %v", err)
	}
	for _, odd := range []string{"heading", "- \"Cart\"", "- heading /(/"} {
		if _, err := outline.Parse(odd, true); err == nil {
			t.Errorf("%s is read", odd)
		}
	}
}
