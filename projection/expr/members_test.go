package expr_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/projection/expr"
)

func members(raw string) string {
	var out strings.Builder
	expr.EachMember(json.RawMessage(raw), func(name string, value json.RawMessage) {
		fmt.Fprintf(&out, "%q=%s;", name, value)
	})
	return out.String()
}

func TestEachMember(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{}`, ``},
		{" {\n} ", ``},
		{`{"a":1}`, `"a"=1;`},
		{" { \"a\" : -1.5e3 ,\t\"b\" : null } ", `"a"=-1.5e3;"b"=null;`},
		{`{"a":"x\"}y","b":[{"c":"]"},2],"c":{"d":{}}}`, `"a"="x\"}y";"b"=[{"c":"]"},2];"c"={"d":{}};`},
		{`{"\u0061\"":"\\","a":true,"a":false}`, `"a\""="\\";"a"=true;"a"=false;`},
		{"{\"\xff\":1}", `"` + "\uFFFD" + `"=1;`},
	} {
		if got := members(c.raw); got != c.want {
			t.Errorf("%q: got %s, want %s", c.raw, got, c.want)
		}
	}
}

// Every object that is valid has the members that a decoder finds.
func FuzzEachMember(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"}"}],"c":" \\\" "}`, "{ \"a\" :\n1 , \"b\":{} }", `{"é":"\u00e9"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := map[string]json.RawMessage{}
		if json.Unmarshal([]byte(s), &want) != nil || want == nil || strings.TrimSpace(s)[0] != '{' {
			return
		}
		got := map[string]json.RawMessage{}
		expr.EachMember(json.RawMessage(s), func(name string, value json.RawMessage) { got[name] = value })
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	})
}
