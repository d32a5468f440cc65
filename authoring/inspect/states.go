package inspect

import (
	"cmp"
	"context"
	"slices"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/primitives"
)

// States are what the elements of a page are like at one moment.
type States struct {
	// Complete is false when the page has more than is listed.
	Complete bool    `json:"complete"`
	Elements []State `json:"elements"`
	Lists    []State `json:"lists"`
}

// State is what one element is like.
type State struct {
	likeness.Seen
	States map[string]string `json:"states"` // aria-sort, checked and the like, without those that are not set
	Value  *string           `json:"value"`  // of a field
	Digest string            `json:"digest"` // of the text of a list
}

// TakeStates reads the states of a page in one page call, as Take reads what it offers.
func TakeStates(ctx context.Context, page primitives.Page) (States, error) {
	return take[States](ctx, page, "inspect_states")
}

// Change is one thing about an element that is another than before.
type Change struct {
	likeness.Seen
	What What
	// State is the state that it has and had not, such as aria-sort, and To what it is.
	State, To string
}

// What is a kind of change.
type What string

const (
	NewText  What = "text"  // it shows another text, or other entries
	NewState What = "state" // it is in another state
	NewValue What = "value" // it holds another value
	Gone     What = "gone"  // it is shown no more
)

// Changes returns the differences between two moments, the clearest first: entries of lists,
// states, texts of controls, elements that left, values of fields.
func Changes(before, after Page, was, is States) []Change {
	var out []Change
	lists, elements := pairs(was.Lists), pairs(was.Elements)
	for _, l := range is.Lists {
		if b, ok := lists(l.Seen); ok && b.Digest != l.Digest {
			out = append(out, Change{Seen: l.Seen, What: NewText})
		}
	}
	for _, e := range is.Elements {
		b, ok := elements(e.Seen)
		for _, name := range stateNames {
			if to := e.States[name]; ok && to != "" && to != b.States[name] {
				out = append(out, Change{Seen: e.Seen, What: NewState, State: name, To: to})
			}
		}
	}
	controls := pairs(before.Controls)
	for _, c := range after.Controls {
		if b, ok := controls(c.Seen); ok && b.Text != c.Text && b.Text != "" && c.Text != "" {
			out = append(out, Change{Seen: c.Seen, What: NewText})
		}
	}
	out = append(out, gone(before, after)...)
	for _, e := range is.Elements {
		if b, ok := elements(e.Seen); ok && e.Value != nil && b.Value != nil && *e.Value != *b.Value {
			out = append(out, Change{Seen: e.Seen, What: NewValue})
		}
	}
	return out
}

// stateNames are the states of elements, what says most of what was done first. What is not
// checked or not open any more has no name for it: its absence cannot be waited for.
var stateNames = []string{
	"aria-sort", "checked", "aria-checked", "aria-selected", "aria-pressed",
	"aria-current", "aria-expanded", "open", "aria-valuenow", "disabled",
}

// StateSelector finds elements in a state.
func StateSelector(state, to string) string {
	switch state {
	case "checked", "disabled":
		return ":" + state
	case "open":
		return "[open]"
	}
	return "[" + state + `="` + to + `"]`
}

// gone are the marks and controls that were there and are not, marks of rank first.
func gone(before, after Page) []Change {
	there, key := map[string]bool{}, map[string]bool{}
	for _, m := range after.Marks {
		there[m.Handle], key[m.key()] = true, true
	}
	for _, c := range after.Controls {
		there[c.Handle], key[Mark{Seen: c.Seen}.key()] = true, true
	}
	var marks []Mark
	for _, m := range before.Marks {
		if !there[m.Handle] && !key[m.key()] {
			marks = append(marks, m)
		}
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return cmp.Compare(b.Rank(), a.Rank()) })
	for _, c := range before.Controls {
		if m := (Mark{Seen: c.Seen}); !there[c.Handle] && !key[m.key()] && !c.Repeated {
			marks = append(marks, m)
		}
	}
	var out []Change
	for _, m := range marks {
		out = append(out, Change{Seen: m.Seen, What: Gone})
	}
	return out
}

type seen interface{ seen() likeness.Seen }

func (s State) seen() likeness.Seen   { return s.Seen }
func (c Control) seen() likeness.Seen { return c.Seen }

// pairs finds the element of before that one of after was: the same node, or where the page
// drew it anew the only one with its key.
func pairs[T seen](before []T) func(likeness.Seen) (T, bool) {
	byHandle := map[string]T{}
	byKey := map[string]T{}
	several := map[string]bool{}
	for _, b := range before {
		k := Mark{Seen: b.seen()}.key()
		if _, twice := byKey[k]; twice {
			several[k] = true
		}
		byHandle[b.seen().Handle], byKey[k] = b, b
	}
	return func(s likeness.Seen) (T, bool) {
		if b, ok := byHandle[s.Handle]; ok {
			return b, true
		}
		k := Mark{Seen: s}.key()
		b, ok := byKey[k]
		return b, ok && !several[k]
	}
}
