package sites

import (
	"io/fs"
	"path"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
)

// Reach is what a map may read of the storage when something runs on its behalf:
// a public map public things, a shared one those of its own audience too, a map
// from the web nothing. Otherwise the actions of a map that somebody else wrote
// could carry off private files. A nil map is an agent, who may read everything.

// ReachesStored reports whether m may read what lies at a storage path.
func (m *Map) ReachesStored(full string) bool {
	if m == nil {
		return true
	}
	scope, audience := scopeOf(full)
	keep := guard{scope, audience}
	if m.storage != nil {
		loc := location.Location{Scope: scope, Audience: audience}
		if site, ok := location.Locate(full); ok {
			loc = site
		}
		_, keep, _ = m.storage.locate(full, loc)
	}
	return m.fetched == "" && m.mayReach(keep) == nil
}

// reachesMap is ReachesStored for what another map declares.
func (m *Map) reachesMap(other *Map) bool {
	return m == nil || m == other || m.fetched == "" && m.mayReach(other.guard) == nil
}

// ChangesStored reports whether something that runs on behalf of m may bring other
// maps: the user's own maps may.
func (m *Map) ChangesStored() bool {
	return m == nil || m.ownedByUser()
}

// ReadSource reads a file that a map names: scopes/… from the root of the
// storage, sites/… in the scope of the map, anything else in the folder of the
// map. It fails with unsafe_path, permission_denied and asset_not_found.
func (l *Library) ReadSource(m *Map, name string, max int64) ([]byte, *fault.Error) {
	clean := strings.TrimPrefix(name, "./")
	if !fs.ValidPath(clean) || clean == "." || strings.Contains(clean, `\`) || absoluteReference(clean) {
		return nil, fault.New(fault.UnsafePath, "the path leaves the storage of the map").With("path", shown(name))
	}
	if m.fetched != "" {
		return nil, fault.New(fault.PermissionDenied, "a map from the web reads nothing of the storage").
			With("path", shown(name))
	}
	var candidates []string
	switch {
	case strings.HasPrefix(clean, "scopes/"):
		candidates = []string{clean}
	case strings.HasPrefix(clean, "sites/"):
		if at := strings.Index("/"+m.Path, "/sites/"); at >= 0 {
			candidates = append(candidates, m.Path[:at]+clean)
		}
		if s := m.Location.Scope; s != location.Unscoped {
			candidates = append(candidates, path.Join("scopes", string(s), m.Location.Audience, clean))
		}
		candidates = append(candidates, path.Join(m.dir, clean))
	default:
		candidates = []string{path.Join(m.dir, clean)}
	}
	denied := false
	for _, full := range candidates {
		if own := m.dir != "" && strings.HasPrefix(full, m.dir+"/"); !own && !m.ReachesStored(full) {
			denied = true
			continue
		}
		if m.companions != nil {
			if data, err := m.companions.read(full, max); err == nil {
				return data, nil
			}
		}
		if strings.HasPrefix(full, "scopes/") {
			if data, err := l.ReadStored(full, max); err == nil {
				return data, nil
			}
		}
	}
	if denied {
		return nil, fault.New(fault.PermissionDenied, "the file belongs to another scope than the map").
			With("path", shown(name))
	}
	return nil, fault.New(fault.AssetNotFound, "the file cannot be read").
		With("path", shown(name)).With("map_path", m.Path)
}
