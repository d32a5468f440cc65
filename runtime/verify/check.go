package verify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// says reports whether a probe claims something beside what holds on every page.
func says(p *manifest.Probe) bool {
	if p.Visible != nil || p.Exists != nil || p.Enabled != nil || p.Checked != nil || p.Focused != nil {
		return true
	}
	if p.TextEquals != nil || p.ValueEquals != nil || p.TextContains+p.URLContains+p.URLMatches+p.State != "" {
		return true
	}
	return p.Count != nil || p.MaxCount != nil || p.MinCount != nil && *p.MinCount > 0
}

// maxReasons is how many failed assertions the message of a check names.
const maxReasons = 3

// defaultSeverity is that of a check that declares none.
const defaultSeverity = "minor"

// probesOf are the assertions of a check, each with a target: that of the
// check's subject where it names none. A check without assertions asserts its
// subject.
func probesOf(k *manifest.Check) (assertions, negative []manifest.Probe) {
	subject := manifest.Probe{Target: k.Target, TargetOf: k.TargetOf, Tool: k.Tool, Attachment: k.Attachment}
	about := func(list []manifest.Probe) []manifest.Probe {
		out := slices.Clone(list)
		for i := range out {
			p := &out[i]
			names := p.TargetOf + p.Tool + p.State + p.Attachment + p.URLContains + p.URLMatches
			if p.Target == nil && len(p.Selectors) == 0 && names == "" {
				p.Target = subject.Target
				p.TargetOf = subject.TargetOf
				p.Tool = subject.Tool
				p.Attachment = subject.Attachment
			}
		}
		return out
	}
	assertions, negative = about(k.Assertions), about(k.NegativeAssertions)
	if len(assertions)+len(negative) > 0 {
		return assertions, negative
	}
	if subject.Target != nil || subject.TargetOf != "" || subject.Tool != "" || subject.Attachment != "" {
		assertions = append(assertions, subject)
	}
	for _, n := range statesOf(k) {
		assertions = append(assertions, manifest.Probe{Name: n, State: n})
	}
	for _, n := range k.Tools {
		assertions = append(assertions, manifest.Probe{Name: n, Tool: n})
	}
	for _, id := range k.Attachments {
		assertions = append(assertions, manifest.Probe{Name: id, Attachment: id})
	}
	return assertions, nil
}

func statesOf(k *manifest.Check) []string {
	if k.State == "" {
		return k.States
	}
	return append([]string{k.State}, k.States...)
}

func toolsOf(k *manifest.Check) []string {
	if k.Tool == "" {
		return k.Tools
	}
	return append([]string{k.Tool}, k.Tools...)
}

func alternates(k *manifest.Check) []string {
	if k.OnFail == nil {
		return nil
	}
	return k.OnFail.AlternateSelectors
}

// AddCheck adds what a check needs.
func (b *Batch) AddCheck(m *sites.Map, k *manifest.Check) {
	assertions, negative := probesOf(k)
	for i := range assertions {
		b.Add(m, &assertions[i], alternates(k))
	}
	for i := range negative {
		b.addAt(m, &negative[i], nil, true, 0)
	}
	for _, n := range statesOf(k) {
		b.AddState(m, n)
	}
}

// Check judges one check from what was observed. Its assertions hold together; a
// negative assertion must not hold. One about states with assertions of its own
// is skipped while one of them is certainly not current.
func (b *Batch) Check(m *sites.Map, k *manifest.Check) checks.Check {
	r := checks.Check{
		ID:          k.ID,
		Description: k.Description,
		Severity:    k.Severity,
		Status:      checks.Unknown,
		MapPath:     m.Path,
		Pointer:     k.At.Pointer,
		Line:        k.At.Line,
		ObservedAt:  jsonout.Time(b.At),
		URL:         b.URL,
		Tools:       toolsOf(k),
		States:      statesOf(k),
	}
	if r.Severity == "" {
		r.Severity = defaultSeverity
	}
	if len(k.Assertions)+len(k.NegativeAssertions) > 0 {
		for _, n := range r.States {
			if b.Diagnose(m, n).Verdict == No {
				r.Status = checks.Skipped
				return r
			}
		}
	}
	assertions, negative := probesOf(k)
	var failed, reasons []string
	note := func(f *Observation, holds, breaks Verdict, label string) {
		switch f.Verdict {
		case holds:
			if r.Status == checks.Unknown {
				r.Status = checks.Passed
			}
		case breaks:
			r.Status = checks.Failed
			failed = append(failed, label)
			for _, x := range f.Mismatches {
				reasons = append(reasons, x.Message)
			}
		}
	}
	for i := range assertions {
		f := b.Judge(m, &assertions[i], alternates(k))
		if f.Verdict == Yes && assertions[i].AlwaysHolds && !says(&assertions[i]) {
			f.Verdict = Unknown
			f.Reason = checks.AlwaysHolds
			f.OK = nil
		}
		note(&f, Yes, No, labelOf(f, "assertions", i))
		r.Assertions = append(r.Assertions, f.Assertion)
		r.Drift = append(r.Drift, f.drifts()...)
	}
	for i := range negative {
		f := b.judgeAt(m, &negative[i], nil, true, 0)
		f.Mismatches = nil // that it does not hold is right
		if b.Explain && f.Verdict == Yes {
			b.explainPresence(&f, m, &negative[i])
		}
		note(&f, No, Yes, labelOf(f, "negative_assertions", i))
		r.NegativeAssertions = append(r.NegativeAssertions, f.Assertion)
		if f.Drift != nil && len(f.Relaxed) > 0 {
			r.Drift = append(r.Drift, *f.Drift) // what it is about may be another element
		}
	}
	if r.Status == checks.Passed && len(r.Drift) > 0 {
		r.Status = checks.Drifted
	}
	if r.Status == checks.Failed && HasSetup(k) && b.Prepared != k {
		r.Status = checks.NotRun
	}
	if k.OnFail != nil && (r.Status == checks.Failed || r.Status == checks.Drifted) {
		r.Contingency = k.OnFail.Contingency
	}
	switch r.Status {
	case checks.Failed:
		r.Error = fault.New(fault.DriftDetected, "the check %s fails: %s", r.ID, inShort(reasons)).
			With("check_id", r.ID).With("failed", failed).With("severity", r.Severity).
			With("url", fault.Clip(r.URL, 200)).With("map_path", r.MapPath)
	case checks.Drifted:
		d := r.Drift[0]
		r.Error = fault.New(
			fault.DriftDetected, "the check %s passes, but not as its map says: %s", r.ID, d.Message,
		).With("check_id", r.ID).With("preferred", d.Preferred).With("matched", d.Matched).
			With("candidate", d.Candidate).
			With("severity", string(fault.Minor)).With("map_path", r.MapPath)
		if d.Proposal != nil {
			r.Error.With("proposal", d.Proposal).Next("put the proposed target into the map")
		}
	}
	if r.Error != nil && r.Contingency != "" {
		r.Error.With("contingency", r.Contingency)
		if r.Error.NextStep == "" {
			r.Error.Next("the map asks for: " + fault.Clip(r.Contingency, 200))
		}
	}
	return r
}

// inShort is the first of several reasons, and how many more there are.
func inShort(reasons []string) string {
	if len(reasons) == 0 {
		return "the site is not as its map says"
	}
	text := strings.Join(reasons[:min(len(reasons), maxReasons)], "; ")
	if more := len(reasons) - maxReasons; more > 0 {
		text += "; and " + strconv.Itoa(more) + " more"
	}
	return text
}

func labelOf(f Observation, list string, i int) string {
	if f.Name != "" {
		return f.Name
	}
	return list + "/" + strconv.Itoa(i)
}
