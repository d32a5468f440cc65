package sitetool

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// checkReport is the output of mode check.
type checkReport struct {
	// OK means that something was checked, that no check failed that is more than
	// information, and that Unmet is empty.
	OK         bool                  `json:"ok"`
	Unmet      []string              `json:"unmet,omitempty"`
	URL        string                `json:"url"`
	HTTPStatus int                   `json:"http_status,omitempty"`
	ObservedAt string                `json:"observed_at"`
	Summary    map[string]int        `json:"summary"`
	Checks     []verify.CheckOutcome `json:"checks"`
	States     []verify.Diagnosis    `json:"states"`
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
// apply, from one observation of the page. With wait_ms it observes again while a
// check fails: a page that has just loaded continues to build itself. Checks with a
// setup come after it, one by one, each with its setup and an observation of its own.
func (x *Tool) siteCheck(ctx context.Context, c siteaction.Caller, in arguments) call.Reply {
	o, url, err := x.actions.OfferFor(ctx, c.Message().Map)
	if err != nil {
		return call.Reply{Err: err}
	}
	maps := o.Library.For(url)
	page, e := x.actions.LivePage(ctx)
	if e != nil {
		return call.Reply{Err: fault.From(e)}
	}
	states := verify.StatesOffered(o.Library, maps)
	var checks []sites.Exposed[manifest.Check]
	for _, m := range maps {
		checks = append(checks, o.Library.Composition(m).Checks...)
	}
	setUp := func(k sites.Exposed[manifest.Check]) bool { return len(k.Entry.SetupSteps) > 0 }
	s := verify.Batch{Library: o.Library}
	inTime := in.expectations
	inTime.ExpectStatus = 0 // no waiting changes it
	probe := func(ctx context.Context, page primitives.Page) (bool, error) {
		next := verify.Batch{Library: o.Library, Attached: x.attachments.State, Explain: true}
		for _, n := range states {
			next.AddState(n.In, n.Own)
		}
		for _, k := range checks {
			if !setUp(k) {
				next.AddCheck(k.Source.Map, k.Entry)
			}
		}
		if err := next.Evaluate(ctx, page); err != nil {
			return false, err
		}
		s = next
		if len(checks)+len(states) == 0 {
			return true, nil // nothing will come
		}
		sofar := checkReport{States: s.DiagnoseAll(states).States}
		for _, k := range checks {
			if setUp(k) {
				sofar.Checks = append(sofar.Checks, verify.CheckOutcome{Status: verify.CheckPassed}) // it comes later
			} else {
				sofar.Checks = append(sofar.Checks, s.Check(k.Source.Map, k.Entry))
			}
		}
		return !slices.ContainsFunc(sofar.Checks, verify.CheckOutcome.Breaks) && len(inTime.unmet(&sofar)) == 0, nil
	}
	if _, e := probe(ctx, page); e != nil && fault.CodeOf(e) != fault.PageNavigated {
		return call.Reply{Err: fault.From(e)}
	}
	if in.WaitMS != nil && *in.WaitMS > 0 || s.At.IsZero() {
		wait := max(siteaction.StateGrace, waitOf(in))
		whole, end := observe.Answerable(ctx)
		bounded, cancel := context.WithTimeout(whole, wait)
		_, e := observe.Until(whole, bounded, x.actions, probe)
		cancel()
		end()
		if s.At.IsZero() {
			if e == nil {
				e = fault.New(fault.Timeout, "the page could not be observed in time")
			}
			return call.Reply{Err: fault.From(e)}
		}
	}
	status, e := primitives.HTTPStatus(ctx, page)
	if e != nil {
		return call.Reply{Err: fault.From(e)}
	}
	out := checkReport{
		URL: s.URL, HTTPStatus: status, ObservedAt: call.Time(s.At), Checks: []verify.CheckOutcome{}, States: []verify.Diagnosis{}, Maps: []string{},
		Summary: map[string]int{verify.CheckPassed: 0, verify.CheckDrifted: 0, verify.CheckFailed: 0, verify.CheckSkipped: 0, verify.CheckUnknown: 0, verify.CheckNotRun: 0},
	}
	ev := evidence{actions: x.actions, caller: c}
	seen := s.DiagnoseAll(states)
	out.States = append(out.States, seen.States...)
	for _, m := range maps {
		out.Maps = append(out.Maps, m.Path)
	}
	out.Checks = make([]verify.CheckOutcome, len(checks))
	for i, k := range checks {
		if setUp(k) {
			continue
		}
		r := s.Check(k.Source.Map, k.Entry)
		recall(ctx, page, &s, k.Source.Map, k.Entry, &r, in)
		if r.Status == verify.CheckFailed || r.Status == verify.CheckDrifted {
			r.Evidence = ev.collect(ctx, k.Entry, r)
		}
		if len(k.Entry.SetupRest) > 0 {
			r.Setup = &verify.SetupOutcome{ByHand: k.Entry.SetupRest}
		}
		out.Checks[i] = r
	}
	if c.Message().Map == nil {
		x.monitor.Note(seen)
	}
	// Setup moves the page, so what needs none was seen before.
	for i, k := range checks {
		if setUp(k) {
			c.Progress(call.Progress{Step: k.Name, Phase: "setup"})
			out.Checks[i] = x.preparedCheck(ctx, c, o, k.Source.Map, k.Entry, in)
		}
	}
	for i, k := range checks {
		r := &out.Checks[i]
		*r = r.Named(k.Name)
		out.Summary[r.Status]++
	}
	out.Unmet = in.unmet(&out)
	for _, d := range out.States { // a state that is not current is no failure
		for i := range d.Diagnostics {
			d.Diagnostics[i].Mismatches, d.Diagnostics[i].Box = nil, nil
		}
	}
	out.OK = len(out.Unmet) == 0 && !slices.ContainsFunc(out.Checks, verify.CheckOutcome.Breaks)
	if slices.ContainsFunc(checks, setUp) {
		x.monitor.Poke()
	}
	return call.Encoded(out)
}

// recall adds what the caller requested beside the verdict. A page that changed
// meanwhile gives nothing: the verdict stands without it.
func recall(ctx context.Context, page primitives.Page, s *verify.Batch, m *sites.Map, k *manifest.Check, r *verify.CheckOutcome, in arguments) {
	if in.Remember && (r.Status == verify.CheckPassed || r.Status == verify.CheckDrifted) {
		if seen, err := s.Remember(ctx, page, m, k); err == nil {
			r.Remembered = seen
		}
	}
	if len(in.Lock) > 0 && r.Status == verify.CheckFailed {
		if found, err := s.Repair(ctx, page, m, k, in.Lock); err == nil {
			r.Repairs = found
		}
	}
}

// waitOf is how long the caller gives a check to come right.
func waitOf(in arguments) time.Duration {
	if in.WaitMS == nil {
		return 0
	}
	return time.Duration(*in.WaitMS) * time.Millisecond
}

// evidence collects what checks name, each thing once for all of them.
type evidence struct {
	actions *siteaction.Actions
	caller  siteaction.Caller
	done    map[string]json.RawMessage
}

func (e *evidence) collect(ctx context.Context, k *manifest.Check, r verify.CheckOutcome) map[string]json.RawMessage {
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
		res := e.caller.InvokeFor(ctx, nil, primitive, json.RawMessage(args))
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
		return call.JSON(e.actions.Status().Title)
	}
	return call.JSON(map[string]any{"unavailable": "unknown_evidence"})
}
