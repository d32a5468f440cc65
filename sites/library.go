// Package sites holds the maps that a runtime knows: it loads them from files, storage
// folders and bundles, says which apply to a page, and finds the one tool that an
// action name means there. It runs nothing of a map, and leaves the rules of one map to
// package manifest. Package runtime/mapset keeps the library that calls are resolved
// with.
package sites

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Options lends the loader the knowledge of other packages; see
// manifest.Options.
type Options struct {
	Known           func(primitive string) bool
	CheckWorkflow   func(raw json.RawMessage) (problems, warnings []manifest.Problem)
	CheckProjection func(raw json.RawMessage) []manifest.Problem
	WarnProjection  func(raw json.RawMessage) []manifest.Problem
	WarnArguments   func(primitive string, args json.RawMessage) []manifest.Problem
	// Needs reports which permissions the actions of a map need. When it is nil, reports leave
	// them out.
	Needs func(m *Map) map[Permission][]string
	// Inspect reports what is certain to be refused when the map is used beside the
	// others of its library; nil when nobody needs them.
	Inspect      func(l *Library, m *Map) (errors, warnings []manifest.Problem)
	AcceptDrafts bool
	Salvage      bool
	Parts        bool // see manifest.Options
	// Project are those of the paths that a project file names: what lies there came with
	// somebody's checkout, and is trusted no more than a public map.
	Project []string
}

func (o Options) manifest() manifest.Options {
	return manifest.Options{
		Known:           o.Known,
		CheckWorkflow:   o.CheckWorkflow,
		CheckProjection: o.CheckProjection,
		WarnProjection:  o.WarnProjection,
		WarnArguments:   o.WarnArguments,
		AcceptDrafts:    o.AcceptDrafts,
		Salvage:         o.Salvage,
		Parts:           o.Parts,
	}
}

// Library is a set of valid maps. It is immutable and safe for concurrent use;
// the nil Library is empty.
type Library struct {
	maps       []*Map // by scope, then path
	byHost     map[string][]*Map
	everywhere []*Map
	refused    []refusal
	opts       Options
	composed   map[*Map]*Composition // of the maps that import others
}

// refusal is a map that was not loaded, remembered so that a missing action
// can be explained.
type refusal struct {
	path       string
	host       string
	everywhere bool
}

func newLibrary(all []*Map, refused []refusal, opts Options) *Library {
	l := &Library{
		maps:     slices.Clone(all),
		byHost:   map[string][]*Map{},
		refused:  refused,
		opts:     opts,
		composed: map[*Map]*Composition{},
	}
	slices.SortStableFunc(l.maps, compareMaps)
	for _, m := range l.maps {
		keys, ok := m.hostKeys()
		if !ok {
			l.everywhere = append(l.everywhere, m)
		}
		for _, key := range keys {
			l.byHost[key] = append(l.byHost[key], m)
		}
	}
	var im *importer
	for _, m := range l.maps {
		if len(m.Manifest.Imports) == 0 {
			continue
		}
		if im == nil {
			im = newImporter(l.maps, opts)
		}
		l.composed[m] = compose(m, im)
	}
	return l
}

// admit returns l without the maps whose imports cannot be composed, and reports
// their reports why. report returns that of a map. before, when it is not nil,
// gives what such a map was composed to in an earlier load, which is kept.
func (l *Library) admit(report func(*Map) *FileReport, before func(*Map) *Composition) *Library {
	var (
		kept    []*Map
		refused = slices.Clone(l.refused)
	)
	for _, m := range l.maps {
		c := l.composed[m]
		if c == nil {
			kept = append(kept, m)
			continue
		}
		r := report(m)
		for _, s := range c.Shadowed {
			r.Warnings = append(r.Warnings, manifest.Problem{
				Pointer: cmp.Or(s.Loser.pointer, s.Winner.pointer), Code: fault.DuplicateName,
				Message: fmt.Sprintf(
					"the %s %s means that of %s and not that of %s: %s",
					s.Section, shown(s.Name), s.Winner, s.Loser, s.Why,
				),
			})
		}
		if len(c.Problems) == 0 {
			kept = append(kept, m)
			continue
		}
		r.OK = false
		r.Errors = append(r.Errors, c.Problems...)
		// What a map may not read it does not keep.
		forbidden := slices.ContainsFunc(c.Problems, func(p manifest.Problem) bool {
			return p.Code == fault.PermissionDenied
		})
		if before != nil && !forbidden {
			if old := before(m); old != nil {
				r.Kept = true
				l.composed[m] = old
				kept = append(kept, m)
				continue
			}
		}
		refused = append(refused, refusal{path: m.Path, host: m.Location.Host, everywhere: m.Location.Host == ""})
	}
	if len(kept) == len(l.maps) {
		return l
	}
	out := newLibrary(kept, refused, l.opts)
	for m := range out.composed {
		out.composed[m] = l.composed[m]
	}
	return out
}

// Composition returns what a map of l offers together with its imports.
func (l *Library) Composition(m *Map) *Composition {
	if l != nil && l.composed[m] != nil {
		return l.composed[m]
	}
	return compose(m, newImporter(nil, Options{}))
}

func compareMaps(a, b *Map) int {
	return cmp.Or(
		cmp.Compare(a.Location.Scope.Rank(), b.Location.Scope.Rank()),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.file, b.file),
	)
}

// Join returns a library with the maps of all.
func Join(all ...*Library) *Library {
	var (
		ms      []*Map
		refused []refusal
		opts    Options
	)
	for _, l := range all {
		if l != nil {
			opts = l.opts
			ms, refused = append(ms, l.maps...), append(refused, l.refused...)
		}
	}
	out := newLibrary(ms, refused, opts)
	for _, l := range all {
		if l == nil {
			continue
		}
		for m, c := range l.composed {
			// What an earlier load composed stays where it cannot be done again.
			if now := out.composed[m]; len(c.Problems) == 0 && now != nil && len(now.Problems) > 0 {
				out.composed[m] = c
			}
		}
	}
	return out
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
	p := location.ParsePage(pageURL)
	var out []*Map
	for _, m := range l.everywhere {
		if m.applies(p) {
			out = append(out, m)
		}
	}
	for h := range p.Hosts {
		for _, m := range l.byHost[h] {
			if m.applies(p) && !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, compareMaps)
	return out
}

// Match is one tool of one map.
type Match struct {
	// Name is that by which the page's map offers the tool: Tool.Name, unless it
	// was imported into a namespace.
	Name string
	// Map is the map that declares the tool. What the tool refers to is in it.
	Map  *Map
	Tool *manifest.Tool
	// Via is the map that applies to the page, and Source says how the tool came
	// into it; the map itself and nil when Map is that map.
	Via    *Map
	Source *Source
}

// tool returns the tool that m, a map of l, offers by a name.
func (l *Library) tool(m *Map, name string) *Match {
	c := l.composed[m]
	if c == nil {
		if t := m.tools[name]; t != nil {
			return &Match{Name: name, Map: m, Tool: t, Via: m}
		}
		return nil
	}
	if e := c.Tool(name); e != nil && e.Entry.AgentCallable() {
		return match(m, e)
	}
	return nil
}

func match(via *Map, e *Exposed[manifest.Tool]) *Match {
	out := &Match{Name: e.Name, Map: e.Source.Map, Tool: e.Entry, Via: via}
	if e.Source.ID != "" {
		out.Source = e.Source
	}
	return out
}

// offers calls yield with every tool that m offers to agents, in order of
// declaration, what it imports last.
func (l *Library) offers(m *Map, yield func(*Match)) {
	c := l.composed[m]
	if c == nil {
		for i := range m.Manifest.Tools {
			if t := &m.Manifest.Tools[i]; t.AgentCallable() {
				yield(&Match{Name: t.Name, Map: m, Tool: t, Via: m})
			}
		}
		return
	}
	for i := range c.Tools {
		if e := &c.Tools[i]; e.Entry.AgentCallable() {
			yield(match(m, e))
		}
	}
}

// Find returns the tool that action means on a page. The maps of the best scope
// that declare it win (private, shared, public, none); two of them in that
// scope are site_action_ambiguous and none is preferred.
func (l *Library) Find(pageURL, action string) (*Match, *fault.Error) {
	var (
		found   []*Match
		collide *fault.Error
	)
	for _, m := range l.For(pageURL) {
		if len(found) > 0 && m.Location.Scope != found[0].Via.Location.Scope {
			break // maps are in order of scope
		}
		t := l.tool(m, action)
		if t == nil && collide == nil && l.composed[m] != nil {
			collide = l.composed[m].refused[action]
		}
		if t == nil || !bound(t.Tool, pageURL) {
			continue
		}
		// Two maps may import the same tool of the same map.
		if !slices.ContainsFunc(found, func(f *Match) bool { return f.Tool == t.Tool }) {
			found = append(found, t)
		}
	}
	switch {
	case collide != nil:
		// More than one source of one map declares it: no other may step in.
		return nil, collide
	case len(found) == 0:
		return nil, l.unknownAction(pageURL, action)
	case len(found) == 1:
		return found[0], nil
	}
	var maps []*Map
	for _, f := range found {
		maps = append(maps, f.Via)
	}
	return nil, ambiguous(action, maps)
}

func ambiguous(action string, found []*Map) *fault.Error {
	paths := pathsOf(found)
	return fault.New(
		fault.SiteActionAmbiguous, "%d maps of the same scope declare the action %s", len(found), shown(action),
	).With("action", shown(action)).With("map_paths", paths).
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
	e := fault.New(fault.UnknownAction, "no map that applies to this page declares the action %s", shown(action)).
		With("action", shown(action))
	if near := fault.Nearest(action, known); near != "" {
		e.With("did_you_mean", near)
	}
	e.With("known_actions", known[:min(len(known), maxKnownActions)]).With("known_action_count", len(known))
	if l == nil {
		return e
	}
	if failed := l.failedImports(pageURL, action); len(failed) > 0 {
		return e.With("failed_imports", failed).
			Next("a map that this page's map imports could not be used; list the actions of this page to see why")
	}
	var refused []string
	p := location.ParsePage(pageURL)
	for _, r := range l.refused {
		if r.everywhere || pageURL == "" || slices.Contains(slices.Collect(p.Hosts), r.host) {
			refused = append(refused, r.path)
		}
	}
	if len(refused) > 0 {
		e.With("refused_maps", refused).
			Next("a map for this page is invalid and was not loaded; outrider validate says why")
		return e
	}
	for _, m := range l.maps {
		if l.tool(m, action) != nil {
			return e.With("declared_elsewhere", true).
				Next("the action belongs to other pages; go to one of them or list the actions of this one")
		}
	}
	return e.Next("list the actions of this page with mode list")
}

func (l *Library) actionNames(pageURL string) []string {
	seen := map[string]bool{}
	for _, m := range l.For(pageURL) {
		l.offers(m, func(t *Match) {
			if bound(t.Tool, pageURL) {
				seen[t.Name] = true
			}
		})
	}
	return append([]string{}, slices.Sorted(maps.Keys(seen))...) // never null
}

// bound reports whether the tool's binding allows the page.
func bound(t *manifest.Tool, pageURL string) bool {
	return pageURL == "" || strings.Contains(pageURL, address.Part(t.XActions.Binding.TargetURLContains))
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
		found     []hit
		known     = []string{}
		elsewhere string // pattern of a projection of this name that is for other pages
	)
	for _, m := range l.For(pageURL) {
		taken := false
		l.projections(m, func(e *Exposed[manifest.Projection]) {
			if pageURL != "" && !location.URLMatches(e.Entry.URLMatches, pageURL) {
				if e.Name == name {
					elsewhere = e.Entry.URLMatches
				}
				return
			}
			known = append(known, e.Name)
			if e.Name == name && !taken {
				taken = true
				found = append(found, hit{e.Source.Map, e.Entry})
			}
		})
	}
	switch len(found) {
	case 0:
		slices.Sort(known)
		known = slices.Compact(known)
		e := fault.New(
			fault.StateProjectionNotFound,
			"no map that applies to this page declares the state projection %s", shown(name),
		).With("projection", shown(name)).With("known_projections", known[:min(len(known), maxKnownActions)])
		if elsewhere != "" {
			e.With("declared_for", shown(elsewhere)).Next("go to a page that its scope.url_matches means")
		} else if near := fault.Nearest(name, known); near != "" {
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
	return nil, nil, fault.New(
		fault.StateProjectionAmbiguous, "%d maps declare the state projection %s", len(found), shown(name),
	).With("projection", shown(name)).With("map_paths", paths)
}

// projections calls yield with every projection that m offers, what it imports
// last.
func (l *Library) projections(m *Map, yield func(*Exposed[manifest.Projection])) {
	if c := l.composed[m]; c != nil {
		for i := range c.Projections {
			yield(&c.Projections[i])
		}
		return
	}
	self := &Source{Map: m, Trust: m.trust()}
	for i := range m.Manifest.StateProjections {
		p := &m.Manifest.StateProjections[i]
		yield(&Exposed[manifest.Projection]{Name: p.Name, Entry: p, Source: self})
	}
}

// failedImports says which imports that could declare action gave nothing.
func (l *Library) failedImports(pageURL, action string) []map[string]any {
	var out []map[string]any
	for _, m := range l.For(pageURL) {
		c := l.composed[m]
		if c == nil {
			continue
		}
		for _, s := range c.Sources[1:] {
			if s.Err != nil && (s.Namespace == "" || strings.HasPrefix(action, s.Namespace+".")) {
				out = append(out, map[string]any{
					"map_path": m.Path,
					"import":   s.ID,
					"code":     s.Err.Code,
					"message":  s.Err.Message,
				})
			}
		}
	}
	return out
}

// Projection returns the state projection that a name means on a page, looked
// for in this map alone; nil when there is none.
func (m *Map) Projection(pageURL, name string) *manifest.Projection {
	for i := range m.Manifest.StateProjections {
		p := &m.Manifest.StateProjections[i]
		if p.Name == name && (pageURL == "" || location.URLMatches(p.URLMatches, pageURL)) {
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
