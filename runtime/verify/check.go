package verify

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// What a check comes to.
const (
	CheckPassed  = "passed"
	CheckDrifted = "drifted" // it passed by a fallback, or the element has another role or name
	CheckFailed  = "failed"
	CheckSkipped = "skipped" // it is about a state that is not current
	CheckUnknown = "unknown" // it is about nothing that can be observed
	CheckNotRun  = "not_run" // its setup was not done, or failed: nothing is known about the site
)

// CheckOutcome is what one check found (schema v1, "checks").
type CheckOutcome struct {
	CheckID     string   `json:"check_id"`
	Description string   `json:"description,omitempty"`
	Severity    string   `json:"severity"`
	Status      string   `json:"status"`
	ObservedAt  string   `json:"observed_at"`
	URL         string   `json:"url"`
	MapPath     string   `json:"map_path"`
	Pointer     string   `json:"pointer,omitempty"` // in the map
	Line        int      `json:"line,omitempty"`
	Tools       []string `json:"tools,omitempty"`  // those that the check is about
	States      []string `json:"states,omitempty"` // likewise

	Assertions         []Observation `json:"assertions,omitempty"`
	NegativeAssertions []Observation `json:"negative_assertions,omitempty"`
	// Evidence is what on_fail names: url, dom_snapshot, screenshot.
	Evidence    map[string]json.RawMessage `json:"evidence,omitempty"`
	Contingency string                     `json:"contingency,omitempty"`
	Error       *fault.Error               `json:"error,omitempty"`
	Drift       []Drift                    `json:"drift,omitempty"`
	Setup       *SetupOutcome              `json:"setup,omitempty"`
	// Repairs are targets that could stand where the check finds nothing; Remembered
	// is the appearance of its targets. Both are there when the caller requested them.
	Repairs    []Repair     `json:"repairs,omitempty"`
	Remembered []Remembered `json:"remembered,omitempty"`
}

// AlwaysHolds is the reason of an assertion that holds on every page.
const AlwaysHolds = "always_holds"

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
func (b *Batch) Check(m *sites.Map, k *manifest.Check) CheckOutcome {
	r := CheckOutcome{
		CheckID:     k.ID,
		Description: k.Description,
		Severity:    k.Severity,
		Status:      CheckUnknown,
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
				r.Status = CheckSkipped
				return r
			}
		}
	}
	assertions, negative := probesOf(k)
	var failed, reasons []string
	note := func(f *Observation, holds, breaks Verdict, label string) {
		switch f.Verdict {
		case holds:
			if r.Status == CheckUnknown {
				r.Status = CheckPassed
			}
		case breaks:
			r.Status = CheckFailed
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
			f.Reason = AlwaysHolds
			f.OK = nil
		}
		note(&f, Yes, No, labelOf(f, "assertions", i))
		r.Assertions = append(r.Assertions, f)
		r.Drift = append(r.Drift, f.drifts()...)
	}
	for i := range negative {
		f := b.judgeAt(m, &negative[i], nil, true, 0)
		f.Mismatches = nil // that it does not hold is right
		if b.Explain && f.Verdict == Yes {
			b.explainPresence(&f, m, &negative[i])
		}
		note(&f, No, Yes, labelOf(f, "negative_assertions", i))
		r.NegativeAssertions = append(r.NegativeAssertions, f)
		if f.Drift != nil && len(f.Relaxed) > 0 {
			r.Drift = append(r.Drift, *f.Drift) // what it is about may be another element
		}
	}
	if r.Status == CheckPassed && len(r.Drift) > 0 {
		r.Status = CheckDrifted
	}
	if r.Status == CheckFailed && HasSetup(k) && b.Prepared != k {
		r.Status = CheckNotRun
	}
	if k.OnFail != nil && (r.Status == CheckFailed || r.Status == CheckDrifted) {
		r.Contingency = k.OnFail.Contingency
	}
	switch r.Status {
	case CheckFailed:
		r.Error = fault.New(fault.DriftDetected, "the check %s fails: %s", r.CheckID, inShort(reasons)).
			With("check_id", r.CheckID).With("failed", failed).With("severity", r.Severity).
			With("url", fault.Clip(r.URL, 200)).With("map_path", r.MapPath)
	case CheckDrifted:
		d := r.Drift[0]
		r.Error = fault.New(
			fault.DriftDetected, "the check %s passes, but not as its map says: %s", r.CheckID, d.Message,
		).With("check_id", r.CheckID).With("preferred", d.Preferred).With("matched", d.Matched).
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

// Named is the outcome under the name by which the page's map offers the check.
func (r CheckOutcome) Named(name string) CheckOutcome {
	if r.Error != nil && name != r.CheckID {
		r.Error.With("check_id", name)
	}
	r.CheckID = name
	return r
}

// Breaks reports whether the check fails, or could not be run, and is more than
// information.
func (r CheckOutcome) Breaks() bool {
	return (r.Status == CheckFailed || r.Status == CheckNotRun) && r.Severity != "info"
}

func labelOf(f Observation, list string, i int) string {
	if f.Name != "" {
		return f.Name
	}
	return list + "/" + strconv.Itoa(i)
}

// Refusal is the error of a call that a failed check refuses.
func (r CheckOutcome) Refusal(message string) *fault.Error {
	e := fault.New(fault.DriftDetected, "%s", message)
	if r.Error != nil {
		e.Evidence, e.NextStep = r.Error.Evidence, r.Error.NextStep
	}
	return e.With("check_id", r.CheckID).With("severity", r.Severity).With("assertions", r.Assertions)
}
