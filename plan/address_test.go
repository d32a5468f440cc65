package plan_test

import (
	"testing"

	"github.com/outrider-run/outrider/plan"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"http://a/b", "http://a/b"},
		{"HTTPS://a", "HTTPS://a"},
		{"about:blank", "about:blank"},
		{"data:text/html,x", "data:text/html,x"},
		{"file:///a.html", "file:///a.html"},
		{"localhost:8080", "http://localhost:8080"},
		{"localhost:8711/login?a=b", "http://localhost:8711/login?a=b"},
		{"app.localhost", "http://app.localhost"},
		{"127.0.0.1:8711/x", "http://127.0.0.1:8711/x"},
		{"[::1]:80/", "http://[::1]:80/"},
		{"example.org/a", "https://example.org/a"},
		{"example.org:8443", "https://example.org:8443"},
		{"htp://x", ""},
		{"", ""},
		{"/login", ""},
		{"two words", ""},
		{"localhost:port", ""},
	} {
		got, err := plan.Address(c.in)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: got %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}
