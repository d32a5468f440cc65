package sites

import (
	"net"
	"net/url"
	"strings"
)

// Scope is the storage boundary a map lives in. A lower rank wins when several
// maps declare the same action.
type Scope string

const (
	Private  Scope = "private"
	Shared   Scope = "shared"
	Public   Scope = "public"
	Unscoped Scope = ""
)

func (s Scope) rank() int {
	switch s {
	case Private:
		return 0
	case Shared:
		return 1
	case Public:
		return 2
	}
	return 3
}

// Location is what the path of a map says about it (workspace layout).
type Location struct {
	Scope    Scope
	Audience string // of a shared scope
	// Host is the site folder's name in lower case, without a port; "" when the
	// path names no site.
	Host string
	// Rest is what follows the site folder, such as board/actions.json.
	Rest string
}

// Locate reads a storage path with / separators:
//
//	scopes/private/sites/<host>/<rest>     scopes/public/sites/<host>/<rest>
//	scopes/shared/<audience>/sites/<host>/<rest>
//
// and the same without scopes/, as a repository folder
// actions.json.storage.<scope>, or as bare sites/<host>/<rest>, which has no
// scope. ok is false when the path names no site.
func Locate(path string) (loc Location, ok bool) {
	parts := strings.Split(path, "/")
	site := -1
	for i, p := range parts {
		if p == "sites" {
			site = i
			break
		}
	}
	if site < 0 || site+2 >= len(parts) {
		return Location{}, false
	}
	loc.Host = stripPort(strings.ToLower(parts[site+1]))
	loc.Rest = strings.Join(parts[site+2:], "/")
	if loc.Host == "" {
		return Location{}, false
	}
	before := parts[:site]
	if len(before) > 0 && before[0] == "scopes" {
		before = before[1:]
	}
	if len(before) == 0 {
		return loc, true
	}
	name := before[0]
	if repo, is := strings.CutPrefix(name, "actions.json.storage."); is {
		name = repo
		if audience, shared := strings.CutPrefix(repo, "shared."); shared {
			loc.Scope, loc.Audience = Shared, audience
			return loc, true
		}
	}
	switch name {
	case "private", "public":
		loc.Scope = Scope(name)
	case "shared":
		if len(before) > 1 {
			loc.Scope, loc.Audience = Shared, before[1]
		}
	}
	return loc, true
}

// canonicalTail returns the part of an absolute path, with / separators, from
// its last scopes folder on, when that part is a storage path.
func canonicalTail(path string) (string, bool) {
	for end := len(path); ; {
		i := strings.LastIndex(path[:end], "/scopes/")
		if i < 0 {
			return "", false
		}
		tail := path[i+1:]
		parts := strings.Split(tail, "/")
		site := 2
		if len(parts) > 1 && parts[1] == "shared" {
			site = 3
		}
		if len(parts) > site+2 && parts[site] == "sites" && (parts[1] == "private" || parts[1] == "public" || parts[1] == "shared") {
			return tail, true
		}
		end = i
	}
}

// hostLike reports whether a folder name can only be meant as a host: a person
// who names a file below sites/demo means a folder, below sites/example.com a
// site.
func hostLike(name string) bool {
	h := stripPort(strings.ToLower(name))
	if h == "localhost" || net.ParseIP(strings.Trim(h, "[]")) != nil {
		return true
	}
	dot := strings.LastIndexByte(h, '.')
	if dot <= 0 || dot == len(h)-1 || strings.ContainsAny(h, " /") {
		return false
	}
	for _, c := range h[dot+1:] {
		if c < 'a' || c > 'z' {
			return strings.HasPrefix(h[dot+1:], "xn--")
		}
	}
	return true
}

// stripPort removes a port, also one that was spelled with _ because : is not
// allowed in the names of files everywhere.
func stripPort(host string) string {
	if strings.HasPrefix(host, "[") {
		if i := strings.IndexByte(host, ']'); i > 0 {
			return host[1:i]
		}
		return host
	}
	for _, sep := range ":_" {
		i := strings.LastIndexByte(host, byte(sep))
		if i <= 0 || i == len(host)-1 || strings.IndexByte(host, byte(sep)) != i {
			continue
		}
		if strings.Trim(host[i+1:], "0123456789") == "" {
			return host[:i]
		}
	}
	return host
}

// page is the address of a page as matching needs it.
type page struct {
	url    string
	parsed *url.URL // nil when it does not parse
	host   string   // lower case, no port, no trailing dot
	port   string
	origin string
	isIP   bool
}

func parsePage(raw string) page {
	p := page{url: raw}
	u, err := url.Parse(raw)
	if err != nil {
		return p
	}
	p.parsed = u
	p.host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	p.port = u.Port()
	p.isIP = net.ParseIP(p.host) != nil
	p.origin = origin(u)
	return p
}

// origin returns scheme, host and port as a browser compares them.
func origin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return scheme + "://" + host
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// hosts calls yield with every folder name that covers the page: its host, the
// host without a leading www., and their parent domains.
func (p page) hosts(yield func(string) bool) {
	if p.host == "" {
		return
	}
	if !yield(p.host) || p.isIP {
		return
	}
	for rest := p.host; ; {
		i := strings.IndexByte(rest, '.')
		if i < 0 {
			return
		}
		if rest = rest[i+1:]; rest == "" || !yield(rest) {
			return
		}
	}
}

// wildcard reports whether pattern covers all of s. A * is any run of
// characters; case does not count; a blank pattern covers everything.
func wildcard(pattern, s string) bool {
	pattern, s = strings.ToLower(strings.TrimSpace(pattern)), strings.ToLower(s)
	if pattern == "" {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return s == pattern
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, last)
}
