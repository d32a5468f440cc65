package siteaction

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites/manifest"
)

// found is an element that a step is about, as primitives name it.
type found struct {
	locator map[string]any // names this element
	target  *manifest.Target
	all     map[string]any // names all that the candidate matches
	match   descriptor.Match
}

// find waits until the step's target is there and returns the locator that
// names what matched. rendered requires an element with a box.
func (r *executionRun) find(s *plannedStep, rendered bool) (found, *fault.Error) {
	if t, ok := r.relocated[s.target]; ok { // it was not found before
		return r.findTarget(s, t, rendered)
	}
	return r.findTarget(s, s.target, rendered)
}

func (r *executionRun) findTarget(s *plannedStep, t *manifest.Target, rendered bool) (found, *fault.Error) {
	if s.Frame != "" || t.Extensions["x_frame"] != nil {
		return r.findFramed(s, t)
	}
	var m descriptor.Match
	var seen string
	guess := false               // only a fallback matches, and this step may not act on it
	queried, locked := "", false // whether the lock file remembers the element of a handle
	within, end, early := r.untilQuiet(s)
	f, err := r.awaitWithin(
		within,
		func(sv *verify.Batch) {
			sv.AddTarget(t)
			sv.AddState(r.match.Map, t.State)
		},
		func(sv *verify.Batch) (verify.Observation, bool) {
			m, seen = sv.Match(verify.DescriptorOf(t, "", nil)), sv.URL
			out := verify.Observation{Assertion: checks.Assertion{
				Reason:       m.Reason,
				Candidate:    m.Candidate,
				Count:        m.Count,
				VisibleCount: m.VisibleCount,
				Tried:        m.Tried,
			}}
			ok := m.Found && m.Facts != nil && (!rendered || m.Facts.Rendered)
			if m.Found && !ok {
				out.Reason = "rendered"
			}
			guess = ok && r.guesses(s, t, m)
			if guess && queried != m.Handle {
				queried, locked = m.Handle, r.lockedTo(t, m)
			}
			guess = guess && !locked
			if guess {
				ok = false
			}
			if t.State != "" {
				if d := sv.Diagnose(r.match.Map, t.State); d.Verdict == verify.No {
					ok, out.Reason = false, "state"
				}
			}
			return out, ok
		})
	quiet := early()
	end()
	if err != nil {
		return found{}, err
	}
	if guess && f.Reason != "state" {
		return r.insteadOfGuess(s, t, m, rendered, seen)
	}
	if !m.Found || m.Facts == nil || rendered && !m.Facts.Rendered || f.Reason == "state" {
		code := fault.TargetNotFound
		if f.Reason == "state" {
			code = fault.StateMismatch
		}
		message := "the target of step %s is not on the page"
		if f.Reason == "rendered" {
			message = "the target of step %s is there, not visible"
		}
		failed := fault.New(code, message, s.id).
			With("target", verify.TargetEvidence(t)).
			With("reason", f.Reason).With("tried", f.Tried).With("url", fault.Clip(seen, 200)).
			Next("check whether the page is in the state that the action expects; outrider check shows what the site " +
				"has changed")
		if near := r.near(t); len(near) > 0 && code == fault.TargetNotFound && !m.Found {
			failed.With("nearest", near)
		}
		if quiet {
			failed.With("quiet_ms", quietTime.Milliseconds()).
				Next("the page has loaded and was quiet; give the step timeout_ms when its element comes later")
		}
		// a repair would write what the slots gave
		if code == fault.TargetNotFound && !m.Found && t == s.target && s.slots == nil {
			if f, ok := r.instead(s, m, rendered, failed); ok {
				return f, nil
			}
		}
		return found{}, failed
	}
	if d := verify.DriftOfStep(t, m); d != nil {
		r.drift = d
	}
	if page, e := r.a.LivePage(r.bound); e == nil && s.slots == nil {
		r.appearances.remember(r.bound, page, r.match.Map, t, m)
	}
	all := r.locatorOf(t, m)
	out := found{locator: all, all: all, match: m, target: t}
	// The element that was resolved is the one to act on, also where the
	// candidate matches several or it stands in a shadow root.
	var named struct {
		Ref string `json:"ref"`
	}
	if page, e := r.a.LivePage(r.bound); e == nil &&
		page.Call(r.bound, m.Frame, "ref_of", map[string]any{"handle": m.Handle}, &named) == nil && named.Ref != "" {
		out.locator = map[string]any{"ref": named.Ref}
	}
	return out, nil
}

// instead finds the element that looks like the one that the step's target had. The step
// has its time anew: it had none left when nothing was found.
func (r *executionRun) instead(s *plannedStep, m descriptor.Match, rendered bool, failed *fault.Error) (found, bool) {
	if len(r.appearances.locks) == 0 || s.Optional != nil && *s.Optional {
		return found{}, false
	}
	page, e := r.a.LivePage(r.whole)
	if e != nil {
		return found{}, false
	}
	propose := verify.RepairTarget
	if s.kind.reads {
		if verify.IsThere(m) {
			return found{}, false // it says something else, and that is what is read
		}
		propose = verify.RepairRead
	}
	repair, e := propose(r.whole, page, r.match.Map, s.target, r.appearances.locks, r.raw)
	if e != nil || repair == nil {
		return found{}, false
	}
	r.allowTime(s)
	f, err := r.findTarget(s, repair.Relocated(), rendered)
	if err != nil {
		return found{}, false
	}
	r.appearances.goOn(repair, s.id, failed)
	if r.relocated == nil {
		r.relocated = map[*manifest.Target]*manifest.Target{}
	}
	r.relocated[s.target] = repair.Relocated()
	return f, true
}

// guesses reports whether a step would act on what only a fallback found, and what has not the name and the
// texts of its target. It may be another element.
func (r *executionRun) guesses(s *plannedStep, t *manifest.Target, m descriptor.Match) bool {
	return !s.kind.reads && !r.a.Quirks.Has(quirks.FallbackActs) && verify.ByFallback(m) && !verify.Confirmed(t, m)
}

// lockedTo reports whether a match is the element that the lock file remembers of a target.
func (r *executionRun) lockedTo(t *manifest.Target, m descriptor.Match) bool {
	if len(r.appearances.locks) == 0 {
		return false
	}
	page, err := r.a.LivePage(r.whole)
	return err == nil && verify.IsLocked(r.whole, page, r.match.Map, t, r.appearances.locks, m)
}

// insteadOfGuess is the element that the lock file remembers, or the failure of a step that may not act on
// what a fallback found.
func (r *executionRun) insteadOfGuess(
	s *plannedStep, t *manifest.Target, m descriptor.Match, rendered bool, seen string,
) (found, *fault.Error) {
	d := verify.DriftOfStep(t, m)
	failed := fault.New(
		fault.DriftDetected,
		"only a fallback of step %s matches, and nothing says that it is the same element; nothing was done",
		s.id,
	).
		With("target", verify.TargetEvidence(t)).With("candidate", m.Candidate).With("url", fault.Clip(seen, 200)).
		Next("give the target the name or the text of its element, or repair its selector; outrider check shows " +
			"what the site has changed")
	if d != nil {
		failed.With("preferred", d.Preferred).With("matched", d.Matched)
	}
	if m.Facts != nil {
		failed.With("found", map[string]any{"tag_name": m.Facts.TagName, "text": fault.Clip(m.Facts.Text, 200)})
	}
	if t == s.target {
		if f, ok := r.instead(s, m, rendered, failed); ok {
			return f, nil
		}
	}
	return found{}, failed
}

// locatorOf names what the candidate of a target that matched matches.
func (r *executionRun) locatorOf(t *manifest.Target, m descriptor.Match) map[string]any {
	l := map[string]any{}
	d := verify.DescriptorOf(t, "", nil)
	if s := verify.SelectorNamed(d, m.Candidate); s != "" {
		l["selector"] = s
	}
	for name, text := range map[string]string{"text_equals": t.TextEquals, "text_contains": t.TextContains} {
		if text != "" {
			l[name] = text
		}
	}
	relaxed := func(name string) bool {
		return slices.Contains(m.Relaxed, name)
	}
	for name, text := range map[string]string{"role": t.Role, "name": t.Name} {
		if text != "" && !relaxed(name) {
			l[name] = text
		}
	}
	return l
}

// framedTime is how long the preferred selectors of a target in a frame are waited for before its fallbacks
// are looked at, where the step has more time.
const framedTime = 2 * time.Second

// findFramed names a target inside a frame, where targets are not resolved in one round trip. Its fallbacks
// come when the others find nothing, under the rules for those of the document.
func (r *executionRun) findFramed(s *plannedStep, t *manifest.Target) (found, *fault.Error) {
	preferred := slices.Concat(t.Selector, t.Selectors)
	first := framed(t, s.Frame, preferred)
	if len(preferred) == 0 || len(t.FallbackSelectors) == 0 || r.there(first, framedTime) {
		if len(preferred) == 0 {
			first = framed(t, s.Frame, t.FallbackSelectors)
		}
		return found{locator: first, all: first, target: t}, nil
	}
	named := t.Name+t.TextEquals+t.TextContains != ""
	may := s.kind.reads || named || r.a.Quirks.Has(quirks.FallbackActs)
	for i, selector := range t.FallbackSelectors {
		l := framed(t, s.Frame, []string{selector})
		if t.Name != "" && !s.kind.reads {
			l["name"] = t.Name
		}
		if !r.there(l, 0) {
			continue
		}
		m := descriptor.Match{Found: true, Candidate: "fallback_selectors/" + strconv.Itoa(i), Count: 1}
		if !may {
			return r.insteadOfGuess(s, t, m, false, "")
		}
		r.drift = verify.DriftOfStep(t, m)
		return found{locator: l, all: l, target: t}, nil
	}
	return found{locator: first, all: first, target: t}, nil // the primitive says that it is not there
}

// there reports whether a locator finds something within a time.
func (r *executionRun) there(l map[string]any, wait time.Duration) bool {
	if deadline, ok := r.bound.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	around := r.primitive
	defer func() { r.primitive = around }()
	_, err := r.invoke("locator.wait_for", map[string]any{
		"locator":    l,
		"state":      "attached",
		"timeout_ms": max(0, wait.Milliseconds()),
	})
	return err == nil
}

// framed is a locator in a frame; of several selectors the first in the document is meant.
func framed(t *manifest.Target, frame string, selectors []string) map[string]any {
	l := map[string]any{}
	if len(selectors) > 0 {
		l["selector"] = strings.Join(selectors, ", ")
	}
	if t.TextEquals != "" {
		l["text_equals"] = t.TextEquals
	}
	if t.TextContains != "" {
		l["text_contains"] = t.TextContains
	}
	if frame != "" {
		l["frame"] = frame
	} else {
		l["frame"] = t.Extensions["x_frame"]
	}
	return l
}

// elementInfo scrolls the step's target into view and returns what a click on
// it needs, waiting while it is covered or moving.
func (r *executionRun) elementInfo(s *plannedStep) (info elementInfo, f found, err *fault.Error) {
	f, err = r.find(s, true)
	if err != nil {
		return info, f, err
	}
	left := defaultStepTime
	if deadline, ok := r.bound.Deadline(); ok {
		left = max(0, time.Until(deadline))
	}
	resolve := func() (json.RawMessage, *fault.Error) {
		return r.invoke("locator.element_info", map[string]any{
			"locator":    f.locator,
			"timeout_ms": min(left, 30*time.Second).Milliseconds(),
		})
	}
	raw, err := resolve()
	if err != nil && (err.Code == fault.ElementStale || err.Code == fault.TargetNotFound) && r.bound.Err() == nil {
		// It was replaced since it was found: a page that renders anew.
		f, err = r.find(s, true)
		if err != nil {
			return info, f, err
		}
		raw, err = resolve()
	}
	if err != nil {
		return info, f, err
	}
	if e := json.Unmarshal(raw, &info); e != nil {
		return info, f, fault.Wrap(fault.Internal, e, "reading the element")
	}
	return info, f, nil
}

type elementInfo struct {
	TagName        string          `json:"tag_name"`
	Text           string          `json:"text"`
	Box            json.RawMessage `json:"bounding_box"`
	Center         point           `json:"clickable_center"`
	CandidateCount int             `json:"candidate_count"`
	Ambiguous      bool            `json:"ambiguous"`
}

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}
