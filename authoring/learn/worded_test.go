package learn

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/authoring/sample"
)

func TestWorded(t *testing.T) {
	of := func(name, value string) *input { return &input{name: name, value: json.RawMessage(value)} }
	count := of("count", "12")
	count.schema = sample.Property{Type: "number"}
	secret := of("password", `"Large"`)
	secret.secret = true
	for _, c := range []struct {
		text   string
		inputs []*input
		want   string
	}{
		{"Ordered", []*input{of("who", `"Ada"`)}, `"Ordered"`},
		{
			"Ordered for Ada, Large", []*input{of("who", `"Ada"`), of("size", `"Large"`)},
			`"Ordered for " & input.who & ", " & input.size`,
		},
		{"Ada and Ada", []*input{of("who", `"Ada"`)}, `input.who & " and " & input.who`},
		{"Ada Lovelace", []*input{of("who", `"Ada"`), of("all", `"Ada Lovelace"`)}, `input.all`},
		{"12 of Large", []*input{count, secret}, `$string(input.count) & " of Large"`},
		{"a x", []*input{of("one", `"a"`)}, `"a x"`},
		{"", []*input{of("who", `"Ada"`)}, `""`},
	} {
		if got := (&learning{inputs: c.inputs}).worded(c.text); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}
