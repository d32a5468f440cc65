// Package projection turns a page into data: the logical state that a map declares under
// state_projections. It does not decide when a state is read, or what follows from it.
// Package runtime/state reads and compares states with it, and workflows call it.
//
// A Projection is compiled once. Reading it costs one page call for each
// frame that the declaration names, computes the state with the declared
// expression, holds it against the declared schema and gives it a hash. Diff
// says what changed between two states, as a JSON Patch and in words.
//
// docs/reference/projections.md describes the declaration.
package projection

import (
	"encoding/json"
	"slices"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Limits of the reference runtime, in UTF-8 bytes of JSON.
const (
	// DefaultStateBytes bounds a full state when the caller sets no bound.
	DefaultStateBytes = 48_000
	// MaxExpressionBytes bounds what one expression gives, whatever else is
	// allowed.
	MaxExpressionBytes = 32_000
	// DefaultSummaryBytes bounds a summary that declares no max_bytes.
	DefaultSummaryBytes = 12_000
)

// DefaultSummary is the summary that a caller gets who names none.
const DefaultSummary = "agent_context"

// Projection is a compiled declaration. It is immutable and safe for
// concurrent use.
type Projection struct {
	name    string
	pages   string // scope.url_matches; "" is every page
	plan    plan
	program expr.Program
	schema  *schema.Schema // nil when none is declared
	// schemaText is the schema as it was declared.
	schemaText json.RawMessage
	summaries  []summary
	markers    markerSource
	identity   Identity
	warnings   []manifest.Problem
}

type summary struct {
	name     string
	maxBytes int
	program  expr.Program
	pointer  string
}

// Warnings lists what the expressions of the declaration, its summaries and its
// postconditions say that usually means something else. Pointers are relative to the projection.
func (p *Projection) Warnings() []manifest.Problem { return p.warnings }

// Name returns the projection's name.
func (p *Projection) Name() string { return p.name }

// SummaryNames lists the declared summaries in their order.
func (p *Projection) SummaryNames() []string {
	names := make([]string, len(p.summaries))
	for i, s := range p.summaries {
		names[i] = s.name
	}
	return names
}

// HasMarkers reports whether the projection declares markers. A read then
// replaces those that an earlier read registered, even by none.
func (p *Projection) HasMarkers() bool { return p.markers.declared }

// Identity returns how the items of its lists are recognised, for Diff.
func (p *Projection) Identity() Identity { return p.identity }

// Applies reports whether the projection is meant for a page: whether its whole
// address matches scope.url_matches, in which * is any run of characters, in
// any case. Without a pattern it is meant for every page.
func (p *Projection) Applies(url string) bool { return address.Matches(url, p.pages) }

// find returns a summary by name.
func (p *Projection) find(name string) (summary, bool) {
	i := slices.IndexFunc(p.summaries, func(s summary) bool { return s.name == name })
	if i < 0 {
		return summary{}, false
	}
	return p.summaries[i], true
}

// quoted is a JSON string.
func quoted(s string) json.RawMessage { return appendString(nil, s) }
