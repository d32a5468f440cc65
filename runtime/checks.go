package runtime

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/runtime/mapset"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// What a check comes to.
const (
	checkPassed  = "passed"
	checkDrifted = "drifted" // it passed, by a fallback and not by what the map prefers
	checkFailed  = "failed"
	checkSkipped = "skipped" // it is about a state that is not current
	checkUnknown = "unknown" // it asks for nothing that can be seen
	checkNotRun  = "not_run" // its setup was not done, or failed: nothing is known about the site
)

// checkOutcome is what one check found (schema v1, "checks").
type checkOutcome struct {
	CheckID     string   `json:"check_id"`
	Description string   `json:"description,omitempty"`
	Severity    string   `json:"severity"`
	Status      string   `json:"status"`
	ObservedAt  string   `json:"observed_at"`
	URL         string   `json:"url"`
	MapPath     string   `json:"map_path"`
	Tools       []string `json:"tools,omitempty"`  // those that the check is about
	States      []string `json:"states,omitempty"` // likewise

	Assertions         []finding `json:"assertions,omitempty"`
	NegativeAssertions []finding `json:"negative_assertions,omitempty"`
	// Evidence is what on_fail asks for: url, dom_snapshot, screenshot.
	Evidence    map[string]json.RawMessage `json:"evidence,omitempty"`
	Contingency string                     `json:"contingency,omitempty"`
	Error       *fault.Error               `json:"error,omitempty"`
	Drift       []drift                    `json:"drift,omitempty"`
	Setup       *setupOutcome              `json:"setup,omitempty"`
}

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
			if p.Target == nil && p.TargetOf == "" && len(p.Selectors) == 0 && p.Tool == "" && p.State == "" && p.Attachment == "" &&
				p.URLContains == "" && p.URLMatches == "" {
				p.Target, p.TargetOf, p.Tool, p.Attachment = subject.Target, subject.TargetOf, subject.Tool, subject.Attachment
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

// wantCheck notes what a check will need.
func (s *survey) wantCheck(m *sites.Map, k *manifest.Check) {
	assertions, negative := probesOf(k)
	for i := range assertions {
		s.want(m, &assertions[i], alternates(k))
	}
	for i := range negative {
		s.want(m, &negative[i], nil)
	}
	for _, n := range statesOf(k) {
		s.wantState(m, n)
	}
}

// check judges one check from what was seen. Its assertions hold together; a
// negative assertion must not hold. One about states with assertions of its own
// is skipped while one of them is certainly not current.
func (s *survey) check(m *sites.Map, k *manifest.Check) checkOutcome {
	r := checkOutcome{
		CheckID: k.ID, Description: k.Description, Severity: k.Severity, Status: checkUnknown, MapPath: m.Path,
		ObservedAt: call.Time(s.at), URL: s.url, Tools: toolsOf(k), States: statesOf(k),
	}
	if r.Severity == "" {
		r.Severity = defaultSeverity
	}
	if len(k.Assertions)+len(k.NegativeAssertions) > 0 {
		for _, n := range r.States {
			if s.diagnose(m, n).verdict == no {
				r.Status = checkSkipped
				return r
			}
		}
	}
	assertions, negative := probesOf(k)
	var failed []string
	note := func(f finding, holds, breaks verdict, label string) {
		switch f.verdict {
		case holds:
			if r.Status == checkUnknown {
				r.Status = checkPassed
			}
		case breaks:
			r.Status = checkFailed
			failed = append(failed, label)
		}
	}
	for i := range assertions {
		f := s.judge(m, &assertions[i], alternates(k))
		r.Assertions = append(r.Assertions, f)
		note(f, yes, no, labelOf(f, "assertions", i))
		if f.Drift != nil {
			r.Drift = append(r.Drift, *f.Drift)
		}
	}
	for i := range negative {
		f := s.judge(m, &negative[i], nil)
		r.NegativeAssertions = append(r.NegativeAssertions, f)
		note(f, no, yes, labelOf(f, "negative_assertions", i))
	}
	if r.Status == checkPassed && len(r.Drift) > 0 {
		r.Status = checkDrifted
	}
	if r.Status == checkFailed && hasSetup(k) && s.prepared != k {
		r.Status = checkNotRun
	}
	if k.OnFail != nil && (r.Status == checkFailed || r.Status == checkDrifted) {
		r.Contingency = k.OnFail.Contingency
	}
	switch r.Status {
	case checkFailed:
		r.Error = fault.New(fault.DriftDetected, "the check %s fails: the site is not as its map says", r.CheckID).
			With("check_id", r.CheckID).With("failed", failed).With("severity", r.Severity).With("url", fault.Clip(r.URL, 200)).With("map_path", r.MapPath)
	case checkDrifted:
		d := r.Drift[0]
		r.Error = fault.New(fault.DriftDetected, "the check %s passes by a fallback: the preferred selector matches nothing", r.CheckID).
			With("check_id", r.CheckID).With("preferred", d.Preferred).With("matched", d.Matched).With("candidate", d.Candidate).
			With("proposal", d.Proposal).With("severity", string(fault.Minor)).With("map_path", r.MapPath).
			Next("put the proposed target into the map")
	}
	if r.Error != nil && r.Contingency != "" {
		r.Error.With("contingency", r.Contingency)
		if r.Error.NextStep == "" {
			r.Error.Next("the map asks for: " + fault.Clip(r.Contingency, 200))
		}
	}
	return r
}

// named is the outcome under the name by which the page's map offers the check.
func (r checkOutcome) named(name string) checkOutcome {
	if r.Error != nil && name != r.CheckID {
		r.Error.With("check_id", name)
	}
	r.CheckID = name
	return r
}

// breaks says whether the check fails, or could not be run, and is more than
// information.
func (r checkOutcome) breaks() bool {
	return (r.Status == checkFailed || r.Status == checkNotRun) && r.Severity != "info"
}

func labelOf(f finding, list string, i int) string {
	if f.Name != "" {
		return f.Name
	}
	return list + "/" + strconv.Itoa(i)
}

// fault is the error of a call that a failed check refuses.
func (r checkOutcome) fault(message string) *fault.Error {
	e := fault.New(fault.DriftDetected, "%s", message)
	if r.Error != nil {
		e.Evidence, e.NextStep = r.Error.Evidence, r.Error.NextStep
	}
	return e.With("check_id", r.CheckID).With("severity", r.Severity).With("assertions", r.Assertions)
}

// checkReport is the output of mode check.
type checkReport struct {
	// OK means that something was checked, that no check failed that is more than
	// information, and that Unmet is empty.
	OK         bool           `json:"ok"`
	Unmet      []string       `json:"unmet,omitempty"`
	URL        string         `json:"url"`
	HTTPStatus int            `json:"http_status,omitempty"`
	ObservedAt string         `json:"observed_at"`
	Summary    map[string]int `json:"summary"`
	Checks     []checkOutcome `json:"checks"`
	States     []diagnosis    `json:"states"`
	// Maps are those that apply to the page.
	Maps []string `json:"maps"`
}

const (
	// checkEvidence bounds what evidence may cost.
	checkEvidence = 10 * time.Second
	// maxSnapshot is how much of the page's text is kept as evidence.
	maxSnapshot = 8000
)

// siteCheck answers mode check: every check and every state of the maps that
// apply, from one look at the page. With wait_ms it looks again while a check
// fails: a page that has just loaded goes on building itself. Checks with a
// setup come after it, one by one, each with its setup and a look of its own.
func (h *Host) siteCheck(ctx context.Context, t *Tab, j *job, in siteArguments) Reply {
	o, url, err := h.offerFor(ctx, t, j)
	if err != nil {
		return Reply{Err: err}
	}
	maps := o.Library.For(url)
	page, e := t.LivePage(ctx)
	if e != nil {
		return Reply{Err: fault.From(e)}
	}
	states := statesOffered(o.Library, maps)
	var checks []sites.Exposed[manifest.Check]
	for _, m := range maps {
		checks = append(checks, o.Library.Composition(m).Checks...)
	}
	setUp := func(k sites.Exposed[manifest.Check]) bool { return len(k.Entry.SetupSteps) > 0 }
	s := survey{lib: o.Library}
	inTime := in.expectations
	inTime.ExpectStatus = 0 // no waiting changes it
	look := func(ctx context.Context, page primitives.Page) (bool, error) {
		next := survey{lib: o.Library, attached: t.attachmentState}
		for _, n := range states {
			next.wantState(n.in, n.own)
		}
		for _, k := range checks {
			if !setUp(k) {
				next.wantCheck(k.Source.Map, k.Entry)
			}
		}
		if err := next.ask(ctx, page); err != nil {
			return false, err
		}
		s = next
		if len(checks)+len(states) == 0 {
			return true, nil // nothing will come
		}
		sofar := checkReport{States: s.diagnoseAll(states).states}
		for _, k := range checks {
			if setUp(k) {
				sofar.Checks = append(sofar.Checks, checkOutcome{Status: checkPassed}) // it comes later
			} else {
				sofar.Checks = append(sofar.Checks, s.check(k.Source.Map, k.Entry))
			}
		}
		return !slices.ContainsFunc(sofar.Checks, checkOutcome.breaks) && len(inTime.unmet(&sofar)) == 0, nil
	}
	if _, e := look(ctx, page); e != nil && fault.CodeOf(e) != fault.PageNavigated {
		return Reply{Err: fault.From(e)}
	}
	if in.WaitMS != nil && *in.WaitMS > 0 || s.at.IsZero() {
		wait := max(stateGrace, waitOf(in))
		whole, end := observe.Answerable(ctx)
		bounded, cancel := context.WithTimeout(whole, wait)
		_, e := observe.Until(whole, bounded, t, look)
		cancel()
		end()
		if s.at.IsZero() {
			if e == nil {
				e = fault.New(fault.Timeout, "the page could not be looked at in time")
			}
			return Reply{Err: fault.From(e)}
		}
	}
	status, e := primitives.HTTPStatus(ctx, page)
	if e != nil {
		return Reply{Err: fault.From(e)}
	}
	out := checkReport{
		URL: s.url, HTTPStatus: status, ObservedAt: call.Time(s.at), Checks: []checkOutcome{}, States: []diagnosis{}, Maps: []string{},
		Summary: map[string]int{checkPassed: 0, checkDrifted: 0, checkFailed: 0, checkSkipped: 0, checkUnknown: 0, checkNotRun: 0},
	}
	ev := evidence{host: h, v: invoker{host: h, tab: t, job: j}}
	seen := s.diagnoseAll(states)
	out.States = append(out.States, seen.states...)
	for _, m := range maps {
		out.Maps = append(out.Maps, m.Path)
	}
	out.Checks = make([]checkOutcome, len(checks))
	for i, k := range checks {
		if setUp(k) {
			continue
		}
		r := s.check(k.Source.Map, k.Entry)
		if r.Status == checkFailed || r.Status == checkDrifted {
			r.Evidence = ev.collect(ctx, k.Entry, r)
		}
		if len(k.Entry.SetupRest) > 0 {
			r.Setup = &setupOutcome{ByHand: k.Entry.SetupRest}
		}
		out.Checks[i] = r
	}
	if j.call.Map == nil {
		t.noteStates(seen)
	}
	// Setup moves the page, so what needs none was seen before.
	for i, k := range checks {
		if setUp(k) {
			j.progress(Progress{Step: k.Name, Phase: "setup"})
			out.Checks[i] = h.preparedCheck(ctx, ev.v, o, k.Source.Map, k.Entry, waitOf(in))
		}
	}
	for i, k := range checks {
		r := &out.Checks[i]
		*r = r.named(k.Name)
		out.Summary[r.Status]++
	}
	out.Unmet = in.unmet(&out)
	out.OK = len(out.Unmet) == 0 && !slices.ContainsFunc(out.Checks, checkOutcome.breaks)
	if slices.ContainsFunc(checks, setUp) {
		t.diagnoser.poke()
	}
	return call.Encoded(out)
}

// waitOf is how long the caller gives a check to come right.
func waitOf(in siteArguments) time.Duration {
	if in.WaitMS == nil {
		return 0
	}
	return time.Duration(*in.WaitMS) * time.Millisecond
}

// evidence collects what checks ask for, each thing once for all of them.
type evidence struct {
	host *Host
	v    invoker
	done map[string]json.RawMessage
}

func (e *evidence) collect(ctx context.Context, k *manifest.Check, r checkOutcome) map[string]json.RawMessage {
	out := map[string]json.RawMessage{"url": call.JSON(r.URL)}
	if k.OnFail == nil {
		return out
	}
	bounded, cancel := context.WithTimeout(ctx, checkEvidence)
	defer cancel()
	if e.done == nil {
		e.done = map[string]json.RawMessage{}
	}
	for _, name := range k.OnFail.StoreEvidence {
		if name == "url" {
			continue
		}
		v, ok := e.done[name]
		if !ok {
			v = e.one(bounded, name)
			e.done[name] = v
		}
		out[name] = v
	}
	return out
}

func (e *evidence) one(ctx context.Context, name string) json.RawMessage {
	invoke := func(primitive string, args string) json.RawMessage {
		res := e.v.Invoke(ctx, primitive, json.RawMessage(args))
		if res.Err != nil {
			return call.JSON(map[string]any{"unavailable": res.Err.Code})
		}
		return res.Payload
	}
	switch strings.ToLower(name) {
	case "dom_snapshot":
		return invoke("dom.snapshot_text", `{"max_chars":`+strconv.Itoa(maxSnapshot)+`}`)
	case "screenshot":
		return invoke("browser.screenshot", `{"format":"jpeg","quality":60}`)
	case "title":
		return call.JSON(e.v.tab.Status().Title)
	}
	return call.JSON(map[string]any{"unavailable": "unknown_evidence"})
}

// failuresOfTargets are codes of a failed action that drift can explain.
func failuresOfTargets(err *fault.Error) bool {
	switch err.Code {
	case fault.TargetNotFound, fault.TargetNotActionable, fault.WorkflowStepFailed, fault.WorkflowRetryExhausted, fault.StateMismatch,
		fault.StatePostconditionFailed, fault.MissingHandler, fault.Timeout:
		return true
	}
	return false
}

// withChecks adds to the error of a failed action what the map's checks about it
// see now, so that drift is told from bad luck.
func (h *Host) withChecks(ctx context.Context, t *Tab, o *mapset.Offer, match *sites.Match, err *fault.Error) *fault.Error {
	about := o.Library.ChecksAbout(match)
	if len(about) == 0 || !failuresOfTargets(err) || ctx.Err() != nil {
		return err
	}
	bounded, cancel := observe.Answerable(ctx)
	defer cancel()
	page, e := t.LivePage(bounded)
	if e != nil {
		return err
	}
	s := survey{lib: o.Library, attached: t.attachmentState}
	for _, k := range about {
		s.wantCheck(k.Source.Map, k.Entry)
	}
	if s.ask(bounded, page) != nil {
		return err
	}
	var found []map[string]any
	next := ""
	for _, k := range about {
		r := s.check(k.Source.Map, k.Entry).named(k.Name)
		if r.Error == nil {
			continue
		}
		row := map[string]any{"check_id": r.CheckID, "status": r.Status, "severity": r.Severity, "code": r.Error.Code}
		if r.Contingency != "" {
			row["contingency"] = r.Contingency
			next = "the map asks for: " + fault.Clip(r.Contingency, 200)
		}
		if len(r.Drift) > 0 {
			row["drift"] = r.Drift
		}
		found = append(found, row)
	}
	if len(found) == 0 {
		return err
	}
	out := *err
	out.Field("drift_detected", found)
	if out.NextStep == "" && next != "" {
		out.Next(next)
	}
	return &out
}
