package runtime

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/runtime/verify"

	"github.com/outrider-run/outrider/runtime/mapset"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// runSetup does the steps of a check's setup as those of a tool are done, under
// the same policy, pacing and deadline. They get no arguments.
func (h *Host) runSetup(ctx context.Context, v invoker, o *mapset.Offer, m *sites.Map, k *manifest.Check) (verify.SetupOutcome, *fault.Error) {
	out := verify.SetupOutcome{ByHand: k.SetupRest}
	tool := &manifest.Tool{Name: k.ID, Target: k.Target, XActions: manifest.XActions{
		Direction: manifest.AgentToHTML, Execution: &manifest.Execution{Mode: stepsOnly, Steps: k.SetupSteps},
	}}
	if tool.Target == nil && k.TargetOf != "" {
		_, tool.Target = o.Library.Target(m, k.TargetOf)
	}
	match := &sites.Match{Name: k.ID, Map: m, Tool: tool, Via: m}
	plan, err := planExecution(h.opts.Maps, o.Library, match)
	if err == nil {
		err = h.unmet(o, match, plan.uses())
	}
	if err != nil {
		return out, err
	}
	whole, end := observe.Answerable(ctx)
	defer end()
	v.from = m // a check reaches no more of the storage than its map
	r := &executionRun{ctx: whole, host: h, lib: o.Library, match: match, v: v, raw: json.RawMessage("{}")}
	reply := r.bySteps(plan)
	out.Steps, out.Done = reply.Steps, reply.Err == nil && len(k.SetupRest) == 0
	return out, reply.Err
}

// preparedCheck sets up one check and judges it from a look of its own, again
// after each change of the page while it fails, for as long as wait. The page
// comes back to the address it had.
func (h *Host) preparedCheck(ctx context.Context, v invoker, o *mapset.Offer, m *sites.Map, k *manifest.Check, wait time.Duration) verify.CheckOutcome {
	began := v.tab.Status().URL
	setup, err := h.runSetup(ctx, v, o, m, k)
	var r verify.CheckOutcome
	if err == nil {
		s := verify.Batch{Library: o.Library}
		whole, end := observe.Answerable(ctx)
		bounded, cancel := context.WithTimeout(whole, max(wait, stateGrace))
		_, e := observe.Until(whole, bounded, v.tab, func(ctx context.Context, page primitives.Page) (bool, error) {
			next := verify.Batch{Library: o.Library, Attached: v.tab.rooms.attachments.State, Explain: true}
			if setup.Done {
				next.Prepared = k
			}
			next.AddCheck(m, k)
			if err := next.Evaluate(ctx, page); err != nil {
				return false, err
			}
			s = next
			return !s.Check(m, k).Breaks(), nil
		})
		cancel()
		end()
		if s.At.IsZero() {
			err = fault.From(e)
			if e == nil {
				err = fault.New(fault.Timeout, "the page could not be looked at in time")
			}
		}
		r = s.Check(m, k)
	}
	if err != nil {
		s := verify.Batch{Library: o.Library, URL: v.tab.Status().URL, At: time.Now()}
		r = s.Check(m, k).NotRun(err)
	}
	r.Setup = &setup
	if err != nil && err.Code == fault.DialogOpen {
		// It was not open before: the look at the checks without setup went well.
		setup.Dismissed = v.Invoke(ctx, "browser.dismiss_dialog", json.RawMessage(`{"accept":false}`)).Err == nil
	}
	if r.Status == verify.CheckFailed || r.Status == verify.CheckDrifted || r.Status == verify.CheckNotRun {
		ev := evidence{host: h, v: v}
		r.Evidence = ev.collect(ctx, k, r)
	}
	if now := v.tab.Status().URL; now != began && ctx.Err() == nil {
		args := call.JSON(map[string]string{"url": began})
		if res := v.Invoke(ctx, "browser.navigate", args); res.Err != nil {
			setup.LeftAt = now
		}
	}
	return r
}
