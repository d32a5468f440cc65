// Package location says where a map applies: what its storage path means, and
// whether the address of a page is covered by a host, an origin or a pattern. It
// reads no files and knows nothing of what is in a map. Package sites calls it
// when it loads and matches maps, and the runtime where a map says url_matches.
package location

import (
	"net"
	"net/url"
	"strings"

	"github.com/outrider-run/outrider/primitives/address"
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

// Rank orders scopes: a lower one wins.
func (s Scope) Rank() int {
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

// noMaps are folders that hold no maps: proof is evidence of earlier runs, the
// others belong to tools.
var noMaps = map[string]bool{"proof": true, ".git": true, "node_modules": true, "dist": true}

// HoldsNoMaps reports whether a folder of this name is passed over.
func HoldsNoMaps(folder string) bool { return noMaps[folder] }

// Location is what the path of a map says about it (workspace layout).
type Location struct {
	Scope    Scope
	Audience string // of a shared scope
	// Host is the site folder's name as in addresses of a browser, without a port;
	// "" when the path names no site.
	Host string
	// Rest is what follows the site folder, such as board/actions.json.
	Rest string
}

// Locate reads a storage path with / separators:
//
//	scopes/private/sites/<host>/<rest>     scopes/public/sites/<host>/<rest>
//	scopes/shared/<audience>/sites/<host>/<rest>
//
// also below other folders, and the same without scopes/, as a repository folder
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
	loc.Host = stripPort(hostOf(parts[site+1]))
	loc.Rest = strings.Join(parts[site+2:], "/")
	if loc.Host == "" {
		return Location{}, false
	}
	before := parts[:site]
	for i, p := range before {
		if p == "scopes" { // folders above it are where somebody keeps the storage
			before = before[i+1:]
			break
		}
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

// StoragePath returns the part of an absolute path, with / separators, from
// its last scopes folder on, when that part is a storage path.
func StoragePath(path string) (string, bool) {
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
		if len(parts) > site+2 && parts[site] == "sites" &&
			(parts[1] == "private" || parts[1] == "public" || parts[1] == "shared") {
			return tail, true
		}
		end = i
	}
}

// HostLike reports whether a folder name can only be meant as a host: a person
// who names a file below sites/demo means a folder, below sites/example.com a
// site.
func HostLike(name string) bool {
	h := stripPort(hostOf(name))
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

// hostOf is a host as addresses of a browser have it: in lower case, with other letters encoded.
func hostOf(text string) string { return strings.ToLower(address.ASCIIHost(text)) }

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

// Page is the address of a page as matching needs it.
type Page struct {
	URL    string
	Parsed *url.URL // nil when it does not parse
	Host   string   // as browsers write it, no port, no trailing dot
	Port   string
	Origin string
	isIP   bool
}

// ParsePage reads the address of a page. One that does not parse has a URL only.
func ParsePage(raw string) Page {
	p := Page{URL: raw}
	u, err := url.Parse(raw)
	if err != nil {
		return p
	}
	p.Parsed = u
	p.Host = strings.TrimSuffix(hostOf(u.Hostname()), ".")
	p.Port = u.Port()
	p.isIP = net.ParseIP(p.Host) != nil
	p.Origin = Origin(u)
	return p
}

// Origin returns scheme, host and port as a browser compares them.
func Origin(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	host := hostOf(u.Hostname())
	port := u.Port()
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return scheme + "://" + host
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Hosts calls yield with every folder name that covers the page: its host, the
// host without a leading www., and their parent domains.
func (p Page) Hosts(yield func(string) bool) {
	if p.Host == "" {
		return
	}
	if !yield(p.Host) || p.isIP {
		return
	}
	for rest := p.Host; ; {
		i := strings.IndexByte(rest, '.')
		if i < 0 {
			return
		}
		rest = rest[i+1:]
		if rest == "" || !yield(rest) {
			return
		}
	}
}

// URLMatches reports whether pattern covers the whole of a page's address: the
// meaning of url_matches everywhere in a map.
func URLMatches(pattern, s string) bool { return address.Matches(s, pattern) }

// URLContains reports whether a page's address has a part: the meaning of
// url_contains everywhere in a map.
func URLContains(part, s string) bool { return address.Contains(s, strings.TrimSpace(part)) }
