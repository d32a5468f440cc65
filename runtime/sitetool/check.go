package sitetool

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

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
	page, e := x.actions.LivePage(ctx)
	if e != nil {
		return call.Reply{Err: fault.From(e)}
	}
	k := checking{
		tool:   x,
		caller: c,
		in:     in,
		offer:  o,
		page:   page,
		maps:   o.Library.For(url),
	}
	k.states = verify.StatesOffered(o.Library, k.maps)
	for _, m := range k.maps {
		k.checks = append(k.checks, o.Library.Composition(m).Checks...)
	}
	if e := k.observe(ctx); e != nil {
		return call.Reply{Err: fault.From(e)}
	}
	status, e := primitives.HTTPStatus(ctx, page)
	if e != nil {
		return call.Reply{Err: fault.From(e)}
	}
	return call.Encoded(k.report(ctx, status))
}

// checking is one call of mode check.
type checking struct {
	tool   *Tool
	caller siteaction.Caller
	in     arguments
	offer  *mapset.Offer
	page   primitives.Page
	maps   []*sites.Map
	states []verify.NamedState
	checks []sites.Exposed[manifest.Check]
	// seen is the last whole observation.
	seen verify.Batch
}

func hasSetup(k sites.Exposed[manifest.Check]) bool { return len(k.Entry.SetupSteps) > 0 }

// observe observes the page once, and with wait_ms again after each change while
// something fails. A document that is replaced is observed again.
func (k *checking) observe(ctx context.Context) error {
	if _, err := k.once(ctx, k.page); err != nil && fault.CodeOf(err) != fault.PageNavigated {
		return err
	}
	if waitOf(k.in) <= 0 && !k.seen.At.IsZero() {
		return nil
	}
	whole, end := observe.Answerable(ctx)
	defer end()
	bounded, cancel := context.WithTimeout(whole, max(siteaction.StateWait, waitOf(k.in)))
	defer cancel()
	_, err := observe.Until(whole, bounded, k.tool.actions, k.once)
	switch {
	case !k.seen.At.IsZero():
		return nil
	case err == nil:
		return fault.New(fault.Timeout, "the page could not be observed in time")
	}
	return err
}

// once is one observation: it reports whether nothing failed that waiting could mend.
func (k *checking) once(ctx context.Context, page primitives.Page) (bool, error) {
	next := verify.Batch{Library: k.offer.Library, Attached: k.tool.attachments.State, Explain: true}
	for _, n := range k.states {
		next.AddState(n.In, n.Own)
	}
	for _, c := range k.checks {
		if !hasSetup(c) {
			next.AddCheck(c.Source.Map, c.Entry)
		}
	}
	if err := next.Evaluate(ctx, page); err != nil {
		return false, err
	}
	k.seen = next
	if len(k.checks)+len(k.in.Requires) == 0 {
		return true, nil // nothing is demanded that could come
	}
	sofar := checks.Page{States: next.DiagnoseAll(k.states).Plain()}
	for _, c := range k.checks {
		if hasSetup(c) {
			sofar.Checks = append(sofar.Checks, checks.Check{Status: checks.Passed}) // it comes later
		} else {
			sofar.Checks = append(sofar.Checks, next.Check(c.Source.Map, c.Entry))
		}
	}
	inTime := k.in.expectations
	inTime.ExpectStatus = 0 // no waiting changes it
	return !slices.ContainsFunc(sofar.Checks, checks.Check.Breaks) && len(inTime.unmet(&sofar)) == 0, nil
}

// report judges what was seen, then runs the checks that have a setup: it moves the
// page, so what needs none was seen before.
func (k *checking) report(ctx context.Context, status int) *checks.Page {
	out := &checks.Page{
		URL:        k.seen.URL,
		HTTPStatus: status,
		ObservedAt: jsonout.Time(k.seen.At),
		States:     []checks.State{},
		Maps:       []string{},
		Summary: map[string]int{
			checks.Passed:  0,
			checks.Drifted: 0,
			checks.Failed:  0,
			checks.Skipped: 0,
			checks.Unknown: 0,
			checks.NotRun:  0,
		},
		Checks: make([]checks.Check, len(k.checks)),
	}
	for _, m := range k.maps {
		out.Maps = append(out.Maps, m.Path)
	}
	states := k.seen.DiagnoseAll(k.states)
	out.States = append(out.States, states.Plain()...)
	ev := evidence{actions: k.tool.actions, caller: k.caller}
	for i, c := range k.checks {
		if !hasSetup(c) {
			out.Checks[i] = k.outcome(ctx, &ev, c)
		}
	}
	if k.caller.Message().Map == nil {
		k.tool.monitor.Note(states)
	}
	for i, c := range k.checks {
		if hasSetup(c) {
			k.caller.Progress(call.Progress{Step: c.Name, Phase: "setup"})
			out.Checks[i] = k.tool.preparedCheck(ctx, k.caller, k.offer, c.Source.Map, c.Entry, k.in)
		}
	}
	for i, c := range k.checks {
		r := &out.Checks[i]
		*r = r.Named(c.Name)
		out.Summary[r.Status]++
	}
	out.Unmet = k.in.unmet(out)
	for _, d := range out.States { // a state that is not current is no failure
		for i := range d.Diagnostics {
			d.Diagnostics[i].Mismatches, d.Diagnostics[i].Box = nil, nil
		}
	}
	out.OK = len(out.Unmet) == 0 && !slices.ContainsFunc(out.Checks, checks.Check.Breaks)
	if slices.ContainsFunc(k.checks, hasSetup) {
		k.tool.monitor.Refresh()
	}
	return out
}

// outcome is the verdict on one check that has no setup, with its evidence.
func (k *checking) outcome(ctx context.Context, ev *evidence, c sites.Exposed[manifest.Check]) checks.Check {
	r := k.seen.Check(c.Source.Map, c.Entry)
	recall(ctx, k.page, &k.seen, c.Source.Map, c.Entry, &r, k.in)
	if r.Status == checks.Failed || r.Status == checks.Drifted {
		r.Evidence = ev.collect(ctx, c.Entry, r)
	}
	if len(c.Entry.SetupRest) > 0 {
		r.Setup = &checks.Setup{ByHand: c.Entry.SetupRest}
	}
	return r
}

// recall adds what the caller requested beside the verdict. A page that changed
// meanwhile gives nothing: the verdict stands without it.
func recall(
	ctx context.Context, page primitives.Page, s *verify.Batch,
	m *sites.Map, k *manifest.Check, r *checks.Check, in arguments,
) {
	if in.Remember && (r.Status == checks.Passed || r.Status == checks.Drifted) {
		if seen, err := s.Remember(ctx, page, m, k); err == nil {
			r.Remembered = seen
		}
	}
	if len(in.Lock) > 0 && r.Status == checks.Failed {
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

func (e *evidence) collect(ctx context.Context, k *manifest.Check, r checks.Check) map[string]json.RawMessage {
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
