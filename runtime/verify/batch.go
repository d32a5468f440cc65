// Package verify observes what a page shows of what its map declares: probes, states,
// requirements, checks and drift. It observes and judges, and changes nothing. The
// packages that run site actions, follow states and draw attachments call it.
package verify

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/location"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Batch answers many probes of maps with one page call: first all of them are
// added, then Evaluate resolves their targets in one round trip, then each is
// judged from what was observed at that moment.
type Batch struct {
	Library     *sites.Library // says what names of maps mean
	URL         string
	At          time.Time
	descriptors []descriptor.Descriptor
	index       map[string]int // by the descriptor's text
	matches     []descriptor.Match
	Attached    func(m *sites.Map, id string) (state string, known bool)
	Prepared    *manifest.Check // its setup was done for this batch
	Explain     bool            // observations have what is there in place of what failed
}

// Verdict is yes, no, or unknown where a probe is about what nobody can observe.
type Verdict int

const (
	Unknown Verdict = iota
	Yes
	No
)

// Pointer is the verdict in outputs: nil for Unknown.
func (v Verdict) Pointer() *bool {
	if v == Unknown {
		return nil
	}
	b := v == Yes
	return &b
}

// Observation is what one probe found.
type Observation struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// OK is null when the probe is about something that cannot be observed.
	OK *bool `json:"ok"`
	// Failed lists the members of the probe that failed.
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
	Drift   *Drift                      `json:"drift,omitempty"`
	// Pointer and Line are where an assertion of a check stands in its map.
	Pointer string `json:"pointer,omitempty"`
	Line    int    `json:"line,omitempty"`
	// Mismatches are the members that failed, with what was expected and found.
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	// Box is where the element is in the viewport, or the one that nearly matches.
	Box *descriptor.Box `json:"box,omitempty"`

	Verdict Verdict `json:"-"`
}

// Drift says that a target was found, but not by what the map prefers.
type Drift struct {
	Preferred string `json:"preferred"`
	Matched   string `json:"matched"`
	Candidate string `json:"candidate"` // of the match: fallback_selectors/0, alternate_selectors/1
	// Proposal is the target as the map could declare it.
	Proposal json.RawMessage `json:"proposal"`
	// MapPath and Pointer are where the target stands.
	MapPath string `json:"map_path,omitempty"`
	Pointer string `json:"pointer,omitempty"`
}

// maxStateDepth bounds states whose diagnostics name states.
const maxStateDepth = 8

// Add adds what judging p needs. more are selectors to try after those of
// the target.
func (b *Batch) Add(m *sites.Map, p *manifest.Probe, more []string) { b.addAt(m, p, more, 0) }

func (b *Batch) addAt(m *sites.Map, p *manifest.Probe, more []string, depth int) {
	if in, t := targetOf(b.Library, m, p); t != nil {
		b.number(b.descriptorFor(t, p.Role, more))
		b.addStateAt(in, t.State, depth)
	}
	b.addStateAt(m, p.State, depth)
}

// AddState adds what diagnosing a state needs.
func (b *Batch) AddState(m *sites.Map, name string) { b.addStateAt(m, name, 0) }

func (b *Batch) addStateAt(m *sites.Map, name string, depth int) {
	in, state := b.Library.State(m, name)
	if state == nil || depth > maxStateDepth {
		return
	}
	for i := range state.Diagnostics {
		b.addAt(in, &state.Diagnostics[i], nil, depth+1)
	}
}

// AddTarget adds a target by itself.
func (b *Batch) AddTarget(t *manifest.Target) { b.number(DescriptorOf(t, "", nil)) }

// descriptorFor is DescriptorOf for what is judged.
func (b *Batch) descriptorFor(t *manifest.Target, role string, more []string) descriptor.Descriptor {
	d := DescriptorOf(t, role, more)
	d.Explain = b.Explain
	return d
}

func (b *Batch) number(d descriptor.Descriptor) int {
	text, err := json.Marshal(d)
	if err != nil {
		return -1
	}
	key := string(text) + "\x00" + d.URLContains + "\x00" + d.URLMatches
	if i, ok := b.index[key]; ok {
		return i
	}
	if b.index == nil {
		b.index = map[string]int{}
	}
	b.index[key] = len(b.descriptors)
	b.descriptors = append(b.descriptors, d)
	return len(b.descriptors) - 1
}

// Evaluate observes the page, once. An empty batch costs nothing.
func (b *Batch) Evaluate(ctx context.Context, page primitives.Page) error {
	var err error
	b.matches, err = descriptor.ResolveAll(ctx, page, b.descriptors)
	b.URL, b.At = page.Tab().URL, time.Now()
	return err
}

// Match returns the match of a descriptor that was added.
func (b *Batch) Match(d descriptor.Descriptor) descriptor.Match {
	if i := b.number(d); i >= 0 && i < len(b.matches) {
		return b.matches[i]
	}
	return descriptor.Match{Reason: "not_asked"}
}

// Judge decides whether a probe holds. One that says nothing in particular holds
// when its target is there.
func (b *Batch) Judge(m *sites.Map, p *manifest.Probe, more []string) Observation {
	return b.judgeAt(m, p, more, 0)
}

func (b *Batch) judgeAt(m *sites.Map, p *manifest.Probe, more []string, depth int) Observation {
	f := Observation{Name: p.Name, Description: p.Description, Pointer: p.At.Pointer, Line: p.At.Line, Verdict: Yes}
	claimed := false
	claim := func(member string, holds bool) {
		claimed = true
		if !holds {
			f.Failed, f.Verdict = append(f.Failed, member), No
		}
	}
	if p.URLContains != "" {
		claim("url_contains", strings.Contains(strings.ToLower(b.URL), strings.ToLower(p.URLContains)))
	}
	if p.URLMatches != "" {
		claim("url_matches", location.URLMatches(p.URLMatches, b.URL))
	}
	f.judgeState(b, m, p, depth, claim)
	in, t := targetOf(b.Library, m, p)
	if t == nil {
		switch {
		case claimed:
		case p.TargetOf != "" || p.Tool != "" || p.State != "" || p.Attachment != "":
			f.Verdict, f.Reason = Unknown, "no_target"
		default:
			f.Verdict, f.Reason = Unknown, "empty"
		}
		f.OK = f.Verdict.Pointer()
		if b.Explain {
			f.explain(b, m, p, descriptor.Descriptor{}, descriptor.Match{})
		}
		return f
	}
	d := b.descriptorFor(t, p.Role, more)
	match := b.Match(d)
	f.Candidate, f.Count, f.VisibleCount, f.Relaxed = match.Candidate, match.Count, match.VisibleCount, match.Relaxed
	f.Selector = SelectorNamed(d, match.Candidate)
	if !match.Found {
		f.Reason, f.Tried = match.Reason, match.Tried
	}
	if t.State != "" {
		if v := b.diagnoseAt(in, t.State, depth+1).Verdict; v != Unknown {
			claim("target.state", v == Yes)
		}
	}
	f.judgeElement(p, match, claim)
	if match.Found {
		if f.Drift = DriftOf(t, match, len(t.FallbackSelectors), more); f.Drift != nil && f.Drift.Pointer != "" {
			f.Drift.MapPath = in.Path
		}
	}
	if f.Verdict == No && len(match.Tried) > 0 {
		f.Tried = match.Tried
	}
	f.OK = f.Verdict.Pointer()
	if b.Explain {
		f.Box = boxOf(match)
		f.explain(b, m, p, d, match)
	}
	return f
}

func (f *Observation) judgeState(s *Batch, m *sites.Map, p *manifest.Probe, depth int, claim func(string, bool)) {
	if p.State != "" && p.Attachment == "" {
		switch s.diagnoseAt(m, p.State, depth+1).Verdict {
		case Yes:
			claim("state", true)
		case No:
			claim("state", false)
		}
	}
	if p.Attachment == "" || s.Attached == nil {
		return
	}
	in, a := s.Library.Attachment(m, p.Attachment)
	if a == nil {
		return
	}
	if state, known := s.Attached(in, a.ID); known {
		want := p.State
		if want == "" {
			want = "attached"
		}
		claim("attachment", state == want || want == "attached" && state == "reattached")
	}
}

// judgeElement compares the element with what the probe expects.
func (f *Observation) judgeElement(p *manifest.Probe, match descriptor.Match, claim func(string, bool)) {
	facts := match.Facts
	if facts == nil {
		facts = &descriptor.ElementFacts{}
	}
	// A descriptor of an address alone is met without an element.
	there := match.Found
	before := len(f.Failed)
	counted := p.Count != nil || p.MinCount != nil || p.MaxCount != nil
	about := false // something is claimed that an absent element can answer
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
	text := func(member string, claimed bool, holds bool) {
		if claimed {
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

// DescriptorOf is a target as the page library resolves it.
func DescriptorOf(t *manifest.Target, role string, more []string) descriptor.Descriptor {
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

// SelectorNamed is the selector that a candidate's name means, "" for one that
// is none.
func SelectorNamed(d descriptor.Descriptor, candidate string) string {
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

// TargetEvidence is a target as errors show it.
func TargetEvidence(t *manifest.Target) map[string]any {
	e := map[string]any{}
	if c := t.Candidates(); len(c) > 0 {
		e["selectors"] = c[:min(len(c), 10)]
	}
	for name, text := range map[string]string{"role": t.Role, "name": t.Name, "text_equals": t.TextEquals, "text_contains": t.TextContains,
		"url_contains": t.URLContains, "url_matches": t.URLMatches, "state": t.State} {
		if text != "" {
			e[name] = fault.Clip(text, 200)
		}
	}
	return e
}
