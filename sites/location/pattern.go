package location

import (
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/address"
)

// Pattern is one entry of surface.url_patterns, such as
// https://example.com/board/*. It is compared part by part and not as a text, so
// that x.com/* cannot mean https://netflix.com/ or https://evil.test/?x.com/.
type Pattern struct {
	scheme string // "" for http and https
	Host   string // "" for any
	below  bool   // host and what is below it
	port   string // "" for any
	rest   string // path, query and fragment; * is any run of characters
}

// ParsePattern reads SCHEME://HOST[:PORT]/REST, in which the scheme may be
// missing or *, the host may be * or start with *. and the rest may hold *. ok is
// false for anything else, which matches no page.
func ParsePattern(text string) (p Pattern, ok bool) {
	text = strings.TrimSpace(text)
	scheme, after, found := strings.Cut(text, "://")
	if !found {
		scheme, after = "*", text
	}
	switch p.scheme = strings.ToLower(scheme); p.scheme {
	case "*":
		p.scheme = ""
	case "http", "https", "file":
	default:
		return p, false
	}
	authority, rest, hasRest := strings.Cut(after, "/")
	p.rest = "*"
	if hasRest {
		p.rest = address.Part("/" + rest)
	}
	p.Host = strings.ToLower(authority)
	if i := strings.LastIndexByte(p.Host, ':'); i > strings.LastIndexByte(p.Host, ']') {
		p.Host, p.port = p.Host[:i], p.Host[i+1:]
		if p.port == "*" {
			p.port = ""
		}
	}
	p.Host = hostOf(strings.TrimSuffix(strings.Trim(p.Host, "[]"), "."))
	switch {
	case p.Host == "*":
		p.Host = ""
	case p.Host == "":
		return p, p.scheme == "file"
	case strings.HasPrefix(p.Host, "*."):
		p.Host, p.below = p.Host[2:], true
	}
	return p, !strings.ContainsAny(p.Host, "*@ ")
}

// Matches reports whether the pattern covers the address.
func (p Pattern) Matches(u *url.URL) bool {
	scheme, host := strings.ToLower(u.Scheme), strings.TrimSuffix(hostOf(u.Hostname()), ".")
	if p.scheme != scheme && !(p.scheme == "" && (scheme == "http" || scheme == "https")) {
		return false
	}
	switch {
	case p.Host == "" || host == p.Host || host == "www."+p.Host:
	case p.below && strings.HasSuffix(host, "."+p.Host):
	default:
		return false
	}
	if p.port != "" && p.port != effectivePort(u) {
		return false
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	// A pattern without a query means the page with every query, likewise the
	// fragment.
	forms := []string{path}
	if u.RawQuery != "" {
		forms = append(forms, path+"?"+u.RawQuery)
	}
	if u.Fragment != "" {
		forms = append(forms, path+"#"+u.EscapedFragment(), forms[len(forms)-1]+"#"+u.EscapedFragment())
	}
	return slices.ContainsFunc(forms, func(form string) bool { return URLMatches(p.rest, form) })
}

func effectivePort(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	switch strings.ToLower(u.Scheme) {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}
