package manifest

import (
	"encoding/json"
	"strconv"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Projection is a declared view of the page's state. What is inside the
// snapshot, the expressions and the markers is the business of package
// projection, which gets Raw.
type Projection struct {
	Name        string
	Description string
	// URLMatches is scope.url_matches: a pattern in which * is any run of
	// characters, over the whole address, in any case. "" matches every page.
	URLMatches     string
	Summaries      []Summary
	Postconditions map[string]json.RawMessage // by name of the tool
	Extensions     Extensions
	Raw            json.RawMessage

	// Broken: what is inside breaks a rule. Only drafts have such projections;
	// they are not listed and fail when they are read.
	Broken bool
	// Wrong is what is invalid of a projection that its map has all the same; see
	// Options.Parts.
	Wrong []Problem
}

// Summary is a compact form of a projection's state.
type Summary struct {
	Name        string
	Description string
	MaxBytes    *int
	Expression  string
	Extensions  Extensions
}

func (c *checker) projection(o *object) Projection {
	p := Projection{Raw: o.raw()}
	errorsBefore := len(c.found.errors)
	name, ok := o.need("name")
	if ok {
		p.Name = name.identifier()
	}
	p.Description = o.description()
	p.URLMatches = readObject(o, "scope", func(e *object) string {
		s := e.string("url_matches")
		e.done()
		return s
	})
	if p.Name != "" {
		c.projectionNames[p.Name] = true
		// Several projections may share a name when each has pages of its own.
		pages := p.Name + "\x00" + p.URLMatches
		if first, dup := c.projections[pages]; dup {
			name.fail(
				fault.DuplicateName, "the projection %s is already declared at %s for the same pages",
				quote(p.Name), first,
			)
		} else {
			c.projections[pages] = name.at.String()
		}
	}
	if v, ok := o.need("snapshot"); ok {
		if e := v.object(); e != nil {
			c.snapshot(e)
		}
	}
	var own names
	p.Summaries = entries(o, "summaries", func(e *object) Summary {
		s := Summary{
			Name:        e.declared("name", &own, "summary"),
			Description: e.description(),
			MaxBytes:    e.integer("max_bytes", 1),
		}
		if v, ok := e.need("expression"); ok {
			s.Expression = v.nonBlank()
		}
		s.Extensions = e.done()
		return s
	})
	if v, ok := o.get("markers"); ok && v.n.kind != kindArray && v.n.kind != kindString {
		v.fail(fault.WrongType, "must be an array or an expression, not %s", v.n.kind)
	}
	p.Postconditions = readObject(o, "postconditions", c.postconditions)
	p.Extensions = o.done()
	if c.opts.CheckProjection != nil && (len(c.found.errors) == errorsBefore || c.opts.Salvage) {
		for _, e := range c.opts.CheckProjection(p.Raw) {
			o.insideDeviates(e)
			p.Broken = true
			if c.opts.Parts && c.opts.AcceptDrafts && !c.opts.Salvage {
				p.Wrong = append(p.Wrong, Problem{Pointer: o.at.String() + e.Pointer, Code: e.Code, Message: e.Message})
			}
		}
		if c.opts.WarnProjection != nil {
			for _, w := range c.opts.WarnProjection(p.Raw) {
				o.warnInside(w)
			}
		}
	}
	return p
}

func (c *checker) snapshot(o *object) {
	if v, ok := o.need("version"); ok && v.is(kindNumber) {
		if f, err := strconv.ParseFloat(string(v.raw()), 64); err != nil || f != 1 {
			v.fail(fault.UnsupportedVersion, "the snapshot version is %s, only 1 is supported", clipNumber(v.raw()))
		}
	}
	if v, ok := o.need("source"); ok {
		v.oneOf("dom")
	}
	if v, ok := o.need("extract"); ok {
		for _, e := range v.items() {
			e.is(kindObject)
		}
	}
	if v, ok := o.need("projection"); ok {
		if e := v.object(); e != nil {
			if l, ok := e.need("language"); ok {
				l.oneOf("jsonata")
			}
			if x, ok := e.need("expression"); ok {
				x.nonBlank()
			}
			e.done()
		}
	}
	o.schema("output_schema")
	o.done()
}

func (c *checker) postconditions(o *object) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i, name := range o.n.names {
		o.known = append(o.known, name)
		v := value{c, o.n.kids[i], o.at.member(name)}
		out[name] = v.raw()
		c.refer(v, name, &c.tools, "tool", v.warn)
		e := v.object()
		if e == nil {
			continue
		}
		if p, ok := e.get("projection"); ok {
			target := p.string()
			c.later = append(c.later, func() {
				if p.n.kind == kindString && !c.projectionNames[target] && !c.imported(target) {
					p.deviate(fault.UnknownReference, "the map declares no projection %s", quote(target))
				}
			})
		}
		e.string("failure_message")
	}
	return out
}
