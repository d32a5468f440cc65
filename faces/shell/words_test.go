package shell

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestCommands(t *testing.T) {
	for text, want := range map[string][][]string{
		`click e1; fill "Full name" 'Ada L.'`:    {{"click", "e1"}, {"fill", "Full name", "Ada L."}},
		"a\nb ;; c\n\n# note; d\n e '' \"\"":     {{"a"}, {"b"}, {"c"}, {"e", "", ""}},
		`fill e1 a\ b "c \"d\" \n" 'e\f' #g h#i`: {{"fill", "e1", "a b", `c "d" \n`, `e\f`, "#g", "h#i"}},
		"a \\\n b":                               {{"a", "b"}},
		"":                                       nil,
	} {
		got, err := Commands(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v; expected %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"a\nb 'c\nd": "line 2: the quote ' has no end",
		`a \`:        "line 1: nothing stands after the last backslash",
	} {
		if _, err := Commands(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v; expected %s", text, err, want)
		}
	}
}

func TestTargets(t *testing.T) {
	for word, want := range map[string]string{
		"e12":                      `{"ref":"e12"}`,
		"f1e2":                     `{"ref":"f1e2"}`,
		"button:Save":              `{"name":"Save","role":"button"}`,
		`link:"Learn more"`:        `{"name":"Learn more","role":"link"}`,
		"textbox:":                 `{"role":"textbox"}`,
		"label=Name":               `{"label":"Name"}`,
		"text=a = b":               `{"text":"a = b"}`,
		"css=form input":           `{"selector":"form input"}`,
		"#id":                      `{"selector":"#id"}`,
		"[name=q]":                 `{"selector":"[name=q]"}`,
		"form > button":            `{"selector":"form \u003e button"}`,
		`{"role":"row"}`:           `{"role":"row"}`,
		"Post/Zip-code *":          `{"text":"Post/Zip-code *"}`,
		"Price: low":               `{"text":"Price: low"}`,
		"https://example.org/?a=b": `{"text":"https://example.org/?a=b"}`,
	} {
		got, err := readTarget(word, false)
		encoded, _ := json.Marshal(got.asLocator())
		if err != nil || string(encoded) != want {
			t.Errorf("%q: %s, %v; expected %s", word, encoded, err, want)
		}
	}
	if got, err := readTarget("Name", true); err != nil || got.locator["label"] != "Name" {
		t.Errorf("a field: %+v, %v", got, err)
	}
}

// Every verb says what is wrong with a command that it cannot read.
func TestBadCommands(t *testing.T) {
	for _, words := range [][]string{
		{}, {"clik"}, {"click"}, {"click", "a", "b"}, {"fill", "a"}, {"fill", "a", "b", "c"}, {"type"}, {"press"},
		{"select", "a"}, {"check"}, {"upload", "a"}, {"drag", "a"}, {"hover"}, {"scroll"}, {"scroll", "far"},
		{"mouse", "move"}, {"mouse", "jump", "1,2"}, {"mouse", "move", "1"}, {"dialog", "maybe"}, {"find"}, {"get"},
		{"get", "shape", "e1"}, {"snapshot", "Save"}, {"screenshot"}, {"pdf"}, {"eval"}, {"tabs", "fold"},
		{"cookies", "eat"}, {"emulate"}, {"emulate", "big"}, {"action"}, {"action", "a", "[]"}, {"login", "a"},
		{"click", "--nowhere", "a"}, {"click", "--at", "1", "e1"}, {"open", "a", "b"}, {"back", "a"},
	} {
		steps, err := Parse(words)
		if !IsUsage(err) {
			t.Errorf("%q: %+v, %v", words, steps, err)
		}
	}
}
