// Package sites holds the maps a runtime knows: it loads them from files,
// storage folders and bundles, says which apply to a page, and finds the one
// tool that an action name means there.
package sites

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Options lends the loader the knowledge of other packages; see
// manifest.Options.
type Options struct {
	Known           func(primitive string) bool
	CheckWorkflow   func(raw json.RawMessage) []manifest.Problem
	CheckProjection func(raw json.RawMessage) []manifest.Problem
	WarnWorkflow    func(raw json.RawMessage) []manifest.Problem
	AcceptDrafts    bool
}

func (o Options) manifest() manifest.Options {
	return manifest.Options{Known: o.Known, CheckWorkflow: o.CheckWorkflow, CheckProjection: o.CheckProjection, WarnWorkflow: o.WarnWorkflow, AcceptDrafts: o.AcceptDrafts}
}

// Library is a set of valid maps. It is immutable and safe for concurrent use;
// the nil Library is empty.
type Library struct {
	maps       []*Map // by scope, then path
	byHost     map[string][]*Map
	everywhere []*Map
	refused    []refusal
}

// refusal is a map that was not loaded, remembered so that a missing action
// can be explained.
type refusal struct {
	path       string
	host       string
	everywhere bool
}

func newLibrary(all []*Map, refused []refusal) *Library {
	l := &Library{maps: slices.Clone(all), byHost: map[string][]*Map{}, refused: refused}
	slices.SortStableFunc(l.maps, compareMaps)
	for _, m := range l.maps {
		if key := m.hostKey(); key != "" {
			l.byHost[key] = append(l.byHost[key], m)
		} else {
			l.everywhere = append(l.everywhere, m)
		}
	}
	return l
}

func compareMaps(a, b *Map) int {
	return cmp.Or(cmp.Compare(a.Location.Scope.rank(), b.Location.Scope.rank()), cmp.Compare(a.Path, b.Path), cmp.Compare(a.file, b.file))
}

// Join returns a library with the maps of all.
func Join(all ...*Library) *Library {
	var (
		ms      []*Map
		refused []refusal
	)
	for _, l := range all {
		if l != nil {
			ms, refused = append(ms, l.maps...), append(refused, l.refused...)
		}
	}
	return newLibrary(ms, refused)
}

// Maps returns all maps, by scope and then path.
func (l *Library) Maps() []*Map {
	if l == nil {
		return nil
	}
	return slices.Clone(l.maps)
}

// For returns the maps that apply to a page, by scope and then path; all maps
// when pageURL is "".
func (l *Library) For(pageURL string) []*Map {
	if l == nil {
		return nil
	}
	if pageURL == "" {
		return slices.Clone(l.maps)
	}
	p := parsePage(pageURL)
	var out []*Map
	for _, m := range l.everywhere {
		if m.applies(p) {
			out = append(out, m)
		}
	}
	for h := range p.hosts {
		for _, m := range l.byHost[h] {
			if m.applies(p) {
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, compareMaps)
	return out
}

// Match is one tool of one map.
type Match struct {
	Map  *Map
	Tool *manifest.Tool
}

// Find returns the tool that action means on a page. The maps of the best scope
// that declare it win (private, shared, public, none); two of them in that
// scope are site_action_ambiguous and none is preferred.
func (l *Library) Find(pageURL, action string) (*Match, *fault.Error) {
	var found []*Map
	for _, m := range l.For(pageURL) {
		t := m.tools[action]
		if t == nil || !bound(t, pageURL) {
			continue
		}
		if len(found) > 0 && m.Location.Scope != found[0].Location.Scope {
			break // maps are in order of scope
		}
		found = append(found, m)
	}
	switch len(found) {
	case 0:
		return nil, l.unknownAction(pageURL, action)
	case 1:
		return &Match{Map: found[0], Tool: found[0].tools[action]}, nil
	}
	return nil, ambiguous(action, found)
}

func ambiguous(action string, found []*Map) *fault.Error {
	paths := pathsOf(found)
	return fault.New(fault.SiteActionAmbiguous, "%d maps of the same scope declare the action %s", len(found), shown(action)).
		With("action", shown(action)).With("map_paths", paths).
		Next("rename the action in one of the maps, or remove one of them")
}

func pathsOf(found []*Map) []string {
	paths := make([]string, len(found))
	for i, m := range found {
		paths[i] = m.Path
	}
	return paths
}

// maxKnownActions bounds the names in the evidence of unknown_action.
const maxKnownActions = 50

func (l *Library) unknownAction(pageURL, action string) *fault.Error {
	known := l.actionNames(pageURL)
	e := fault.New(fault.UnknownAction, "no map that applies to this page declares the action %s", shown(action)).With("action", shown(action))
	if near := manifest.Nearest(action, known); near != "" {
		e.With("did_you_mean", near)
	}
	e.With("known_actions", known[:min(len(known), maxKnownActions)]).With("known_action_count", len(known))
	if l == nil {
		return e
	}
	var refused []string
	p := parsePage(pageURL)
	for _, r := range l.refused {
		if r.everywhere || pageURL == "" || slices.Contains(slices.Collect(p.hosts), r.host) {
			refused = append(refused, r.path)
		}
	}
	if len(refused) > 0 {
		e.With("refused_maps", refused).Next("a map for this page is invalid and was not loaded; outrider validate says why")
		return e
	}
	for _, m := range l.maps {
		if m.tools[action] != nil {
			return e.With("declared_elsewhere", true).Next("the action belongs to other pages; go to one of them or list the actions of this one")
		}
	}
	return e.Next("list the actions of this page with mode list")
}

func (l *Library) actionNames(pageURL string) []string {
	seen := map[string]bool{}
	for _, m := range l.For(pageURL) {
		for name, t := range m.tools {
			if bound(t, pageURL) {
				seen[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// bound reports whether the tool's binding allows the page.
func bound(t *manifest.Tool, pageURL string) bool {
	return pageURL == "" || strings.Contains(pageURL, t.XActions.Binding.TargetURLContains)
}

// shown bounds a name that came from a caller.
func shown(name string) string {
	const limit = 100
	if len(name) > limit {
		return strings.ToValidUTF8(name[:limit], "") + "..."
	}
	return name
}

// FindProjection returns the map and the state projection that a name means on
// a page. There is no precedence of scopes: the same name in two maps is
// state_projection_ambiguous.
func (l *Library) FindProjection(pageURL, name string) (*Map, *manifest.Projection, *fault.Error) {
	type hit struct {
		m *Map
		p *manifest.Projection
	}
	var (
		found []hit
		known []string
	)
	for _, m := range l.For(pageURL) {
		for i := range m.Manifest.StateProjections {
			p := &m.Manifest.StateProjections[i]
			if pageURL != "" && !wildcard(p.URLMatches, pageURL) {
				continue
			}
			known = append(known, p.Name)
			if p.Name == name && (len(found) == 0 || found[len(found)-1].m != m) {
				found = append(found, hit{m, p})
			}
		}
	}
	switch len(found) {
	case 0:
		slices.Sort(known)
		known = slices.Compact(known)
		e := fault.New(fault.StateProjectionNotFound, "no map that applies to this page declares the state projection %s", shown(name)).
			With("projection", shown(name)).With("known_projections", known[:min(len(known), maxKnownActions)])
		if near := manifest.Nearest(name, known); near != "" {
			e.With("did_you_mean", near)
		}
		return nil, nil, e
	case 1:
		return found[0].m, found[0].p, nil
	}
	var paths []string
	for _, h := range found {
		paths = append(paths, h.m.Path)
	}
	return nil, nil, fault.New(fault.StateProjectionAmbiguous, "%d maps declare the state projection %s", len(found), shown(name)).
		With("projection", shown(name)).With("map_paths", paths)
}

// Projection returns the state projection that a name means on a page, looked
// for in this map alone; nil when there is none.
func (m *Map) Projection(pageURL, name string) *manifest.Projection {
	for i := range m.Manifest.StateProjections {
		p := &m.Manifest.StateProjections[i]
		if p.Name == name && (pageURL == "" || wildcard(p.URLMatches, pageURL)) {
			return p
		}
	}
	return nil
}

// String says how much the library holds, for logs.
func (l *Library) String() string {
	if l == nil {
		return "no maps"
	}
	return fmt.Sprintf("%d maps, %d refused", len(l.maps), len(l.refused))
}
