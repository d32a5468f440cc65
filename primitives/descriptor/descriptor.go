// Package descriptor resolves the target descriptors of maps against a page, many in one page call. It knows no
// states and no maps: callers pass predicates. The runtime calls it, and no primitive does.
package descriptor

import (
	"context"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Descriptor is a target descriptor of a map, schema v1. All set predicates
// Resolved together; selectors are alternatives in the order Selector, Selectors,
// FallbackSelectors. Without any selector the predicates alone choose.
//
// The member state of a descriptor is not here: only the runtime knows states.
type Descriptor struct {
	Selector          []string `json:"selector,omitempty"`
	Selectors         []string `json:"selectors,omitempty"`
	FallbackSelectors []string `json:"fallback_selectors,omitempty"`
	Role              string   `json:"role,omitempty"`
	Name              string   `json:"name,omitempty"` // accessible name, white space and case aside
	TextEquals        string   `json:"text_equals,omitempty"`
	TextContains      string   `json:"text_contains,omitempty"`
	URLContains       string   `json:"-"` // part of the address, case aside
	URLMatches        string   `json:"-"` // whole address, case aside; * is any run of characters
	// Explain requests Box, Near of candidates that match nothing, and what texts
	// that were compared are.
	Explain bool `json:"explain,omitempty"`
	// Compare has the expectations of the chosen element: the page compares, since the
	// whole text counts and a page can be long.
	Compare []Comparison `json:"compare,omitempty"`
}

// Comparison has the expectations of a probe about one element. Texts are normalised.
type Comparison struct {
	TextEquals   *string `json:"text_equals,omitempty"`
	TextContains *string `json:"text_contains,omitempty"`
	ValueEquals  *string `json:"value_equals,omitempty"`
	Visible      *bool   `json:"visible,omitempty"`
	Enabled      *bool   `json:"enabled,omitempty"`
	Checked      *bool   `json:"checked,omitempty"`
	Focused      *bool   `json:"focused,omitempty"`
	// Any means every match that is rendered, not only the chosen one: the answer is
	// about the first that is as expected.
	Any bool `json:"any,omitempty"`
}

// Compared is the answer to a Comparison.
type Compared struct {
	Failed []string `json:"failed"` // members that the element does not meet
	// Facts and Box are those of the element when it is not the chosen one.
	Facts *ElementFacts    `json:"facts,omitempty"`
	Box   *primitives.Rect `json:"box,omitempty"`
	// Text and Value show what counts of a text: where it departs from what was
	// expected, or has it.
	Text  *Shown `json:"text,omitempty"`
	Value *Shown `json:"value,omitempty"`
}

// Shown are excerpts of two texts; Wanted is "" where the whole was found.
type Shown struct {
	Found  string `json:"found"`
	Wanted string `json:"wanted"`
}

// Departure is a predicate that an element does not meet which was found without it.
type Departure struct {
	Predicate string   `json:"predicate"` // "role", "name"
	Values    []string `json:"values"`    // of the chosen element, and of at most two more matches
}

// Match says what became of a descriptor.
type Match struct {
	Found bool `json:"found"`
	// Candidate names the one that matched: "selector", "selector/1", "selectors/0",
	// "fallback_selectors/1", or "predicates" where there are no selectors;
	// "url" for a descriptor of an address alone, which chooses no element.
	Candidate string `json:"candidate,omitempty"`
	// Count is how many elements that candidate matches, VisibleCount how many
	// of them the viewport shows. The chosen one is the first visible, or else
	// the first.
	Count        int `json:"count"`
	VisibleCount int `json:"visible_count"`
	// Relaxed lists predicates that the chosen element does not meet: "name",
	// or "name" and "role". Only those two give way, and only when some
	// selector finds an element that meets all others; a name in a map may be
	// one for people. A caller that must be sure takes a non-empty list for no
	// match.
	Relaxed []string `json:"relaxed,omitempty"`
	// Named means that the chosen element has the name of the descriptor, also where that gave way with the role.
	Named bool `json:"named,omitempty"`
	// Departures are those of Relaxed that the page contradicts: the element has
	// another role, or another name.
	Departures []Departure `json:"departures,omitempty"`
	// Compared answers Compare, one each, in order.
	Compared []Compared `json:"compared,omitempty"`
	// Reason is why nothing was found: "url", "selector", "role", "name",
	// "text", "empty" for a descriptor that says nothing, or an error code such
	// as invalid_selector.
	Reason string `json:"reason,omitempty"`
	// Tried has the result of each candidate, in order, for evidence.
	Tried []TriedCandidate `json:"tried,omitempty"`
	// Frame and Handle name the chosen element for further calls.
	Frame  primitives.FrameID `json:"-"`
	Handle string             `json:"handle,omitempty"`
	// Facts describe the chosen element; nil when nothing was found.
	Facts *ElementFacts `json:"facts,omitempty"`
	// Box is where the chosen element is in the viewport.
	Box *primitives.Rect `json:"box,omitempty"`
}

// NearMiss says what elements have in place of the predicate that they do not meet.
type NearMiss struct {
	Count  int              `json:"count"`
	Values []string         `json:"values"` // of the first three
	Box    *primitives.Rect `json:"box,omitempty"`
}

// TriedCandidate is one probe for one candidate.
type TriedCandidate struct {
	Candidate string `json:"candidate"`
	Count     int    `json:"count"`
	Unmatched string `json:"unmatched,omitempty"` // the predicate that left nothing
	Code      string `json:"code,omitempty"`      // why it could not be probed
	// Near is about the elements that Unmatched alone, or what comes after it, keeps
	// from matching.
	Near *NearMiss `json:"near,omitempty"`
}

// ElementFacts are the facts of an element that probes read, at the moment of the probe.
type ElementFacts struct {
	TagName  string  `json:"tag_name"`
	Visible  bool    `json:"visible"`  // the viewport shows some of it
	Rendered bool    `json:"rendered"` // it has a box, perhaps outside the viewport
	Enabled  bool    `json:"enabled"`
	Checked  *bool   `json:"checked"` // nil for what cannot be checked
	Focused  bool    `json:"focused"`
	Value    *string `json:"value"` // live value of a control, at most 2,000 characters; never a password
	Text     string  `json:"text"`  // normalised text, or else the aria-label, at most 2,000 characters
}

// ResolveAll resolves descriptors against the main frame's document,
// all in one round trip. The answer has one Match for each, in order; that
// nothing matches is no error. Errors are those of Page.Call.
func ResolveAll(ctx context.Context, p primitives.Page, descriptors []Descriptor) ([]Match, error) {
	if len(descriptors) == 0 {
		return nil, nil
	}
	var out struct {
		URL     string  `json:"url"`
		Matches []Match `json:"matches"`
	}
	if err := p.Call(ctx, "", "resolve_descriptors", map[string]any{"descriptors": descriptors}, &out); err != nil {
		return nil, err
	}
	if len(out.Matches) != len(descriptors) {
		return nil, fault.New(
			fault.Internal, "the page library answered %d of %d descriptors", len(out.Matches), len(descriptors),
		)
	}
	for i := range out.Matches {
		m, d := &out.Matches[i], descriptors[i]
		switch {
		case !d.onPage(out.URL):
			*m = Match{Reason: "url"}
		case !d.namesElement() && d.URLContains+d.URLMatches != "":
			*m = Match{Found: true, Candidate: "url"}
		case !m.Found:
			m.Reason = d.reason(m.Tried)
		}
	}
	return out.Matches, nil
}

// Resolve is ResolveDescriptors for one.
func Resolve(ctx context.Context, p primitives.Page, d Descriptor) (Match, error) {
	out, err := ResolveAll(ctx, p, []Descriptor{d})
	if err != nil {
		return Match{}, err
	}
	return out[0], nil
}

// namesElement reports whether the descriptor asks for an element at all.
func (d Descriptor) namesElement() bool {
	return len(d.Selector)+len(d.Selectors)+len(d.FallbackSelectors) > 0 ||
		d.Role+d.Name+d.TextEquals+d.TextContains != ""
}

// reason is the furthest that a candidate got.
func (d Descriptor) reason(tried []TriedCandidate) string {
	if !d.namesElement() {
		return "empty"
	}
	order := []string{"", "selector", "role", "name", "text"}
	best, code := 0, ""
	for _, t := range tried {
		if t.Code != "" {
			code = t.Code
		}
		for i, stage := range order {
			if i > best && t.Unmatched == stage {
				best = i
			}
		}
	}
	if best == 0 && code != "" {
		return code
	}
	return order[max(best, 1)]
}

// onPage checks the address predicates.
func (d Descriptor) onPage(url string) bool {
	return address.Contains(url, strings.TrimSpace(d.URLContains)) && address.Matches(url, d.URLMatches)
}
