package sites

import (
	"bytes"
	"net/url"
	"slices"

	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Map is one valid actions.json with the place it came from. It is immutable
// and safe for concurrent use.
type Map struct {
	// Path names the map towards agents and in errors: relative to the storage
	// root, with / separators.
	Path     string
	Location location.Location
	Manifest *manifest.Manifest
	// everywhere means that the map applies to every page: a file the user
	// named himself that is not in a site folder.
	everywhere bool
	// file is where the map was read, "" for one that came with a call or a
	// bundle.
	file string
	// companions is where declared files are read, and dir the folder of the
	// map in it; nil when there is nothing to read from.
	companions companions
	dir        string
	origin     string // of the surface, normalized; "" when there is none
	surface    string // host of the surface's origin, for maps outside of site folders
	port       string // port that origin spells out
	known      func(string) bool
	tools      map[string]*manifest.Tool
	// fetched is how far a map is trusted that was read from the web, "" for
	// every other. It may import from the web only.
	// guard is who may import it: its scope, or less where the storage says so.
	guard     guard
	storage   *workspace
	fetched   Trust
	project   bool               // the path that it was read from was named by a project file
	warnings  []manifest.Problem // of reading it
	patterns  []location.Pattern // of the surface; none of them valid is no page at all
	patterned bool
}

// sameText reports whether the map is what data says. The map keeps its
// document without a byte order mark and space around it.
func (m *Map) sameText(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return bytes.Equal(bytes.TrimSpace(data), bytes.TrimSpace(m.Manifest.Raw))
}

func newMap(m *manifest.Manifest, path string, loc location.Location, opts Options) *Map {
	out := &Map{
		Path:     path,
		Location: loc,
		guard:    guard{loc.Scope, loc.Audience},
		Manifest: m,
		known:    opts.Known,
		tools:    make(map[string]*manifest.Tool, len(m.Tools)),
	}
	for i := range m.Tools {
		if t := &m.Tools[i]; t.AgentCallable() {
			out.tools[t.Name] = t
		}
	}
	if u, err := url.Parse(m.Surface.Origin); err == nil && u.Scheme != "" && m.Surface.Origin != "" {
		out.origin = location.Origin(u)
		out.surface, out.port = location.ParsePage(m.Surface.Origin).Host, u.Port()
	}
	for _, text := range m.Surface.URLPatterns {
		out.patterned = true
		if p, ok := location.ParsePattern(text); ok {
			out.patterns = append(out.patterns, p)
		}
	}
	return out
}

// OriginDiffers reports whether the map's surface.origin names another origin
// than that of pageURL. The origin is metadata: such a map still applies when
// its folder, or the user, says so.
func (m *Map) OriginDiffers(pageURL string) bool {
	return m.origin != "" && m.origin != location.ParsePage(pageURL).Origin
}

// applies reports whether the map applies to the page: the page's host, also
// without a leading www., is the site folder's host or below it. Ports do not
// count. A map outside of a site folder applies where its surface.origin does,
// and to every page when it declares none or the user named the file. A map
// with surface.url_patterns applies only to pages that match one of them as
// well, unless the user named the file. Every map applies to the page of the address "".
func (m *Map) applies(p location.Page) bool {
	if p.URL == "" || m.everywhere {
		return true
	}
	if m.port != "" && m.Location.Host == "" && m.port != p.Port {
		return false
	}
	if !m.matches(p) {
		return false
	}
	key := m.hostKey()
	if key == "" {
		return true
	}
	for h := range p.Hosts {
		if h == key {
			return true
		}
	}
	return false
}

// About reports whether the map names the host of an address, or one above it, as what
// it is about.
func (m *Map) About(address string) bool {
	keys, ok := m.hostKeys()
	p := location.ParsePage(address)
	return ok && slices.ContainsFunc(keys, func(key string) bool {
		for h := range p.Hosts {
			if h == key {
				return true
			}
		}
		return false
	})
}

// matches reports whether the patterns of the map, if it has any, cover the
// page.
func (m *Map) matches(p location.Page) bool {
	if !m.patterned {
		return true
	}
	return p.Parsed != nil &&
		slices.ContainsFunc(m.patterns, func(pattern location.Pattern) bool { return pattern.Matches(p.Parsed) })
}

// hostKeys are the hosts under which the map is indexed. ok is false for maps
// that no host narrows down.
func (m *Map) hostKeys() (keys []string, ok bool) {
	if key := m.hostKey(); key != "" {
		return []string{key}, true
	}
	if m.everywhere || !m.patterned {
		return nil, false
	}
	for _, p := range m.patterns {
		if p.Host == "" {
			return nil, false
		}
		if !slices.Contains(keys, p.Host) {
			keys = append(keys, p.Host)
		}
	}
	return keys, true
}

// Hosts are the hosts that a page must be of, or below, for the map to apply; ok
// is false for maps that no host narrows down.
func (m *Map) Hosts() (hosts []string, ok bool) { return m.hostKeys() }

// hostKey is the host under which the map is indexed; "" for maps that apply
// everywhere.
func (m *Map) hostKey() string {
	switch {
	case m.everywhere:
		return ""
	case m.Location.Host != "":
		return m.Location.Host
	}
	return m.surface
}
