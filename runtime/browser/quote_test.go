package browser_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/browsertest"
)

// FuzzQuote: what is written as a JSON string reads as what json.Marshal would have
// written, with bytes that are not UTF-8 replaced.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", `"quoted\"`, "line\nline\r\t\x00\x1f\x7f", "<a href='x'>&</a>", "äöü \u2028 \U0001f600", "\xff\xfe in \xc3", "\xed\xa0\x80", "end\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := browser.Quote(s)
		var read string
		if err := json.Unmarshal(quoted, &read); err != nil {
			t.Fatalf("%q is written as %s: %v", s, quoted, err)
		}
		marshalled, _ := json.Marshal(s)
		var want string
		if err := json.Unmarshal(marshalled, &want); err != nil || read != want {
			t.Fatalf("%q is read as %q, that of json.Marshal as %q", s, read, want)
		}
	})
}

// oddText has what a string literal, the JSON around it and the JSON in it escape.
const oddText = "plain 'single' \"double\" \\back\\ `tick` ${x} </script> \\' \\\" \\u0041 äöü \u2028\u2029 \U0001f600 \x7f\ttab"

// FuzzLiteral: within JSON a JavaScript string literal reads as what was written.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{"", oddText, "line\nline\r\x00\x1f", "\xff in \xc3", "end\\", "end'"} {
		f.Add([]byte(s))
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\'`, `'`)
	f.Fuzz(func(t *testing.T, text []byte) {
		written := browser.Literal(text)
		var source string
		if err := json.Unmarshal([]byte(`"`+string(written)+`"`), &source); err != nil {
			t.Fatalf("%q is written as %s: %v", text, written, err)
		}
		for c := range byte(' ') {
			source = strings.ReplaceAll(source, string([]byte{'\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]}), string(rune(c)))
		}
		if read, want := unescape.Replace(source), strings.ToValidUTF8(string(text), "\ufffd"); !strings.Contains(string(text), `u00`) && strings.ReplaceAll(read, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Fatalf("%q is read as %q", want, read)
		}
	})
}

// What is asked of a page goes through a string literal: whatever is in it arrives.
func TestOddTextReachesThePage(t *testing.T) {
	tab := browsertest.Tab(t)
	registry := primitives.Standard()
	invoke := func(name string, args any) json.RawMessage {
		t.Helper()
		encoded, err := json.MarshalIndent(args, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		r := registry.Invoke(t.Context(), tab, name, encoded)
		if r.Err != nil {
			t.Fatalf("%s: %v", name, r.Err)
		}
		return r.Payload
	}
	tab.PostEval("document.body.innerHTML = '<textarea></textarea>'")
	text := oddText + "\nline"
	invoke("text.insert", map[string]any{"target": map[string]string{"selector": "textarea"}, "text": text, "mode": "replace"})
	var got struct{ Value string }
	if err := json.Unmarshal(invoke("locator.value", map[string]any{"locator": map[string]string{"selector": `textarea:not([name='it\'s "'])`}}), &got); err != nil {
		t.Fatal(err)
	}
	if got.Value != text {
		t.Errorf("the page has %q, want %q", got.Value, text)
	}
}
