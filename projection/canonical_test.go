package projection

import (
	"encoding/json"
	"strings"
	"testing"
)

// A text counts as canonical only where reading and writing it gives the same text.
func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{`{"rows":[{"id":"1","n":-12.5,"ok":true,"no":false,"none":null,"t":"a\\\"b\n€"},{"id":"2"}],"empty":{},` +
			`"list":[]}`, true},
		{`[0,1,-1,0.5,1e+21,5e-324,123456789012345,1234567890123456800]`, true},
		{`"a\tb"`, true},
		{`{"a":1,"a":2}`, false},
		{`{"a":{"a":1},"b":{"a":1}}`, true},
		{`{"1":1}`, false},
		{`{"b":1,"0":2}`, false},
		{`[1, 2]`, false},
		{`[1,2`, false},
		{`[1,]`, false},
		{`{"a":1,}`, false},
		{`{"a"}`, false},
		{`-0`, false},
		{`1.0`, false},
		{`1e5`, false},
		{`01`, false},
		{`-`, false},
		{`1e999`, false},
		{`12345678901234567890`, false},
		{`"\u0041"`, false},
		{`"\/"`, false},
		{`"\u0000"`, false},
		{`"open`, false},
		{`"\`, false},
		{"\"\x01\"", false},
		{"\"\xff\"", false},
		{"\"\xed\xa0\x80\"", false},
		{``, false},
		{`nul`, false},
		{`true false`, false},
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), true},
		{strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), false},
	} {
		if got := canonical([]byte(c.text)); got != c.want {
			t.Errorf("canonical(%.80q) is %v", c.text, got)
		}
	}
}

// FuzzCanonical holds what is called canonical against the reader and the writer of values.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x"]}`, `{"a":1,"a":2}`, `"\ud800"`, `{"1":0}`, `1e21`, `[-0]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !canonical(text) {
			return
		}
		v, err := parseValue(text)
		if err != nil {
			t.Fatalf("%q is called canonical, and is no JSON", text)
		}
		if again := v.append(nil); string(again) != string(text) {
			t.Fatalf("%q is called canonical, and is written %q", text, again)
		}
		if !json.Valid(text) {
			t.Fatalf("%q is called canonical, and is no JSON", text)
		}
	})
}
