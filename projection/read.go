package projection

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/projection/expr"
)

// evalTime bounds one expression over records: more than a slot of a workflow
// gets, for there may be thousands.
const evalTime = 5 * time.Second

// maxCountsEvidence bounds the selector counts in the evidence of an error, in
// bytes.
const maxCountsEvidence = 2 << 10

// ReadOptions tunes one read. The zero value means the defaults.
type ReadOptions struct {
	// MaxBytes bounds the state in UTF-8 bytes of JSON. Default:
	// DefaultStateBytes.
	MaxBytes int
	// ExpressionBytes bounds what the expression of the state gives. Default:
	// MaxExpressionBytes.
	ExpressionBytes int
	// Limits of reading the page. A zero is the default.
	Limits Limits
	// SkipStateLimit leaves the size of the state unchecked, for a caller that
	// goes on to hand out a summary.
	SkipStateLimit bool
	// Now is the clock of ObservedAt. Default: time.Now.
	Now func() time.Time
}

// Snapshot is the state of a page at one moment. It shares no memory with the
// page; callers must not write to it.
type Snapshot struct {
	Projection  string
	URL         string
	Title       string
	State       json.RawMessage // as JSON.stringify writes it
	Hash        string
	ObservedAt  time.Time       // when the page was read
	Markers     json.RawMessage // nil when the projection declares none
	Diagnostics json.RawMessage
	// Records is what was extracted, the input of the expressions.
	Records json.RawMessage

	limits Limits
}

// Read takes a snapshot. Whether the projection applies to the page is for the
// caller to check before.
//
// What is wrong is found in this order: extraction, expression, schema,
// markers, size. The codes are those of section "State projections" in
// docs/reference/errors.md, those of expressions, and those of Page.
func (p *Projection) Read(ctx context.Context, page primitives.Page, opts ReadOptions) (*Snapshot, *fault.Error) {
	s, err := p.read(ctx, page, opts)
	if err != nil {
		return nil, p.named(err)
	}
	return s, nil
}

// Records reads what the declaration extracts, the input of its expressions,
// and goes no further: for whoever writes the expressions, and to measure.
func (p *Projection) Records(
	ctx context.Context, page primitives.Page, limits Limits,
) (records, diagnostics json.RawMessage, err *fault.Error) {
	x, err := p.plan.of(primitives.QuirksOf(page)).extract(ctx, page, limits.orDefault())
	if err != nil {
		return nil, nil, p.named(err)
	}
	return x.records, x.diagnostics(), nil
}

// named adds the projection to a copy of an error: errors of programs are
// shared.
func (p *Projection) named(err *fault.Error) *fault.Error {
	out := *err
	out.Fields = maps.Clone(err.Fields)
	return out.Field("projection", p.name)
}

func (p *Projection) read(ctx context.Context, page primitives.Page, opts ReadOptions) (*Snapshot, *fault.Error) {
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	limits := opts.Limits.orDefault()
	x, err := p.plan.of(primitives.QuirksOf(page)).extract(ctx, page, limits)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{
		Projection:  p.name,
		ObservedAt:  now(),
		Records:     x.records,
		Diagnostics: x.diagnostics(),
		limits:      limits,
	}
	if e := json.Unmarshal(x.URL, &s.URL); e != nil {
		return nil, fault.Wrap(fault.StateProjectionFailed, e, "reading the address of the page")
	}
	if e := json.Unmarshal(x.Title, &s.Title); e != nil {
		return nil, fault.Wrap(fault.StateProjectionFailed, e, "reading the title of the page")
	}
	v, err := evaluate(ctx, p.program, expr.Input{
		{Name: "records", JSON: x.records},
		{Name: "url", JSON: x.URL},
		{Name: "title", JSON: x.Title},
		{Name: "projection", JSON: p.self()},
	}, limits.expression(cmp.Or(opts.ExpressionBytes, MaxExpressionBytes)),
		fault.StateProjectionFailed, "/snapshot/projection/expression")
	if err != nil {
		if err.Code == fault.ExpressionOutputTooLarge {
			err.Next("read a list of the state in pages (rows), a summary, or give a greater max_bytes")
		}
		if len(x.Counts) <= maxCountsEvidence {
			err.With("selector_counts", x.Counts) // what there was to work on is half the answer to why
		}
		return nil, err
	}
	s.State = v
	if !canonical(v) {
		state, e := parseValue(v)
		if e != nil {
			return nil, &fault.Error{Code: fault.StateProjectionFailed, Message: "the state: " + e.Error(), Err: e}
		}
		s.State = state.append(nil)
	}
	s.Hash = hashText(s.State)
	if err := p.check(s, primitives.QuirksOf(page)); err != nil {
		return nil, err
	}
	s.Markers, err = p.mark(ctx, s)
	if err != nil {
		return nil, err
	}
	limit := opts.MaxBytes
	if limit <= 0 {
		limit = DefaultStateBytes
	}
	if len(s.State) > limit && !opts.SkipStateLimit {
		return nil, fault.New(
			fault.StatePayloadTooLarge, "the state has %d bytes, the limit is %d", len(s.State), limit,
		).Field("available_summaries", p.SummaryNames()).
			With("bytes", len(s.State)).With("limit_bytes", limit).
			Next("read a summary, a list of the state in pages (rows), or give a greater max_bytes")
	}
	return s, nil
}

// self is what expressions see as projection.
func (p *Projection) self() json.RawMessage {
	return append(appendString([]byte(`{"name":`), p.name), '}')
}

// evaluate runs an expression that must have a value. An error of the
// expression itself becomes code; limits, refusals and the caller's context
// keep theirs. pointer says which expression of the declaration it is.
func evaluate(
	ctx context.Context, program expr.Program, in expr.Input, limits expr.Limits, code fault.Code, pointer string,
) (json.RawMessage, *fault.Error) {
	v, err := program.Eval(ctx, in, limits)
	if err != nil {
		e := *fault.From(err)
		e.Evidence = maps.Clone(e.Evidence)
		e.Fields = maps.Clone(e.Fields)
		e.Err = err
		if e.Code == fault.ExpressionEvaluationFailed {
			e.Code = code
		}
		return nil, e.With("pointer", pointer)
	}
	if v.Undefined {
		return nil, fault.New(code, "the expression is undefined").With("pointer", pointer).
			Next("give the expression a value for pages without data, such as $append([], records.items)")
	}
	return v.JSON, nil
}

// check holds the state against the declared schema.
func (p *Projection) check(s *Snapshot, set quirks.Set) *fault.Error {
	if p.schema == nil {
		return nil
	}
	problems := p.schema.Validate(s.State)
	if set.Has(quirks.SubsetSchema) {
		problems = subsetProblems(p.schemaText, s.State)
	}
	if len(problems) == 0 {
		return nil
	}
	return fault.New(fault.StateSchemaValidationFailed, "the state does not match the output schema: %s", problems[0]).
		Field("errors", problems).
		With("diagnostics", json.RawMessage(
			bytes.Replace(s.Diagnostics, []byte(schemaValid), []byte(`,"schema_valid":false`), 1),
		))
}

// Summary computes a declared summary of a snapshot; "" is DefaultSummary.
func (p *Projection) Summary(ctx context.Context, s *Snapshot, name string) (json.RawMessage, *fault.Error) {
	if name == "" {
		name = DefaultSummary
	}
	sum, ok := p.find(name)
	if !ok {
		return nil, p.named(fault.New(fault.StateSummaryNotFound, "the projection declares no summary of this name").
			Field("available_summaries", p.SummaryNames()).With("summary", name))
	}
	out, err := evaluate(ctx, sum.program, expr.Input{
		{Name: "state", JSON: s.State},
		{Name: "records", JSON: s.Records},
		{Name: "url", JSON: quoted(s.URL)},
		{Name: "projection", JSON: p.self()},
	}, s.limits.expression(min(sum.maxBytes, MaxExpressionBytes)), fault.StateSummaryFailed, sum.pointer)
	if err != nil {
		return nil, p.named(err.With("summary", name))
	}
	return out, nil
}
