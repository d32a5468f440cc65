package manifest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
)

// Published is the JSON Schema (2020-12) of the format, for editors and other
// validators. It refuses nothing that Parse accepts; rules that JSON Schema
// cannot express are Parse's alone.
//
//go:embed schema/actions.v1.schema.json
var Published []byte

// Schema is a schema of the map. A nil Schema accepts everything. It is safe for
// concurrent use.
type Schema struct {
	raw      json.RawMessage
	once     sync.Once
	compiled *schema.Schema
}

// Validate returns what is wrong with instance; nil means that it is valid.
func (s *Schema) Validate(instance json.RawMessage) []schema.Problem {
	if s == nil {
		return nil
	}
	s.once.Do(func() {
		if s.compiled == nil {
			s.compiled, _ = schema.Compile(s.raw)
		}
	})
	if s.compiled == nil {
		return []schema.Problem{{Keyword: "schema", Message: "the schema cannot be applied"}}
	}
	return s.compiled.Validate(instance)
}

type schemaJob struct {
	v    value
	into *Schema
}

// schema reads a member that must be a JSON Schema object. A plain one is known
// to compile and waits for its first use; the others are compiled at the end,
// together.
func (o *object) schema(name string) (json.RawMessage, *Schema) {
	v, ok := o.get(name)
	if !ok {
		return nil, nil
	}
	if v.n.kind != kindObject {
		v.fail(fault.InvalidSchema, "a schema must be an object, not %s", v.n.kind)
		return nil, nil
	}
	s := &Schema{raw: v.raw()}
	if len(s.raw) > schema.MaxSchemaBytes || !plain(o.c.src, v.n) {
		o.c.schemas = append(o.c.schemas, schemaJob{v, s})
	}
	return v.raw(), s
}

// compileSchemas compiles each distinct schema once, on all processors: for a
// large map this is most of the work.
func (c *checker) compileSchemas() {
	type result struct {
		compiled *schema.Schema
		err      error
	}
	index := map[string]int{}
	var distinct []json.RawMessage
	for _, job := range c.schemas {
		raw := job.v.raw()
		if _, ok := index[string(raw)]; !ok {
			index[string(raw)] = len(distinct)
			distinct = append(distinct, raw)
		}
	}
	results := make([]result, len(distinct))
	EachOf(len(distinct), func(i int) { results[i].compiled, results[i].err = schema.Compile(distinct[i]) })
	for _, job := range c.schemas {
		r := results[index[string(job.v.raw())]]
		if r.err != nil {
			job.v.schemaFault(r.err)
			continue
		}
		job.into.compiled = r.compiled
	}
}

// schemaFault reports why a schema does not compile, at the places inside it
// where that is known.
func (v value) schemaFault(err error) {
	var e *fault.Error
	if !errors.As(err, &e) {
		v.fail(fault.InvalidSchema, "the schema does not compile")
		return
	}
	problems, _ := e.Evidence["problems"].([]schema.Problem)
	if len(problems) == 0 {
		v.fail(fault.InvalidSchema, "the %s", e.Message)
		return
	}
	for _, p := range problems {
		v.inside(Problem{
			Pointer: p.Path,
			Code:    fault.InvalidSchema,
			Message: fmt.Sprintf("%s: %s", p.Keyword, p.Message),
		})
	}
}

// inside reports a problem whose pointer is relative to v.
func (v value) inside(p Problem) {
	v.c.found.error(v.at.String()+p.Pointer, int(v.resolve(p.Pointer).start), p.Code, p.Message)
}

// insideDeviates is inside, and a warning where drafts are accepted.
func (v value) insideDeviates(p Problem) {
	if !v.c.opts.AcceptDrafts {
		v.inside(p)
		v.c.found.remedy(acceptDrafts)
		return
	}
	v.c.deviations++
	v.warnInside(p)
}

// warnInside is inside for a warning.
func (v value) warnInside(p Problem) {
	v.c.found.warn(v.at.String()+p.Pointer, int(v.resolve(p.Pointer).start), p.Code, p.Message)
}

// resolve returns the node at a pointer below v, or the last one on the way
// that exists.
func (v value) resolve(pointer string) *node {
	n := v.n
	if pointer == "" {
		return n
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var next *node
		switch n.kind {
		case kindObject:
			next = n.member(unescapeToken.Replace(token))
		case kindArray:
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.kids) {
				next = n.kids[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}
