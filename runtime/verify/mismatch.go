package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// maxQuoted bounds text of a page in a sentence, in characters.
const maxQuoted = 120

func quoted(s string) string { return strconv.Quote(fault.Clip(s, maxQuoted)) }

// explain adds to every member that failed what was expected and found.
func (f *Observation) explain(
	b *Batch, m *sites.Map, p *manifest.Probe, d descriptor.Descriptor, match descriptor.Match, is descriptor.Compared,
) {
	for _, member := range f.Failed {
		x := checks.Mismatch{Member: member}
		subject := subjectOf(d, f.Selector)
		switch member {
		case "url_contains":
			mismatch(
				&x, fault.Clip(b.URL, maxQuoted), p.URLContains, "the address is %s, expected it to contain %s",
				quoted(b.URL), quoted(p.URLContains),
			)
		case "url_matches":
			mismatch(
				&x, fault.Clip(b.URL, maxQuoted), p.URLMatches, "the address is %s, expected it to match %s",
				quoted(b.URL), quoted(p.URLMatches),
			)
		case "state":
			mismatch(&x, "not current", p.State, "the state %s is not current", p.State)
		case "target.state":
			mismatch(&x, "not current", "current", "%s: the state that it belongs to is not current", subject)
		case "target.name":
			mismatch(&x, f.Drift.Matched, f.Drift.Preferred, "%s", f.Drift.Message)
		case "attachment":
			state := "unknown"
			if in, a := b.Library.Attachment(m, p.Attachment); a != nil && b.Attached != nil {
				state, _ = b.Attached(in, a.ID)
			}
			want := p.State
			if want == "" {
				want = "attached"
			}
			mismatch(&x, state, want, "the attachment %s is %s, expected %s", p.Attachment, state, want)
		case "exists":
			if match.Found {
				mismatch(&x, match.Count, 0, "%s: %s, expected none", subject, matchCount(match.Count))
			} else {
				f.absent(&x, p, d, match)
			}
		case "visible":
			want, got := "visible", "hidden"
			if p.Visible != nil && !*p.Visible {
				want, got = got, want
			}
			if match.Found {
				mismatch(&x, got, want, "%s: is %s, expected %s", subject, got, want)
			} else {
				f.absent(&x, p, d, match)
			}
		case "count", "min_count", "max_count":
			f.counted(&x, p, subject, match)
		default:
			f.compared(&x, p, d, subject, match, is)
		}
		f.Mismatches = append(f.Mismatches, x)
	}
}

// mismatch fills in what was expected of a member, and what was found.
func mismatch(x *checks.Mismatch, found, expected any, format string, args ...any) {
	x.Found = found
	x.Expected = expected
	x.Message = fmt.Sprintf(format, args...)
}

func (f *Observation) counted(x *checks.Mismatch, p *manifest.Probe, subject string, match descriptor.Match) {
	words := map[string]string{"count": "", "min_count": "at least ", "max_count": "at most "}[x.Member]
	bound := *map[string]*int{"count": p.Count, "min_count": p.MinCount, "max_count": p.MaxCount}[x.Member]
	mismatch(x, match.Count, bound, "%s: %s, expected %s%d", subject, matchCount(match.Count), words, bound)
}

// compared is for members that compare what an element has.
func (f *Observation) compared(
	x *checks.Mismatch, p *manifest.Probe, d descriptor.Descriptor,
	subject string, match descriptor.Match, is descriptor.Compared,
) {
	facts := is.Facts
	if !match.Found || match.Facts == nil {
		f.absent(x, p, d, match)
		return
	}
	flag := func(want *bool, got, yes, no string) {
		expected := map[bool]string{true: yes, false: no}[want != nil && *want]
		mismatch(x, got, expected, "%s: is %s, expected %s", subject, got, expected)
	}
	word := func(b bool, yes, no string) string { return map[bool]string{true: yes, false: no}[b] }
	switch x.Member {
	case "text_equals":
		found, wanted := parting(is.Text, facts.Text, normalised(*p.TextEquals))
		mismatch(
			x, found, normalised(*p.TextEquals), "%s: text is %s, expected %s",
			subject, strconv.Quote(found), strconv.Quote(wanted),
		)
	case "text_contains":
		mismatch(
			x,
			fault.Clip(facts.Text, maxQuoted), normalised(p.TextContains), "%s: text is %s, expected it to contain %s",
			subject, quoted(facts.Text), quoted(normalised(p.TextContains)),
		)
	case "value_equals":
		if facts.Value == nil {
			mismatch(
				x,
				nil, *p.ValueEquals, "%s: has no value that can be read, expected %s", subject, quoted(*p.ValueEquals),
			)
			return
		}
		found, wanted := parting(is.Value, *facts.Value, *p.ValueEquals)
		mismatch(
			x,
			found, *p.ValueEquals, "%s: value is %s, expected %s", subject, strconv.Quote(found), strconv.Quote(wanted),
		)
	case "enabled":
		flag(p.Enabled, word(facts.Enabled, "enabled", "disabled"), "enabled", "disabled")
	case "focused":
		flag(p.Focused, word(facts.Focused, "focused", "not focused"), "focused", "not focused")
	case "checked":
		got := "nothing that can be checked"
		if facts.Checked != nil {
			got = word(*facts.Checked, "checked", "not checked")
		}
		flag(p.Checked, got, "checked", "not checked")
	default:
		mismatch(x, nil, nil, "%s: %s does not hold", subject, x.Member)
	}
}

// parting cuts a text and the expected one to the part that is shown: around the
// place where they part, or the beginning.
func parting(at *descriptor.Shown, found, wanted string) (string, string) {
	if at != nil {
		found, wanted = at.Found, at.Wanted
	}
	return fault.Clip(found, 2*maxQuoted), fault.Clip(wanted, 2*maxQuoted)
}

// absent explains why there is no element, with what the nearest have instead.
func (f *Observation) absent(x *checks.Mismatch, p *manifest.Probe, d descriptor.Descriptor, match descriptor.Match) {
	subject := subjectOf(d, "")
	switch match.Reason {
	case "url":
		mismatch(x, "another page", "present", "%s: is looked for on another page only", subject)
		return
	case "invalid_selector":
		mismatch(x, "invalid_selector", "present", "%s: cannot be parsed as a selector", subject)
		return
	}
	for _, t := range match.Tried {
		if t.Unmatched != match.Reason || t.Near == nil || len(t.Near.Values) == 0 {
			continue
		}
		want := map[string]string{"role": d.Role, "name": d.Name, "text": d.TextEquals + d.TextContains}[t.Unmatched]
		near := subjectOf(d, SelectorNamed(d, t.Candidate))
		if SelectorNamed(d, t.Candidate) == "" {
			near = d.Role
		}
		mismatch(
			x, t.Near.Values, want, "%s: %s is %s, expected %s",
			near, t.Unmatched, has(t.Near.Values, t.Near.Count), quoted(want),
		)
		return
	}
	expected := "expected one"
	switch {
	case p.TextEquals != nil:
		expected = "expected one with text " + quoted(normalised(*p.TextEquals))
	case p.TextContains != "":
		expected = "expected one whose text contains " + quoted(normalised(p.TextContains))
	case p.ValueEquals != nil:
		expected = "expected one with value " + quoted(*p.ValueEquals)
	}
	mismatch(x, 0, "present", "%s: no match, %s", subject, expected)
}

// explainPresence explains why a negative assertion failed.
func (b *Batch) explainPresence(f *Observation, m *sites.Map, p *manifest.Probe) {
	x := checks.Mismatch{Member: "negative"}
	var d descriptor.Descriptor
	var match descriptor.Match
	if _, t := targetOf(b.Library, m, p); t != nil {
		d = b.descriptorFor(t, p.Role, nil)
		match = b.Match(d)
	}
	subject := subjectOf(d, f.Selector)
	is := b.comparedFor(d, match, p, true)
	switch {
	case match.Found && match.Facts != nil && p.TextContains != "":
		found := fault.Clip(is.Facts.Text, maxQuoted)
		if is.Text != nil {
			found = fault.Clip(is.Text.Found, 2*maxQuoted)
		}
		mismatch(&x, found, nil, "%s: text is %s, which must not be", subject, strconv.Quote(found))
	case match.Found && match.Facts != nil && p.TextEquals != nil:
		mismatch(
			&x, fault.Clip(is.Facts.Text, maxQuoted), nil, "%s: text is %s, which must not be",
			subject, quoted(is.Facts.Text),
		)
	case match.Found && p.ValueEquals != nil && is.Facts.Value != nil:
		mismatch(
			&x, fault.Clip(*is.Facts.Value, maxQuoted), nil, "%s: value is %s, which must not be",
			subject, quoted(*is.Facts.Value),
		)
	case match.Found && match.Candidate != "url":
		mismatch(&x, match.Count, 0, "%s: %s, expected none", subject, matchCount(match.Count))
	case p.State != "":
		mismatch(&x, "current", "not current", "the state %s is current, and must not be", p.State)
	case p.URLContains+p.URLMatches != "":
		mismatch(&x, fault.Clip(b.URL, maxQuoted), nil, "the address is %s, which must not be", quoted(b.URL))
	default:
		mismatch(&x, true, false, "%s: holds, and must not", subject)
	}
	f.Mismatches = []checks.Mismatch{x}
}

// subjectOf names a target in a sentence: by the selector that matched, else
// by the one that the map prefers.
func subjectOf(d descriptor.Descriptor, selector string) string {
	for _, list := range [][]string{d.Selector, d.Selectors, d.FallbackSelectors} {
		if selector == "" && len(list) > 0 {
			selector = list[0]
		}
	}
	if selector != "" {
		return fault.Clip(selector, maxQuoted)
	}
	var parts []string
	if d.Role != "" {
		parts = append(parts, d.Role)
	}
	if d.Name != "" {
		parts = append(parts, quoted(d.Name))
	}
	if text := d.TextEquals + d.TextContains; text != "" {
		parts = append(parts, "with text "+quoted(text))
	}
	if len(parts) == 0 {
		return "the page"
	}
	return strings.Join(parts, " ")
}

func matchCount(n int) string {
	switch n {
	case 0:
		return "no match"
	case 1:
		return "1 match"
	}
	return strconv.Itoa(n) + " matches"
}

// boxOf is the box to show: of the element, or the first that nearly matches.
func boxOf(match descriptor.Match) *primitives.Rect {
	if match.Found {
		return match.Box
	}
	for _, t := range match.Tried {
		if t.Near != nil {
			return t.Near.Box
		}
	}
	return nil
}
