// Package schema is the one door to JSON Schema: it compiles a schema once and reports
// what is wrong with an instance as data. It does not know what an instance is for.
// Maps, primitives and the faces call it.
//
// Schemas come from maps and are not trusted. A schema can refer to itself and
// to the bundled meta-schemas, never to a file or an address; its size, depth
// and the work of one validation are bounded; and no text of the library
// reaches a caller, because that text quotes values.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Limits of one schema and of one validation.
const (
	// MaxSchemaBytes bounds the text of a schema.
	MaxSchemaBytes = 256 << 10
	// MaxSchemaDepth bounds the nesting of a schema.
	MaxSchemaDepth = 64
	// MaxInstanceDepth bounds the nesting of an instance.
	MaxInstanceDepth = 256
	// MaxSteps bounds how often one validation may apply a schema object. Only
	// schemas with references can exceed what their own size allows, so only
	// those are counted.
	MaxSteps = 1_000_000
	// MaxProblems bounds the problems one validation reports.
	MaxProblems = 50
)

// location is the base address of every schema. It names nothing that could
// be loaded.
const (
	base     = "outrider://schema/"
	location = base + "root"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	// steps is nil unless the schema has references.
	steps *stepCounter
	// shapes is nil when the shape of a value does not decide.
	shapes *shapes
}

// Compile checks raw and prepares it. The draft is 2020-12 unless $schema names
// another. format and the content keywords are annotations.
//
// An error has the code invalid_schema; when the schema breaks rules of its
// meta-schema, evidence problems lists them with paths into the schema.
func Compile(raw json.RawMessage) (s *Schema, err error) {
	if len(raw) > MaxSchemaBytes {
		return nil, invalid("schema has %d bytes, the limit is %d", len(raw), MaxSchemaBytes)
	}
	doc, err := parse(raw)
	if err == nil {
		err = inspect(doc, MaxSchemaDepth)
	}
	if err != nil {
		return nil, invalid("schema %s", err)
	}
	switch doc.(type) {
	case bool, map[string]any:
	default:
		return nil, invalid("schema is neither an object nor a boolean")
	}
	// The library is known to panic on contradictory identifiers.
	defer func() {
		if r := recover(); r != nil {
			s = nil
			err = &fault.Error{
				Code:    fault.InvalidSchema,
				Message: "schema cannot be compiled",
				Err:     fmt.Errorf("panic: %v", r),
			}
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(closed{})
	c.UseRegexpEngine(compilePattern)
	s = &Schema{}
	if bytes.Contains(raw, []byte("Ref")) || bytes.Contains(raw, []byte("ref")) || bytes.Contains(raw, []byte(`\u`)) {
		s.steps = &stepCounter{}
		c.RegisterVocabulary(s.steps.vocabulary())
		c.AssertVocabs()
	}
	if err := c.AddResource(location, doc); err != nil {
		return nil, &fault.Error{Code: fault.InvalidSchema, Message: "schema cannot be compiled", Err: err}
	}
	s.compiled, err = c.Compile(location)
	if err != nil {
		return nil, compileFault(err)
	}
	s.shapes = newShapes(doc)
	return s, nil
}

// Validate returns what is wrong with instance, in a stable order; nil means
// that it is valid. It never fails: an instance that is not JSON, or whose
// validation exceeds a limit, has a problem at its root.
func (s *Schema) Validate(instance json.RawMessage) (problems []Problem) {
	var shape []byte
	known := false
	if s.shapes != nil {
		shape, known = s.shapes.shape(instance)
		if known && s.shapes.has(shape) {
			return nil
		}
	}
	v, err := parse(instance)
	if err != nil {
		return []Problem{{Keyword: "json", Message: err.Error()}}
	}
	problems = s.ValidateValue(v)
	if known && len(problems) == 0 {
		s.shapes.add(shape)
	}
	return problems
}

// ValidateValue is Validate for a value that was decoded with json.Number, or
// with float64, for numbers.
func (s *Schema) ValidateValue(v any) (problems []Problem) {
	defer func() {
		switch r := recover(); r {
		case nil:
		case errSteps:
			problems = []Problem{{Keyword: "limit", Message: "validation takes too many steps", Expected: MaxSteps}}
		default:
			problems = []Problem{{Keyword: "schema", Message: "the schema cannot be applied to this value"}}
		}
	}()
	if err := inspect(v, MaxInstanceDepth); err != nil {
		return []Problem{{Keyword: "json", Message: err.Error()}}
	}
	if s.steps != nil {
		s.steps.mu.Lock()
		defer s.steps.mu.Unlock()
		s.steps.left = MaxSteps
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Problem{{Keyword: "schema", Message: "the schema cannot be applied to this value"}}
	}
	problems = collect(ve)
	for i, p := range problems {
		if p.Keyword == "additionalProperties" {
			if names := declared(s.compiled, p.Path); len(names) > 0 {
				problems[i].Expected = names
			}
		}
	}
	return problems
}

// closed loads nothing: a schema is complete in itself.
type closed struct{}

var errClosed = errors.New("references leave the schema")

func (closed) Load(string) (any, error) { return nil, errClosed }

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidSchema, format, args...)
}

func compileFault(err error) *fault.Error {
	var (
		load  *jsonschema.LoadURLError
		regex *jsonschema.InvalidRegexError
		ptr   *jsonschema.JSONPointerNotFoundError
		anch  *jsonschema.AnchorNotFoundError
		meta  *jsonschema.SchemaValidationError
		ve    *jsonschema.ValidationError
		draft *jsonschema.UnsupportedDraftError
	)
	var e *fault.Error
	switch {
	case errors.As(err, &load):
		e = invalid("schema refers to another document; only references inside the schema are followed").
			With("reference", strings.TrimPrefix(load.URL, base))
	case errors.As(err, &regex):
		e = invalid("schema has a pattern that does not compile").With("pattern", regex.Regex)
	case errors.As(err, &ptr):
		e = invalid("schema refers to a place it does not have").With("reference", fragment(ptr.URL))
	case errors.As(err, &anch):
		e = invalid("schema refers to an anchor it does not have").With("reference", fragment(anch.Reference))
	case errors.As(err, &draft):
		e = invalid("schema names a draft that is not supported").With("schema", draft.URL)
	case errors.As(err, &meta) && errors.As(meta.Err, &ve):
		problems := collect(ve)
		first := ""
		if len(problems) > 0 {
			first = ": " + problems[0].String()
		}
		e = invalid("schema breaks the rules of JSON Schema%s", first).With("problems", problems)
	default:
		e = invalid("schema cannot be compiled")
	}
	e.Err = err
	return e
}

func fragment(ref string) string {
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		return ref[i:]
	}
	return ref
}

// stepCounter bounds the work of one validation. A few lines of schema can
// double the work with each reference, and the library has no limit of its
// own; its only hook that runs once per applied schema object is a vocabulary.
type stepCounter struct {
	mu   sync.Mutex
	left int
}

var errSteps = errors.New("validation takes too many steps")

func (c *stepCounter) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "urn:outrider:steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return c, nil },
	}
}

func (c *stepCounter) Validate(*jsonschema.ValidatorContext, any) {
	if c.left--; c.left < 0 {
		panic(errSteps)
	}
}
