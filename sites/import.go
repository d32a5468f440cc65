package sites

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Trust says how far a source is believed where it competes with another.
type Trust string

const (
	TrustLocal   Trust = "local"
	TrustPrivate Trust = "private"
	TrustShared  Trust = "shared"
	TrustPublic  Trust = "public"
	TrustWebsite Trust = "website"
	TrustUnknown Trust = "unknown"
)

// trustOrder is from the most to the least trusted. What the user has on his own
// machine comes before what he shares, and what nobody reviewed comes last.
var trustOrder = []Trust{TrustLocal, TrustPrivate, TrustShared, TrustPublic, TrustWebsite, TrustUnknown}

func (t Trust) rank() int {
	if i := slices.Index(trustOrder, t); i >= 0 {
		return i
	}
	return len(trustOrder)
}

// lower returns the less trusted of two.
func lower(a, b Trust) Trust {
	if a.rank() >= b.rank() {
		return a
	}
	return b
}

// trust is how far the map's own place is trusted.
func (m *Map) trust() Trust {
	switch {
	case m.fetched != "":
		return m.fetched
	case m.Location.Scope == location.Unscoped:
		return TrustLocal
	}
	return Trust(m.Location.Scope)
}

// importPlace is where an import is searched: storage paths, or web addresses,
// to try in order.
type importPlace struct {
	paths   []string
	web     []string
	website bool // the page's own
}

// placeOf reads kind and uri of an import of m. page is the address of the page
// that requests it, "" when there is none yet: then the web addresses are unknown and
// web holds what can be said.
func placeOf(m *Map, i *manifest.Import, pageURL string) (importPlace, *fault.Error) {
	uri := strings.TrimSpace(i.URI)
	web := strings.HasPrefix(strings.ToLower(uri), "http://") || strings.HasPrefix(strings.ToLower(uri), "https://")
	kind := i.Kind
	if kind == "" {
		kind = "local"
		if web {
			kind = "public"
		}
	}
	switch {
	case kind == "website":
		return websitePlace(uri, pageURL)
	case web && (kind == "public" || kind == "shared" || kind == "package"):
		return importPlace{web: []string{uri}}, nil
	case m.fetched != "":
		return importPlace{}, fault.New(
			fault.PermissionDenied,
			"a map that was read from the web may import from the web only, not from the storage",
		)
	case m.companions == nil:
		return importPlace{}, fault.New(fault.ImportUnavailable, "the map came without a storage to import from")
	}
	switch kind {
	case "local":
		if absoluteReference(uri) {
			return importPlace{}, fault.New(
				fault.PathEscape, "a local import is a path relative to the folder of the map",
			)
		}
		full := path.Join(m.dir, strings.ReplaceAll(uri, `\`, "/"))
		if full == ".." || strings.HasPrefix(full, "../") {
			return importPlace{}, fault.New(
				fault.PathEscape, "a local import may not leave the folder that the maps are read from",
			)
		}
		return importPlace{paths: []string{full}}, nil
	case "package":
		name := strings.TrimPrefix(uri, "package:")
		full, ok := storagePath("packages/" + name)
		if !ok {
			return importPlace{}, fault.New(fault.PathEscape, "a package is named without empty, . and .. parts")
		}
		if !strings.HasSuffix(full, ".json") {
			full += "/actions.json"
		}
		return importPlace{paths: []string{full}}, nil
	}
	return scopedPlace(m, kind, uri)
}

// scopedPlace reads the path of an import of kind storage, shared or public.
func scopedPlace(m *Map, kind, uri string) (importPlace, *fault.Error) {
	name := strings.TrimPrefix(uri, "storage:")
	if rest, ok := strings.CutPrefix(name, "github:"); ok {
		// github:OWNER/actions.json.storage.SCOPE/sites/...: the repository is
		// mounted below scopes.
		_, after, found := strings.Cut(rest, "/")
		if !found || !strings.HasPrefix(after, "actions.json.storage.") {
			return importPlace{}, fault.New(
				fault.ImportUnavailable,
				"only storage repositories can be imported from, where the storage mounts them",
			)
		}
		name = after
	}
	full, ok := storagePath(name)
	if !ok || absoluteReference(name) {
		return importPlace{}, fault.New(
			fault.PathEscape, "a storage path is relative to the storage root and has no empty, . and .. parts",
		)
	}
	var paths []string
	switch loc, is := location.Locate(full); {
	case is && loc.Scope != location.Unscoped:
		paths = []string{canonical(loc), full}
	case kind == "public":
		paths = []string{"scopes/public/" + full}
	case kind == "shared":
		paths = []string{"scopes/shared/" + full}
		if m.Location.Scope == location.Shared && strings.HasPrefix(full, "sites/") {
			paths = []string{"scopes/shared/" + m.Location.Audience + "/" + full}
		}
	case is: // without a scope: that of the importing map comes first
		switch m.Location.Scope {
		case location.Shared:
			paths = []string{"scopes/shared/" + m.Location.Audience + "/" + full}
		case location.Private, location.Public:
			paths = []string{"scopes/" + string(m.Location.Scope) + "/" + full}
		}
		paths = append(paths, full)
	default:
		paths = []string{full}
	}
	if kind != "storage" {
		for _, p := range paths {
			if scope, _ := scopeOf(p); scope != location.Scope(kind) {
				return importPlace{}, fault.New(
					fault.InvalidValue, "an import of kind %s names a path of another scope", kind,
				)
			}
		}
	}
	return importPlace{paths: slices.Compact(paths)}, nil
}

// websitePlace is where a website publishes its map: at uri, else at the two
// well-known addresses of its origin.
func websitePlace(uri, pageURL string) (importPlace, *fault.Error) {
	p := importPlace{website: true}
	if pageURL == "" {
		p.web = []string{uri}
		return p, nil
	}
	base, err := url.Parse(pageURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return p, fault.New(fault.ImportUnavailable, "the page is of no website")
	}
	if uri == "" {
		p.web = []string{location.Origin(base) + "/.well-known/actions.json", location.Origin(base) + "/actions.json"}
		return p, nil
	}
	ref, err := url.Parse(uri)
	if err != nil {
		return p, fault.New(fault.InvalidValue, "the uri is no web address")
	}
	root := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: "/"}
	at := root.ResolveReference(ref)
	if location.Origin(at) != location.Origin(base) {
		return p, fault.New(
			fault.PermissionDenied,
			"an import of kind website is read from the page's own origin only; a map of another origin is public",
		)
	}
	p.web = []string{at.String()}
	return p, nil
}

// storagePath cleans a path with either kind of separators. ok is false when a
// part could be meant to escape.
func storagePath(name string) (clean string, ok bool) {
	clean = strings.ReplaceAll(name, `\`, "/")
	for part := range strings.SplitSeq(clean, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsRune(part, 0) {
			return "", false
		}
	}
	return clean, true
}

// absoluteReference reports whether a path starts at a root, a drive or a
// scheme.
func absoluteReference(uri string) bool {
	slashed := strings.ReplaceAll(uri, `\`, "/")
	scheme, _, has := strings.Cut(slashed, ":")
	return strings.HasPrefix(slashed, "/") || has && !strings.Contains(scheme, "/") || strings.ContainsRune(uri, 0)
}

// canonical is the storage path of a location with a scope.
func canonical(l location.Location) string {
	switch l.Scope {
	case location.Shared:
		return "scopes/shared/" + l.Audience + "/sites/" + l.Host + "/" + l.Rest
	case location.Unscoped:
		return "sites/" + l.Host + "/" + l.Rest
	}
	return "scopes/" + string(l.Scope) + "/sites/" + l.Host + "/" + l.Rest
}

// scopeOf returns the scope that a storage path lies in, whether or not it is of
// a site.
func scopeOf(name string) (scope location.Scope, audience string) {
	if i := strings.Index(name, "/sites/"); i < 0 && !strings.HasPrefix(name, "sites/") {
		// Locate reads paths of sites only.
		name += "/sites/x/x"
	}
	loc, _ := location.Locate(name)
	return loc.Scope, loc.Audience
}

// mayImport reports whether m may import what lies at a storage path: a public map
// public things only, a shared one those of its own audience too. Otherwise a
// map that somebody else wrote could offer private actions by importing them.
func (m *Map) mayImport(name string) *fault.Error {
	var g guard
	g.scope, g.audience = scopeOf(name)
	if strings.HasPrefix(name, "packages/") {
		g.scope = location.Public
	}
	return m.mayReach(g)
}

func (m *Map) mayReach(g guard) *fault.Error {
	ok := true
	switch m.Location.Scope {
	case location.Public:
		ok = g.scope == location.Public
	case location.Shared:
		ok = g.scope == location.Public || g.scope == location.Shared && g.audience == m.Location.Audience
	}
	if ok {
		return nil
	}
	return fault.New(
		fault.PermissionDenied, "a map of the %s scope may not import from %s", m.Location.Scope, scopeName(g.scope),
	)
}

func scopeName(s location.Scope) string {
	if s == location.Unscoped {
		return "outside of it"
	}
	return "the " + string(s) + " scope"
}

// importer finds and reads imported maps for one composition, or for all those
// of one library.
type importer struct {
	opts   Options
	byPath map[string][]*Map // loaded maps by path, and by canonical path
	read   map[readKey]*readMap

	// fetch is nil while no page is there to read the web through.
	fetch   Fetcher
	ctx     context.Context
	pageURL string
	limits  FetchLimits
}

type readKey struct {
	from companions
	path string
}

type readMap struct {
	m   *Map
	err *fault.Error
}

func newImporter(all []*Map, opts Options) *importer {
	im := &importer{opts: opts, byPath: map[string][]*Map{}, read: map[readKey]*readMap{}}
	for _, m := range all {
		im.byPath[m.Path] = append(im.byPath[m.Path], m)
		if c := canonical(m.Location); m.Location.Host != "" && c != m.Path {
			im.byPath[c] = append(im.byPath[c], m)
		}
	}
	return im
}

// find returns the map that an import of m means. pending is true for one that
// is on the web while there is no page to read it through.
func (im *importer) find(m *Map, i *manifest.Import) (found *Map, pending bool, err *fault.Error) {
	place, err := placeOf(m, i, im.pageURL)
	if err != nil {
		return nil, false, err
	}
	if place.web != nil {
		if im.fetch == nil {
			return nil, true, nil
		}
		found, err = im.fromWeb(place)
		return found, false, err
	}
	for n, p := range place.paths {
		if err := m.mayImport(p); err != nil {
			return nil, false, err
		}
		found, err = im.fromStorage(m, p)
		if err == nil && found.guard.scope != location.Unscoped {
			err = m.mayReach(found.guard)
		}
		if err == nil || err.Code != fault.ImportUnavailable || n == len(place.paths)-1 {
			if err != nil {
				found = nil
			}
			return found, false, err
		}
	}
	return nil, false, fault.New(fault.ImportUnavailable, "the import names no place")
}

func (im *importer) fromStorage(m *Map, name string) (*Map, *fault.Error) {
	var same, other []*Map
	for _, c := range im.byPath[name] {
		if c.companions == m.companions {
			same = append(same, c)
		} else {
			other = append(other, c)
		}
	}
	// A map of the same storage is meant before one of another storage that has
	// the same path.
	if len(same) == 0 {
		same = other
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return nil, fault.New(
			fault.ImportUnavailable, "%d maps of different storages have the path %s", len(same), shown(name),
		)
	}
	key := readKey{m.companions, name}
	if r := im.read[key]; r != nil {
		return r.m, r.err
	}
	r := &readMap{}
	r.m, r.err = im.readFile(m, name)
	im.read[key] = r
	return r.m, r.err
}

// readFile reads a map that is no site's own, such as a part beside it or a
// package.
func (im *importer) readFile(m *Map, name string) (*Map, *fault.Error) {
	data, err := m.companions.read(name, manifest.MaxBytes+1)
	if err != nil {
		return nil, &fault.Error{
			Code:    fault.ImportUnavailable,
			Message: fmt.Sprintf("there is no map at %s", shown(name)),
			Err:     err,
		}
	}
	parsed, report := manifest.Parse(data, im.opts.manifest())
	if parsed == nil {
		return nil, invalidImport(name, report)
	}
	loc, ok := location.Locate(name)
	if !ok {
		loc.Scope, loc.Audience = scopeOf(name)
	}
	if strings.HasPrefix(name, "packages/") {
		loc.Scope = location.Public
	}
	loc, keep, _ := m.storage.locate(name, loc)
	out := newMap(parsed, name, loc, im.opts)
	out.companions = m.companions
	out.dir = path.Dir(name)
	out.storage = m.storage
	out.guard = keep
	out.project = m.project
	return out, nil
}

func invalidImport(name string, report manifest.Report) *fault.Error {
	first := report.Errors[0]
	return fault.New(
		fault.InvalidManifest, "the map at %s is invalid at %q: %s", shown(name), first.Pointer, first.Message,
	).With("errors", report.Errors[:min(len(report.Errors), 8)]).With("error_count", len(report.Errors))
}

// fromWeb reads the first of the addresses that answers with a map. An address
// that is not there is passed over, anything else that is wrong is not: a site
// whose map is broken has a broken map, not none.
func (im *importer) fromWeb(place importPlace) (*Map, *fault.Error) {
	for n, address := range place.web {
		key := readKey{path: address}
		r := im.read[key]
		if r == nil {
			r = &readMap{}
			r.m, r.err = im.fetchMap(address, place.website)
			im.read[key] = r
		}
		if r.err == nil || r.err.Code != fault.ImportUnavailable || r.err.Evidence["status"] == nil ||
			n == len(place.web)-1 {
			return r.m, r.err
		}
	}
	return nil, fault.New(fault.ImportUnavailable, "the import names no address")
}

func (im *importer) fetchMap(address string, website bool) (*Map, *fault.Error) {
	ctx, cancel := context.WithTimeout(im.ctx, im.limits.Timeout)
	defer cancel()
	got, err := im.fetch.Fetch(ctx, address, im.limits)
	if err != nil {
		return nil, &fault.Error{
			Code:     fault.ImportUnavailable,
			Message:  fmt.Sprintf("%s cannot be read: %s", shown(address), fault.From(err).Message),
			Err:      err,
			Evidence: map[string]any{"cause": fault.CodeOf(err)},
		}
	}
	if got.Status < 200 || got.Status > 299 {
		return nil, fault.New(fault.ImportUnavailable, "%s answered with status %d", shown(address), got.Status).
			With("status", got.Status)
	}
	parsed, report := manifest.Parse(got.Body, im.opts.manifest())
	if parsed == nil {
		return nil, invalidImport(address, report)
	}
	out := newMap(parsed, got.URL, location.Location{Scope: location.Public}, im.opts)
	out.fetched = TrustPublic
	if website {
		out.fetched = TrustWebsite
	}
	return out, nil
}
