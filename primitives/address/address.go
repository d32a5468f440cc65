// Package address says which addresses a caller of the runtime may open. The primitives that navigate and the tools of
// agents that open tabs ask it; the operator of the host, who names addresses on the command line, may open any.
package address

import (
	"net/url"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Web checks an address as the browser would read it: white space and
// control characters at the ends, and tabs and line breaks anywhere, do not
// count, so they cannot hide a scheme.
func Web(s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	if s == "" {
		return "", fault.New(fault.InvalidInput, "a url is needed").With("missing_required", []string{"url"})
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || !isScheme(scheme) {
		return "", fault.New(fault.InvalidInput, "the url is not absolute").
			With("url", s).Next("give the whole address, beginning with https://")
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
		u, err := url.Parse(s)
		if err == nil && u.Host == "" {
			return "", fault.New(fault.InvalidInput, "the url has no host").With("url", s)
		}
		return s, nil // the browser accepts more than net/url does
	case "about":
		if path, _, _ := strings.Cut(rest, "#"); strings.EqualFold(path, "blank") {
			return s, nil
		}
	}
	return "", fault.New(fault.PermissionDenied, "addresses of this scheme may not be opened").
		With("scheme", strings.ToLower(scheme)).With("allowed", []string{"http", "https", "about:blank"})
}

func isScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		later := c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return s != ""
}
