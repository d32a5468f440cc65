package world_test

import (
	"testing"

	"github.com/outrider-run/outrider/runtime/browser/world"
)

func TestExpandPutsLinesInTheirPlaces(t *testing.T) {
	for _, c := range []struct{ name, text, lines, want string }{
		{"nothing to put", `{"a":1}`, "unused", `{"a":1}`},
		{"a line several times", "[\x01,\x01,2]", `{"b":3}`, `[{"b":3},{"b":3},2]`},
		{"a line in a line", "{\x01}", "\"a\":\x02,\"b\":\x02\n[4]", `{"a":[4],"b":[4]}`},
		{"what the page says", `["\u0001"]`, "x", `["\u0001"]`},
	} {
		if got, ok := world.Expand([]byte(c.text), []byte(c.lines)); !ok || string(got) != c.want {
			t.Errorf("%s: got %s, %t, want %s", c.name, got, ok, c.want)
		}
	}
	for _, c := range []struct{ name, text, lines string }{
		{"no such line", "[\x02]", "one"},
		{"no such number", "[\x1f]", "one"},
		{"number 0", "[\x00]", "one"},
		{"a line in itself", "[\x01]", "[\x01]"},
		{"an earlier line", "[\x02]", "1\n[\x01]"},
	} {
		if got, ok := world.Expand([]byte(c.text), []byte(c.lines)); ok {
			t.Errorf("%s: got %s, want a refusal", c.name, got)
		}
	}
}
