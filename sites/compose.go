package sites

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Limits of composing one map.
const (
	// MaxImportDepth bounds how many maps may stand between a map and one that
	// it imports indirectly, the last included.
	MaxImportDepth = 8
	// MaxSources bounds the maps that are composed into one.
	MaxSources = 128
)

// Source is one map of a composition.
type Source struct {
	// ID is "" for the map itself, the id of its import for an imported one, and
	// ids joined by / for what an imported map imports.
	ID        string
	Kind      string // of the import; "" for the map itself
	URI       string
	Namespace string // before every name of this source, without the last dot
	Trust     Trust  // the least of what it says, where it lies and how it came
	// Map is nil for a source that is disabled, pending or failed.
	Map *Map
	// Disabled: the composition policy or the import itself turned it off.
	Disabled bool
	// Pending: it is on the web, and no page has requested it yet.
	Pending bool
	// Err is why it offers nothing.
	Err *fault.Error

	pointer string // of the import in the map that is composed
}

// String names a source in messages.
func (s *Source) String() string {
	switch {
	case s.ID == "" && s.Map != nil:
		return "the map itself (" + shown(s.Map.Path) + ")"
	case s.Map != nil:
		return fmt.Sprintf("the import %s (%s)", s.ID, shown(s.Map.Path))
	}
	return "the import " + s.ID
}

// Exposed is an entry under the name by which the composition offers it. Names
// inside of the entry are those of its own map, Source.Map.
type Exposed[T any] struct {
	Name   string
	Entry  *T
	Source *Source
}

// Shadowed is an entry that is not offered because another one of the same name
// is.
type Shadowed struct {
	Section, Name string
	Winner, Loser *Source
	Why           string
}

// Composition is what a map offers together with its imports. It is immutable.
type Composition struct {
	Map         *Map
	Sources     []*Source // the map itself first, then in order of declaration
	Tools       []Exposed[manifest.Tool]
	States      []Exposed[manifest.State]
	Transitions []Exposed[manifest.Transition]
	Signals     []Exposed[manifest.Signal]
	Attachments []Exposed[manifest.Attachment]
	Checks      []Exposed[manifest.Check]
	Contexts    []Exposed[manifest.Context]
	Projections []Exposed[manifest.Projection]
	// Problems are errors: what could not be imported, and names that more than
	// one source declares while the policy decides for none. Pointers are those
	// of Map.
	Problems []manifest.Problem
	Shadowed []Shadowed

	byName  map[string]int // of Tools
	refused map[string]*fault.Error
	inside  map[*Map]*Composition // of the maps that it imports, as they see themselves
}

// Tool returns the tool that is offered by a name, or nil.
func (c *Composition) Tool(name string) *Exposed[manifest.Tool] {
	if i, ok := c.byName[name]; ok {
		return &c.Tools[i]
	}
	return nil
}

// Pending reports whether a page is needed to know all that is offered.
func (c *Composition) Pending() bool {
	return slices.ContainsFunc(c.Sources, func(s *Source) bool { return s.Pending })
}

// composer composes one map and, on the way, those it imports.
type composer struct {
	im      *importer
	trail   []*Map // being composed, outermost first
	done    map[*Map]*Composition
	sources int
}

func compose(m *Map, im *importer) *Composition {
	k := &composer{im: im, done: map[*Map]*Composition{}}
	c := k.compose(m)
	c.inside = k.done
	return c
}

func (k *composer) compose(m *Map) *Composition {
	if c := k.done[m]; c != nil {
		return c
	}
	k.trail = append(k.trail, m)
	defer func() { k.trail = k.trail[:len(k.trail)-1] }()
	c := &Composition{Map: m, refused: map[string]*fault.Error{}}
	self := &Source{Map: m, Trust: m.trust()}
	c.Sources = []*Source{self}
	parts := []part{{source: self, of: plainComposition(m, self)}}
	for n := range m.Manifest.Imports {
		i := &m.Manifest.Imports[n]
		s := &Source{
			ID:        i.ID,
			Kind:      i.Kind,
			URI:       i.URI,
			Namespace: i.Namespace,
			Trust:     Trust(i.Trust),
			pointer:   fmt.Sprintf("/imports/%d", n),
		}
		c.Sources = append(c.Sources, s)
		if inner := k.importInto(c, s, i); inner != nil {
			c.Sources = append(c.Sources, inner.rest...)
			parts = append(parts, *inner)
		}
	}
	merge := merger{c: c, policy: m.Manifest.Composition, parts: parts}
	c.Tools = section(&merge, "tool", func(c *Composition) []Exposed[manifest.Tool] { return c.Tools })
	c.States = section(&merge, "state", func(c *Composition) []Exposed[manifest.State] { return c.States })
	c.Transitions = section(&merge, "transition", func(c *Composition) []Exposed[manifest.Transition] {
		return c.Transitions
	})
	c.Signals = section(&merge, "signal", func(c *Composition) []Exposed[manifest.Signal] { return c.Signals })
	c.Attachments = section(&merge, "attachment", func(c *Composition) []Exposed[manifest.Attachment] {
		return c.Attachments
	})
	c.Checks = section(&merge, "check", func(c *Composition) []Exposed[manifest.Check] { return c.Checks })
	c.Contexts = section(&merge, "context block", func(c *Composition) []Exposed[manifest.Context] {
		return c.Contexts
	})
	c.Projections = section(&merge, "projection", func(c *Composition) []Exposed[manifest.Projection] {
		return c.Projections
	})
	merge.unusedOverrides()
	c.byName = make(map[string]int, len(c.Tools))
	for i := range c.Tools {
		c.byName[c.Tools[i].Name] = i
	}
	c.checkReferences()
	slices.SortStableFunc(c.Problems, func(a, b manifest.Problem) int { return cmp.Compare(a.Pointer, b.Pointer) })
	k.done[m] = c
	return c
}

// importInto finds what an import of c.Map means and composes it. It returns
// nil when there is nothing to take over.
func (k *composer) importInto(c *Composition, s *Source, i *manifest.Import) *part {
	m := c.Map
	if !i.Enabled || slices.Contains(m.Manifest.Composition.DisabledSources, i.ID) {
		s.Disabled = true
		return nil
	}
	fail := func(err *fault.Error) *part {
		s.Err = err
		c.Problems = append(c.Problems, manifest.Problem{
			Pointer: s.pointer, Code: err.Code,
			Message: fmt.Sprintf("the import %s of %s: %s", i.ID, shown(m.Path), err.Message),
		})
		return nil
	}
	if k.sources++; k.sources > MaxSources {
		return fail(fault.New(fault.LimitExceeded, "more than %d maps are imported", MaxSources))
	}
	found, pending, err := k.im.find(m, i)
	switch {
	case err != nil:
		return fail(err)
	case pending:
		s.Pending = true
		return nil
	}
	if found == m {
		return fail(fault.New(fault.ImportCycle, "%s imports itself", shown(m.Path)))
	}
	if at := slices.Index(k.trail, found); at >= 0 {
		var way []string
		for _, t := range append(slices.Clone(k.trail[at:]), found) {
			way = append(way, shown(t.Path))
		}
		return fail(fault.New(
			fault.ImportCycle, "%s and %s import each other: %s",
			shown(m.Path), shown(found.Path), strings.Join(way, " → "),
		))
	}
	if len(k.trail) > MaxImportDepth {
		return fail(fault.New(
			fault.LimitExceeded, "%s is imported over more than %d maps, from %s on",
			shown(found.Path), MaxImportDepth, shown(k.trail[0].Path),
		))
	}
	actual := found.trust()
	if s.Trust == "" {
		s.Trust = actual
	}
	if s.Trust.rank() < actual.rank() {
		return fail(
			fault.New(fault.InvalidValue, "the import says trust %s, and %s is %s", s.Trust, shown(found.Path), actual),
		)
	}
	s.Map = found
	inner := k.compose(found)
	out := &part{source: s, of: inner, prefix: s.Namespace, copies: map[*Source]*Source{inner.Sources[0]: s}}
	for _, nested := range inner.Sources[1:] {
		copied := *nested
		copied.ID = s.ID + "/" + nested.ID
		copied.Namespace = join(s.Namespace, nested.Namespace)
		copied.Trust = lower(s.Trust, nested.Trust)
		copied.pointer = s.pointer
		out.copies[nested] = &copied
		out.rest = append(out.rest, &copied)
	}
	for _, p := range inner.Problems {
		c.Problems = append(c.Problems, manifest.Problem{
			Pointer: s.pointer, Code: p.Code,
			Message: fmt.Sprintf("the import %s of %s, at %s: %s", i.ID, shown(m.Path), p.Pointer, p.Message),
		})
	}
	for name, err := range inner.refused {
		c.refused[join(s.Namespace, name)] = err
	}
	return out
}

// part is one import, or the map itself, on its way into a composition.
type part struct {
	source *Source
	of     *Composition
	prefix string
	copies map[*Source]*Source // sources of the imported composition as this one sees them
	rest   []*Source
}

func (p *part) seenAs(s *Source) *Source {
	if c := p.copies[s]; c != nil {
		return c
	}
	return s
}

func join(namespace, name string) string {
	switch {
	case namespace == "":
		return name
	case name == "":
		return namespace
	}
	return namespace + "." + name
}

// plainComposition is what a map offers by itself.
func plainComposition(m *Map, self *Source) *Composition {
	f := m.Manifest
	return &Composition{
		Map:         m,
		Tools:       exposures(f.Tools, self, func(t *manifest.Tool) string { return t.Name }),
		States:      exposures(f.States, self, func(s *manifest.State) string { return s.Name }),
		Transitions: exposures(f.Transitions, self, func(t *manifest.Transition) string { return t.Name }),
		Signals:     exposures(f.Signals, self, func(s *manifest.Signal) string { return s.Name }),
		Attachments: exposures(f.Attachments, self, func(a *manifest.Attachment) string { return a.ID }),
		Checks:      exposures(f.Checks, self, func(c *manifest.Check) string { return c.ID }),
		Contexts:    exposures(f.Context, self, func(c *manifest.Context) string { return c.ID }),
		Projections: exposures(f.StateProjections, self, func(p *manifest.Projection) string { return p.Name }),
	}
}

func exposures[T any](list []T, self *Source, name func(*T) string) []Exposed[T] {
	out := make([]Exposed[T], len(list))
	for i := range list {
		out[i] = Exposed[T]{Name: name(&list[i]), Entry: &list[i], Source: self}
	}
	return out
}

// merger decides, section by section, what each name means.
type merger struct {
	c      *Composition
	policy manifest.Composition
	parts  []part
	used   []bool // overrides that named something
	known  map[string]bool
}

// candidate is what one source declares under one name: one entry, or several
// projections for different pages.
type candidate[T any] struct {
	source  *Source
	part    int // 0 is the map itself
	entries []Exposed[T]
}

func section[T any](g *merger, what string, of func(*Composition) []Exposed[T]) []Exposed[T] {
	if g.used == nil {
		g.used, g.known = make([]bool, len(g.policy.Overrides)), map[string]bool{}
	}
	var order []string
	byName := map[string][]candidate[T]{}
	for n := range g.parts {
		p := &g.parts[n]
		for _, e := range of(p.of) {
			name := join(p.prefix, e.Name)
			if len(name) > manifest.MaxIdentifier {
				g.problem(
					p.source.pointer, fault.LimitExceeded, "with its namespace the %s %s has more than %d bytes",
					what, shown(name), manifest.MaxIdentifier,
				)
				continue
			}
			e.Name, e.Source = name, p.seenAs(e.Source)
			list, ok := byName[name]
			if !ok {
				order = append(order, name)
			}
			at := slices.IndexFunc(list, func(c candidate[T]) bool { return c.part == n && c.source == e.Source })
			switch {
			case at >= 0:
				list[at].entries = append(list[at].entries, e)
			case slices.ContainsFunc(list, func(c candidate[T]) bool { return c.entries[0].Entry == e.Entry }):
				// The same entry of the same map, over two ways.
			default:
				list = append(list, candidate[T]{e.Source, n, []Exposed[T]{e}})
			}
			byName[name] = list
		}
	}
	var out []Exposed[T]
	for _, name := range order {
		g.known[name] = true
		list := byName[name]
		if winner := choose(g, what, name, list, byName); winner >= 0 {
			out = append(out, list[winner].entries...)
		} else if winner == elsewhere {
			for _, e := range byName[g.preferred(name)][0].entries {
				e.Name = name
				out = append(out, e)
			}
		}
	}
	return out
}

const (
	nobody    = -1
	elsewhere = -2 // an override prefers what has another name
)

// choose returns the index of the candidate that a name means.
func choose[T any](g *merger, what, name string, list []candidate[T], byName map[string][]candidate[T]) int {
	if prefer := g.preferred(name); prefer != "" {
		for i, c := range list {
			if prefer == c.source.ID || prefer == topID(c.source) || prefer == "local" && c.part == 0 {
				g.shadow(what, name, list[i].source, sourcesOf(list, i), "an override prefers it")
				return i
			}
		}
		if other := byName[prefer]; prefer != name && len(other) == 1 {
			g.shadow(what, name, other[0].source, sourcesOf(list, nobody), "an override prefers "+prefer)
			return elsewhere
		}
	}
	if len(list) == 1 {
		return 0
	}
	var among []int
	why := ""
	switch local := list[0].part == 0; {
	case g.policy.DefaultConflictPolicy == "prefer_local" && local:
		g.shadow(what, name, list[0].source, sourcesOf(list, 0), "the policy is prefer_local")
		return 0
	case g.policy.DefaultConflictPolicy == "prefer_import", g.policy.DefaultConflictPolicy == "prefer_local":
		for i, c := range list {
			if c.part != 0 {
				among = append(among, i)
			}
		}
		why = "the policy is " + g.policy.DefaultConflictPolicy
	}
	// Between imports the more trusted wins, when one is.
	slices.SortStableFunc(among, func(a, b int) int {
		return cmp.Compare(list[a].source.Trust.rank(), list[b].source.Trust.rank())
	})
	if len(among) == 1 || len(among) > 1 && list[among[0]].source.Trust != list[among[1]].source.Trust {
		if len(among) > 1 {
			why += ", and it is the more trusted"
		}
		g.shadow(what, name, list[among[0]].source, sourcesOf(list, among[0]), why)
		return among[0]
	}
	a, b := 0, 1
	if len(among) > 1 {
		a, b = among[0], among[1]
	}
	g.collision(what, name, list[a].source, list[b].source)
	return nobody
}

// topID is the id of the import by which a source came.
func topID(s *Source) string {
	id, _, _ := strings.Cut(s.ID, "/")
	return id
}

func sourcesOf[T any](list []candidate[T], but int) []*Source {
	var out []*Source
	for i, c := range list {
		if i != but {
			out = append(out, c.source)
		}
	}
	return out
}

func (g *merger) preferred(name string) string {
	for i, o := range g.policy.Overrides {
		if o.Name == name {
			g.used[i] = true
			return o.Prefer
		}
	}
	return ""
}

func (g *merger) shadow(what, name string, winner *Source, losers []*Source, why string) {
	for _, l := range losers {
		g.c.Shadowed = append(g.c.Shadowed, Shadowed{Section: what, Name: name, Winner: winner, Loser: l, Why: why})
	}
}

func (g *merger) collision(what, name string, a, b *Source) {
	pointer := b.pointer
	if pointer == "" {
		pointer = a.pointer
	}
	message := fmt.Sprintf(
		"the %s %s is declared by %s and by %s, and the composition policy decides for neither",
		what, shown(name), a, b,
	)
	g.problem(pointer, fault.DuplicateName, "%s", message)
	if what == "tool" {
		g.c.refused[name] = fault.New(fault.SiteActionAmbiguous, "%s", message).With("action", shown(name)).
			With("map_paths", []string{a.Map.Path, b.Map.Path}).
			Next("give the import a namespace, or say in composition.overrides which of them is meant")
	}
}

func (g *merger) problem(pointer string, code fault.Code, format string, args ...any) {
	g.c.Problems = append(g.c.Problems, manifest.Problem{
		Pointer: pointer,
		Code:    code,
		Message: fmt.Sprintf(format, args...),
	})
}

// unusedOverrides reports overrides that name nothing, or prefer nothing, once
// all sources are known.
func (g *merger) unusedOverrides() {
	if g.c.incomplete("") {
		return
	}
	for i, o := range g.policy.Overrides {
		if !g.used[i] {
			g.problem(
				fmt.Sprintf("/composition/overrides/%d/name", i), fault.UnknownReference, "no source declares %s",
				shown(o.Name),
			)
			continue
		}
		isSource := o.Prefer == "local" ||
			slices.ContainsFunc(g.c.Sources, func(s *Source) bool { return s.ID == o.Prefer })
		if !isSource && !g.known[o.Prefer] {
			g.problem(
				fmt.Sprintf("/composition/overrides/%d/prefer", i), fault.UnknownReference,
				"no source is called %s and none declares it", shown(o.Prefer),
			)
		}
	}
}

// incomplete reports whether a source that could declare name is not there.
func (c *Composition) incomplete(name string) bool {
	return slices.ContainsFunc(c.Sources[1:], func(s *Source) bool {
		return s.Map == nil && !s.Disabled &&
			(name == "" || s.Namespace == "" || strings.HasPrefix(name, s.Namespace+"."))
	})
}

// checkReferences reports names that the map took for imported ones and that no
// import has.
func (c *Composition) checkReferences() {
	has := map[string]map[string]bool{}
	add := func(what, name string) {
		if has[what] == nil {
			has[what] = map[string]bool{}
		}
		has[what][name] = true
	}
	for _, e := range c.Tools {
		add("tool", e.Name)
	}
	for name := range c.refused {
		add("tool", name)
	}
	for _, e := range c.States {
		add("state", e.Name)
	}
	for _, e := range c.Signals {
		add("signal", e.Name)
	}
	for _, e := range c.Attachments {
		add("attachment", e.Name)
	}
	refer := func(pointer, what, name string) {
		if name == "" || has[what][name] || c.incomplete(name) || what == "state" && manifest.LifecycleState(name) {
			return
		}
		c.Problems = append(c.Problems, manifest.Problem{
			Pointer: pointer, Code: fault.UnknownReference,
			Message: fmt.Sprintf(
				"neither %s nor one of its imports declares the %s %s", shown(c.Map.Path), what, shown(name),
			),
		})
	}
	f := c.Map.Manifest
	if len(f.Imports) == 0 || f.Draft {
		return
	}
	for i := range f.Transitions {
		t := &f.Transitions[i]
		at := fmt.Sprintf("/transitions/%d/", i)
		refer(at+"from", "state", t.From)
		refer(at+"to", "state", t.To)
		refer(at+"tool", "tool", t.Tool)
		refer(at+"signal", "signal", t.Signal)
	}
	for i := range f.Checks {
		k := &f.Checks[i]
		at := fmt.Sprintf("/checks/%d/", i)
		refer(at+"tool", "tool", k.Tool)
		refer(at+"state", "state", k.State)
		refer(at+"attachment", "attachment", k.Attachment)
		for _, list := range []struct {
			at, what string
			names    []string
		}{{"tools/", "tool", k.Tools}, {"states/", "state", k.States}, {"attachments/", "attachment", k.Attachments}} {
			for j, name := range list.names {
				refer(fmt.Sprintf("%s%s%d", at, list.at, j), list.what, name)
			}
		}
		for _, list := range []struct {
			at     string
			probes []manifest.Probe
		}{{"assertions/", k.Assertions}, {"negative_assertions/", k.NegativeAssertions}} {
			for j := range list.probes {
				p, at := &list.probes[j], fmt.Sprintf("%s%s%d/", at, list.at, j)
				refer(at+"tool", "tool", p.Tool)
				refer(at+"state", "state", p.State)
				refer(at+"attachment", "attachment", p.Attachment)
			}
		}
	}
}
