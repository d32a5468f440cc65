package verify

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites/manifest"
)

// DriftOf says how a match departs from what its target prefers; nil when it
// does not. The preferred selector is selector, or selectors where there is
// none; entries of one list are alternatives of the same rank, and only what
// stands behind them counts as drift. declared is the number of fallbacks that
// the target itself has: those behind them are alternates of a check.
func DriftOf(t *manifest.Target, match descriptor.Match, declared int, alternates []string) *Drift {
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
	return &Drift{Preferred: preferred[0], Matched: matched, Candidate: candidate, Proposal: repaired(t, matched), Pointer: t.At.Pointer}
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
	return call.JSON(struct {
		Selector          string   `json:"selector"`
		Role              string   `json:"role,omitempty"`
		Name              string   `json:"name,omitempty"`
		TextEquals        string   `json:"text_equals,omitempty"`
		TextContains      string   `json:"text_contains,omitempty"`
		URLContains       string   `json:"url_contains,omitempty"`
		URLMatches        string   `json:"url_matches,omitempty"`
		State             string   `json:"state,omitempty"`
		FallbackSelectors []string `json:"fallback_selectors,omitempty"`
		Confidence        string   `json:"confidence"`
		Notes             string   `json:"notes,omitempty"`
	}{matched, t.Role, t.Name, t.TextEquals, t.TextContains, t.URLContains, t.URLMatches, t.State, rest, "observed", t.Notes})
}
