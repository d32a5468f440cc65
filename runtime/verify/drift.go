package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites/manifest"
)

// DriftOf says how a match departs from what its target prefers; nil when it
// does not. The preferred selector is selector, or selectors where there is
// none; entries of one list are alternatives of the same rank, and only what
// stands behind them counts as drift. declared is the number of fallbacks that
// the target itself has: those behind them are alternates of a check.
func DriftOf(t *manifest.Target, match descriptor.Match, declared int, alternates []string) *checks.Drift {
	field, number, _ := strings.Cut(match.Candidate, "/")
	preferred := t.Selector
	switch {
	case field == "selectors" && len(t.Selector) > 0:
	case field == "fallback_selectors":
		if len(preferred) == 0 {
			preferred = t.Selectors
		}
	default:
		return nil
	}
	matched := SelectorNamed(DescriptorOf(t, "", alternates), match.Candidate)
	if len(preferred) == 0 && t.Role+t.Name != "" && field == "fallback_selectors" {
		preferred = []string{strings.TrimSpace(t.Role + " " + strconv.Quote(t.Name))}
	}
	if len(preferred) == 0 || matched == "" || slices.Contains(preferred, matched) {
		return nil
	}
	candidate := match.Candidate
	if i, err := strconv.Atoi(number); err == nil && field == "fallback_selectors" && i >= declared {
		candidate = "alternate_selectors/" + strconv.Itoa(i-declared)
	}
	return &checks.Drift{
		Preferred: preferred[0],
		Matched:   matched,
		Candidate: candidate,
		Proposal:  repaired(t, matched),
		Pointer:   t.At.Pointer,
		Message:   fmt.Sprintf("%s matches nothing; %s does (%s)", preferred[0], matched, candidate),
	}
}

// driftOf is DriftOf of a target of an assertion, and also says whether the element has another role or
// name than its target declares. d is the target as it was resolved. Nothing is proposed with which the
// assertion says less: its role and its name stay, and so does a state or a place in its selector.
func driftOf(t *manifest.Target, d descriptor.Descriptor, match descriptor.Match, alternates []string) *checks.Drift {
	drift := DriftOf(t, match, len(t.FallbackSelectors), alternates)
	if drift != nil && distinguishes(drift.Preferred) {
		drift.Proposal = nil
	}
	if len(match.Departures) == 0 {
		return drift
	}
	subject := subjectOf(d, SelectorNamed(d, match.Candidate))
	var preferred, matched, messages []string
	if drift != nil {
		preferred = []string{drift.Preferred}
		matched = []string{drift.Matched}
		messages = []string{drift.Message}
	} else {
		preferred, matched = []string{subject}, []string{subject}
		drift = &checks.Drift{Candidate: match.Candidate, Pointer: t.At.Pointer}
	}
	for _, x := range match.Departures {
		is, wanted := x.Values[0], d.Name
		if x.Predicate == "role" {
			wanted = d.Role
		}
		preferred = append(preferred, x.Predicate+" "+quoted(wanted))
		matched = append(matched, x.Predicate+" "+quoted(is))
		messages = append(
			messages,
			fmt.Sprintf("%s: %s is %s, expected %s", subject, x.Predicate, has(x.Values, match.Count), quoted(wanted)),
		)
	}
	drift.Preferred = strings.Join(preferred, " ")
	drift.Matched = strings.Join(matched, " ")
	drift.Message = strings.Join(messages, "; ")
	drift.Proposal = nil
	return drift
}

// DriftOfStep returns the drift of a step that found its element so: a fallback matched, or the element
// has another role or name than its target says.
func DriftOfStep(t *manifest.Target, match descriptor.Match) *checks.Drift {
	return driftOf(t, DescriptorOf(t, "", nil), match, nil)
}

// Confirmed reports whether an element has every name and text of its target, and at least one of them. A
// role alone confirms nothing.
func Confirmed(t *manifest.Target, match descriptor.Match) bool {
	return t.Name+t.TextEquals+t.TextContains != "" && (t.Name == "" || match.Named)
}

// contradicted reports whether a fallback found an element that has another name than its target: nothing of the
// target is left in it.
func contradicted(match descriptor.Match) bool {
	return ByFallback(match) && slices.ContainsFunc(match.Departures, func(d descriptor.Departure) bool {
		return d.Predicate == "name"
	})
}

// has lists what the first of some matches have.
func has(values []string, count int) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = quoted(v)
	}
	text := strings.Join(list, ", ")
	if more := count - len(values); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// spelled is a target as a map spells it.
func spelled(t *manifest.Target) json.RawMessage {
	var selector any
	switch len(t.Selector) {
	case 0:
	case 1:
		selector = t.Selector[0]
	default:
		selector = t.Selector
	}
	return call.JSON(struct {
		Selector          any      `json:"selector,omitempty"`
		Selectors         []string `json:"selectors,omitempty"`
		Role              string   `json:"role,omitempty"`
		Name              string   `json:"name,omitempty"`
		TextEquals        string   `json:"text_equals,omitempty"`
		TextContains      string   `json:"text_contains,omitempty"`
		URLContains       string   `json:"url_contains,omitempty"`
		URLMatches        string   `json:"url_matches,omitempty"`
		State             string   `json:"state,omitempty"`
		FallbackSelectors []string `json:"fallback_selectors,omitempty"`
		Confidence        string   `json:"confidence,omitempty"`
		Notes             string   `json:"notes,omitempty"`
	}{
		selector, t.Selectors, t.Role, t.Name, t.TextEquals, t.TextContains, t.URLContains,
		t.URLMatches, t.State, t.FallbackSelectors, t.Confidence, t.Notes,
	})
}

// repaired is the target with the selector that matched in the first place. The
// one that did not is the last fallback: the site may return to it.
func repaired(t *manifest.Target, matched string) json.RawMessage {
	var rest []string
	for _, s := range append(append(append([]string{}, t.Selectors...), t.FallbackSelectors...), t.Selector...) {
		if s != matched && !slices.Contains(rest, s) {
			rest = append(rest, s)
		}
	}
	next := *t
	next.Selector = []string{matched}
	next.Selectors = nil
	next.FallbackSelectors = rest
	next.Confidence = "observed"
	return spelled(&next)
}
