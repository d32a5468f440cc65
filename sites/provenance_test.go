package sites_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
)

// A public map that tells of people and machines is warned of, at the place and
// without repeating it; in other scopes that is its owner's business.
func TestPublicProvenanceIsPublicSafe(t *testing.T) {
	tests := []struct {
		text string
		want string // in the warning; "" for none
	}{
		{"map author", ""},
		{"2026-01-02T03:04:05Z", ""},
		{"recorded session 3", ""},
		{"@maintainers", ""},
		{"a/b, c:d", ""},
		{"https://example.org/maps/actions.json?version=3", ""},
		{"git@github.com:example/maps", ""},
		{"https://github.com/example/maps", ""},
		{"ada@example.org", "account"},
		{"Ada <ada@mail.example.org>", "account"},
		{"/home/ada/maps/actions.json", "path"},
		{"~/maps", "path"},
		{`C:\Users\ada\maps`, "path"},
		{`\\server\share`, "path"},
		{"from /Users/ada/x", "path"},
		{"file:///home/ada/x", "path"},
		{"https://ada:geheim@example.org/x", "account"},
		{"https://example.org/x?access_token=geheim", "secret"},
		{"https://example.org/x?apiKey=geheim", "secret"},
		{"http://localhost:3000/x", "private network"},
		{"http://192.168.1.7/x", "private network"},
		{"http://[::1]/x", "private network"},
		{"https://wiki.corp/x", "private network"},
		{"https://wiki/x", "private network"},
		{"https://build.internal/x and https://example.org/", "private network"},
	}
	for _, tt := range tests {
		quoted, err := json.Marshal(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		text := doc(nil, `"provenance":{"source":{"notes":`+string(quoted)+`,"symbols":["x"]}}`,
			`"imports":[{"id":"p","kind":"public","uri":"https://example.org/a.json","namespace":"p",`+
				`"provenance":{"from":[`+string(quoted)+`]}}]`)
		for _, scope := range []string{"public", "private", "shared/team"} {
			_, reports := sites.Load(
				[]string{tree(t, map[string]string{"scopes/" + scope + "/sites/a.test/m/actions.json": text})},
				sites.Options{Known: known},
			)
			var at []string
			for _, w := range reports[0].Warnings {
				if w.Code != fault.InvalidValue {
					continue
				}
				at = append(at, w.Pointer)
				if tt.want == "" || !strings.Contains(w.Message, tt.want) || strings.Contains(w.Message, "geheim") ||
					strings.Contains(w.Message, "ada") {
					t.Errorf("%q: the warning %q, want %q in it and nothing of the text", tt.text, w.Message, tt.want)
				}
			}
			var want []string
			if tt.want != "" && scope == "public" {
				want = []string{"/provenance/source/notes", "/imports/0/provenance/from/0"}
			}
			if !slices.Equal(at, want) {
				t.Errorf(
					"%q in the %s scope: warnings at %q, want %q (%v)", tt.text, scope, at, want, reports[0].Errors,
				)
			}
		}
	}
}
