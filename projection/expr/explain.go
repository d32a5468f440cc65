package expr

import (
	"context"
	"strconv"
)

// Usage is what one evaluation took of its budgets. It counts work done up to
// the error when the evaluation failed.
type Usage struct {
	Steps       int64 `json:"steps"`        // units of work, inside builtins too
	Depth       int   `json:"depth"`        // most calls open at once
	Bytes       int64 `json:"bytes"`        // everything allocated, still in use or not
	RegexSteps  int64 `json:"regex_steps"`  // units of matching
	OutputBytes int64 `json:"output_bytes"` // the JSON of the value
}

// Warning is a construct that is legal and usually means something else than
// its author thought. Code is stable.
type Warning struct {
	Code     string `json:"code"`
	Position int    `json:"position"` // UTF-16 units into the expression
	Message  string `json:"message"`
}

// Codes of warnings. Collapse matters only where a list is expected.
const (
	WarnNull     = "W0001" // a path that may be missing is compared with null
	WarnCount    = "W0002" // a count is compared with 0 where $exists says it
	WarnCollapse = "W0003" // one hit gives a single value, not a list of one
)

// Explainer is a Program that knows what its evaluations cost and what is
// suspicious about its text. Programs of the native engine are; those of blues
// are not.
type Explainer interface {
	Explain(ctx context.Context, input Input, limits Limits) (Value, Usage, error)
	Warnings() []Warning
}

// SlotWarning is a warning about one slot of a template.
type SlotWarning struct {
	Pointer string // JSON pointer of the slot relative to the template
	Warning
}

// Warnings lists what is suspicious about the slots, in the order of the text.
func (t *Template) Warnings() []SlotWarning {
	if t == nil || t.root == nil {
		return nil
	}
	return warnings(t.root, nil)
}

func warnings(n node, out []SlotWarning) []SlotWarning {
	switch n := n.(type) {
	case *slot:
		if e, ok := n.program.(Explainer); ok {
			for _, w := range e.Warnings() {
				out = append(out, SlotWarning{n.pointer, w})
			}
		}
	case objectNode:
		for _, m := range n {
			out = warnings(m.value, out)
		}
	case arrayNode:
		for _, el := range n {
			out = warnings(el, out)
		}
	}
	return out
}

// Read is a name that a slot reads of an object of its input: title of input.
type Read struct {
	Pointer      string // JSON pointer of the slot relative to the template
	Object, Name string
}

// Reads lists what the slots are certain to read by name, in the order of the text.
// An engine that does not know lists nothing.
func (t *Template) Reads() []Read {
	if t == nil || t.root == nil {
		return nil
	}
	return reads(t.root, nil)
}

func reads(n node, out []Read) []Read {
	switch n := n.(type) {
	case *slot:
		if p, ok := n.program.(parsed); ok {
			for _, m := range p.Members() {
				out = append(out, Read{n.pointer, m[0], m[1]})
			}
		}
	case objectNode:
		for _, m := range n {
			out = reads(m.value, out)
		}
	case arrayNode:
		for _, el := range n {
			out = reads(el, out)
		}
	}
	return out
}

// String says the warning in one line.
func (w Warning) String() string {
	return w.Code + " at " + strconv.Itoa(w.Position) + ": " + w.Message
}
