package route

import (
	"strings"
	"testing"
)

// The cases are those of Playwright's globs, and ours for a leading slash.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		glob, address string
		want          bool
	}{
		{"**/*.js", "https://localhost:8080/foo.js", true},
		{"**/*.css", "https://localhost:8080/foo.js", false},
		{"*.js", "https://localhost:8080/foo.js", false},
		{"https://**/*.js", "https://localhost:8080/foo.js", true},
		{"http://localhost:8080/simple/path.js", "http://localhost:8080/simple/path.js", true},
		{"HTTP://LocalHost:8080/Simple", "http://localhost:8080/Simple", true},
		{"http://localhost:8080/?imple/path.js", "http://localhost:8080/Simple/path.js", false},
		{"**/{a,b}.js", "https://localhost:8080/a.js", true},
		{"**/{a,b}.js", "https://localhost:8080/c.js", false},
		{"**/*.{png,jpg,jpeg}", "https://localhost:8080/c.jpeg", true},
		{"**/*.{png,jpg,jpeg}", "https://localhost:8080/c.css", false},
		{"foo*", "foo/bar.js", false},
		{"http://localhost:3000/signin-oidc*", "http://localhost:3000/signin-oidc/foo", false},
		{"http://localhost:3000/signin-oidc*", "http://localhost:3000/signin-oidcnice", true},
		{
			"**/three-columns/settings.html?**id=settings-**",
			"http://mydomain:8080/blah/blah/three-columns/settings.html?id=settings-e3c58efe-02e9", true,
		},
		{`\?`, "?", true},
		{`\?`, "a", false},
		{`**/a\*b`, "http://x/a*b", true},
		{`**/a\*b`, "http://x/aab", false},
		{"http://x/**/b", "http://x/b", true},
		{"http://x/**/b", "http://x/a/c/b", true},
		{"http://x/**/b", "http://x/ab", false},
		{"/api/items", "https://any.example:81/api/items", true},
		{"/api/items", "https://any.example/v1/api/items", false},
		{"/api/items", "https://any.example/api/items?page=2", false},
		{"/api/items*", "https://any.example/api/items?page=2", true},
		{"a,b", "a,b", true},
	} {
		p, err := parse(c.glob)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		if got := p.matches(c.address); got != c.want {
			t.Errorf("%s matches %s: %v, want %v (%s)", c.glob, c.address, got, c.want, p.exact)
		}
		if c.want && !protocolMatch(p.loose, c.address) {
			t.Errorf("%s: the browser's pattern %s does not let %s through", c.glob, p.loose, c.address)
		}
	}
	for _, bad := range []string{"", "{a", "a}", "{a{b}}", strings.Repeat("a", maxPattern+1)} {
		if CheckPattern(bad) == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}

// protocolMatch is how the browser matches the patterns of Fetch.enable.
func protocolMatch(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	switch c := pattern[0]; {
	case c == '*':
		return protocolMatch(pattern[1:], text) || text != "" && protocolMatch(pattern, text[1:])
	case text == "":
		return false
	case c == '?':
		return protocolMatch(pattern[1:], text[1:])
	case c == '\\' && len(pattern) > 1:
		return pattern[1] == text[0] && protocolMatch(pattern[2:], text[1:])
	default:
		return c == text[0] && protocolMatch(pattern[1:], text[1:])
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("**/{a,b}?*", "http://x/a?b")
	f.Fuzz(func(t *testing.T, glob, address string) {
		if len(glob) > 60 || len(address) > 60 {
			return
		}
		p, err := parse(glob)
		if err == nil && p.matches(address) && !strings.Contains(address, "\n") && strings.Count(p.loose, "*") < 8 &&
			!protocolMatch(p.loose, address) {
			t.Errorf("%q matches %q, and the browser's pattern %q does not", glob, address, p.loose)
		}
	})
}
