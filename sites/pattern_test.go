package sites_test

import (
	"fmt"
	"testing"
)

func TestPatternsNarrowWhereAMapApplies(t *testing.T) {
	tests := []struct {
		pattern, page string
		want          bool
	}{
		{"https://x.com/*", "https://x.com/home", true},
		{"https://x.com/*", "https://www.x.com/home", true},
		{"https://x.com/*", "https://netflix.com/", false},
		{"https://x.com/*", "https://x.com.evil.test/", false},
		{"https://x.com/*", "https://evil.test/?https://x.com/home", false},
		{"https://x.com/*", "https://evil.test/#https://x.com/home", false},
		{"https://x.com/*", "https://x.com@evil.test/", false},
		{"https://x.com/*", "http://x.com/", false},
		{"x.com/*", "http://x.com/", true},
		{"x.com/*", "https://netflix.com/", false},
		{"x.com", "https://x.com/any/where", true},
		{"*://x.com/*", "http://x.com/a", true},
		{"https://x.com/*", "https://api.x.com/", false},
		{"https://*.x.com/*", "https://api.x.com/", true},
		{"https://*.x.com/*", "https://x.com/", true},
		{"https://*.x.com/*", "https://netflix.com/", false},
		{"https://*x.com/*", "https://netflix.com/", false},
		{"*", "https://anything.test/a", true},
		{"https://*/board/*", "https://x.com/board/1", true},
		{"https://*/board/*", "https://x.com/card/1", false},
		{"https://github.com/*/*", "https://github.com/a/b/c", true},
		{"https://github.com/*/*", "https://github.com/a", false},
		{"https://x.com/home", "https://x.com/home?tab=1#top", true},
		{"https://x.com/home", "https://x.com/homeward", false},
		{"https://x.com/home?tab=1", "https://x.com/home?tab=2", false},
		{"https://x.com/home?tab=1", "https://x.com/home?tab=1#top", true},
		{"https://mail.test/u/0/#inbox*", "https://mail.test/u/0/#inbox/abc", true},
		{"https://mail.test/u/0/#inbox*", "https://mail.test/u/0/#sent", false},
		{"https://x.com:8443/*", "https://x.com:8443/", true},
		{"https://x.com:8443/*", "https://x.com/", false},
		{"https://x.com:443/*", "https://x.com/", true},
		{"https://x.com", "https://x.com:8443/a", true},
		{"http://[::1]:80/*", "http://[::1]/a", true},
		{"javascript:alert(1)", "https://x.com/", false},
		{"ftp://x.com/*", "ftp://x.com/a", false},
		{"https://X.com/A*", "https://x.COM/ab", true},
		{"https://*.bücher.test/ü/*", "https://www.xn--bcher-kva.test/%C3%BC/1", true},
		{"https://bücher.test/ü/*", "https://xn--bcher-kva.test/u/1", false},
		{"https://*bücher.test/*", "https://xn--bcher-kva.test/", false},
	}
	for _, tt := range tests {
		root := tree(t, map[string]string{
			"any.actions.json": doc([]string{"a"}, fmt.Sprintf(`"surface":{"url_patterns":[%q]}`, tt.pattern)),
		})
		if got := len(load(t, root).For(tt.page)) == 1; got != tt.want {
			t.Errorf("%s on %s: applies %v, want %v", tt.pattern, tt.page, got, tt.want)
		}
	}
}

// Patterns narrow what the folder says and never widen it, and a file that the
// user names applies where he says.
func TestPatternsDoNotWiden(t *testing.T) {
	root := tree(t, map[string]string{
		"sites/example.com/m/actions.json": doc(
			[]string{"a"}, `"surface":{"url_patterns":["*","https://other.test/*"]}`,
		),
		"named.json":                    doc([]string{"a"}, `"surface":{"url_patterns":["https://x.com/*"]}`),
		"sites/none.com/m/actions.json": doc([]string{"a"}, `"surface":{"url_patterns":["javascript:x"]}`),
	})
	l := load(t, root+"/sites")
	if len(l.For("https://other.test/")) != 0 || len(l.For("https://example.com/")) != 1 {
		t.Error("the patterns of a map in a site folder widen where it applies")
	}
	if len(l.For("https://none.com/")) != 0 {
		t.Error("a map whose only pattern is none applies")
	}
	if len(load(t, root+"/named.json").For("http://127.0.0.1/")) != 1 {
		t.Error("a file that the user names does not apply to every page")
	}
}
