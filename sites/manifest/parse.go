package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Options lends Parse the knowledge of other packages. Without them it checks
// what a map says by itself.
type Options struct {
	// Known reports whether the runtime has a primitive of this name. Without
	// it names of primitives are not checked.
	Known func(primitive string) bool
	// CheckWorkflow returns what is wrong with the workflow of a tool, and what
	// is allowed but cannot be, or hardly is, what its author meant, both with
	// pointers relative to it. It is called from several goroutines at once.
	CheckWorkflow func(raw json.RawMessage) (problems, warnings []Problem)
	// CheckProjection and WarnProjection are the same for a state projection. Those
	// of several maps are called at once.
	CheckProjection func(raw json.RawMessage) []Problem
	WarnProjection  func(raw json.RawMessage) []Problem
	// WarnArguments returns what a primitive, which is the type of an abstract
	// step, refuses of the arguments that the step gives it, with pointers into
	// them. args is nil where the step gives none.
	WarnArguments func(primitive string, args json.RawMessage) []Problem
	// AcceptDrafts reads maps that were written before the format had a version:
	// what deviates from it in the ways that docs/explanation/maps.md lists becomes a warning
	// with the same pointer and code, and the Manifest is marked as a draft.
	AcceptDrafts bool
	// Parts has a tool or a state projection that breaks a rule cost itself alone:
	// it stays in the Manifest, marked with what is wrong with it, and a call of it
	// fails with that. The report has its errors as Left.
	Parts bool
	// Inspected, with Parts, has the entries of every section but the imports cost
	// themselves alone: the map is looked at as a whole, and not used.
	Inspected bool
	// Salvage reads a map as far as it can be read, as the upstream extension
	// does: it accepts drafts, checks no version and no requires, and a
	// declaration that breaks a rule costs itself alone.
	Salvage bool

	// trace, for tests, is called for each object with the members that were read.
	trace func(pointer string, known []string)
}

// Parse reads and checks one map. The Manifest is nil unless the report is OK.
// Every error is reported, not only the first, except where the text cannot be
// read at all. Parse never panics on any input, keeps no reference to data, and
// gives the same report for the same text.
func Parse(data []byte, opts Options) (*Manifest, Report) {
	opts.AcceptDrafts = opts.AcceptDrafts || opts.Salvage
	c := &checker{opts: opts, places: map[string][]int{}}
	if len(data) > MaxBytes {
		c.found.error(
			"", 0, fault.LimitExceeded, fmt.Sprintf("the map has %d bytes, the limit is %d", len(data), MaxBytes),
		)
		return nil, c.found.report(nil)
	}
	// Windows editors put a byte order mark in front; JSON has none.
	c.src = bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	s := &scanner{src: c.src, duplicate: func(pointer, name string, offset int) {
		report := c.found.error
		if opts.Salvage {
			report = c.found.warn // the last one counts, as in JSON.parse
		}
		report(pointer, offset, fault.DuplicateName, fmt.Sprintf("the member %s occurs more than once", quote(name)))
	}}
	root, err := s.document()
	if err != nil {
		code := fault.InvalidJSON
		if err.limit {
			code = fault.LimitExceeded
		}
		line, column := position(c.src, err.offset)
		c.found.error("", err.offset, code, fmt.Sprintf("%s (line %d, column %d)", err.message, line, column))
		return nil, c.found.report(c.src)
	}
	doc := value{c: c, n: root}.object()
	if doc == nil {
		return nil, c.found.report(c.src)
	}
	c.checkWorkflows(root)
	m := c.manifest(doc)
	for _, check := range c.later {
		check()
	}
	c.compileSchemas()
	c.salvage(m)
	m.Draft = c.deviations > 0
	report := c.found.report(c.src)
	if !report.OK() {
		return nil, report
	}
	return m, report
}

func position(src []byte, offset int) (line, column int) {
	before := src[:min(offset, len(src))]
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + len(before) - (bytes.LastIndexByte(before, '\n') + 1)
}

// checker reads one document. What refers to something declared elsewhere is
// checked at the end, when everything is declared.
type checker struct {
	opts Options
	src  []byte
	// newlines are the offsets of the source's newlines; nil before one is needed.
	newlines []int
	found    collector
	later    []func()

	schemas   []schemaJob
	workflows map[*node]checkedWorkflow

	tools, signals, states, transitions, contexts names
	attachments, checks, imports, files           names
	projections                                   map[string]string // name and pages → pointer
	projectionNames                               map[string]bool
	// targets are the names by which a check may mean the target of something
	// else: tools, signals, attachments and diagnostics that declare one.
	targets map[string]bool
	// namespaces are those of enabled imports. What an import adds is not known
	// here, so a name in its namespace may exist.
	namespaces []string
	anyImport  bool // an enabled import has no namespace

	deviations int // what only a draft may do
	// places are, by the pointer of a list, where each entry stood that was read.
	places map[string][]int
}

func (c *checker) manifest(o *object) *Manifest {
	m := &Manifest{Raw: o.raw()}
	c.targets = map[string]bool{}
	c.projections = map[string]string{}
	c.projectionNames = map[string]bool{}
	_ = o.string("$schema") // for editors
	if v, ok := o.need("protocol"); ok && v.is(kindString) {
		m.Protocol = v.text()
		if m.Protocol != Protocol {
			v.fail(fault.UnsupportedProtocol, "the protocol is %s, only %s is supported", quote(m.Protocol), Protocol)
		}
	}
	if v, ok := o.get("version"); ok {
		m.Version, m.DraftVersion = c.version(v)
	} else if c.opts.Salvage {
		m.Version = Version
	} else {
		o.deviate("version", fault.MissingField, "version is required")
		m.Version = Version
	}
	m.Surface = read(o, "surface", c.surfaceOrName)
	m.Surface.URLPatterns = append(m.Surface.URLPatterns, c.rootScope(o)...)
	m.Requires = read(o, "requires", c.rootRequirements)
	m.Composition = readObject(o, "composition", c.composition)
	m.Imports = entries(o, "imports", func(e *object) Import { return c.importEntry(e, m.Composition) })
	m.Context = entries(o, "context", c.context)
	m.States = read(o, "states", c.stateList)
	m.Transitions = entries(o, "transitions", c.transition)
	o.need("tools")
	m.Tools = entries(o, "tools", c.tool)
	m.Signals = entries(o, "signals", c.signal)
	m.Attachments = entries(o, "attachments", c.attachment)
	m.Checks = entries(o, "checks", c.check)
	m.StateProjections = c.usable(entries(o, "state_projections", c.projection))
	m.Provenance = readObject(o, "provenance", c.provenance)
	if v, ok := o.get("x_actions"); ok {
		m.XActions = v.raw()
		if x := v.object(); x != nil {
			m.Files = entries(x, "files", c.file)
		}
	}
	m.Extensions = o.done()
	return m
}

func (c *checker) version(v value) (version int, draft string) {
	if c.opts.Salvage {
		if v.n.kind == kindString {
			draft = v.text()
		}
		return Version, draft
	}
	if v.n.kind == kindString {
		return c.draftVersion(v)
	}
	if !v.is(kindNumber) {
		return 0, ""
	}
	if f, err := strconv.ParseFloat(string(v.raw()), 64); err != nil || f != Version {
		v.fail(fault.UnsupportedVersion, "the version is %s, only %d is supported", clipNumber(v.raw()), Version)
		return 0, ""
	}
	return Version, ""
}

func clipNumber(raw json.RawMessage) string {
	if len(raw) > 24 {
		return string(raw[:24]) + "..."
	}
	return string(raw)
}

// readObject reads a member that must be an object, field by field.
func readObject[T any](o *object, name string, into func(*object) T) T {
	return read(o, name, func(v value) T {
		if e := v.object(); e != nil {
			return into(e)
		}
		var zero T
		return zero
	})
}

// declared reads the required name or id of an entry, which must be unique.
func (o *object) declared(field string, in *names, what string) string {
	v, ok := o.need(field)
	if !ok {
		return ""
	}
	in.what = what
	name := v.identifier()
	in.add(name, v)
	return name
}

// description reads an optional text for people.
func (o *object) description() string { return o.string("description") }

func (c *checker) imported(name string) bool {
	if c.anyImport {
		return true
	}
	for _, ns := range c.namespaces {
		if strings.HasPrefix(name, ns+".") {
			return true
		}
	}
	return false
}

// refer checks, when everything is declared, that name is; report is v.fail or
// v.warn.
func (c *checker) refer(v value, name string, in *names, what string, report func(fault.Code, string, ...any)) {
	if name == "" {
		return
	}
	c.later = append(c.later, func() {
		if in.has(name) || c.imported(name) {
			return
		}
		hint := ""
		if n := fault.Nearest(name, in.list()); n != "" {
			hint = fmt.Sprintf("; did you mean %s?", quote(n))
		}
		report(fault.UnknownReference, "the map declares no %s %s%s", what, quote(name), hint)
	})
}

// referMember reads a string member that must name something declared.
func (o *object) referMember(field string, in *names, what string) string {
	return read(o, field, func(v value) string {
		name := v.string()
		o.c.refer(v, name, in, what, v.deviate)
		if name == "" && v.n.kind == kindString {
			v.fail(fault.UnknownReference, "must name a %s", what)
		}
		return name
	})
}

// hintMember reads an array of names that are documentation: an unknown one is
// only worth a warning.
func (o *object) hintMember(field string, in *names, what string) []string {
	return read(o, field, func(v value) []string {
		var out []string
		for _, e := range v.items() {
			name := e.string()
			o.c.refer(e, name, in, what, e.warn)
			out = append(out, name)
		}
		return out
	})
}
