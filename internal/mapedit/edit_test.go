package edit_test

import (
	"encoding/json"
	"testing"

	edit "github.com/outrider-run/outrider/internal/mapedit"
)

func TestReplace(t *testing.T) {
	for _, c := range []struct{ name, text, pointer, value, want string }{
		{
			"on one line", `{"a": 1,  "checks": [ {"target": {"notes": "n", "selector": "#old"}}, 2 ]}`,
			"/checks/0/target", `{"selector":"#new","fallback_selectors":["#old",".x"],"notes":"n"}`,
			`{"a": 1,  "checks": [ {"target": {"notes": "n", "selector": "#new", "fallback_selectors": ["#old", ` +
				`".x"]}}, 2 ]}`,
		},
		{
			"on several lines", "{\n\t\"target\": {\n\t\t\"selector\": \"#old\"\n\t},\n\t\"b\":2}\n",
			"/target", `{"selector":"a>b","role":"button"}`,
			"{\n\t\"target\": {\n\t\t\"selector\": \"a>b\",\n\t\t\"role\": \"button\"\n\t},\n\t\"b\":2}\n",
		},
		{
			"a mark, carriage returns, escaped names", "\xef\xbb\xbf{\"a/b~\": {\r\n  \"selector\": \"x\"\r\n}}",
			"/a~1b~0", `{"selector":"y"}`, "\xef\xbb\xbf{\"a/b~\": {\r\n  \"selector\": \"y\"\r\n}}",
		},
		{"a plain value", `{"a": [1, "x"]}`, "/a/1", `"y"`, `{"a": [1, "y"]}`},
	} {
		got, err := edit.Replace([]byte(c.text), c.pointer, json.RawMessage(c.value))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct{ text, pointer string }{
		{`{"a":1}`, "/b"},
		{`{"a":1}`, "/a/b"},
		{`[1]`, "/1"},
		{`{`, "/a"},
		{`{"a":`, "/a"},
		{`{"a":1}`, "a"},
	} {
		if got, err := edit.Replace([]byte(c.text), c.pointer, json.RawMessage(`1`)); err == nil {
			t.Errorf("%s at %s: got %s, want an error", c.text, c.pointer, got)
		}
	}
}
