// Package projection turns a page into data: the logical state that a site map
// declares under state_projections.
//
// A Projection is compiled once. Reading it asks the page one question for each
// frame that the declaration names, computes the state with the declared
// expression, holds it against the declared schema and gives it a hash. Diff
// says what changed between two states, as a JSON Patch and in words.
//
// docs/projections.md describes the declaration.
package projection

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// Problem is one thing that is wrong with a declaration.
type Problem struct {
	Pointer string // JSON pointer relative to the projection
	Code    fault.Code
	Message string
}

// ReadOptions tunes one read. The zero value means the defaults.
type ReadOptions struct {
	// MaxBytes bounds the state in UTF-8 bytes of JSON. Default: 48,000.
	MaxBytes int
	// SkipStateLimit leaves the size of the state unchecked, for a caller that
	// goes on to hand out a summary.
	SkipStateLimit bool
	// Now is the clock of ObservedAt. Default: time.Now.
	Now func() time.Time
}

// Snapshot is the state of a page at one moment.
type Snapshot struct {
	Projection  string
	URL         string
	Title       string
	State       json.RawMessage
	Hash        string
	ObservedAt  time.Time
	Markers     json.RawMessage // nil when the projection declares none
	Diagnostics json.RawMessage
	// Records is what was extracted, the input of the expressions.
	Records json.RawMessage
}

// Delta is the difference of two states.
type Delta struct {
	Patches  json.RawMessage // RFC 6902 operations
	Semantic json.RawMessage // one entry for each operation
}

// Point is a position in the viewport of the tab, in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Marker is a place of the page that is found anew at every use.
type Marker struct {
	ID     string `json:"id"`
	Type   string `json:"type"` // "cursor" or "pointer"
	Recipe []Step `json:"recipe"`
	Anchor *Point `json:"anchor,omitempty"`
}

// Step is one primitive of a recipe.
type Step struct {
	Primitive string          `json:"primitive"`
	Args      json.RawMessage `json:"args,omitempty"`
}

// Invoker runs primitives: package runtime has it.
type Invoker interface {
	Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result
}

type Projection struct{ name string }

type Identity struct{}

type Postcondition struct{}

var errStub = fault.New(fault.CapabilityUnavailable, "this build does not read state projections")

func Compile(raw json.RawMessage, engine expr.Engine) (*Projection, []Problem) {
	return &Projection{}, nil
}
func (p *Projection) Name() string            { return p.name }
func (p *Projection) Applies(url string) bool { return false }
func (p *Projection) SummaryNames() []string  { return nil }
func (p *Projection) HasMarkers() bool        { return false }
func (p *Projection) Identity() Identity      { return Identity{} }
func (p *Projection) Read(ctx context.Context, page primitives.Page, opts ReadOptions) (*Snapshot, *fault.Error) {
	return nil, errStub
}
func (p *Projection) Summary(ctx context.Context, s *Snapshot, name string) (json.RawMessage, *fault.Error) {
	return nil, errStub
}
func Hash(state json.RawMessage) string                           { return "" }
func Diff(before, after json.RawMessage, identity Identity) Delta { return Delta{} }
func Apply(doc, patches json.RawMessage) (json.RawMessage, error) { return nil, errStub }
func CompilePostcondition(raw json.RawMessage, engine expr.Engine) (*Postcondition, *fault.Error) {
	return nil, errStub
}

// Check reports whether state meets the postcondition. A false result has no
// error: it is the answer.
func (pc *Postcondition) Check(ctx context.Context, state, input json.RawMessage) (bool, *fault.Error) {
	return false, errStub
}
func (pc *Postcondition) Projection() string     { return "" } // "" is the projection that contains it
func (pc *Postcondition) FailureMessage() string { return "" }

func ParseMarkers(raw json.RawMessage) ([]Marker, *fault.Error) { return nil, errStub }

// ResolveRecipe runs the recipe and returns where it led; nil when no step
// named a place. It is the caller who must refuse that for a pointer marker:
// see PromiseUnkept.
func ResolveRecipe(ctx context.Context, inv Invoker, m Marker) (*Point, *fault.Error) {
	return nil, errStub
}

// PromiseUnkept is the error of a pointer marker whose recipe led nowhere.
func PromiseUnkept(m Marker) *fault.Error { return errStub }
