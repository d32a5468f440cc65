package manifest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Requirements are what a map or a tool says it needs before it may run.
type Requirements struct {
	// Capabilities are names of capabilities or primitives: the array form of a
	// tool's requires, the only one that schema v1 has.
	Capabilities []string
	// Primitives and OptionalPrimitives are the lists of primitive_dictionary in
	// the object form. A runtime that lacks one of Primitives cannot do what the
	// map describes.
	Primitives, OptionalPrimitives []string
	// DictionaryVersion is primitive_dictionary.version, nil when not declared.
	DictionaryVersion *int
	// States are names of states: members state and states of the object form.
	States []string
	// SignedIn is nil when not declared.
	SignedIn *bool
	// Raw is the member as declared; nil when there is none.
	Raw json.RawMessage
}

// requirements reads requires: an array of names, or in a draft an object.
func (c *checker) requirements(v value) Requirements {
	r := Requirements{Raw: v.raw()}
	if c.opts.Salvage {
		return Requirements{}
	}
	if v.n.kind == kindObject && c.opts.AcceptDrafts {
		v.deviate(fault.WrongType, "requires is an array of names, not an object")
		c.requirementsObject(&r, v)
		return r
	}
	for _, e := range v.items() {
		r.Capabilities = append(r.Capabilities, e.nonBlank())
	}
	return r
}

// rootRequirements reads requires of the root. The root has no such field, so
// nothing in it is an error.
func (c *checker) rootRequirements(v value) Requirements {
	if c.opts.Salvage {
		return Requirements{}
	}
	r := Requirements{Raw: v.raw()}
	v.warn(
		fault.UnknownField,
		"\"requires\" is not a field of the root; what it says about primitives counts all the same",
	)
	switch v.n.kind {
	case kindObject:
		c.requirementsObject(&r, v)
	case kindArray:
		r.Capabilities = v.texts()
	default:
		v.warn(fault.WrongType, "should be an object, not %s", v.n.kind)
	}
	return r
}

func (c *checker) requirementsObject(r *Requirements, v value) {
	texts := func(n *node, name string) []string {
		if n == nil || n.member(name) == nil {
			return nil
		}
		return value{c, n.member(name), v.at.member(name)}.texts()
	}
	r.States = append(texts(v.n, "state"), texts(v.n, "states")...)
	r.Capabilities = texts(v.n, "capabilities")
	if n := v.n.member("signed_in"); n != nil && n.kind == kindBool {
		b := c.src[n.start] == 't'
		r.SignedIn = &b
	}
	d := v.n.member("primitive_dictionary")
	if d == nil {
		return
	}
	at := value{c, d, v.at.member("primitive_dictionary")}
	if d.kind != kindObject {
		at.warn(fault.WrongType, "should be an object, not %s", d.kind)
		return
	}
	if n := d.member("version"); n != nil && n.kind == kindNumber {
		var version int
		if json.Unmarshal(value{c, n, nil}.raw(), &version) == nil {
			r.DictionaryVersion = &version
		}
	}
	r.Primitives = texts(d, "required_primitives")
	r.OptionalPrimitives = texts(d, "optional_primitives")
}

// texts returns the strings of a string or an array, and passes over the rest.
func (v value) texts() []string {
	switch v.n.kind {
	case kindString:
		return []string{v.text()}
	case kindArray:
		var out []string
		for i, n := range v.n.kids {
			e := value{v.c, n, v.at.at(i)}
			if n.kind == kindString {
				out = append(out, e.text())
				continue
			}
			e.warn(fault.WrongType, "should be a string, not %s", n.kind)
		}
		return out
	}
	v.warn(fault.WrongType, "should be an array of strings, not %s", v.n.kind)
	return nil
}

// draftVersion reads a version such as 0.1.0-working. The format that became
// version 1 counted from 0.
func (c *checker) draftVersion(v value) (int, string) {
	s := v.text()
	if head, _, _ := strings.Cut(s, "."); head != "0" && head != "1" && s != "draft" {
		v.fail(fault.UnsupportedVersion, "the version is %s, only %d and drafts of it are supported", quote(s), Version)
		return 0, ""
	}
	v.deviate(fault.WrongType, "the version is the number %d, not the text %s of a draft", Version, quote(s))
	return Version, s
}

// surfaceOrName reads surface, which in a draft may be a mere name.
func (c *checker) surfaceOrName(v value) Surface {
	if v.n.kind == kindString && c.opts.AcceptDrafts {
		v.deviate(fault.WrongType, "surface is an object, not a text")
		return Surface{Name: v.text()}
	}
	if o := v.object(); o != nil {
		return c.surface(o)
	}
	return Surface{}
}

// urlPatterns reads a list that schema v1 does not have, so that nothing in it
// is an error. It narrows where a map applies, which can do no harm.
func (o *object) urlPatterns(name string) []string {
	n := o.n.member(name)
	if n == nil {
		return nil
	}
	v, _ := o.get(name)
	v.warn(
		fault.UnknownField, "%s is not a field of the format; the map applies to pages that match one of the patterns",
		quote(name),
	)
	return slices.DeleteFunc(v.texts(), func(s string) bool { return strings.TrimSpace(s) == "" })
}

// rootScope reads scope.url_matches of the root, an older form of
// surface.url_patterns.
func (c *checker) rootScope(o *object) []string {
	v, ok := o.get("scope")
	if !ok {
		return nil
	}
	if v.n.kind != kindObject || v.n.member("url_matches") == nil {
		v.warn(fault.UnknownField, "\"scope\" is not a field of the root")
		return nil
	}
	return v.object().urlPatterns("url_matches")
}

// stateList reads states: an array, or in a draft an object of descriptions by
// name.
func (c *checker) stateList(v value) []State {
	if v.n.kind != kindObject || !c.opts.AcceptDrafts {
		items := v.items()
		out := make([]State, 0, len(items))
		for _, e := range items {
			if o := e.object(); o != nil {
				out = append(out, c.state(o))
			}
		}
		return out
	}
	v.deviate(fault.WrongType, "states is an array of objects with a name, not an object")
	var out []State
	for i, name := range v.n.names {
		e := value{c, v.n.kids[i], v.at.member(name)}
		if !SafeIdentifier(name) || len(name) > MaxIdentifier {
			e.fail(fault.UnsafeIdentifier, "%s is not a safe identifier", quote(name))
			continue
		}
		c.states.what = "state"
		c.states.add(name, e)
		if e.n.kind == kindString {
			out = append(out, State{Name: name, Description: e.text()})
			continue
		}
		if o := e.object(); o != nil {
			o.get("name")
			out = append(out, c.stateNamed(o, name))
		}
	}
	return out
}

// toolName reads the name of a tool. Real bridges also take names such as
// 2.do, with parts that do not start with a letter.
func (c *checker) toolName(o *object) string {
	n := o.n.member("name")
	if !c.opts.AcceptDrafts || n == nil || n.kind != kindString {
		return o.declared("name", &c.tools, "tool")
	}
	v, _ := o.get("name")
	name := v.text()
	if SafeIdentifier(name) || name == "" || len(name) > MaxIdentifier || strings.Trim(name, relaxedName) != "" {
		return o.declared("name", &c.tools, "tool")
	}
	v.deviate(fault.UnsafeIdentifier, "%s is not a safe identifier", quote(name))
	c.tools.what = "tool"
	c.tools.add(name, v)
	return name
}

const relaxedName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// usable leaves out the projections of a draft that break a rule inside. The
// upstream extension finds those, and says what is wrong with them when they
// are read.
func (c *checker) usable(list []Projection) []Projection {
	if !c.opts.AcceptDrafts || c.opts.Salvage || c.opts.Parts {
		return list // those that break a rule are marked, or checked when they are read
	}
	return slices.DeleteFunc(list, func(p Projection) bool { return p.Broken })
}
