package browser_test

import (
	"encoding/json"
	"testing"

	"github.com/outrider-run/outrider/runtime/browser"
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
