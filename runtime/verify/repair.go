package verify

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/authoring/likeness"
	"github.com/outrider-run/outrider/authoring/locators"
	"github.com/outrider-run/outrider/authoring/lock"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Remembered is the appearance of a target of a map when a check found it.
type Remembered struct {
	MapPath string `json:"map_path"`
	lock.Entry
}

// Repair is a target that a map could declare in place of one that finds nothing.
// Whether the check passes with it is not known here.
type Repair struct {
	MapPath string          `json:"map_path"`
	Pointer string          `json:"pointer"` // of the target in the map
	Target  json.RawMessage `json:"target"`
	// Role and Name are those of the element that is proposed.
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
	// Likeness is how much it has of what was remembered, Next that of the one after it.
	Likeness float64       `json:"likeness"`
	Next     float64       `json:"next"`
	Locator  locators.Kind `json:"locator"`
}

// subject is one target that a check asserts something of.
type subject struct {
	in     *sites.Map
	target *manifest.Target
	key    descriptor.Descriptor // what the lock file calls it
	match  descriptor.Match
	fails  bool
}

func (b *Batch) subjects(m *sites.Map, k *manifest.Check) []subject {
	var out []subject
	seen := map[string]bool{}
	assertions, _ := probesOf(k)
	for i := range assertions {
		p := &assertions[i]
		in, t := targetOf(b.Library, m, p)
		if t == nil || p.Exists != nil && !*p.Exists {
			continue
		}
		key := DescriptorOf(t, p.Role, nil)
		if name := in.Path + "\x00" + t.At.Pointer + "\x00" + lock.Key(key); !seen[name] {
			seen[name] = true
			out = append(out, subject{in, t, key, b.Match(b.descriptorFor(t, p.Role, alternates(k))), b.Judge(m, p, alternates(k)).Verdict == No})
		}
	}
	return out
}

// Remember describes the elements that the targets of a check found, each alone.
// A target with several matches is a list, and no element stands for it.
func (b *Batch) Remember(ctx context.Context, page primitives.Page, m *sites.Map, k *manifest.Check) ([]Remembered, error) {
	var found []subject
	var handles []string
	for _, s := range b.subjects(m, k) {
		if s.match.Found && s.match.Count == 1 && s.match.Handle != "" && len(s.match.Relaxed) == 0 {
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
	var out []Remembered
	for i, d := range described {
		if d != nil {
			out = append(out, Remembered{found[i].in.Path, lock.Entry{Target: found[i].key, Element: d.Remember(live, true)}})
		}
	}
	return out, nil
}

// Repair looks for the elements of targets that find nothing, by what they looked
// like. It proposes nothing that it is not sure of.
func (b *Batch) Repair(ctx context.Context, page primitives.Page, m *sites.Map, k *manifest.Check, locks map[string]*lock.File) ([]Repair, error) {
	var lost []subject
	var remembered []likeness.Element
	for _, s := range b.subjects(m, k) {
		elsewhere := s.match.Reason == "url" || s.match.Reason == "empty"
		if !s.fails || s.match.Found || elsewhere || s.target.At.Pointer == "" {
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
	var out []Repair
	for i, s := range lost {
		r, err := proposal(ctx, page, s.in, s.target, remembered[i], live)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, nil
}

// proposal is the target with the element that looks like what was remembered; nil when
// none surely does, or when it has no name of its own.
func proposal(ctx context.Context, page primitives.Page, in *sites.Map, t *manifest.Target, remembered likeness.Element, live []likeness.Seen) (*Repair, error) {
	c := likeness.Best(remembered, live)
	if !c.Sure() {
		return nil, nil
	}
	e := live[c.Index]
	names, err := locators.Unique(ctx, page, e)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return &Repair{
		MapPath: in.Path, Pointer: t.At.Pointer, Target: relocated(t, names[0], e),
		Role: e.Role, Name: e.Name, Likeness: c.Likeness, Next: c.Next, Locator: names[0].Kind,
	}, nil
}

// RememberTarget describes the one element that the target of a step has found; nil when
// it cannot be described.
func RememberTarget(ctx context.Context, page primitives.Page, in *sites.Map, t *manifest.Target, handle string) (*Remembered, error) {
	described, err := locators.Describe(ctx, page, []string{handle})
	if err != nil || len(described) != 1 || described[0] == nil {
		return nil, err
	}
	live, _, err := locators.Live(ctx, page, []likeness.Element{described[0].Describe(true)})
	if err != nil {
		return nil, err
	}
	return &Remembered{in.Path, lock.Entry{Target: DescriptorOf(t, "", nil), Element: described[0].Remember(live, true)}}, nil
}

// RepairTarget proposes another target for one of a step that finds nothing; nil for
// none.
func RepairTarget(ctx context.Context, page primitives.Page, in *sites.Map, t *manifest.Target, locks map[string]*lock.File) (*Repair, error) {
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
	return proposal(ctx, page, in, t, remembered, live)
}

// relocated is a target with another locator. A selector keeps those that the target
// had as fallbacks: the site may return to them.
func relocated(t *manifest.Target, l locators.Locator, e likeness.Seen) json.RawMessage {
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
	return call.JSON(out)
}
