package runtime

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// survey answers many probes of maps with one look at the page: first all of
// them are noted with want, then ask resolves their targets in one round trip,
// then each is judged from what was seen at that moment.
type survey struct {
	lib         *sites.Library // says what names of maps mean
	url         string
	at          time.Time
	descriptors []descriptor.Descriptor
	index       map[string]int // by the descriptor's text
	matches     []descriptor.Match
	attached    func(m *sites.Map, id string) (state string, known bool)
	prepared    *manifest.Check // its setup was done for this look
}

// verdict is yes, no, or unknown where a probe asks for what nobody can see.
type verdict int

const (
	unknown verdict = iota
	yes
	no
)

func (v verdict) pointer() *bool {
	if v == unknown {
		return nil
	}
	b := v == yes
	return &b
}

// finding is what was seen of one probe.
type finding struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// OK is null when the probe asks for something that cannot be seen.
	OK *bool `json:"ok"`
	// Failed lists the members of the probe that do not hold.
	Failed []string `json:"failed,omitempty"`
	// Reason is why the target was not found, see descriptor.Match.
	Reason       string `json:"reason,omitempty"`
	Candidate    string `json:"candidate,omitempty"`
	Selector     string `json:"selector,omitempty"`
	Count        int    `json:"count"`
	VisibleCount int    `json:"visible_count"`
	// Relaxed lists predicates of the target that the element found does not meet.
	Relaxed []string                    `json:"relaxed,omitempty"`
	Tried   []descriptor.TriedCandidate `json:"tried,omitempty"`
	Drift   *drift                      `json:"drift,omitempty"`

	verdict verdict
}

// drift says that a target was found, but not by what the map prefers.
type drift struct {
	Preferred string `json:"preferred"`
	Matched   string `json:"matched"`
	Candidate string `json:"candidate"` // of the match: fallback_selectors/0, alternate_selectors/1
	// Proposal is the target as the map could declare it now.
	Proposal json.RawMessage `json:"proposal"`
}

// maxStateDepth bounds states that ask for states.
const maxStateDepth = 8

// want notes what judging p will need. more are selectors to try after those of
// the target.
func (s *survey) want(m *sites.Map, p *manifest.Probe, more []string) { s.wantAt(m, p, more, 0) }

func (s *survey) wantAt(m *sites.Map, p *manifest.Probe, more []string, depth int) {
	if in, t := targetOf(s.lib, m, p); t != nil {
		s.note(descriptorOf(t, p.Role, more))
		s.wantStateAt(in, t.State, depth)
	}
	s.wantStateAt(m, p.State, depth)
}

// wantState notes what diagnosing a state will need.
func (s *survey) wantState(m *sites.Map, name string) { s.wantStateAt(m, name, 0) }

func (s *survey) wantStateAt(m *sites.Map, name string, depth int) {
	in, state := s.lib.State(m, name)
	if state == nil || depth > maxStateDepth {
		return
	}
	for i := range state.Diagnostics {
		s.wantAt(in, &state.Diagnostics[i], nil, depth+1)
	}
}

// wantTarget notes a target by itself.
func (s *survey) wantTarget(t *manifest.Target) { s.note(descriptorOf(t, "", nil)) }

func (s *survey) note(d descriptor.Descriptor) int {
	text, err := json.Marshal(d)
	if err != nil {
		return -1
	}
	key := string(text) + "\x00" + d.URLContains + "\x00" + d.URLMatches
	if i, ok := s.index[key]; ok {
		return i
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	s.index[key] = len(s.descriptors)
	s.descriptors = append(s.descriptors, d)
	return len(s.descriptors) - 1
}

// ask looks at the page, once. Without anything to look for it costs nothing.
func (s *survey) ask(ctx context.Context, page primitives.Page) error {
	var err error
	s.matches, err = descriptor.ResolveAll(ctx, page, s.descriptors)
	s.url, s.at = page.Tab().URL, time.Now()
	return err
}

// seen returns the match of a descriptor that was noted.
func (s *survey) seen(d descriptor.Descriptor) descriptor.Match {
	if i := s.note(d); i >= 0 && i < len(s.matches) {
		return s.matches[i]
	}
	return descriptor.Match{Reason: "not_asked"}
}

// judge says whether a probe holds. What asks for nothing in particular asks
// for its target to be there.
func (s *survey) judge(m *sites.Map, p *manifest.Probe, more []string) finding {
	return s.judgeAt(m, p, more, 0)
}

func (s *survey) judgeAt(m *sites.Map, p *manifest.Probe, more []string, depth int) finding {
	f := finding{Name: p.Name, Description: p.Description, verdict: yes}
	asked := false
	claim := func(member string, holds bool) {
		asked = true
		if !holds {
			f.Failed, f.verdict = append(f.Failed, member), no
		}
	}
	if p.URLContains != "" {
		claim("url_contains", containsFold(s.url, p.URLContains))
	}
	if p.URLMatches != "" {
		claim("url_matches", location.URLMatches(p.URLMatches, s.url))
	}
	f.state(s, m, p, depth, claim)
	in, t := targetOf(s.lib, m, p)
	if t == nil {
		switch {
		case asked:
		case p.TargetOf != "" || p.Tool != "" || p.State != "" || p.Attachment != "":
			f.verdict, f.Reason = unknown, "no_target"
		default:
			f.verdict, f.Reason = unknown, "empty"
		}
		f.OK = f.verdict.pointer()
		return f
	}
	d := descriptorOf(t, p.Role, more)
	match := s.seen(d)
	f.Candidate, f.Count, f.VisibleCount, f.Relaxed = match.Candidate, match.Count, match.VisibleCount, match.Relaxed
	f.Selector = selectorNamed(d, match.Candidate)
	if !match.Found {
		f.Reason, f.Tried = match.Reason, match.Tried
	}
	if t.State != "" {
		if v := s.diagnoseAt(in, t.State, depth+1).verdict; v != unknown {
			claim("target.state", v == yes)
		}
	}
	f.element(p, match, claim)
	if match.Found {
		f.Drift = driftOf(t, match, len(t.FallbackSelectors), more)
	}
	if f.verdict == no && len(match.Tried) > 0 {
		f.Tried = match.Tried
	}
	f.OK = f.verdict.pointer()
	return f
}

func (f *finding) state(s *survey, m *sites.Map, p *manifest.Probe, depth int, claim func(string, bool)) {
	if p.State != "" && p.Attachment == "" {
		switch s.diagnoseAt(m, p.State, depth+1).verdict {
		case yes:
			claim("state", true)
		case no:
			claim("state", false)
		}
	}
	if p.Attachment == "" || s.attached == nil {
		return
	}
	in, a := s.lib.Attachment(m, p.Attachment)
	if a == nil {
		return
	}
	if state, known := s.attached(in, a.ID); known {
		want := p.State
		if want == "" {
			want = "attached"
		}
		claim("attachment", state == want || want == "attached" && state == "reattached")
	}
}

// element compares what was seen of the element with what the probe asks.
func (f *finding) element(p *manifest.Probe, match descriptor.Match, claim func(string, bool)) {
	facts := match.Facts
	if facts == nil {
		facts = &descriptor.ElementFacts{}
	}
	// A descriptor of an address alone is met without an element.
	there := match.Found
	before := len(f.Failed)
	counted := p.Count != nil || p.MinCount != nil || p.MaxCount != nil
	about := false // something is asked that an absent element can answer
	if p.Exists != nil {
		about = true
		claim("exists", there == *p.Exists)
	}
	if p.Visible != nil {
		about = true
		claim("visible", (there && (facts.Rendered || match.Candidate == "url")) == *p.Visible)
	}
	if counted {
		about = true
		for _, c := range []struct {
			member string
			bound  *int
			holds  func(n, bound int) bool
		}{
			{"count", p.Count, func(n, b int) bool { return n == b }},
			{"min_count", p.MinCount, func(n, b int) bool { return n >= b }},
			{"max_count", p.MaxCount, func(n, b int) bool { return n <= b }},
		} {
			if c.bound != nil {
				claim(c.member, c.holds(match.Count, *c.bound))
			}
		}
	}
	absentIsRight := about && !there && len(f.Failed) == before
	text := func(member string, asked bool, holds bool) {
		if asked {
			about = true
			claim(member, there && holds)
		}
	}
	flag := func(member string, want *bool, got bool) { text(member, want != nil, want != nil && got == *want) }
	flag("enabled", p.Enabled, facts.Enabled)
	flag("checked", p.Checked, facts.Checked != nil && *facts.Checked)
	flag("focused", p.Focused, facts.Focused)
	text("text_equals", p.TextEquals != "", facts.Text == normalised(p.TextEquals))
	text("text_contains", p.TextContains != "", strings.Contains(facts.Text, normalised(p.TextContains)))
	text("value_equals", p.ValueEquals != "", facts.Value != nil && *facts.Value == p.ValueEquals)
	if !there && !absentIsRight && len(f.Failed) == before {
		claim("exists", false)
	} else if !about {
		claim("exists", there)
	}
}

// normalised is the form of text in facts: runs of white space are one space.
func normalised(s string) string { return strings.Join(strings.Fields(s), " ") }

// targetOf is the target that a probe is about: its own, that of what it names,
// or none; and the map that declares it.
func targetOf(lib *sites.Library, m *sites.Map, p *manifest.Probe) (*sites.Map, *manifest.Target) {
	switch {
	case p.Target != nil:
		return m, p.Target
	case p.TargetOf != "":
		return lib.Target(m, p.TargetOf)
	case len(p.Selectors) > 0:
		return m, &manifest.Target{Selectors: p.Selectors}
	case p.Tool != "":
		if in, t := lib.Tool(m, p.Tool); t != nil {
			return in, t.Target
		}
		return m, nil
	case p.Attachment != "":
		if in, a := lib.Attachment(m, p.Attachment); a != nil {
			return in, a.Target
		}
		return m, nil
	}
	if p.Role != "" {
		return m, &manifest.Target{}
	}
	if p.State == "" && p.TextEquals+p.TextContains+p.ValueEquals != "" {
		return m, &manifest.Target{Selector: []string{"body"}}
	}
	return m, nil
}

// descriptorOf is a target as the page library resolves it.
func descriptorOf(t *manifest.Target, role string, more []string) descriptor.Descriptor {
	d := descriptor.Descriptor{
		Selector: t.Selector, Selectors: t.Selectors, FallbackSelectors: t.FallbackSelectors,
		Role: t.Role, Name: t.Name, TextEquals: t.TextEquals, TextContains: t.TextContains,
		URLContains: t.URLContains, URLMatches: t.URLMatches,
	}
	if role != "" {
		d.Role = role
	}
	if len(more) > 0 {
		d.FallbackSelectors = append(append([]string{}, d.FallbackSelectors...), more...)
	}
	return d
}

// selectorNamed is the selector that a candidate's name means, "" for one that
// is none.
func selectorNamed(d descriptor.Descriptor, candidate string) string {
	field, number, _ := strings.Cut(candidate, "/")
	i := 0
	for _, c := range number {
		i = 10*i + int(c-'0')
	}
	list := map[string][]string{"selector": d.Selector, "selectors": d.Selectors, "fallback_selectors": d.FallbackSelectors}[field]
	if i < len(list) {
		return list[i]
	}
	return ""
}
