package manifest

import (
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Context is documentation that applies in one place. It grants nothing.
type Context struct {
	ID             string
	Title          string
	Body           string
	LoadWhen       LoadWhen
	AvailableTools []string
	NextStates     []string
	Source         *Source
	Extensions     Extensions
}

// LoadWhen are the conditions of a context block; the empty one always holds.
// Values of one list are alternatives, lists hold together.
type LoadWhen struct {
	States      []string
	Targets     []string
	Attachments []string
	Tasks       []string
	URLContains []string
	URLMatches  []string
	Extensions  Extensions
}

func (c *checker) context(o *object) Context {
	x := Context{
		ID:    o.declared("id", &c.contexts, "context block"),
		Title: o.string("title"),
		Body:  o.string("body"),
		LoadWhen: readObject(o, "load_when", func(e *object) LoadWhen {
			w := LoadWhen{
				States:      e.hintMember("states", &c.states, "state"),
				Targets:     e.strings("targets"),
				Attachments: e.hintMember("attachments", &c.attachments, "attachment"),
				Tasks:       e.oneOrMore("tasks"),
				URLContains: e.oneOrMore("url_contains"),
				URLMatches:  e.oneOrMore("url_matches"),
			}
			w.Extensions = e.done()
			return w
		}),
		AvailableTools: o.hintMember("available_tools", &c.tools, "tool"),
		NextStates:     o.hintMember("next_states", &c.states, "state"),
		Source:         readObject(o, "source", c.source),
	}
	x.Extensions = o.done()
	return x
}

// Import is another map that is composed into this one.
type Import struct {
	ID         string
	Kind       string // website, local, storage, shared, public, package
	URI        string // may be absent for kind website
	Namespace  string
	Trust      string // website, private, shared, public, local, unknown
	Enabled    bool
	Provenance Extensions // as declared
	Extensions Extensions
}

// Composition is the policy for imports.
type Composition struct {
	DefaultConflictPolicy string // prefer_local, prefer_import, reject; "" when not declared
	NamespaceRequired     bool
	Overrides             []Override
	DisabledSources       []string
	Extensions            Extensions
}

// Override says which of two names to use.
type Override struct {
	Name, Prefer string
	Extensions   Extensions
}

func (c *checker) composition(o *object) Composition {
	p := Composition{
		DefaultConflictPolicy: o.oneOf("default_conflict_policy", "prefer_local", "prefer_import", "reject"),
		Overrides: entries(o, "overrides", func(e *object) Override {
			r := Override{}
			if v, ok := e.need("name"); ok {
				r.Name = v.identifier()
			}
			if v, ok := e.need("prefer"); ok {
				r.Prefer = v.identifier()
			}
			r.Extensions = e.done()
			return r
		}),
		DisabledSources: o.strings("disabled_sources"),
	}
	if b := o.bool("namespace_required"); b != nil {
		p.NamespaceRequired = *b
	}
	p.Extensions = o.done()
	return p
}

func (c *checker) importEntry(o *object, policy Composition) Import {
	i := Import{
		ID:        o.declared("id", &c.imports, "import"),
		Kind:      o.oneOf("kind", "website", "local", "storage", "shared", "public", "package"),
		Namespace: o.identifier("namespace"),
		Trust:     o.oneOf("trust", "website", "private", "shared", "public", "local", "unknown"),
		Enabled:   true,
	}
	if v, ok := o.get("uri"); ok {
		i.URI = v.nonBlank()
	} else if i.Kind != "website" {
		o.missing("uri", fault.MissingField, "uri is required: only a website can be found by the origin of the page")
	}
	if b := o.bool("enabled"); b != nil {
		i.Enabled = *b
	}
	i.Provenance = readObject(o, "provenance", func(e *object) Extensions {
		all := Extensions{}
		for n, name := range e.n.names {
			all[name] = value{c, e.n.kids[n], nil}.raw()
		}
		return all
	})
	i.Extensions = o.done()
	named := o.n.member("namespace") != nil
	if i.Enabled && !named && policy.NamespaceRequired {
		o.missing("namespace", fault.MissingField, "namespace is required by the composition policy")
	}
	switch {
	case !i.Enabled || slices.Contains(policy.DisabledSources, i.ID):
	case i.Namespace != "":
		c.namespaces = append(c.namespaces, i.Namespace)
	default: // also when the namespace is malformed, which is reported
		c.anyImport = true
	}
	return i
}
