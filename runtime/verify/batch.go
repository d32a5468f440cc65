// Package verify observes what a page shows of what its map declares: probes, states,
// requirements, checks and drift. It observes and judges, and changes nothing. The
// packages that run site actions, follow states and draw attachments call it.
package verify

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/checks"
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
	compared    map[string]int // place among the comparisons of a descriptor, by both
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

// Observation is the result of one probe, with its verdict.
type Observation struct {
	checks.Assertion
	Verdict Verdict        `json:"-"`
	within  []checks.Drift // of the states that it names
}

// drifts lists how the element departs from its target, and those of states that the probe names.
func (f *Observation) drifts() []checks.Drift {
	if f.Drift == nil {
		return f.within
	}
	return append([]checks.Drift{*f.Drift}, f.within...)
}

// maxStateDepth bounds states whose diagnostics name states.
const maxStateDepth = 8

// Add adds what judging p needs. more are selectors to try after those of
// the target.
func (b *Batch) Add(m *sites.Map, p *manifest.Probe, more []string) { b.addAt(m, p, more, false, 0) }

// addAt adds a probe. A negative one is about every match.
func (b *Batch) addAt(m *sites.Map, p *manifest.Probe, more []string, negative bool, depth int) {
	if in, t := targetOf(b.Library, m, p); t != nil {
		b.compare(b.number(b.descriptorFor(t, p.Role, more)), p, negative)
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
		b.addAt(in, &state.Diagnostics[i], nil, false, depth+1)
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

// compare adds what a probe expects of the element of a descriptor, and returns its place
// among the comparisons of that; -1 when it expects nothing.
func (b *Batch) compare(descriptor int, p *manifest.Probe, negative bool) int {
	c := comparisonOf(p, negative)
	text, err := json.Marshal(c)
	if descriptor < 0 || err != nil || string(text) == "{}" {
		return -1
	}
	key := strconv.Itoa(descriptor) + " " + string(text)
	if i, ok := b.compared[key]; ok {
		return i
	}
	if b.compared == nil {
		b.compared = map[string]int{}
	}
	d := &b.descriptors[descriptor]
	b.compared[key] = len(d.Compare)
	d.Compare = append(d.Compare, c)
	return len(d.Compare) - 1
}

// comparisonOf is the comparison that the page makes for a probe. A negative one asks more of it: a
// match that is as it must not be can be any of them.
func comparisonOf(p *manifest.Probe, negative bool) descriptor.Comparison {
	c := descriptor.Comparison{ValueEquals: p.ValueEquals}
	if p.TextEquals != nil {
		text := normalised(*p.TextEquals)
		c.TextEquals = &text
	}
	if p.TextContains != "" {
		text := normalised(p.TextContains)
		c.TextContains = &text
	}
	if negative {
		c.Visible = p.Visible
		c.Enabled = p.Enabled
		c.Checked = p.Checked
		c.Focused = p.Focused
		c.Any = c != descriptor.Comparison{}
	}
	return c
}

// comparedFor is the page's answer about the element that a probe is judged by, with
// its facts.
func (b *Batch) comparedFor(
	d descriptor.Descriptor, match descriptor.Match, p *manifest.Probe, negative bool,
) descriptor.Compared {
	// what was not compared does not hold
	out := descriptor.Compared{Failed: []string{"text_equals", "text_contains", "value_equals"}}
	if i := b.compare(b.number(d), p, negative); i >= 0 && i < len(match.Compared) {
		out = match.Compared[i]
	}
	if out.Facts == nil {
		out.Facts, out.Box = match.Facts, match.Box
	}
	if out.Facts == nil {
		out.Facts = &descriptor.ElementFacts{}
	}
	return out
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
	return b.judgeAt(m, p, more, false, 0)
}

// judgeAt is Judge for a probe at some depth of states. A negative one holds as soon as
// one of the matches is as it says.
func (b *Batch) judgeAt(m *sites.Map, p *manifest.Probe, more []string, negative bool, depth int) Observation {
	f := Observation{Verdict: Yes}
	f.Name, f.Description = p.Name, p.Description
	f.Pointer, f.Line = p.At.Pointer, p.At.Line
	claimed := false
	claim := func(member string, holds bool) {
		claimed = true
		if !holds {
			f.Failed, f.Verdict = append(f.Failed, member), No
		}
	}
	if p.URLContains != "" {
		claim("url_contains", location.URLContains(p.URLContains, b.URL))
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
			f.explain(b, m, p, descriptor.Descriptor{}, descriptor.Match{}, descriptor.Compared{})
		}
		return f
	}
	d := b.descriptorFor(t, p.Role, more)
	match := b.Match(d)
	f.Candidate = match.Candidate
	f.Count = match.Count
	f.VisibleCount = match.VisibleCount
	f.Relaxed = match.Relaxed
	f.Selector = SelectorNamed(d, match.Candidate)
	if !match.Found {
		f.Reason, f.Tried = match.Reason, match.Tried
	}
	if t.State != "" {
		d := b.diagnoseAt(in, t.State, depth+1)
		f.within = append(f.within, d.Drift...)
		if d.Verdict != Unknown {
			claim("target.state", d.Verdict == Yes)
		}
	}
	is := b.comparedFor(d, match, p, negative)
	f.judgeElement(p, match, is, claim)
	if !negative && f.Verdict == Yes && contradicted(match) {
		claim("target.name", false)
	}
	if match.Found {
		f.Drift = driftOf(t, d, match, more)
		if f.Drift != nil && f.Drift.Pointer != "" {
			f.Drift.MapPath = in.Path
		}
	}
	if f.Verdict == No && len(match.Tried) > 0 {
		f.Tried = match.Tried
	}
	f.OK = f.Verdict.Pointer()
	if b.Explain {
		f.Box = boxOf(match)
		if is.Box != nil {
			f.Box = is.Box
		}
		f.explain(b, m, p, d, match, is)
	}
	return f
}

func (f *Observation) judgeState(s *Batch, m *sites.Map, p *manifest.Probe, depth int, claim func(string, bool)) {
	if p.State != "" && p.Attachment == "" {
		d := s.diagnoseAt(m, p.State, depth+1)
		f.within = append(f.within, d.Drift...)
		if d.Verdict != Unknown {
			claim("state", d.Verdict == Yes)
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
func (f *Observation) judgeElement(
	p *manifest.Probe, match descriptor.Match, is descriptor.Compared, claim func(string, bool),
) {
	facts := is.Facts
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
	compared := func(member string, claimed bool) { text(member, claimed, !slices.Contains(is.Failed, member)) }
	compared("text_equals", p.TextEquals != nil)
	compared("text_contains", p.TextContains != "")
	compared("value_equals", p.ValueEquals != nil)
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
	if p.State == "" && (p.TextEquals != nil || p.TextContains != "" || p.ValueEquals != nil) {
		return m, &manifest.Target{Selector: []string{"body"}}
	}
	return m, nil
}

// DescriptorOf is a target as the page library resolves it.
func DescriptorOf(t *manifest.Target, role string, more []string) descriptor.Descriptor {
	d := descriptor.Descriptor{
		Selector:          t.Selector,
		Selectors:         t.Selectors,
		FallbackSelectors: t.FallbackSelectors,
		Role:              t.Role,
		Name:              t.Name,
		TextEquals:        t.TextEquals,
		TextContains:      t.TextContains,
		URLContains:       t.URLContains,
		URLMatches:        t.URLMatches,
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
	list := map[string][]string{
		"selector":           d.Selector,
		"selectors":          d.Selectors,
		"fallback_selectors": d.FallbackSelectors,
	}[field]
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
	for name, text := range map[string]string{
		"role":          t.Role,
		"name":          t.Name,
		"text_equals":   t.TextEquals,
		"text_contains": t.TextContains,
		"url_contains":  t.URLContains,
		"url_matches":   t.URLMatches,
		"state":         t.State,
	} {
		if text != "" {
			e[name] = fault.Clip(text, 200)
		}
	}
	return e
}
