package runtime

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/runtime/mapset"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// setupOutcome says how the setup of a check went.
type setupOutcome struct {
	// Done is whether all of it was done by this runtime.
	Done  bool            `json:"done"`
	Steps json.RawMessage `json:"steps,omitempty"` // summaries, as of a tool
	// ByHand points to entries that no runtime can follow.
	ByHand []string `json:"by_hand,omitempty"`
	// Dismissed is set when the setup opened a dialog, which was dismissed: it
	// would block every check after this one.
	Dismissed bool `json:"dialog_dismissed,omitempty"`
	// LeftAt is where the page was left, when its address could not be restored.
	LeftAt string `json:"left_at,omitempty"`
}

// hasSetup says whether something must happen before the check can fail. What
// has not been prepared may pass, which is as good as ever, but that it does not
// tells nothing about the site.
func hasSetup(k *manifest.Check) bool { return len(k.SetupSteps)+len(k.SetupRest) > 0 }

// runSetup does the steps of a check's setup as those of a tool are done, under
// the same policy, pacing and deadline. They get no arguments.
func (h *Host) runSetup(ctx context.Context, v invoker, o *mapset.Offer, m *sites.Map, k *manifest.Check) (setupOutcome, *fault.Error) {
	out := setupOutcome{ByHand: k.SetupRest}
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

// notRun turns the outcome of a check whose setup failed into one that says
// nothing about the site.
func (r checkOutcome) notRun(err *fault.Error) checkOutcome {
	r.Status, r.Assertions, r.NegativeAssertions, r.Drift, r.Contingency = checkNotRun, nil, nil, nil, ""
	e := *err
	e.Message = "the setup of the check " + r.CheckID + " failed, so it was not run: " + err.Message
	r.Error = e.With("check_id", r.CheckID).Field("phase", "setup")
	return r
}

// preparedCheck sets up one check and judges it from a look of its own, again
// after each change of the page while it fails, for as long as wait. The page
// comes back to the address it had.
func (h *Host) preparedCheck(ctx context.Context, v invoker, o *mapset.Offer, m *sites.Map, k *manifest.Check, wait time.Duration) checkOutcome {
	began := v.tab.Status().URL
	setup, err := h.runSetup(ctx, v, o, m, k)
	var r checkOutcome
	if err == nil {
		s := survey{lib: o.Library}
		whole, end := observe.Answerable(ctx)
		bounded, cancel := context.WithTimeout(whole, max(wait, stateGrace))
		_, e := observe.Until(whole, bounded, v.tab, func(ctx context.Context, page primitives.Page) (bool, error) {
			next := survey{lib: o.Library, attached: v.tab.attachmentState}
			if setup.Done {
				next.prepared = k
			}
			next.wantCheck(m, k)
			if err := next.ask(ctx, page); err != nil {
				return false, err
			}
			s = next
			return !s.check(m, k).breaks(), nil
		})
		cancel()
		end()
		if s.at.IsZero() {
			err = fault.From(e)
			if e == nil {
				err = fault.New(fault.Timeout, "the page could not be looked at in time")
			}
		}
		r = s.check(m, k)
	}
	if err != nil {
		s := survey{lib: o.Library, url: v.tab.Status().URL, at: time.Now()}
		r = s.check(m, k).notRun(err)
	}
	r.Setup = &setup
	if err != nil && err.Code == fault.DialogOpen {
		// It was not open before: the look at the checks without setup went well.
		setup.Dismissed = v.Invoke(ctx, "browser.dismiss_dialog", json.RawMessage(`{"accept":false}`)).Err == nil
	}
	if r.Status == checkFailed || r.Status == checkDrifted || r.Status == checkNotRun {
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
