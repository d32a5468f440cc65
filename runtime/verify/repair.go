package verify

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/element/lock"
	edit "github.com/outrider-run/outrider/internal/mapedit"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Repair is a proposed target, and as the map would declare it.
type Repair struct {
	checks.Repair
	relocated *manifest.Target
}

// Relocated is the target as the map would declare it.
func (r *Repair) Relocated() *manifest.Target { return r.relocated }

// subject is one target that a check asserts something of.
type subject struct {
	in     *sites.Map
	target *manifest.Target
	key    descriptor.Descriptor // what the lock file calls it
	match  descriptor.Match
	fails  bool
	claims claims
}

func (b *Batch) subjects(m *sites.Map, k *manifest.Check) []subject {
	var out []subject
	index := map[string]int{}
	assertions, _ := probesOf(k)
	for i := range assertions {
		p := &assertions[i]
		in, t := targetOf(b.Library, m, p)
		if t == nil || p.Exists != nil && !*p.Exists {
			continue
		}
		key := DescriptorOf(t, p.Role, nil)
		name := in.Path + "\x00" + t.At.Pointer + "\x00" + lock.Key(key)
		at, known := index[name]
		if !known {
			at = len(out)
			index[name] = at
			match := b.Match(b.descriptorFor(t, p.Role, alternates(k)))
			out = append(out, subject{in: in, target: t, key: key, match: match})
		}
		out[at].claims.add(p)
		if b.Judge(m, p, alternates(k)).Verdict == No {
			out[at].fails = true
		}
	}
	return out
}

// Remember describes the elements that the targets of a check found, each alone.
// A target with several matches is a list, and no element stands for it. What a fallback found, or an
// assertion that fails, is not what the map means.
func (b *Batch) Remember(
	ctx context.Context, page primitives.Page, m *sites.Map, k *manifest.Check,
) ([]checks.Remembered, error) {
	var found []subject
	var handles []string
	for _, s := range b.subjects(m, k) {
		if !s.fails && WorthRemembering(s.match) {
			found, handles = append(found, s), append(handles, s.match.Handle)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	described, err := locators.Describe(ctx, page, handles)
	if err != nil || len(described) != len(found) {
		return nil, err
	}
	var plain []likeness.Element
	for _, d := range described {
		if d != nil {
			plain = append(plain, d.Describe(true))
		}
	}
	live, _, err := locators.Live(ctx, page, plain)
	if err != nil {
		return nil, err
	}
	var out []checks.Remembered
	for i, d := range described {
		if d != nil {
			out = append(out, checks.Remembered{
				MapPath: found[i].in.Path,
				Entry:   lock.Entry{Target: found[i].key, Element: d.Remember(live, true)},
			})
		}
	}
	return out, nil
}

// WorthRemembering reports whether a match is one element, and the one that its target names.
func WorthRemembering(m descriptor.Match) bool {
	return m.Found && m.Count == 1 && m.Handle != "" && len(m.Relaxed) == 0 && !ByFallback(m)
}

// ByFallback reports whether only a fallback matched.
func ByFallback(m descriptor.Match) bool { return strings.HasPrefix(m.Candidate, "fallback_selectors") }

// Repair searches for the elements of targets that match nothing, by their stored descriptions. It
// proposes only certain matches, and none that would weaken an assertion.
func (b *Batch) Repair(
	ctx context.Context, page primitives.Page, m *sites.Map, k *manifest.Check, locks map[string]*lock.File,
) ([]checks.Repair, error) {
	var lost []subject
	var remembered []likeness.Element
	for _, s := range b.subjects(m, k) {
		elsewhere := s.match.Reason == "url" || s.match.Reason == "empty"
		if !s.fails || s.match.Found || elsewhere || IsThere(s.match) {
			continue
		}
		if s.target.At.Pointer == "" || !s.claims.keeps(s.target) {
			continue
		}
		if e, ok := locks[s.in.Path].Find(s.key); ok {
			lost, remembered = append(lost, s), append(remembered, e)
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	live, complete, err := locators.Live(ctx, page, remembered)
	if err != nil || !complete { // what was not compared may be more alike
		return nil, err
	}
	var out []checks.Repair
	for i, s := range lost {
		r, err := proposal(ctx, page, s.in, s.target, remembered[i], live, s.claims.asserted)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, r.Repair)
		}
	}
	return out, nil
}

// proposal is the target with the element that looks like what was remembered; nil when
// none surely does, or when it has no name of its own.
func proposal(
	ctx context.Context, page primitives.Page, in *sites.Map, t *manifest.Target,
	remembered likeness.Element, live []likeness.Seen, write writer,
) (*Repair, error) {
	c := likeness.Best(remembered, live)
	if !c.Sure() {
		return nil, nil
	}
	e := live[c.Index]
	names, err := locators.Unique(ctx, page, e)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	text, to, kind := write(t, names, e)
	if text == nil {
		return nil, nil
	}
	was, err := edit.Value(in.Manifest.Raw, t.At.Pointer)
	if err != nil {
		return nil, err
	}
	return &Repair{relocated: to, Repair: checks.Repair{
		MapPath:  in.Path,
		Pointer:  t.At.Pointer,
		Target:   text,
		Was:      was,
		Role:     e.Role,
		Name:     e.Name,
		Likeness: c.Likeness,
		Next:     c.Next,
		Locator:  kind,
	}}, nil
}

// writer puts an element into the words of a map, by one of the locators that name it
// alone. It writes nil when the map has no words for any of them.
type writer func(
	t *manifest.Target, names []locators.Locator, e likeness.Seen,
) (text json.RawMessage, to *manifest.Target, kind locators.Kind)

// RememberTarget describes the one element that the target of a step has found; nil when
// it cannot be described.
func RememberTarget(
	ctx context.Context, page primitives.Page, in *sites.Map, t *manifest.Target, handle string,
) (*checks.Remembered, error) {
	described, err := locators.Describe(ctx, page, []string{handle})
	if err != nil || len(described) != 1 || described[0] == nil {
		return nil, err
	}
	live, _, err := locators.Live(ctx, page, []likeness.Element{described[0].Describe(true)})
	if err != nil {
		return nil, err
	}
	return &checks.Remembered{
		MapPath: in.Path,
		Entry:   lock.Entry{Target: DescriptorOf(t, "", nil), Element: described[0].Remember(live, true)},
	}, nil
}

// RepairTarget proposes another target for one of a step that finds nothing; nil for
// none. Arguments are those of the call: a locator that has a value of theirs would name
// another element with other arguments.
func RepairTarget(
	ctx context.Context, page primitives.Page, in *sites.Map,
	t *manifest.Target, locks map[string]*lock.File, arguments json.RawMessage,
) (*Repair, error) {
	return repairOf(ctx, page, in, t, locks, func(
		t *manifest.Target, names []locators.Locator, e likeness.Seen,
	) (json.RawMessage, *manifest.Target, locators.Kind) {
		names = withoutValues(names, t, arguments)
		if len(names) == 0 {
			return nil, nil, ""
		}
		return relocated(t, names, e)
	})
}

// RepairRead is RepairTarget for a step that reads its target: it proposes nothing by which something else
// would be read, or always the same.
func RepairRead(
	ctx context.Context, page primitives.Page, in *sites.Map,
	t *manifest.Target, locks map[string]*lock.File, arguments json.RawMessage,
) (*Repair, error) {
	if !Keeps(t) {
		return nil, nil
	}
	write := func(
		t *manifest.Target, names []locators.Locator, e likeness.Seen,
	) (json.RawMessage, *manifest.Target, locators.Kind) {
		return claims{read: true}.asserted(t, withoutValues(names, t, arguments), e)
	}
	return repairOf(ctx, page, in, t, locks, write)
}

// withoutValues are the locators that have no value of arguments which the target does
// not have.
func withoutValues(names []locators.Locator, t *manifest.Target, arguments json.RawMessage) []locators.Locator {
	var values []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if s := strings.ToLower(strings.TrimSpace(v)); len(s) > 1 {
				values = append(values, s)
			}
		case float64:
			if s := strconv.FormatFloat(v, 'f', -1, 64); len(s) > 1 {
				values = append(values, s)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var all any
	if json.Unmarshal(arguments, &all) == nil {
		walk(all)
	}
	had := strings.ToLower(strings.Join(append(t.Candidates(), t.Name, t.TextEquals, t.TextContains), "\n"))
	values = slices.DeleteFunc(values, func(v string) bool { return strings.Contains(had, v) })
	return slices.DeleteFunc(slices.Clone(names), func(l locators.Locator) bool {
		says := strings.ToLower(strings.Join([]string{l.Selector, l.Name, l.TextEquals}, "\n"))
		return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(says, v) })
	})
}

// IsLocked reports whether a match is surely the element that the lock file remembers of its target.
func IsLocked(
	ctx context.Context, page primitives.Page, in *sites.Map,
	t *manifest.Target, locks map[string]*lock.File, m descriptor.Match,
) bool {
	remembered, ok := locks[in.Path].Find(DescriptorOf(t, "", nil))
	if !ok || m.Handle == "" || m.Count != 1 {
		return false
	}
	live, complete, err := locators.Live(ctx, page, []likeness.Element{remembered})
	if err != nil || !complete {
		return false
	}
	best := likeness.Best(remembered, live)
	return best.Sure() && live[best.Index].Handle == m.Handle
}

func repairOf(
	ctx context.Context, page primitives.Page, in *sites.Map,
	t *manifest.Target, locks map[string]*lock.File, write writer,
) (*Repair, error) {
	f := locks[in.Path]
	if f == nil || t.At.Pointer == "" {
		return nil, nil
	}
	remembered, ok := f.Find(DescriptorOf(t, "", nil))
	if !ok {
		return nil, nil
	}
	live, complete, err := locators.Live(ctx, page, []likeness.Element{remembered})
	if err != nil || !complete { // what was not compared may be more alike
		return nil, err
	}
	return proposal(ctx, page, in, t, remembered, live, write)
}

// relocated is a target with another locator. A selector keeps those that the target
// had as fallbacks: the site may return to them.
func relocated(
	t *manifest.Target, names []locators.Locator, e likeness.Seen,
) (json.RawMessage, *manifest.Target, locators.Kind) {
	l := names[0]
	out := struct {
		Selector          string   `json:"selector,omitempty"`
		Role              string   `json:"role,omitempty"`
		Name              string   `json:"name,omitempty"`
		TextEquals        string   `json:"text_equals,omitempty"`
		URLContains       string   `json:"url_contains,omitempty"`
		URLMatches        string   `json:"url_matches,omitempty"`
		State             string   `json:"state,omitempty"`
		FallbackSelectors []string `json:"fallback_selectors,omitempty"`
		Confidence        string   `json:"confidence,omitempty"`
		Notes             string   `json:"notes,omitempty"`
	}{l.Selector, l.Role, l.Name, l.TextEquals, t.URLContains, t.URLMatches, t.State, nil, t.Confidence, t.Notes}
	if l.Selector != "" && l.TextEquals == "" {
		if t.Role == e.Role {
			out.Role = t.Role
		}
		if strings.EqualFold(normalised(t.Name), normalised(e.Name)) {
			out.Name = t.Name
		}
		out.FallbackSelectors = slices.DeleteFunc(t.Candidates(), func(s string) bool { return s == l.Selector })
	}
	to := &manifest.Target{
		FallbackSelectors: out.FallbackSelectors,
		Role:              out.Role,
		Name:              out.Name,
		TextEquals:        out.TextEquals,
		URLContains:       t.URLContains,
		URLMatches:        t.URLMatches,
		State:             t.State,
		At:                t.At,
		Extensions:        t.Extensions,
	}
	if out.Selector != "" {
		to.Selector = []string{out.Selector}
	}
	return call.JSON(out), to, l.Kind
}
